package main

import (
	"slices"

	"softswitch/internal/stat"
)

// Spread summarises figures by their median, minimum and maximum.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// spread returns the spread of at least one figure.
func spread(figures []float64) Spread {
	s := slices.Sorted(slices.Values(figures))
	return Spread{Median: stat.Median(s), Min: s[0], Max: s[len(s)-1]}
}
