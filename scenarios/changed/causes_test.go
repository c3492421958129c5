package changed

import (
	"os"
	"path/filepath"
	"testing"

	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/sim/simtest"
)

// declared is what itsy declares first in a run.
func declared(t *testing.T, s *scenario.Scenario, seed uint64) verdict.Detection {
	t.Helper()
	v, _ := simtest.Run(t, s, sim.Options{Seed: seed, Detectors: detectors})
	if len(v.Detections) == 0 {
		t.Fatalf("seed %d: nothing is declared", seed)
	}
	return v.Detections[0]
}

// TestNamedCauses: what itsy names first is what is known to have caused these deadlocks (package
// study/cause has the proof). The run of ended-storm is over before its diagnosis: there the initial
// trigger is the host.
func TestNamedCauses(t *testing.T) {
	for name, c := range map[string]struct {
		seed uint64
		want string
	}{
		"chattering-host":           {1429917599, "host h-leaf3-0, off the loop (95 %)"},
		"slow-host":                 {789222455, "host h-edge2-0, off the loop (95 %)"},
		"storming-host":             {113532852, "host h-t0-0, off the loop (95 %)"},
		"incast-hides-routing-loop": {596769270, "routing loop at a0 to-s1 to-s1, on the loop: flow F0 (95 %)"},
		"two-rings":                 {936586168, "routing loop at s0 to-s1 to-s1, on the loop: flow F1 (95 %)"},
		"ended-storm":               {857491355, ""},
	} {
		file := filepath.Join("../../study/cause/testdata", name+".yaml")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d := declared(t, simtest.Parse(t, file, string(text), "itsy"), c.seed)
		switch {
		case c.want == "":
			if d.Trigger.Node != "h-leaf2-0" || len(d.Causes) != 0 {
				t.Errorf("%s: trigger %+v, causes %v; want the host h-leaf2-0 and no diagnosis", name, d.Trigger, d.Causes)
			}
		case len(d.Causes) == 0 || d.Causes[0].String() != c.want:
			t.Errorf("%s: causes %v, want %q first", name, d.Causes, c.want)
		}
	}
	for seed := range uint64(8) {
		d := declared(t, simtest.Shipped(t, "n1-two-triggers", "itsy"), seed+1)
		if len(d.Causes) == 0 || d.Causes[0].Type != "host" || d.Causes[0].Node != "h10" {
			t.Errorf("n1-two-triggers, seed %d: causes %v, want the host h10 first", seed+1, d.Causes)
		}
	}
}
