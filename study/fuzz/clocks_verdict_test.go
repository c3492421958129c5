package fuzz

import (
	"strings"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/oracle"
	"softswitch/oracle/verdict"
	"softswitch/unit"
)

// TestVerdict: the figures of a verdict by several clocks do not contradict each other, and
// its times are those of the scenario.
func TestVerdict(t *testing.T) {
	seed, d := testkit.Seed(t), detectorOf(t, "itsy")
	r := random(seed, 0)
	for i := range testkit.Sized(20, 60) {
		c := New(seed, i, Modes[i%len(Modes)])
		f, logs, end, err := run(c, d)
		if err != nil {
			t.Fatal(err)
		}
		if i%3 == 0 {
			guessFindings(logs, end, r)
		}
		plan, err := c.Plan(d.Name)
		if err != nil {
			t.Fatal(err)
		}
		by, ends := make([]int, len(logs)), make([]unit.Time, len(logs))
		apart := []clock{{offset: 5 * second}, {offset: 3600 * second}, {offset: 77 * second}}
		for k := range by {
			by[k] = r.Below(len(apart))
			ends[k] = apart[by[k]].at(end)
		}
		cl := oracle.Clocks{By: by, Ends: ends, Reference: oracle.Reference(f, logs, by)}
		start := apart[cl.Reference].at(0)
		truth, err := oracle.JudgeClocks(f, shown(logs, by, apart), cl, start+end, lateHops*c.Lap(1))
		if err != nil {
			t.Fatal(err)
		}
		v := verdict.Of(verdict.Run{Plan: plan, World: "live", Truth: truth, Start: start})
		var text strings.Builder
		if err := v.WriteText(&text); err != nil || v.Invalid != "" {
			t.Errorf("seed %d, case %d: %v, %s\n%s", seed, i, err, v.Invalid, text.String())
		}
		for _, m := range v.Timeline {
			if m.At < -second || m.At > v.Duration {
				t.Errorf("seed %d, case %d: at %d: %s", seed, i, m.At, m.What)
			}
		}
	}
}
