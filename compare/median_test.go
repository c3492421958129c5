package compare

import (
	"slices"
	"testing"

	"softswitch/oracle/verdict"
	"softswitch/unit"
)

// TestMedian: of an even number it lies in the middle of two, of an odd one it is one of them.
func TestMedian(t *testing.T) {
	for _, c := range []struct {
		of   []float64
		want float64
	}{
		{[]float64{7}, 7},
		{[]float64{3, 1}, 2},
		{[]float64{9, 1, 2}, 2},
		{[]float64{8, 1, 2, 3}, 2.5},
	} {
		given := slices.Clone(c.of)
		if got := median(c.of); got == nil || *got != c.want {
			t.Errorf("median of %v: %v, want %g", c.of, got, c.want)
		}
		if !slices.Equal(c.of, given) {
			t.Errorf("%v was made %v", given, c.of)
		}
	}
	if got := median[float64](nil); got != nil {
		t.Errorf("median of nothing: %g", *got)
	}
}

// TestQuantiles: those of times go by the same median.
func TestQuantiles(t *testing.T) {
	want := verdict.Quantiles{Samples: 4, P50: 25, P90: 80, Min: 10, Max: 80}
	if got := quantilesOf([]unit.Time{80, 10, 20, 30}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := quantilesOf([]unit.Time(nil)); got != (verdict.Quantiles{}) {
		t.Errorf("of nothing: %+v", got)
	}
}

// TestMediansOfRowsAndTotals: those of two runs, and of two scenarios, are in the middle.
func TestMediansOfRowsAndTotals(t *testing.T) {
	row := func(scenario string, latencies ...unit.Time) Row {
		var runs []*verdict.Verdict
		for _, l := range latencies {
			runs = append(runs, recovered(10*l))
		}
		f := aggregate(parsed(t), unchanged(runs...), slices.Repeat([]found{blameless(true, true, false)}, len(runs)))
		return Row{Scenario: scenario, System: "itsy", Figures: &f}
	}
	c := &Comparison{World: "sim", Rows: []Row{row("one", 10, 40), row("other", 100, 200)}}
	if f := c.Rows[0].Figures; f.Latency.P50 != 25 || f.Recovery.P50 != 250 {
		t.Errorf("of 10 and 40 the latency is %d, of 100 and 400 the recovery %d; want 25 and 250", f.Latency.P50, f.Recovery.P50)
	}
	if total := c.totals()[0]; total.Latency.P50 != 87 || total.Recovery.P50 != 875 {
		t.Errorf("of 25 and 150 the latency is %d, of 250 and 1500 the recovery %d; want 87 and 875", total.Latency.P50, total.Recovery.P50)
	}
}
