package oracle

import (
	"testing"

	"softswitch/detect"
	"softswitch/event"
	"softswitch/unit"
)

// A diagnosis is put together again from its lines in a log: two causes, the first with
// three flows.
func TestDiagnosis(t *testing.T) {
	f := ring4(t)
	r := NewReplay(f)
	cause := func(rank uint8, kind detect.CauseType, flow detect.FlowID) {
		t.Helper()
		e := event.Event{At: 5, Type: event.Cause, Port: 0, Out: 0, Priority: 3, OutPriority: 3, Cause: kind, Rank: rank, Confidence: 70, Trigger: unit.NodePort{Node: 1}, Flow: flow}
		if err := r.Add(Entry{Node: 1, Event: &e}); err != nil {
			t.Fatal(err)
		}
	}
	for _, flow := range []detect.FlowID{9, 7, 8} {
		cause(1, detect.CauseContention, flow)
	}
	cause(2, detect.CauseHost, 0)
	cause(1, detect.CauseSeveral, 4) // another diagnosis
	all := r.Finish(10, 0).Diagnoses
	if len(all) != 2 || len(all[0].Causes) != 2 || len(all[1].Causes) != 1 {
		t.Fatalf("diagnoses %+v, want one of two causes and one of one", all)
	}
	first := all[0].Causes[0]
	if first.Type != detect.CauseContention || first.Confidence != 70 || first.Flows != [detect.CauseFlowsMax]detect.FlowID{9, 7, 8} {
		t.Errorf("first cause %+v, want contention by flows 9, 7, 8", first)
	}
	if second := all[0].Causes[1]; second.Type != detect.CauseHost || second.Flows[0] != 0 {
		t.Errorf("second cause %+v, want a host, no flows", second)
	}
}
