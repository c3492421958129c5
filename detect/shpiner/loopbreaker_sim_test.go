package shpiner_test

import (
	"slices"
	"testing"

	"softswitch/detect"
	"softswitch/detect/shpiner"
	"softswitch/oracle"
	"softswitch/oracle/verdict"
	"softswitch/unit"
)

// masters are the switches that rerouted flows, and pushed is what they let out in
// spite of pauses, in bytes at most.
func masters(r *oracle.Result) (all []unit.NodeID, pushed int) {
	for _, m := range r.Actions {
		switch {
		case m.Action == detect.ActionForce:
			pushed += m.Amount
		case m.Action == detect.ActionAvoid && !slices.Contains(all, m.PG.Node):
			all = append(all, m.PG.Node)
		}
	}
	return all, pushed
}

// starved are the flows that got less than a fortieth of a 40 Gbit/s link.
func starved(v *verdict.Verdict) (names []string) {
	for _, f := range v.Flows {
		if f.Throughput < 40e9/40 {
			names = append(names, f.Name)
		}
	}
	return names
}

// The ring of Fig. 4 with alternatives is resolved by one master, and all flows go on.
// The paper's simulation locks at 80 us and is resolved at 120 us.
func TestRing(t *testing.T) {
	for seed := range uint64(10) {
		v, r := play(t, "shpiner-fig4-ecmp", shpiner.LoopBreakerName, seed, 0)
		all, pushed := masters(r)
		if !v.Deadlock || !v.Recovered || v.Recurrences != 0 || len(all) != 1 || len(v.Detections) != 1 || !v.Detections[0].TruePositive {
			t.Errorf("seed %d: deadlock %v, recovered %v, %d recurrences, masters %v, detections %+v; want one deadlock, resolved by one master",
				seed, v.Deadlock, v.Recovered, v.Recurrences, all, v.Detections)
			continue
		}
		if names := starved(v); len(names) > 0 || v.LosslessLost > 0 {
			t.Errorf("seed %d: flows %v stand, %d frames lost; want none", seed, names, v.LosslessLost)
		}
		t.Logf("seed %d: locked at %d us; %s is master %d us later, resolved after %d us, up to %d bytes pushed, %d messages",
			seed, v.Onset/unit.Microsecond, v.Detections[0].Switch, v.Detections[0].Latency/unit.Microsecond, v.Recovery/unit.Microsecond, pushed, v.ControlMessages)
	}
}

// Without Loop Breaker the same ring locks for good.
func TestRingStaysLocked(t *testing.T) {
	v, _ := play(t, "shpiner-fig4-ecmp", "none", 1, 0)
	if names := starved(v); !v.Deadlock || v.Recovered || len(names) != 5 {
		t.Errorf("deadlock %v, recovered %v, flows %v stand; want a deadlock that stays and stops all five", v.Deadlock, v.Recovered, names)
	}
}

// A ring in which no flow has another path is beyond it: nobody originates a message,
// and each switch says why.
func TestRingWithoutAlternatives(t *testing.T) {
	v, r := play(t, "shpiner-fig4", shpiner.LoopBreakerName, 1, 0)
	if !v.Deadlock || v.Recovered || v.ControlMessages != 0 || len(r.Actions) != 0 {
		t.Errorf("deadlock %v, recovered %v, %d messages, actions %+v; want a deadlock that stays, and silence", v.Deadlock, v.Recovered, v.ControlMessages, r.Actions)
	}
	for _, f := range r.Refusals {
		if f.Why != detect.RefusedNoAlternative {
			t.Errorf("refused: %v, want only for want of an alternative", f.Why)
		}
	}
	if len(r.Refusals) != 4 {
		t.Errorf("%d refusals, want one of each switch", len(r.Refusals))
	}
}

// On the mis-wired fat-tree of Fig. 6 the uplinks of the loop have alternatives.
// What is pushed in spite of the pause finds no room at times.
func TestFatTree(t *testing.T) {
	const frame = 1000
	lost := 0
	for seed := range uint64(5) {
		v, r := play(t, "shpiner-fig6", shpiner.LoopBreakerName, seed, 0)
		all, pushed := masters(r)
		t.Logf("seed %d: deadlock %v, resolved %v after %d us, masters %d, detections %d, up to %d bytes pushed, %d lost, %d recurrences",
			seed, v.Deadlock, v.Recovered, v.Recovery/unit.Microsecond, len(all), len(v.Detections), pushed, v.LosslessLost, v.Recurrences)
		if v.Deadlock && (!v.Recovered || len(all) == 0) {
			t.Errorf("seed %d: recovered %v by masters %v, want it resolved", seed, v.Recovered, all)
		}
		if v.LosslessLost*frame > pushed {
			t.Errorf("seed %d: %d frames of %d bytes lost, want no more than the %d bytes that were pushed", seed, v.LosslessLost, frame, pushed)
		}
		lost += v.LosslessLost
	}
	if lost == 0 {
		t.Error("nothing was lost in any run: what is pushed into a full buffer is to be counted as lost")
	}
}
