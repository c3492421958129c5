package ui

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"softswitch/detect"
	"softswitch/detect/itsy"
	"softswitch/internal/testkit"
	"softswitch/sim"
	"softswitch/unit"
)

// A deadlock that a response breaks within a millisecond is shown from its first instant to
// its last, and so is each step of the label that finds it.
func TestShortDeadlockIsShown(t *testing.T) {
	plan := planned(t, "fattree-on-loop.yaml")
	plan.Scenario.Detector, plan.Scenario.Response = "itsy", "drop+trigger"
	stream := new(Stream)
	v, err := Simulate(plan, sim.Options{Seed: 1, Detectors: map[string]detect.Factory{"itsy": itsy.New}}, stream)
	if err != nil {
		t.Fatal(err)
	}
	states := statesOf(t, stream)
	checkStates(t, states, v)
	first := slices.IndexFunc(states, func(s State) bool { return s.Deadlock != nil && !s.Deadlock.Over })
	if first < 0 {
		t.Fatal("no state shows the deadlock")
	}
	lasts := 0
	for lasts = first; states[lasts].Deadlock != nil && !states[lasts].Deadlock.Over; lasts++ {
	}
	if onset := ms(v.Onset); states[first].T != onset || !v.Recovered || v.Detections[0].Latency > unit.Millisecond {
		t.Errorf("first shown at %v ms, and the verdict has the onset at %v ms; recovered: %v", states[first].T, onset, v.Recovered)
	}
	onLoop, declared := map[int]float64{}, false // when a label went over a link of the loop
	for _, s := range states[first:lasts] {
		for _, l := range s.Labels {
			if slices.ContainsFunc(s.Deadlock.Core, func(q At) bool { return q.Dir == l.Dir }) {
				onLoop[l.Dir] = s.T
			}
		}
		declared = declared || s.Declared != nil && s.Declared.True
	}
	if times := slices.Compact(slices.Sorted(maps.Values(onLoop))); lasts-first < 10 || len(onLoop) < 4 || len(times) < 3 || !declared {
		t.Errorf("%d states show the deadlock, labels go over %d of its links at %v ms, declared: %v", lasts-first, len(onLoop), times, declared)
	}
}

// Of what moves that is chosen which is nearest to what is told; everything told is there
// as long as there is room.
func TestChoose(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for range 200 {
		const duration = 10 * unit.Millisecond
		times := func(n int) (all []unit.Time) {
			for range n {
				all = append(all, unit.Time(r.Int64N(int64(duration))))
			}
			slices.Sort(all)
			return all
		}
		told, moved := times(r.IntN(1000)), times(r.IntN(5000))
		other := map[unit.Time]bool{} // instants that are there for another reason
		for _, t := range told {
			other[t] = true
		}
		for i := range unit.Time(evenStates) {
			other[duration*(i+1)/evenStates] = true
		}
		at := choose(told, moved, duration)
		if len(at) > statesMax || len(at) < evenStates || !slices.IsSorted(at) || at[len(at)-1] != duration {
			t.Fatalf("%d instants of %d told and %d moved, the last %v", len(at), len(told), len(moved), at[len(at)-1])
		}
		has := func(t unit.Time) bool { _, ok := slices.BinarySearch(at, t); return ok }
		if len(told) <= (statesMax-evenStates)/2 && slices.ContainsFunc(told, func(t unit.Time) bool { return !has(t) }) {
			t.Error("something that is told has no state")
		}
		farthest, nearest := unit.Time(-1), unit.Never
		for _, m := range moved {
			if has(m) {
				if !other[m] {
					farthest = max(farthest, distance(told, m))
				}
			} else {
				nearest = min(nearest, distance(told, m))
			}
		}
		if farthest > nearest {
			t.Errorf("of what moved %d ns from what is told is left out, and %d ns chosen", nearest, farthest)
		}
	}
}
