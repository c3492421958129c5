package host

import (
	"net/netip"
	"slices"
	"testing"

	"softswitch/buffer"
	"softswitch/event"
	"softswitch/internal/ether"
	"softswitch/unit"
)

// several is a host with two NICs, whose frames are counted by NIC.
type several struct {
	*Host
	t   *testing.T
	now unit.Time
	out [2]int // frames of flows that left
	log []event.Event
}

// newSeveral makes a host with two NICs, which differ in nothing but their addresses, and starts it with
// both links up.
func newSeveral(t *testing.T, second netip.Addr, c Config) *several {
	t.Helper()
	other := c.NIC
	other.Address = second
	return newDiffering(t, other, c)
}

// newDiffering makes a host with a second NIC, and starts it with both links up.
func newDiffering(t *testing.T, second NIC, c Config) *several {
	t.Helper()
	c.More = []NIC{second}
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	h := &several{Host: m, t: t, now: unit.Second}
	h.SetLink(h.now, 0, true)
	h.SetLink(h.now, 1, true)
	h.Start(h.now)
	t.Cleanup(func() {
		if free, all := m.pool.Free(), m.pool.Slots(); free != all {
			t.Errorf("%d of %d slots are free at the end", free, all)
		}
	})
	return h
}

// run lets d pass, in steps of a microsecond.
func (h *several) run(d unit.Time) {
	fs := make([]*buffer.Frame, 8)
	for end := h.now + d; h.now < end; h.now += us {
		for p := range unit.Port(2) {
			n, _ := h.Transmit(h.now, p, fs)
			for _, f := range fs[:n] {
				if ether.IPv4(f.Data[ether.HeaderLen:]).Proto() == ether.ProtoUDP {
					h.out[p]++
				}
			}
			h.Sent(h.now, p, fs[:n])
		}
		_, h.log = h.Work(h.log)
	}
}

func (h *several) receive(p unit.Port, frame []byte) {
	fs := make([]*buffer.Frame, 1)
	h.Lend(p, fs)
	fs[0].Data = append(fs[0].Data[:0], frame...)
	fs[0].Len = len(frame)
	h.Parse(fs[0])
	h.Receive(h.now, p, fs)
}

// TestFailover: a flow of a host with one address leaves by one NIC, by the other one while the link of that
// is down, and by its own again.
func TestFailover(t *testing.T) {
	f := flow(1, 3, 10*mbit)
	f.NIC = unit.NoPort
	h := newSeveral(t, ownIP, testConfig(f))
	first := h.flows[0].nic
	other := 1 - first
	h.run(10 * ms)
	if h.out[first] == 0 || h.out[other] != 0 {
		t.Fatalf("%v frames left, want all by NIC %d", h.out, first)
	}
	before := h.out
	h.SetLink(h.now, first, false)
	h.run(10 * ms)
	if h.out[first] != before[first] || h.out[other] < before[first]-1 {
		t.Errorf("%v frames left, %v of them before the link went down", h.out, before)
	}
	before = h.out
	h.SetLink(h.now, first, true)
	h.run(10 * ms)
	if h.out[other] != before[other] || h.out[first] == before[first] {
		t.Errorf("%v frames left, %v of them before the link came up again", h.out, before)
	}
	if s := h.Senders()[0]; s.Moves != 2 || s.NIC != first {
		t.Errorf("%d moves, the last to NIC %d; want 2, to %d", s.Moves, s.NIC, first)
	}
	if n := h.NICs()[first].Counters.LinkDown; n != 1 || h.Counters().LinkDown != 1 {
		t.Errorf("NIC %d went down %d times, the host %d times", first, n, h.Counters().LinkDown)
	}
}

// TestTurnsOfNICs: flows take turns at the NIC by which they leave, whatever others do at another one.
func TestTurnsOfNICs(t *testing.T) {
	var flows []Flow
	for i, nic := range []unit.Port{0, 1, 1, 0, 1, 1} {
		f := flow(uint32(i), 3, 0)
		f.NIC = nic
		flows = append(flows, f)
	}
	h := newSeveral(t, netip.MustParseAddr("10.0.1.1"), testConfig(flows...))
	h.run(20 * ms)
	least, most := map[unit.Port]uint64{}, map[unit.Port]uint64{}
	for _, s := range h.Senders() {
		if n, ok := least[s.NIC]; !ok || s.Frames < n {
			least[s.NIC] = s.Frames
		}
		most[s.NIC] = max(most[s.NIC], s.Frames)
	}
	for nic := range most {
		if most[nic] == 0 || most[nic]-least[nic] > 1 {
			t.Errorf("flows of NIC %d sent %d to %d frames; want turns", nic, least[nic], most[nic])
		}
	}
}

// TestPauseOfOneNIC: a pause stops the flows of the NIC that gets it, and the log says which one that is.
func TestPauseOfOneNIC(t *testing.T) {
	a, b := flow(1, 3, 10*mbit), flow(2, 3, 10*mbit)
	b.NIC = 1
	h := newSeveral(t, netip.MustParseAddr("10.0.1.1"), testConfig(a, b))
	h.receive(1, pfc(3, 65535))
	h.run(10 * ms)
	if h.out[0] == 0 || h.out[1] != 0 {
		t.Errorf("%v frames left, want some by NIC 0 alone", h.out)
	}
	nics := h.NICs()
	if nics[0].Counters.RxPause[3] != 0 || nics[1].Counters.RxPause[3] != 1 || h.Counters().RxPause[3] != 1 {
		t.Errorf("pauses by NIC: %d, %d; of the host %d", nics[0].Counters.RxPause[3], nics[1].Counters.RxPause[3], h.Counters().RxPause[3])
	}
	for _, e := range h.log {
		if e.Type == event.Paused && e.Out != 1 {
			t.Errorf("the log has a pause at port %d", e.Out)
		}
	}
	before := h.out
	h.receive(1, pfc(3, 0))
	h.run(10 * ms)
	if h.out[1] == before[1] {
		t.Error("NIC 1 sends nothing after its resume")
	}
}

// TestSlowNICs: the receive buffer of each NIC fills by itself, and pauses its own link.
func TestSlowNICs(t *testing.T) {
	h := newSeveral(t, ownIP, testConfig())
	h.Do(h.now, Act{Do: Slow, NIC: unit.NoPort, Rate: mbit})
	for i := range uint64(13) {
		h.receive(1, arrival(3, 5, i, 1000))
	}
	h.run(ms)
	nics := h.NICs()
	if nics[0].Counters.TxPause[3] != 0 || nics[1].Counters.TxPause[3] != 1 {
		t.Errorf("NIC 0 paused %d times, NIC 1 %d times; want NIC 1 alone, once", nics[0].Counters.TxPause[3], nics[1].Counters.TxPause[3])
	}
	if r := h.Receivers()[0]; r.Frames != 13 || nics[1].RxFrames != 13 {
		t.Errorf("%d frames came, %d by NIC 1; want 13", r.Frames, nics[1].RxFrames)
	}
}

// TestMisbehavingNIC: an act of one NIC changes nothing at the other one, and the log says at which it is.
func TestMisbehavingNIC(t *testing.T) {
	h := newSeveral(t, ownIP, testConfig())
	h.log = nil
	h.Do(h.now, Act{Do: Slow, NIC: 0, Rate: mbit})
	h.Do(h.now, Act{Do: Storm, NIC: 1, Priority: 4})
	for i := range uint64(13) {
		h.receive(1, arrival(3, 5, i, 1000)) // by the one that is not slow
	}
	h.run(ms)
	h.wantPauses(3, 0, 0)
	h.wantPauses(4, 0, 1)
	for i := range uint64(13) {
		h.receive(0, arrival(3, 5, 13+i, 1000))
	}
	h.run(ms)
	h.wantPauses(3, 1, 0)
	h.Do(h.now, Act{Do: Normal, NIC: 0})
	h.run(ms)
	h.wantBehaviour(event.HostSlow, 0, event.HostStorm, 1, event.HostSlowOver, 0)
	h.Do(h.now, Act{Do: Normal, NIC: unit.NoPort})
	h.run(ms)
	h.wantBehaviour(event.HostSlow, 0, event.HostStorm, 1, event.HostSlowOver, 0, event.HostStormOver, 1)
	if n := h.NICs()[1].Counters.TxResume[4]; n != 1 {
		t.Errorf("NIC 1 resumed %d times after its storm, want once", n)
	}
}

// TestPFCOfANIC: each NIC pauses, and honours, its own priorities in its own way; a storm of the host is one
// of the NICs that pause.
func TestPFCOfANIC(t *testing.T) {
	c := testConfig()
	silent := c.NIC
	silent.Lossless, silent.PFCTxOff = 1<<5, true
	h := newDiffering(t, silent, c)
	for p := range unit.Port(2) {
		for _, priority := range []unit.Priority{3, 5} {
			h.receive(p, pfc(priority, 65535))
		}
	}
	nics := h.NICs()
	for p, want := range []unit.Priority{3, 5} {
		if k := &nics[p].Counters; k.RxPause[want] != 1 || k.RxPause[8-want] != 0 {
			t.Errorf("NIC %d honoured pauses %v, want one of priority %d and no other", p, k.RxPause, want)
		}
	}
	h.Do(h.now, Act{Do: Slow, NIC: unit.NoPort, Rate: mbit})
	h.Do(h.now, Act{Do: Storm, NIC: unit.NoPort, Priority: 5})
	for i := range uint64(13) {
		h.receive(1, arrival(5, 5, i, 1000))
	}
	h.run(ms)
	h.wantPauses(5, 0, 0)
	h.Do(h.now, Act{Do: Storm, NIC: unit.NoPort, Priority: 3})
	h.run(ms)
	h.wantPauses(3, 1, 0)
}

// wantPauses checks how often each NIC paused a priority.
func (h *several) wantPauses(c unit.Priority, want ...uint64) {
	h.t.Helper()
	for p, n := range h.NICs() {
		if got := n.Counters.TxPause[c]; got != want[p] {
			h.t.Errorf("NIC %d paused priority %d %d times, want %d", p, c, got, want[p])
		}
	}
}

// wantBehaviour checks what the log says of how NICs behave: pairs of a type and a NIC.
func (h *several) wantBehaviour(want ...any) {
	h.t.Helper()
	var got []any
	for _, e := range h.log {
		switch e.Type {
		case event.HostSlow, event.HostSlowOver, event.HostStorm, event.HostStormOver:
			got = append(got, e.Type, int(e.Port))
		}
	}
	if !slices.Equal(got, want) {
		h.t.Errorf("%v, want %v", got, want)
	}
}

// TestNICOfFlow: a flow names a NIC that there is, or none if all have one address.
func TestNICOfFlow(t *testing.T) {
	for _, c := range []struct {
		nic    unit.Port
		second string
		ok     bool
	}{{0, "10.0.0.1", true}, {1, "10.0.1.1", true}, {2, "10.0.0.1", false}, {unit.NoPort, "10.0.0.1", true}, {unit.NoPort, "10.0.1.1", false}} {
		f := flow(1, 3, mbit)
		f.NIC = c.nic
		cfg := testConfig(f)
		cfg.More = []NIC{{Address: netip.MustParseAddr(c.second)}}
		if _, err := New(cfg); (err == nil) != c.ok {
			t.Errorf("NIC %d with a second address %s: %v", c.nic, c.second, err)
		}
	}
}
