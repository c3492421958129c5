package verdict

import (
	"slices"
	"testing"

	"softswitch/scenario"
)

// The switches that the scenario kills are told of.
func TestKilled(t *testing.T) {
	r, v := honestRun(t)
	if len(v.Killed) > 0 {
		t.Errorf("killed %q by a scenario that kills nobody", v.Killed)
	}
	core1, _ := r.Plan.Fabric.Node("core1")
	r.Plan.Events = []scenario.Event{{At: 5, Do: scenario.Kill, Node: core1}}
	if v := Of(*r); !slices.Equal(v.Killed, []string{"core1"}) {
		t.Errorf("killed %q, want core1", v.Killed)
	}
}
