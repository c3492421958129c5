package host

import (
	"testing"

	"softswitch/event"
	"softswitch/link/lldp"
	"softswitch/unit"
)

// TestLLDP: a host says who it is while its flows send, hears the switch, and says where they
// disagree; without the key both are nothing to it.
func TestLLDP(t *testing.T) {
	c := testConfig(flow(0, 3, 100*mbit))
	c.LLDP, c.NIC.Name = unit.Second, "eth0"
	h := newTestHost(t, c)
	h.take()
	h.Start(h.now)
	from := lldp.Config{Interval: unit.Second, System: "s1", Port: "to-h9", Chassis: gatewayMAC, MAC: gatewayMAC, DCBX: lldp.DCBX{PFC: lldp.NewPFC(1 << 3)}}
	frame := lldp.New(from).Append(0, nil)
	h.receive(frame)
	h.run(3500 * ms)
	said, flows := 0, 0
	for _, d := range h.take() {
		if lldp.Is(d.data) {
			said++
			continue
		}
		flows++
	}
	if said != 4 || flows < 1000 { // those to the new neighbour, after the one as the link came up
		t.Errorf("%d frames of LLDP and %d others", said, flows)
	}
	for _, want := range []event.Type{event.NeighbourLearned, event.DCBXMismatch} {
		if n := len(h.events(want, 0)); n != 1 {
			t.Errorf("%d events %v", n, want)
		}
	}
	if n := h.LLDP(0).Neighbours(); len(n) != 1 || n[0].System != "s1" || n[0].Port != "to-h9" {
		t.Errorf("neighbours %+v", n)
	}
	h.run(2 * unit.Second) // it said 5 s
	if n := len(h.events(event.NeighbourGone, 0)); n != 1 {
		t.Errorf("%d neighbours are gone", n)
	}
	h.receive(frame[:30])
	h.Stop()
	if h.Counters().Bad != 1 || h.Counters().Other != 0 {
		t.Errorf("%+v", h.Counters())
	}
	silent := newTestHost(t, testConfig())
	silent.receive(frame)
	silent.run(unit.Second)
	if len(silent.take()) > 0 || silent.Counters().Other != 1 || silent.LLDP(0) != nil {
		t.Error("a host without LLDP speaks it")
	}
}
