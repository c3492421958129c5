package dataplane

import (
	"slices"
	"testing"

	"softswitch/event"
	"softswitch/link/lldp"
	"softswitch/unit"
)

// speaks lets a switch speak LLDP.
func speaks(c *Config) { c.LLDP.Interval = unit.Second }

// newSpeaker is newTestSwitch with LLDP, whose links are down at the end: it comes to rest then.
func newSpeaker(t *testing.T, n int, rate unit.Rate) *testSwitch {
	s := newTestSwitch(t, n, func(c *Config) {
		speaks(c)
		for i := range c.Ports {
			c.Ports[i].Rate = rate
		}
	})
	t.Cleanup(func() {
		for p := range unit.Port(n) {
			s.link(p, false)
		}
	})
	return s
}

// neighbour is a frame of a far end with these lossless priorities.
func neighbour(name string, lossless unit.PrioritySet) []byte {
	c := lldp.Config{Interval: unit.Second, System: name, Port: "eth0", Chassis: stationMAC(0), MAC: stationMAC(0)}
	c.DCBX.PFC = lldp.NewPFC(lossless)
	return lldp.New(c).Append(0, nil)
}

// lldpEvents are the types of events about LLDP since the last call, and takes all events away.
func (s *testSwitch) lldpEvents() (types []event.Type) {
	for _, e := range s.log {
		if e.Type >= event.NeighbourLearned {
			types = append(types, e.Type)
		}
	}
	s.log = nil
	return types
}

// TestLLDPLeaves: each port says who it is as soon as its link is up, and again after the interval,
// whatever pauses are in force; without the key it says nothing.
func TestLLDPLeaves(t *testing.T) {
	s := newSpeaker(t, 2, 0)
	s.receive(1, pauseOf(3, 65535, 1))
	for p := range unit.Port(2) {
		got := s.transmit(p, 1)
		if len(got) != 1 || !lldp.Is(got[0]) {
			t.Fatalf("port %d sends %s", p, frameText(got))
		}
		if s.next > s.now+unit.Second {
			t.Errorf("port %d: next at %v", p, s.next)
		}
		s.wantNothing(p)
	}
	s.advance(unit.Second)
	if got := s.transmit(0, 1); len(got) != 1 || !lldp.Is(got[0]) {
		t.Errorf("after the interval: %s", frameText(got))
	}
	silent := newTestSwitch(t, 2, nil)
	silent.wantNothing(0, 1)
	silent.receive(0, neighbour("s2", 1<<3))
	silent.wantDrop(0, DropReservedGroup)
}

// TestLLDPHears: a port learns its far end, tells a mismatch and its end, forwards none of it, and
// forgets it in time or with the link.
func TestLLDPHears(t *testing.T) {
	s := newSpeaker(t, 2, 0)
	s.drain(0)
	s.drain(1)
	s.receive(0, neighbour("s2", 1<<3|1<<4))
	s.receive(0, neighbour("s2", 1<<3))
	s.receive(0, neighbour("s2", 1<<3|1<<4))
	s.wantNoDrops()
	s.wantNothing(1)
	want := []event.Type{event.NeighbourLearned, event.DCBXMismatch, event.DCBXAgreed}
	if got := s.lldpEvents(); !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
	s.advance(5*unit.Second - 1) // it says 5 s
	s.drain(0)
	if got := s.lldpEvents(); len(got) > 0 {
		t.Errorf("too early: %v", got)
	}
	if s.next != s.now+1 {
		t.Errorf("next at %v, want %v", s.next, s.now+1)
	}
	s.advance(1)
	s.drain(0)
	if got := s.lldpEvents(); !slices.Equal(got, []event.Type{event.NeighbourGone}) {
		t.Errorf("events %v", got)
	}
	s.receive(0, neighbour("s2", 1<<3))
	s.link(0, false)
	want = []event.Type{event.NeighbourLearned, event.DCBXMismatch, event.NeighbourGone, event.DCBXAgreed}
	if got := s.lldpEvents(); !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
}

// TestLLDPRefused: what is malformed, or one too many, is counted by its reason and changes nothing.
func TestLLDPRefused(t *testing.T) {
	s := newSpeaker(t, 1, 0)
	s.drain(0)
	s.receive(0, neighbour("s2", 1<<3)[:40])
	s.wantDrop(0, DropLLDP)
	for i := range unit.MAC(lldp.NeighboursMax + 1) {
		c := lldp.Config{Interval: unit.Second, System: "s2", Port: "eth0", Chassis: stationMAC(0) + 1 + i}
		s.receive(0, lldp.New(c).Append(0, nil))
	}
	s.wantDrop(0, DropLLDPNeighbours)
	for range 100 {
		s.receive(0, neighbour("s2", 1<<3))
	}
	if n := s.Counters(0).Drops[DropControlBudget]; n < 80 {
		t.Errorf("%d of a flood of 100 are refused", n)
	}
	s.drain(0)
}

// TestLLDPWaitsForTheWire: a frame takes its time on the wire, and waits behind the frame that is
// leaving, like data.
func TestLLDPWaitsForTheWire(t *testing.T) {
	s := newSpeaker(t, 2, 1_000_000)
	first := s.transmit(0, 1)
	if len(first) != 1 || !lldp.Is(first[0]) {
		t.Fatalf("port 0 sends %s", frameText(first))
	}
	free := s.now + unit.Rate(1_000_000).FrameTime(len(first[0]))
	s.receive(1, between(1, 0, 3, 1))
	if got := s.transmit(0, 1); len(got) > 0 || s.next != free {
		t.Errorf("while the wire is busy: %s, next at %v, want %v", frameText(got), s.next, free)
	}
	s.advance(free - s.now)
	if got := s.transmit(0, 1); len(got) != 1 || lldp.Is(got[0]) {
		t.Errorf("then: %s", frameText(got))
	}
}

// TestLLDPCostsNothing: what speaks LLDP allocates nothing for a frame of data.
func TestLLDPCostsNothing(t *testing.T) {
	s := newSpeaker(t, 2, 0)
	s.drain(0)
	s.drain(1)
	s.receive(1, neighbour("s2", 1<<3|1<<4))
	s.drain(1)
	frame := between(0, 1, 3, 1)
	fs := s.fill(0, frame)
	round := func() {
		s.Lend(0, fs)
		fs[0].Data = append(fs[0].Data[:0], frame...)
		fs[0].Len = len(frame)
		s.Parse(fs[0])
		s.Receive(s.now, 0, fs)
		n, _ := s.Transmit(s.now, 1, fs)
		if n != 1 {
			t.Fatalf("%d frames leave", n)
		}
		s.Sent(s.now, 1, fs)
		fs[0] = nil
		_, s.log = s.Work(s.log[:0])
	}
	round()
	if n := testing.AllocsPerRun(100, round); n > 0 {
		t.Errorf("%v allocations a frame", n)
	}
}
