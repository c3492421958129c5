// Package stat draws random numbers that are the same in every run, counts shares of cases, and
// says what a mean, a median and a quantile is.
//
// Rand is splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
// 2014), for state machines; Mix is its function, for hashes. Neither is secure: the seed
// determines all numbers.
//
// Share counts how many of a number of cases something is true of, and says how far that is known:
// Wilson's interval (E. B. Wilson, "Probable inference, the law of succession, and statistical
// inference", 1927). The cases must be independent; it cannot see whether they are.
//
// Mean is the mean of numbers, with Student's interval.
//
// McNemar and BootstrapMedian hold two systems against each other on the same cases, which a Share of each
// cannot: their cases are not independent of each other.
//
// Quantiles are by rank: one of the values, in whole numbers, so that they are the same on every
// machine. There are two definitions, as published figures are by one or the other; new ones are by
// NearestRank.
//
// What it does not do: it reads no clock and no entropy.
package stat

import (
	"encoding/json"
	"fmt"
	"math"
)

// Share is N of Of cases.
type Share struct{ N, Of int }

// Add counts a case.
func (s *Share) Add(is bool) {
	s.Of++
	if is {
		s.N++
	}
}

// z is the quantile of the normal distribution of which 95 % lie within -z and z.
const z = 1.959963984540054

// Interval is Wilson's 95 % interval of the share, from 0 to 1; all of it without a
// case.
func (s Share) Interval() (low, high float64) {
	if s.Of == 0 {
		return 0, 1
	}
	n, p := float64(s.Of), float64(s.N)/float64(s.Of)
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, middle-half), min(1, middle+half)
}

// String is the share in per cent with its interval, "56 (50-62)"; "-" without a case.
func (s Share) String() string {
	if s.Of == 0 {
		return "-"
	}
	low, high := s.Interval()
	return fmt.Sprintf("%.0f (%.0f-%.0f)", 100*float64(s.N)/float64(s.Of), 100*low, 100*high)
}

// MarshalJSON writes the counts, and the interval in per cent to a tenth.
func (s Share) MarshalJSON() ([]byte, error) {
	low, high := s.Interval()
	tenth := func(x float64) float64 { return math.Round(1000*x) / 10 }
	return json.Marshal(struct {
		N    int     `json:"n"`
		Of   int     `json:"of"`
		Low  float64 `json:"low_percent"`
		High float64 `json:"high_percent"`
	}{s.N, s.Of, tenth(low), tenth(high)})
}
