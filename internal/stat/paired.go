package stat

import (
	"math"
	"slices"
)

// McNemar is the exact two-sided p of McNemar's test (Q. McNemar, "Note on the sampling error of the
// difference between correlated proportions or percentages", 1947), from 0 to 1. Of pairs that two systems
// decide in different ways, b are right by the first alone and c by the second alone: if neither is
// better, b of b+c is binomial with a half. p is the chance that the smaller of the two is as small, for
// either of them. It is 1 of no such pair.
func McNemar(b, c int) float64 {
	n, least := b+c, min(b, c)
	if 2*least == n {
		return 1
	}
	// The chance of exactly least, by logarithms: it may be below the least float64 where the sum is not.
	log := logFactorial(n) - logFactorial(least) - logFactorial(n-least) - float64(n)*math.Ln2
	sum, part := 0.0, 1.0 // of the chances of least and of all below, in units of that of least
	for k := least; k >= 0; k-- {
		sum += part
		part *= float64(k) / float64(n-k+1)
	}
	return min(1, 2*sum*math.Exp(log))
}

func logFactorial(n int) float64 {
	log, _ := math.Lgamma(float64(n) + 1)
	return log
}

// Resamples is how many samples a bootstrap draws.
const Resamples = 2000

// BootstrapLeast is of how many values, at least, a bootstrap says something of their median.
const BootstrapLeast = 10

// BootstrapMedian is the 95 % interval of the median of what sorted x, at least one value, is drawn from:
// the percentiles of the medians of Resamples samples of x, each as large as x and drawn with replacement
// (B. Efron, "Bootstrap methods: another look at the jackknife", 1979). The seed determines the samples.
// The values must be independent. Of fewer than
// BootstrapLeast it is too narrow.
func BootstrapMedian[T ~int | ~int64 | ~float64](x []T, seed uint64) (low, high T) {
	r := Rand(seed)
	medians := make([]T, Resamples)
	drawn := make([]int, len(x)) // how often each value
	for i := range medians {
		clear(drawn)
		for range x {
			drawn[r.Below(len(x))]++
		}
		middle := [2]T{x[ranked(drawn, (len(x)-1)/2)], x[ranked(drawn, len(x)/2)]}
		medians[i] = Median(middle[:])
	}
	slices.Sort(medians)
	const outside = Resamples / 40 // 2.5 % at either end
	return medians[outside], medians[Resamples-1-outside]
}

// ranked is the index of the value that is so far from the first, of values that were drawn so often.
func ranked(drawn []int, rank int) int {
	for i, n := range drawn {
		if rank -= n; rank < 0 {
			return i
		}
	}
	panic("stat: fewer values than ranks")
}
