package bench

import (
	"cmp"
	"math"
	"slices"
)

// Spread summarises figures: their median, and the lowest and highest.
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

// quantile is the lowest value that at least the share q of the values do not exceed
// (nearest rank): of 1 to 100, quantile 0.9 is 90. values must be sorted and not empty.
func quantile[T cmp.Ordered](values []T, q float64) T {
	rank := int(math.Ceil(q * float64(len(values))))
	return values[max(rank, 1)-1]
}
