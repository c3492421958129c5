package fuzz

import (
	"fmt"
	"slices"
	"strconv"

	"softswitch/internal/stat"
)

// Quantiles are the median of a figure over some cases, and two more quantiles: its value that so many
// per cent do not exceed.
type Quantiles struct {
	low, high int // per cent
	of        []float64
}

// at is the quantile of a percentage, 0 without a case.
func (q Quantiles) at(percent int) float64 {
	if len(q.of) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(q.of))[stat.LowerRank(len(q.of), percent)]
}

// interval is the 95 % interval of the median (stat.MedianRanks); there is none of fewer than
// stat.MedianLeast cases.
func (q Quantiles) interval() (low, high float64, is bool) {
	if len(q.of) < stat.MedianLeast {
		return 0, 0, false
	}
	of := slices.Sorted(slices.Values(q.of))
	first, last := stat.MedianRanks(len(of))
	return of[first], of[last], true
}

// text is the median with its interval and, in a column after it, the two other quantiles, each times
// scale; "-" without a case.
func (q Quantiles) text(scale float64, decimals int) string {
	if len(q.of) == 0 {
		return "-\t-"
	}
	v := func(x float64) string { return fmt.Sprintf("%.*f", decimals, scale*x) }
	median := v(q.at(50))
	if low, high, is := q.interval(); is {
		median += " (" + v(low) + "-" + v(high) + ")"
	}
	return median + "\t" + v(q.at(q.low)) + "-" + v(q.at(q.high))
}

// MarshalJSON writes how many cases there are, the quantiles, and the interval of the median where it has
// one: {"n": 9, "p10": 0.5, "p50": 0.5, "p90": 0.7, "p50_low": 0.5, "p50_high": 0.6}.
func (q Quantiles) MarshalJSON() ([]byte, error) {
	text := fmt.Appendf(nil, `{"n":%d`, len(q.of))
	add := func(name string, x float64) {
		text = fmt.Appendf(text, `,"%s":%s`, name, strconv.FormatFloat(x, 'g', -1, 64))
	}
	for _, percent := range []int{q.low, 50, q.high} {
		add(fmt.Sprintf("p%d", percent), q.at(percent))
	}
	if low, high, is := q.interval(); is {
		add("p50_low", low)
		add("p50_high", high)
	}
	return append(text, '}'), nil
}
