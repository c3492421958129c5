package scenario

import (
	"reflect"
	"testing"

	"softswitch/scenarios"
)

// The hosts of nics are hosts like others, without flows and acts.
func TestNICs(t *testing.T) {
	p := compile(t, "two-switches.yaml", string(scenarios.NIC))
	checkPlan(t, p)
	if want := []int{2, 3}; !reflect.DeepEqual(p.Scenario.NICs, want) {
		t.Errorf("NICs at nodes %v, want %v", p.Scenario.NICs, want)
	}
	for _, h := range p.Hosts {
		if len(h.Flows)+len(h.Acts) > 0 || h.Stack != "" {
			t.Errorf("%s: %d flows, %d acts, stack %q", h.Name, len(h.Flows), len(h.Acts), h.Stack)
		}
	}
}
