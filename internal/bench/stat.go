package bench

import (
	"cmp"
	"math"
	"slices"
)

// Spread is what is told of some figures: their median, and the least and the
// greatest.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// spread of at least one figure.
func spread(figures []float64) Spread {
	return Spread{Median: median(figures), Min: slices.Min(figures), Max: slices.Max(figures)}
}

// median of at least one figure; of an even number, the mean of the middle two.
func median(figures []float64) float64 {
	s := slices.Sorted(slices.Values(figures))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// quantile is the least of the values that at least the share q of them do not
// exceed (nearest rank): of 1 to 100, quantile 0.9 is 90. values must be sorted and
// not empty.
func quantile[T cmp.Ordered](values []T, q float64) T {
	rank := int(math.Ceil(q * float64(len(values))))
	return values[max(rank, 1)-1]
}
