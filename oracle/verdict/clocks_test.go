package verdict_test

import (
	"strings"
	"testing"

	"softswitch/oracle/verdict"
	"softswitch/unit"
)

// TestSeveralClocks: with several clocks the table has ranges, bounds and what is undecided;
// with one nothing of it.
func TestSeveralClocks(t *testing.T) {
	const us = unit.Microsecond
	v := verdict.Verdict{
		Scenario: "ring", World: "live", Detector: "itsy", Deadlock: true, Onset: 11810 * us, UndecidedDeadlocks: 1, Undecided: 1,
		Clocks: &verdict.Clocks{Count: 2, Typical: 41 * us, Worst: 1310 * us, Unbounded: 35},
		Detections: []verdict.Detection{
			{At: 12041 * us, AtMost: 12060 * us, Latency: 231 * us, LatencyMost: 256 * us, TruePositive: true, Judged: "true", Switch: "s3", Port: "to-s4", Priority: 3},
			{At: 12090 * us, AtMost: 12101 * us, Latency: 280 * us, LatencyMost: verdict.Unbounded, TruePositive: true, Judged: "true", Switch: "s1", Port: "to-s2", Priority: 3},
			{At: 12100 * us, AtMost: 12101 * us, Judged: "undecided", Switch: "s2", Port: "to-s3", Priority: 3},
		},
	}
	text := func() string {
		var b strings.Builder
		if err := v.WriteText(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for _, want := range []string{
		"declared    3: 2 true, 0 false, 0 premature, 0 late, 1 undecided\n            0 deadlocks missed, 1 possible one undecided\n",
		"clocks      2, known to each other to 0.041 ms, at worst 1.310 ms; 3.5 % of the logs without a bound\n",
		"  12.041  0.231 to 0.256  true       s3      to-s4         3  none named\n",
		"  12.090   0.280 or more  true ", "  12.100               -  undecided  s2 ",
	} {
		if !strings.Contains(text(), want) {
			t.Errorf("no %q in\n%s", want, text())
		}
	}
	v.RecoveryUndecided = true
	if want := "deadlock    yes, from 11.810 ms; whether it is gone at the end is undecided; 0 recurrences\n"; !strings.Contains(text(), want) {
		t.Errorf("no %q in\n%s", want, text())
	}
	v.RecoveryUndecided = false
	v.Clocks.Typical = verdict.Unbounded
	if !strings.Contains(text(), "clocks      2, and few frames between them: 3.5 % of the logs without a bound\n") {
		t.Errorf("without a typical bound:\n%s", text())
	}
	v.Clocks, v.Undecided, v.UndecidedDeadlocks, v.Detections = nil, 0, 0, v.Detections[:1]
	v.Detections[0].LatencyMost = 0
	if s := text(); strings.Contains(s, "undecided") || strings.Contains(s, "clocks") || !strings.Contains(s, "  12.041       0.231  true ") {
		t.Errorf("with one clock:\n%s", s)
	}
}
