package compare

import (
	"slices"
	"testing"

	"softswitch/oracle/verdict"
	"softswitch/unit"
)

// TestMedianOf: there is none of nothing, and what is given need not be sorted.
func TestMedianOf(t *testing.T) {
	if got := medianOf(nil); got != nil {
		t.Errorf("median of nothing: %g", *got)
	}
	if got := medianOf([]float64{8, 1, 2, 3}); got == nil || *got != 2.5 {
		t.Errorf("median of 8, 1, 2, 3: %v, want 2.5", got)
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
	if f := c.Rows[0]; f.Times("latency_ns").P50 != 25 || f.Times("recovery_ns").P50 != 250 {
		t.Errorf("of 10 and 40 the latency is %d, of 100 and 400 the recovery %d; want 25 and 250", f.Times("latency_ns").P50, f.Times("recovery_ns").P50)
	}
	if total := c.totals()[0]; total.Times("latency_ns").P50 != 87 || total.Times("recovery_ns").P50 != 875 {
		t.Errorf("of 25 and 150 the latency is %d, of 250 and 1500 the recovery %d; want 87 and 875", total.Times("latency_ns").P50, total.Times("recovery_ns").P50)
	}
}
