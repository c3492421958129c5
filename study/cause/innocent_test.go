package cause

import (
	"testing"

	"softswitch/oracle/verdict"
	"softswitch/unit"
)

// TestInnocents: who is lossy, in the smallest set, or sends to a host of it, is not innocent; the
// others get what that trial left them.
func TestInnocents(t *testing.T) {
	for _, k := range cases {
		c := newCase(t, known(t, k.name), k.seed)
		_, sets := smallestOf(t, c)
		n, err := c.Innocents(InTurn)
		if err != nil {
			t.Fatal(err)
		}
		if n.Cause.String() != k.least || !n.Single {
			t.Errorf("%s: cause %v, single %v; want %s alone", k.name, n.Cause, n.Single, k.least)
		}
		want := unit.Rate(0)
		for i, f := range c.Scenario.Flows {
			to := c.Scenario.Fabric.Nodes[f.To].Name
			guilty := !c.lossless(f) || "flow "+f.Name == k.least || "host "+to == k.least
			if n.Flows[i] == guilty {
				t.Errorf("%s: flow %s to %s is innocent: %v", k.name, f.Name, to, n.Flows[i])
			}
			if !guilty {
				want += sets.Sets[sets.LeastHarm].Goodput[i]
			}
		}
		if n.Goodput != float64(want) || want == 0 {
			t.Errorf("%s: innocents get %g, want %d", k.name, n.Goodput, want)
		}
	}
}

// TestShare: 300 and 100 Mbit/s arrive of two innocent flows on average, of 500 that would
// without the cause; what others get does not count.
func TestShare(t *testing.T) {
	n := Innocents{Flows: []bool{true, false, true}, Goodput: 500e6}
	flows := []verdict.FlowResult{{OverTime: []int64{200e6, 400e6}}, {OverTime: []int64{900e6, 900e6}}, {OverTime: []int64{200e6, 0}}}
	if got, ok := n.Share(flows); !ok || got != 0.8 {
		t.Errorf("a share of %g, %v; want 0.8", got, ok)
	}
	n.Goodput = 0
	if got, ok := n.Share(flows); ok {
		t.Errorf("a share of %g of nothing", got)
	}
}
