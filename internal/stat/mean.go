package stat

import "encoding/json"

// Mean is the mean of Of whole numbers that come to Sum.
type Mean struct{ Sum, Of int }

// Add counts a number.
func (m *Mean) Add(n int) { m.Sum, m.Of = m.Sum+n, m.Of+1 }

// Value is the mean, 0 of no number.
func (m Mean) Value() float64 { return float64(m.Sum) / float64(max(m.Of, 1)) }

// MarshalJSON writes the mean.
func (m Mean) MarshalJSON() ([]byte, error) { return json.Marshal(m.Value()) }
