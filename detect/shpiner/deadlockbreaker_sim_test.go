package shpiner_test

import (
	"testing"

	"softswitch/detect"
	"softswitch/detect/shpiner"
	"softswitch/oracle"
	"softswitch/oracle/verdict"
	"softswitch/sim"
	"softswitch/sim/simtest"
	"softswitch/unit"
)

// systems are the ones of the paper, and none.
var systems = map[string]detect.Factory{
	"none": detect.NewNone, shpiner.LoopBreakerName: shpiner.NewLoopBreaker, shpiner.DeadlockBreakerName: shpiner.NewDeadlockBreaker,
}

// play simulates a scenario with a detector, or the first part of it unless duration is 0.
func play(t *testing.T, name, detector string, seed uint64, duration unit.Time) (*verdict.Verdict, *oracle.Result) {
	t.Helper()
	s := simtest.Shipped(t, name, detector)
	if duration > 0 {
		s.Duration = duration
	}
	return simtest.Run(t, s, sim.Options{Seed: seed, Detectors: systems})
}

// count is how often each action was taken.
func count(r *oracle.Result) (n map[detect.Action]int) {
	n = map[detect.Action]int{}
	for _, m := range r.Actions {
		n[m.Action]++
	}
	return n
}

const ms = unit.Millisecond

// loopFlows are those of a scenario that form its loop; the others press on it.
var loopFlows = map[string][]string{
	"shpiner-fig4": {"f11", "f23", "f12", "f22", "f22b"},
	"shpiner-fig6": {"loop1", "loop2", "loop3"},
}

// received are the frames of the loop's flows that came, by flow.
func received(v *verdict.Verdict) (n []int64) {
	for _, name := range loopFlows[v.Scenario] {
		for _, f := range v.Flows {
			if f.Name == name {
				n = append(n, f.Received)
			}
		}
	}
	return n
}

// Fig. 7(a): without a cure the flows of the loop drop to zero and stay there. The
// tree's deadlock is the loop of eight links that three flows close.
func TestWithoutItTheLoopStands(t *testing.T) {
	for name, links := range map[string]int{"shpiner-fig4": 4, "shpiner-fig6": 8} {
		early, _ := play(t, name, "none", 1, 2*ms)
		late, r := play(t, name, "none", 1, 10*ms)
		if !late.Deadlock || late.Recovered || late.Onset > 2*ms {
			t.Fatalf("%s: deadlock %v at %d us, recovered %v; want one within 2 ms that stays", name, late.Deadlock, late.Onset/unit.Microsecond, late.Recovered)
		}
		a, b := received(early), received(late)
		for i, flow := range loopFlows[name] {
			if b[i] > a[i] {
				t.Errorf("%s: %s got %d frames after 2 ms, want none", name, flow, b[i]-a[i])
			}
		}
		if len(r.Deadlocks) != 1 || len(r.Deadlocks[0].Queues) != links {
			t.Errorf("%s: deadlocks %+v, want one of %d queues", name, r.Deadlocks, links)
		}
		t.Logf("%s: locked at %d us; flows of the loop got %v frames and no more", name, late.Onset/unit.Microsecond, b)
	}
}

// Fig. 7(b): with it they make progress, from one lock to the next, and nothing is
// lost.
func TestProgress(t *testing.T) {
	for name := range loopFlows {
		for seed := range uint64(5) {
			none, _ := play(t, name, "none", seed, 10*ms)
			v, r := play(t, name, shpiner.DeadlockBreakerName, seed, 10*ms)
			if v.LosslessLost != 0 || v.ResponseDropped != 0 {
				t.Errorf("%s, seed %d: %d frames lost, %d dropped; want none", name, seed, v.LosslessLost, v.ResponseDropped)
			}
			before, after := received(none), received(v)
			for i, flow := range loopFlows[name] {
				if after[i] < 3*before[i] {
					t.Errorf("%s, seed %d: %s got %d frames, %d without it; want three times as many", name, seed, flow, after[i], before[i])
				}
			}
			if v.Recurrences == 0 {
				t.Errorf("%s, seed %d: the loop did not lock again, want progress to be temporary", name, seed)
			}
			n := count(r)
			t.Logf("%s, seed %d: locked at %d us, %d recurrences, %d detections (%d late or false); loop flows got %v frames, %v without it; %d extra thresholds, %d refusals",
				name, seed, v.Onset/unit.Microsecond, v.Recurrences, len(v.Detections), v.FalsePositives, after, before, n[detect.ActionExtra], len(r.Refusals))
		}
	}
}

// Whatever is restricted is freed, and extra thresholds end. The last release may be in
// force when the run ends.
func TestActionsEnd(t *testing.T) {
	_, r := play(t, "shpiner-fig4", shpiner.DeadlockBreakerName, 1, 10*ms)
	n := count(r)
	open := n[detect.ActionRestrict] - n[detect.ActionFree]
	if n[detect.ActionExtra] < 8 || n[detect.ActionExtra] != n[detect.ActionRestrict] || open < 0 || open > 4 ||
		n[detect.ActionExtra]-n[detect.ActionExtraOver] != open {
		t.Errorf("actions %v; want a restriction for each of 8 extra thresholds or more, and of both all but 4 ended", n)
	}
}
