package stat

import (
	"encoding/json"
	"fmt"
	"math"
)

// Mean is the mean of Of whole numbers, none below 0, that come to Sum, and their squares to Squares.
type Mean struct{ Sum, Squares, Of int }

// Add counts a number.
func (m *Mean) Add(n int) { m.Sum, m.Squares, m.Of = m.Sum+n, m.Squares+n*n, m.Of+1 }

// Value is the mean, 0 of no number.
func (m Mean) Value() float64 { return float64(m.Sum) / float64(max(m.Of, 1)) }

// MeanLeast is of how many numbers, at least, a mean has an interval.
const MeanLeast = 10

// Interval is Student's 95 % interval of the mean of what the numbers are drawn from ("The probable error of
// a mean", 1908), and not below 0. The numbers must be independent; it is exact if they are normal, and
// nearly so of many. There is none of fewer than MeanLeast.
func (m Mean) Interval() (low, high float64, is bool) {
	if m.Of < MeanLeast {
		return 0, 0, false
	}
	n, mean := float64(m.Of), m.Value()
	half := student(n-1) * math.Sqrt(max(0, float64(m.Squares)-n*mean*mean)/(n-1)/n)
	return max(0, mean-half), mean + half, true
}

// student is the quantile of Student's distribution with v degrees of freedom, 9 or more, of which 95 % lie
// within it and its negative: the expansion of M. Abramowitz and I. A. Stegun, "Handbook of mathematical
// functions", 1964, 26.7.5, which is right to 5e-5 then.
func student(v float64) float64 {
	return z + (math.Pow(z, 3)+z)/(4*v) +
		(5*math.Pow(z, 5)+16*math.Pow(z, 3)+3*z)/(96*v*v) +
		(3*math.Pow(z, 7)+19*math.Pow(z, 5)+17*math.Pow(z, 3)-15*z)/(384*v*v*v) +
		(79*math.Pow(z, 9)+776*math.Pow(z, 7)+1482*math.Pow(z, 5)-1920*math.Pow(z, 3)-945*z)/(92160*v*v*v*v)
}

// String is the mean with its interval, "1.25 (0.97-1.53)", without one where there is none; "-" of no
// number.
func (m Mean) String() string {
	if m.Of == 0 {
		return "-"
	}
	text := fmt.Sprintf("%.2f", m.Value())
	if low, high, is := m.Interval(); is {
		text += fmt.Sprintf(" (%.2f-%.2f)", low, high)
	}
	return text
}

// MarshalJSON writes the mean, of how many numbers it is, and its interval, null where there is none.
func (m Mean) MarshalJSON() ([]byte, error) {
	j := struct {
		Mean float64  `json:"mean"`
		Of   int      `json:"of"`
		Low  *float64 `json:"low"`
		High *float64 `json:"high"`
	}{Mean: m.Value(), Of: m.Of}
	if low, high, is := m.Interval(); is {
		j.Low, j.High = &low, &high
	}
	return json.Marshal(j)
}
