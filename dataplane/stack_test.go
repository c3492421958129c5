package dataplane

import (
	"bytes"
	"testing"

	"softswitch/itsyhdr"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// stackAtPort1 makes port 1 lead to a kernel's stack.
func stackAtPort1(c *Config) {
	c.Ports[1].FacesStack = true
	c.Plain = true
}

// What a stack sends into a full priority group is dropped: nobody can tell it to stop. It is
// no loss of the fabric's.
func TestStackIsNotPaused(t *testing.T) {
	s := newTestSwitch(t, 2, stackAtPort1)
	s.receive(0, pfc(map[unit.Priority]uint16{3: 1000}))
	s.wantNoDrops()
	for range 6 { // four until XOFF, two into the headroom
		s.receive(1, between(1, 0, 3, 1))
	}
	s.wantNoDrops()
	if on, _ := s.MMU().XOFF(1, 3); !on {
		t.Fatal("the priority group is not XOFF")
	}
	s.wantNothing(1)
	s.receive(1, between(1, 0, 3, 1))
	s.wantDrop(1, DropStack)
	if n := s.Counters(1).LosslessLost; n != 1 {
		t.Errorf("%d frames count as lost, want 1", n)
	}
	s.advance(100 * s.cfg.Refresh)
	s.wantNothing(1) // no refresh either
	s.link(1, false)
	s.link(1, true)
	s.wantNothing(1) // nor when the link comes back
	s.receive(0, pfc(map[unit.Priority]uint16{3: 0}))
	s.drain(0)
	s.wantNothing(1)
}

// A pause that a program behind the stack forges stops nothing.
func TestStackDoesNotPause(t *testing.T) {
	s := newTestSwitch(t, 2, stackAtPort1)
	s.receive(1, pfc(map[unit.Priority]uint16{3: 1000}))
	s.wantDrop(1, DropReservedGroup)
	s.receive(0, between(0, 1, 3, 1))
	s.wantData(1, between(0, 1, 3, 1))
}

// Pauses of a plain switch have nothing in their padding.
func TestPlain(t *testing.T) {
	for _, plain := range []bool{true, false} {
		s := newTestSwitch(t, 2, func(c *Config) { c.Plain = plain })
		s.receive(1, pfc(map[unit.Priority]uint16{3: 1000}))
		for range 4 {
			s.receive(0, between(0, 1, 3, 1))
		}
		got := s.transmit(0, 1)
		if len(got) != 1 {
			t.Fatal("no pause")
		}
		f, pad, err := pfcframe.Parse(got[0])
		if err != nil || !f.Enable.Has(3) || f.Quanta[3] != s.cfg.Quanta {
			t.Fatalf("it sends %s, %v", frameText(got), err)
		}
		if empty := bytes.Equal(pad, make([]byte, len(pad))); empty != plain {
			t.Errorf("plain %t: the padding is %x", plain, pad)
		}
		if _, err := itsyhdr.Parse(pad); (err == itsyhdr.ErrNone) != plain {
			t.Errorf("plain %t: the padding as a TLV: %v", plain, err)
		}
		s.receive(1, pfc(map[unit.Priority]uint16{3: 0}))
		s.drain(1)
		s.drain(0)
	}
}

// What waits leaves at the rate of now.
func TestSetRate(t *testing.T) {
	const slow, fast = unit.Rate(1_000_000), unit.Rate(100_000_000)
	s := newTestSwitch(t, 2, func(c *Config) { c.Ports[1].Rate = slow })
	for range 3 {
		s.receive(0, between(0, 1, 0, 1))
	}
	if got := s.transmit(1, 8); len(got) != 1 {
		t.Fatalf("%d frames leave at once", len(got))
	}
	s.SetRate(s.now, 1, fast)
	s.work()
	if got := s.transmit(1, 8); len(got) != 1 {
		t.Fatalf("%d frames leave when the wire is fast", len(got))
	}
	s.advance(fast.FrameTime(1000))
	if got := s.transmit(1, 8); len(got) != 1 {
		t.Fatalf("%d frames leave a frame's time later", len(got))
	}
	s.SetRate(s.now, 1, 0)
	s.receive(0, between(0, 1, 0, 1), between(0, 1, 0, 1))
	if got := s.transmit(1, 8); len(got) != 2 {
		t.Fatalf("%d of 2 frames leave without a limit", len(got))
	}
}
