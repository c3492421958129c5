package dataplane

import (
	"testing"

	"softswitch/buffer"
	"softswitch/unit"
)

// twoKinds gives port 0 priority 3 alone, and port 1 priorities 3, 4 and 6.
func twoKinds(c *Config) {
	c.Buffer.Lossless = 1<<3 | 1<<4 | 1<<6
	c.Buffer.LosslessOf = []unit.PrioritySet{1 << 3, 1<<3 | 1<<4 | 1<<6, 1<<3 | 1<<4}
}

// TestLosslessByPort: a frame is lossless if its priority is at the port by which it comes in, whatever
// port it leaves by. Lossy ones are charged to nobody, pause nobody, and are dropped as such.
func TestLosslessByPort(t *testing.T) {
	s := newTestSwitch(t, 3, twoKinds)
	s.receive(2, pauseOf(4, 1000, 1))
	s.wantEvents("paused 2.4 period 1")
	s.receive(0, several(22, 0, 2, 4)...)
	if n, _ := s.MMU().Bytes(0, 4); n != 0 {
		t.Errorf("lossy frames are charged %d bytes", n)
	}
	s.wantNothing(0)
	s.wantDrops(0, map[Reason]uint64{DropLossyQueue: 2})
	if n := s.Counters(0).LosslessLost; n != 0 {
		t.Errorf("%d lossy frames are lost as lossless", n)
	}
	s.receive(1, several(4, 1, 2, 4)...)
	if n, _ := s.MMU().Bytes(1, 4); n != 4000 {
		t.Errorf("lossless frames are charged %d bytes, want 4000", n)
	}
	if on, _ := s.MMU().XOFF(1, 4); !on {
		t.Error("four frames of 1000 bytes do not make the group XOFF")
	}
	s.receive(1, several(3, 1, 2, 4)...)
	s.wantDrops(1, map[Reason]uint64{DropHeadroom: 1})
	if n := s.Counters(1).LostOf[4]; n != 1 {
		t.Errorf("%d lossless frames are lost, want 1", n)
	}
	s.receive(2, pauseOf(4, 0, 1))
	s.drain(2)
}

// TestPauseByPort: what leaves by a port where its priority is lossy waits for no pause there, and is
// lossless all the same.
func TestPauseByPort(t *testing.T) {
	s := newTestSwitch(t, 3, twoKinds)
	s.receive(0, pauseOf(6, 1000, 1))
	s.wantDrops(0, map[Reason]uint64{OddPFCPriority: 1})
	s.wantEvents()
	f := between(1, 0, 6, 1)
	s.receive(1, f)
	if n, _ := s.MMU().Bytes(1, 6); n != 1000 {
		t.Errorf("the frame is charged %d bytes, want 1000", n)
	}
	s.wantData(0, f)
}

// TestOneWayPFC: a port with PFC in one direction sends pauses, or honours them.
func TestOneWayPFC(t *testing.T) {
	s := newTestSwitch(t, 3, func(c *Config) { c.Ports[0].PFCTxOff, c.Ports[1].PFCRxOff = true, true })
	s.receive(2, pauseOf(3, 1000, 1))
	for in := range unit.Port(2) {
		s.receive(in, several(4, in, 2, 3)...)
		if on, _ := s.MMU().XOFF(in, 3); !on {
			t.Errorf("port %d: the group is not XOFF", in)
		}
	}
	if n := s.Counters(0).TxPause[3]; n != 0 {
		t.Errorf("port 0 sends %d pauses", n)
	}
	s.wantNothing(0)
	s.drain(1)
	if n := s.Counters(1).TxPause[3]; n != 1 {
		t.Errorf("port 1 sends %d pauses, want 1", n)
	}
	for p, want := range []bool{true, false} {
		s.receive(unit.Port(p), pauseOf(3, 1000, 1))
		if got := s.QueuePaused(unit.Port(p), 3); got != want {
			t.Errorf("port %d: paused %v, want %v", p, got, want)
		}
	}
	s.receive(0, pauseOf(3, 0, 1))
	s.receive(2, pauseOf(3, 0, 1))
	s.drain(2)
	s.drain(1)
}

// TestAsymmetricPFC: a port that honours the pauses of all priorities sends those of its lossless ones. A
// lossy queue that is paused fills and drops, and pauses nobody; what came in lossless waits in it as
// anywhere, and pauses its sender.
func TestAsymmetricPFC(t *testing.T) {
	s := newTestSwitch(t, 3, func(c *Config) {
		twoKinds(c)
		c.Ports[0].PFCRxAll = true
	})
	for _, c := range []unit.Priority{1, 6} {
		s.receive(0, pauseOf(c, 1000, 1))
		if !s.QueuePaused(0, c) {
			t.Errorf("priority %d is not paused at port 0", c)
		}
	}
	s.receive(2, several(22, 2, 0, 1)...)
	s.wantDrops(2, map[Reason]uint64{DropLossyQueue: 2})
	s.wantNothing(0, 2)
	s.receive(1, several(4, 1, 0, 6)...)
	if n := s.MMU().Held(1, 6, 0, 6); n != 4000 {
		t.Errorf("4000 bytes wait in a queue that is lossy at its port, and %d are held", n)
	}
	s.wantNothing(0)
	s.drain(1)
	if n := s.Counters(1).TxPause[6]; n != 1 {
		t.Errorf("port 1 sends %d pauses, want 1", n)
	}
	s.receive(0, pauseOf(1, 0, 1))
	s.receive(0, pauseOf(6, 0, 1))
	s.drain(0)
	s.drain(1)
	if n := s.Counters(0).TxPause; n != [unit.Priorities]uint64{} {
		t.Errorf("port 0 sends pauses: %v", n)
	}
}

// TestClassesByPort: a port tells priorities in its own way.
func TestClassesByPort(t *testing.T) {
	s := newTestSwitch(t, 3, func(c *Config) {
		c.Ports[1].Classes = &Classes{TrustPCP: true}
		c.Ports[2].Classes = &Classes{DSCP: [64]unit.Priority{24: 4}}
	})
	for in, want := range []unit.Priority{3, 5, 4} {
		f := between(unit.Port(in), 0, 3, 1)
		if in == 1 {
			f = tagged(f, 5)
		}
		fs := s.fill(unit.Port(in), f)
		if got := fs[0].Info.Priority; got != want {
			t.Errorf("port %d: priority %d, want %d", in, got, want)
		}
		s.Receive(s.now, unit.Port(in), fs)
		s.drain(0)
		s.drain(1)
	}
}

// TestPortsAreRefused: lossless priorities by port are those of all ports, and of each.
func TestPortsAreRefused(t *testing.T) {
	for _, of := range [][]unit.PrioritySet{{1 << 3}, {1 << 3, 1 << 5}} {
		c := buffer.Config{Ports: 2, Lossless: 1 << 3, LosslessOf: of, Shared: 1, Profile: testProfile}
		if _, err := buffer.NewMMU(c); err == nil {
			t.Errorf("%v: no error", of)
		}
	}
}
