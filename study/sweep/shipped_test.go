package sweep

import (
	"strings"
	"testing"

	"softswitch/detect/catalog"
	"softswitch/internal/strictyaml"
	"softswitch/internal/testkit"
	"softswitch/oracle/verdict"
	"softswitch/scenario/load"
	"softswitch/scenarios"
	"softswitch/sim"
)

// TestDrawsNothing: what is said to draw nothing has the same verdict with every seed: all scenarios that come
// with softswitch, without the jitter of their links.
func TestDrawsNothing(t *testing.T) {
	still := 0
	for _, name := range scenarios.Offered() {
		data, err := scenarios.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		without := load.Instead{Set: []strictyaml.Setting{{Path: "topology.jitter"}}}
		p, err := load.Plan(name, data, without)
		if err != nil {
			t.Fatal(err)
		}
		if p.Scenario.Draws() || sim.Refuse(p) != nil {
			continue
		}
		still++
		var first *verdict.Verdict
		for _, seed := range testkit.Sized([]uint64{1, 2}, []uint64{1, 2, 3, 4, 1 << 40}) {
			v, err := sim.Play(p, sim.Options{Seed: seed, Detectors: catalog.Factories()})
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = v
			} else if !v.Same(first) {
				t.Errorf("%s draws nothing, and the verdicts of the seeds 1 and %d differ", name, seed)
			}
		}
	}
	if all := len(scenarios.Offered()); still < all/2 {
		t.Errorf("%d of %d scenarios draw nothing without the jitter of their links; want most", still, all)
	}
}

// TestDraws: each thing that a simulation draws is known.
func TestDraws(t *testing.T) {
	for key, values := range map[string][2]string{
		"topology.jitter":                 {"", "1us"},
		"topology.loss":                   {"0%", "1%"},
		"topology.duplicate":              {"0%", "1%"},
		"topology.control_loss_per_mille": {"0", "1"},
		"topology.overrides":              {"", "[{link: s1--s2, delay: 1us, reorder: 1%}]"},
		"auth":                            {"off", "accept"},
		"congestion":                      {"{control: timely}", "{}"},
		"flows[0].start":                  {"20us", "20us±10us"},
	} {
		for i, value := range values {
			set := []strictyaml.Setting{{Path: key, Text: value}}
			p, err := load.Plan("ring.yaml", []byte(strings.Replace(ring, ", jitter: 3us", "", 1)), load.Instead{Set: set})
			if err != nil {
				t.Fatal(err)
			}
			if draws := p.Scenario.Draws(); draws != (i == 1) {
				t.Errorf("%s=%s draws: %v", key, value, draws)
			}
		}
	}
}
