package changed

import (
	"slices"
	"strings"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/sim/simtest"
	"softswitch/unit"
)

// seeded plays a scenario with seed 1, or in make long with so many, and asks of each verdict.
func seeded(t *testing.T, s *scenario.Scenario, seeds uint64, ask func(seed uint64, v *verdict.Verdict)) {
	t.Helper()
	for seed := uint64(1); seed <= testkit.Sized(1, seeds); seed++ {
		v, _ := simtest.Run(t, s, sim.Options{Seed: seed, Detectors: detectors})
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
		s := simtest.Shipped(t, name, "none")
		s.Flows = slices.DeleteFunc(s.Flows, func(f scenario.Flow) bool { return strings.HasPrefix(f.Name, "burst") })
		seeded(t, s, 3, func(seed uint64, v *verdict.Verdict) {
			if v.Deadlock {
				t.Errorf("%s, seed %d: a deadlock without bursts", name, seed)
			}
		})
	}
}

// One failed link, or none, does not stop an all-reduce. Two do. In make test it is one of
// half the size, with one failure and with two.
func TestAllReduce(t *testing.T) {
	text := simtest.Text(t, "rdma/allreduce-failures")
	text = strings.ReplaceAll(text, "size: 8000000", testkit.Sized("size: 4000000", "size: 8000000"))
	for failures := testkit.Sized(1, 0); failures <= 2; failures++ {
		s := simtest.Parse(t, "allreduce.yaml", text, "none")
		s.Events = s.Events[:failures]
		seeded(t, s, 3, func(seed uint64, v *verdict.Verdict) {
			done := v.Completion.All.Done
			if locks := failures == 2; v.Deadlock != locks || !locks && done != len(s.Flows) || locks && done > 0 {
				t.Errorf("%d failures, seed %d: deadlock %t, %d of %d messages arrived", failures, seed, v.Deadlock, done, len(s.Flows))
			}
		})
	}
}

// The cycle of the storm carries what it has to: it takes the incasts.
func TestStorm(t *testing.T) {
	s := simtest.Shipped(t, "rdma/bmwg-storm", "none")
	s.Flows = slices.DeleteFunc(s.Flows, func(f scenario.Flow) bool { return strings.HasPrefix(f.Name, "storm") })
	if len(s.Flows) != 2 {
		t.Fatalf("%d flows", len(s.Flows))
	}
	s.Duration = testkit.Sized(60*unit.Millisecond, s.Duration) // six incasts; the first locks it
	seeded(t, s, 3, func(seed uint64, v *verdict.Verdict) {
		if v.Deadlock {
			t.Errorf("seed %d: a deadlock without a storm", seed)
		}
	})
}

// unbounced is sonic-dualtor without its routes.
func unbounced(t *testing.T) *scenario.Scenario {
	t.Helper()
	text := simtest.Text(t, "rdma/sonic-dualtor")
	before, after, _ := strings.Cut(text, "routes:\n")
	_, after, ok := strings.Cut(after, "flows:\n")
	if !ok {
		t.Fatal("no routes before the flows")
	}
	return simtest.Parse(t, "unbounced.yaml", before+"flows:\n"+after, "none")
}
