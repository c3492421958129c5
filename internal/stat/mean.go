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

// Interval is the normal 95 % interval of the mean of what the numbers are drawn from: 1.96 standard errors
// to either side, and not below 0. The numbers must be independent. Of fewer than 30 it is too narrow, and of
// fewer than two all that can be: 0 to infinity.
func (m Mean) Interval() (low, high float64) {
	if m.Of < 2 {
		return 0, math.Inf(1)
	}
	n, mean := float64(m.Of), m.Value()
	half := z * math.Sqrt(max(0, float64(m.Squares)-n*mean*mean)/(n-1)/n)
	return max(0, mean-half), mean + half
}

// String is the mean with its interval, "1.25 (0.97-1.53)", without one of fewer than two numbers; "-" of none.
func (m Mean) String() string {
	switch m.Of {
	case 0:
		return "-"
	case 1:
		return fmt.Sprintf("%.2f", m.Value())
	}
	low, high := m.Interval()
	return fmt.Sprintf("%.2f (%.2f-%.2f)", m.Value(), low, high)
}

// MarshalJSON writes the mean and its interval, null where it has none.
func (m Mean) MarshalJSON() ([]byte, error) {
	low, high := m.Interval()
	j := struct {
		Mean float64  `json:"mean"`
		Of   int      `json:"of"`
		Low  *float64 `json:"low"`
		High *float64 `json:"high"`
	}{Mean: m.Value(), Of: m.Of}
	if m.Of > 1 {
		j.Low, j.High = &low, &high
	}
	return json.Marshal(j)
}
