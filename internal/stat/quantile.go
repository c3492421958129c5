package stat

import "math"

// Median is the median of sorted x, which has at least one value. Of an even number it is the mean of
// the two in the middle, whole numbers rounded towards the lower one.
func Median[T ~int | ~int64 | ~float64](x []T) T {
	low, high := x[(len(x)-1)/2], x[len(x)/2]
	return low + (high-low)/2
}

// NearestRank is the index, in n sorted values (at least one), of the least value that this percentage
// of them does not exceed: of ten the ninetieth percentile is the ninth.
func NearestRank(n, percent int) int { return max(0, (n*percent+99)/100-1) }

// LowerRank is the index, in n sorted values (at least one), of the last value that is no further than
// this percentage of the way from the first to the last: of ten the ninetieth percentile is the
// ninth, and of two the first for all below 100.
func LowerRank(n, percent int) int { return (n - 1) * percent / 100 }

// MedianLeast is of how many values, at least, MedianRanks is an interval of 95 %: of five, all are above the
// median, or all below, in one sample of 16.
const MedianLeast = 6

// MedianRanks is where in n sorted values, at least one, the interval of 95 % of the median of what they
// are drawn from begins and ends: how many of n independent values are below that median is binomial,
// with a half. Of fewer than MedianLeast values it is all of them, which is less than 95 %.
func MedianRanks(n int) (low, high int) {
	// The chance that k values or fewer are below the median is below; that of k is part, the logarithm of which
	// is kept, since 1/2^n is no float64 from 1,075 values on.
	part, below := -float64(n)*math.Ln2, 0.0
	for k := 0; ; k++ {
		if below += math.Exp(part); below > 0.025 {
			low = max(0, k-1)
			return low, n - 1 - low
		}
		part += math.Log(float64(n-k) / float64(k+1))
	}
}
