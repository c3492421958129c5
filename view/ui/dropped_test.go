package ui

import (
	"slices"
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/detect/itsy"
	"softswitch/event"
	"softswitch/oracle"
	"softswitch/oracle/verdict"
	"softswitch/sim"
)

// TestDroppedOf holds what the page says that a cure costs, and whom, against the verdict.
func TestDroppedOf(t *testing.T) {
	costs, unnamed := 0, 0
	for _, file := range []string{"fattree-on-loop.yaml", "fattree-out-of-loop.yaml", "itsy-fig2.yaml", "itsy-fig5.yaml", "n1-two-triggers.yaml", "pause.yaml"} {
		for _, response := range []string{"none", "cure", "drop+trigger"} {
			plan := planned(t, file)
			plan.Scenario.Detector, plan.Scenario.Response = "itsy", response
			stream := new(Stream)
			v, err := Simulate(plan, sim.Options{Seed: 1, Detectors: map[string]detect.Factory{"itsy": itsy.New}}, stream)
			if err != nil {
				t.Fatal(err)
			}
			states := statesOf(t, stream)
			last := states[len(states)-1]
			got := map[string]verdict.DroppedOf{}
			for _, d := range last.DroppedOf {
				got[d.Flow] = d
				if !d.Named {
					unnamed++
				}
			}
			for _, want := range v.DroppedOf {
				if got[want.Flow] != want {
					t.Errorf("%s, %s: %+v, the verdict says %+v", file, response, got[want.Flow], want)
				}
			}
			if len(got) != len(v.DroppedOf) {
				t.Errorf("%s, %s: frames of %d flows dropped, the verdict says %d", file, response, len(got), len(v.DroppedOf))
			}
			if len(got) > 0 {
				costs++
			}
			if said := strings.Contains(last.Words, "Dropped on purpose: "); said != (len(got) > 0) {
				t.Errorf("%s, %s: the words tell of it: %v: %s", file, response, said, last.Words)
			}
			if !slices.IsSortedFunc(last.DroppedOf, func(a, b verdict.DroppedOf) int { return int(b.Frames - a.Frames) }) {
				t.Errorf("%s, %s: the flow with most is not the first: %+v", file, response, last.DroppedOf)
			}
		}
	}
	if costs < 3 || unnamed == 0 {
		t.Errorf("%d runs cost somebody frames, %d flows that no cause names: of too few to tell", costs, unnamed)
	}
}

func TestDroppedText(t *testing.T) {
	all := []verdict.DroppedOf{{Flow: "A", Named: false, Frames: 1500, Of: 3000}, {Flow: "B", Named: true, Frames: 20, Of: 200_000}, {Flow: "C", Named: true, Frames: 3, Of: 4}, {Flow: "D", Named: true, Frames: 2, Of: 4}, {Flow: "E", Named: true, Frames: 1, Of: 4}}
	const want = "Dropped on purpose: 1500 frames of flow A (50.0 %, which no cause names); 20 frames of flow B (<0.1 %); 3 frames of flow C (75.0 %); 2 frames of flow D (50.0 %); some of 1 more flows."
	if got := droppedText(all); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := droppedText(nil); got != "" {
		t.Errorf("of nobody: %s", got)
	}
}

// TestNamedByAnyDeclarer: what a switch names counts if its own declaration was true, whoever declared last.
func TestNamedByAnyDeclarer(t *testing.T) {
	s := newScript(t)
	loop := s.loop(s.ring()...)
	var flow detect.FlowID
	for id := range s.m.w.flows {
		flow = max(flow, id)
	}
	says := func(q oracle.Queue, typ event.Type) {
		b, _ := s.m.w.fabric.Down(loop[0])
		e := event.Event{Type: typ, Port: b.Port, Priority: 3, Out: q.Port, OutPriority: 3, OnLoop: true}
		if typ == event.Cause {
			e.Cause, e.Rank, e.Confidence, e.Trigger, e.In, e.Flow = detect.CauseContention, 1, 70, q.NodePort, b.Port, flow
		}
		s.add(q.Node, e)
	}
	says(loop[0], event.Deadlock) // false: nothing waits yet
	says(loop[0], event.Cause)
	if s.m.namedFlows[flow] {
		t.Error("what a false declaration names counts as named")
	}
	for i, q := range loop {
		s.block(q, loop[(i+1)%len(loop)])
	}
	says(loop[0], event.Deadlock)
	says(loop[1], event.Deadlock)
	says(loop[0], event.Cause)
	if !s.m.namedFlows[flow] {
		t.Error("what the first of two true declarers names does not count as named")
	}
}
