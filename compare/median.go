package compare

import (
	"slices"

	"softswitch/oracle/verdict"
	"softswitch/unit"
)

// quantilesOf are the quantiles of t, which it sorts. P50 is the median, P90 by nearest rank.
func quantilesOf[T int | unit.Time](t []T) verdict.Spread[T] {
	q := verdict.QuantilesOf(t)
	if m := median(t); m != nil {
		q.P50 = *m
	}
	return q
}

// median of x, of an even number the mean of the two in the middle, whole numbers rounded
// towards the lower one; nil if there is none.
func median[T int | unit.Time | float64](x []T) *T {
	if len(x) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(x))
	low, high := sorted[(len(x)-1)/2], sorted[len(x)/2]
	m := low + (high-low)/2
	return &m
}
