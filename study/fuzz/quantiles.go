package fuzz

import (
	"encoding/json"
	"fmt"
	"slices"

	"softswitch/internal/stat"
)

// Quantiles are three of a figure over some cases: its value that so many per cent do not exceed.
type Quantiles struct {
	low, middle, high int // per cent
	of                []float64
}

// at is the quantile of a percentage, 0 without a case.
func (q Quantiles) at(percent int) float64 {
	if len(q.of) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(q.of))[stat.LowerRank(len(q.of), percent)]
}

// MarshalJSON writes how many cases there are, and the quantiles: {"n": 2, "p10": 0.5, ...}.
func (q Quantiles) MarshalJSON() ([]byte, error) {
	text := fmt.Appendf(nil, `{"n":%d`, len(q.of))
	for _, percent := range []int{q.low, q.middle, q.high} {
		value, err := json.Marshal(q.at(percent))
		if err != nil {
			return nil, err
		}
		text = fmt.Appendf(text, `,"p%d":%s`, percent, value)
	}
	return append(text, '}'), nil
}
