package dataplane

import (
	"testing"

	"softswitch/detect"
)

// Each drop counts once, by what it means, with its flow; of flows beyond the bound, and of what
// is of no flow, together.
func TestFlowDrops(t *testing.T) {
	var d flowDrops
	for r := range Reasons {
		d.count(7, r)
	}
	unwanted := uint64(0)
	for r := range Reasons {
		if r.Fate() == Unwanted {
			unwanted++
		}
	}
	if want := (FlowDrops{Flow: 7, Lost: 10, Response: 1, Policed: 3, IncompleteARP: 1, Unwanted: unwanted}); len(d.flows) != 1 || d.flows[0] != want {
		t.Errorf("%+v, want %+v", d.flows, want)
	}
	for flow := range detect.FlowID(flowDropsMax + 2) {
		d.count(100+flow, DropTTL)
	}
	d.count(0, DropTTL)
	if n := len(d.flows); n != flowDropsMax || d.other.Lost != 4 { // 7 has one place
		t.Errorf("%d flows, others lost %d; want %d and 4", n, d.other.Lost, flowDropsMax)
	}
	if n := testing.AllocsPerRun(100, func() { d.count(7, DropTTL) }); n > 0 {
		t.Errorf("%.0f allocations for a drop of a known flow", n)
	}
}

// A frame that has no way on is lost with its priority, and the flow is told.
func TestLostWithoutAWay(t *testing.T) {
	s := newTestSwitch(t, 3, nil)
	s.link(1, false)
	s.receive(0, between(0, 1, 3, 1))
	s.wantDrop(0, DropNoPort)
	c := s.Counters(0)
	flows, _ := s.FlowDrops()
	if c.LosslessLost != 1 || c.LostBy[DropNoPort] != 1 || c.LostOf[3] != 1 || len(flows) != 1 || flows[0].Lost != 1 {
		t.Errorf("lost %d, by reason %d, of priority 3 %d, flows %+v; want 1, 1, 1 and one that lost 1", c.LosslessLost, c.LostBy[DropNoPort], c.LostOf[3], flows)
	}
}
