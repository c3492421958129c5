package sim_test

import (
	"math/rand/v2"
	"testing"

	"softswitch/detect/catalog"
	"softswitch/internal/testkit"
	"softswitch/sim"
	"softswitch/sim/simtest"
	"softswitch/unit"
)

// Wires that lose data, repeat and reorder frames of any kind: no figure contradicts
// another, itsy declares what is true and nothing else, and two parts play what one does.
func TestImpairedWires(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 4))
	deadlocks, runs := 0, testkit.Sized[uint64](30, 150)
	for i := range runs {
		name := []string{"shpiner-fig4", "hu-fig4", "fattree-on-loop", "w8-chattering-trigger"}[r.IntN(4)]
		s := simtest.Shipped(t, name, "itsy")
		for l := range s.Links {
			f := &s.Links[l].Faults
			f.Delay = max(f.Delay, unit.Microsecond)
			f.Loss, f.Duplicate, f.Reorder = r.IntN(100), r.IntN(1000), r.IntN(1000)
		}
		v, _ := simtest.Run(t, s, sim.Options{Seed: i + 1, Detectors: catalog.Factories()})
		two, _ := simtest.Run(t, s, sim.Options{Seed: i + 1, Partitions: 2, Detectors: catalog.Factories()})
		switch {
		case v.Invalid != "":
			t.Errorf("seed %d: case %d, %s: %s", seed, i, name, v.Invalid)
		case v.FalsePositives+v.Premature+v.FalseNegatives > 0:
			t.Errorf("seed %d: case %d, %s: %d false, %d premature, %d missed", seed, i, name, v.FalsePositives, v.Premature, v.FalseNegatives)
		case v.Onset != two.Onset || v.PFC != two.PFC || v.LosslessLost != two.LosslessLost:
			t.Errorf("seed %d: case %d, %s: two parts play something else", seed, i, name)
		}
		if v.Deadlock {
			deadlocks++
		}
	}
	if deadlocks == 0 {
		t.Errorf("no deadlock in %d runs: the test proves little", runs)
	}
}
