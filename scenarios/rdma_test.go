package scenarios_test

import (
	"slices"
	"strings"
	"testing"

	"softswitch/internal/testlong"
	"softswitch/internal/testsim"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/sim"
)

// seeded plays a scenario with seed 1, or in make long with so many, and asks of each verdict.
func seeded(t *testing.T, s *scenario.Scenario, seeds uint64, ask func(seed uint64, v *verdict.Verdict)) {
	t.Helper()
	for seed := uint64(1); seed <= testlong.Of(1, seeds); seed++ {
		v, _ := testsim.Run(t, s, sim.Options{Seed: seed, Detectors: detectors})
		ask(seed, v)
	}
}

// The dual-ToR loop takes the bounce, by the two routes that pin it.
func TestDualToR(t *testing.T) {
	seeded(t, unbounced(t), 5, func(seed uint64, v *verdict.Verdict) {
		if v.Deadlock {
			t.Errorf("seed %d: a deadlock without a bounce", seed)
		}
	})
}

// Hawkeye's loop carries what it has to: it takes the bursts, in the loop or out of it.
func TestHawkeye(t *testing.T) {
	for _, name := range []string{"rdma/hawkeye-inloop", "rdma/hawkeye-outofloop"} {
		s := testsim.Shipped(t, name, "none")
		s.Flows = slices.DeleteFunc(s.Flows, func(f scenario.Flow) bool { return strings.HasPrefix(f.Name, "burst") })
		seeded(t, s, 3, func(seed uint64, v *verdict.Verdict) {
			if v.Deadlock {
				t.Errorf("%s, seed %d: a deadlock without bursts", name, seed)
			}
		})
	}
}

// One failed link, or none, does not stop an all-reduce. Two do.
func TestAllReduce(t *testing.T) {
	both := testsim.Shipped(t, "rdma/allreduce-failures", "none").Events
	for failures := range len(both) {
		s := testsim.Shipped(t, "rdma/allreduce-failures", "none")
		s.Events = both[:failures]
		seeded(t, s, 3, func(seed uint64, v *verdict.Verdict) {
			done := v.Completion.All.Done
			if v.Deadlock || done != len(s.Flows) {
				t.Errorf("%d failures, seed %d: deadlock %t, %d of %d messages arrived", failures, seed, v.Deadlock, done, len(s.Flows))
			}
		})
	}
}

// The cycle of the storm carries what it has to: it takes the incasts.
func TestStorm(t *testing.T) {
	s := testsim.Shipped(t, "rdma/bmwg-storm", "none")
	s.Flows = slices.DeleteFunc(s.Flows, func(f scenario.Flow) bool { return strings.HasPrefix(f.Name, "storm") })
	if len(s.Flows) != 2 {
		t.Fatalf("%d flows", len(s.Flows))
	}
	seeded(t, s, 3, func(seed uint64, v *verdict.Verdict) {
		if v.Deadlock {
			t.Errorf("seed %d: a deadlock without a storm", seed)
		}
	})
}

// unbounced is sonic-dualtor without its routes.
func unbounced(t *testing.T) *scenario.Scenario {
	t.Helper()
	text := testsim.Text(t, "rdma/sonic-dualtor")
	before, after, _ := strings.Cut(text, "routes:\n")
	_, after, ok := strings.Cut(after, "flows:\n")
	if !ok {
		t.Fatal("no routes before the flows")
	}
	return testsim.Parse(t, "unbounced.yaml", before+"flows:\n"+after, "none")
}
