package dataplane

import (
	"testing"

	"softswitch/detect"
)

// Frames that go on in a ring pass those that are new to it while it has no room; these are in order, and are
// let in when it has.
func TestRingHasRoom(t *testing.T) {
	s := newTestSwitch(t, 3, func(c *Config) { c.Rings = []Ring{{In: 0, Out: 1, Room: 1000}} })
	fresh, around, other := several(2, 2, 1, 3), several(3, 0, 1, 3), several(2, 0, 1, 4)
	s.receive(2, fresh...)
	s.receive(0, around[:1]...)
	s.wantData(1, fresh[0]) // 1000 bytes are in the ring: it has room
	s.receive(0, around[1:]...)
	if got := s.ports[1].ring.full; !got.Has(3) || got.Has(4) {
		t.Errorf("full in %v, want 3", got)
	}
	s.wantData(1, around[0], around[1], fresh[1], around[2]) // 1000 bytes are left
	s.receive(0, other...)
	if got := s.ports[1].ring.full; got.Has(3) || !got.Has(4) {
		t.Errorf("full in %v, want 4", got)
	}
	s.wantData(1, other...)
	s.wantNothing(0, 1, 2)
}

// What an action takes out of a ring makes room too.
func TestRingLosesFrames(t *testing.T) {
	s := newTestSwitch(t, 3, func(c *Config) { c.Rings = []Ring{{In: 0, Out: 1}} })
	fresh := several(1, 2, 1, 3)
	s.receive(2, fresh...)
	s.receive(0, several(4, 0, 1, 3)...)
	s.drain(0) // its pause
	s.Drop(detect.PG{Port: 0, Priority: 3}, detect.Queue{Port: 1, Priority: 3})
	for s.mmu.Held(0, 3, 1, 3) > 0 {
		s.transmit(1, 1)
	}
	s.wantData(1, fresh...)
}
