package itsy

import (
	"testing"

	"softswitch/detect"
	"softswitch/unit"
)

// What needs somebody else to lock a loop is named together with what comes after it: hosts and
// flooded frames with the first of another type, several flows with those at another turn.
func TestTogether(t *testing.T) {
	const (
		host       = detect.CauseHost
		flooding   = detect.CauseFlooding
		contention = detect.CauseContention
		routing    = detect.CauseRouting
		several    = detect.CauseSeveral
	)
	for _, c := range []struct {
		types []detect.CauseType
		named int // together with the first, itself too
	}{
		{[]detect.CauseType{host}, 1},
		{[]detect.CauseType{host, contention, contention}, 2},
		{[]detect.CauseType{host, host, contention, contention}, 3},
		{[]detect.CauseType{host, flooding, routing, contention}, 3},
		{[]detect.CauseType{contention, host, contention}, 1},
		{[]detect.CauseType{contention, flooding, contention}, 1},
		{[]detect.CauseType{routing, contention}, 1},
		{[]detect.CauseType{several, several, contention, host}, 2},
		{[]detect.CauseType{several, contention}, 1},
	} {
		var all answers
		for _, kind := range c.types {
			all.add(detect.Cause{Type: kind})
		}
		for i, k := range all.causes[:all.n] {
			if want := i > 0 && i < c.named; k.Together != want {
				t.Errorf("%v: %d is together with the one before it: %v, want %v", c.types, i+1, k.Together, want)
			}
		}
	}
}

// In a ring each of whose turns several flows hold, none of which came last, no single one is
// the cause: the turn that most hold is named together with the one that fewest do.
func TestNoSingleCause(t *testing.T) {
	sc := newRing(t, 4, hop)
	for k := range unit.NodeID(4) {
		for n := range unit.NodeID(3) {
			sc.S[1+k].EnqueueFlow(b, p, detect.FlowID(10*(1+k)+n), 20*kilo)
		}
	}
	sc.S[2].EnqueueFlow(b, p, 23, 20*kilo)
	sc.S[3].EnqueueFlow(b, p, 33, 20*kilo)
	sc.S[3].EnqueueFlow(b, p, 34, 20*kilo)
	sc.S[4].EnqueueFlow(b, p, 43, 20*kilo)
	for k := range unit.NodeID(4) {
		sc.Close(2100*us, 4-k)
	}
	sc.To(4000 * us)
	sc.wantCause(detect.CauseSeveral, unit.NodePort{Node: 3, Port: p})
	all := sc.Diagnoses[0]
	if len(all) < 2 || all[1].Type != detect.CauseSeveral || all[1].At != (unit.NodePort{Node: 1, Port: p}) || !all[1].Together {
		t.Errorf("%+v; want the turn of S1 together with it", all)
	}
}
