package dataplane

import (
	"net/netip"
	"testing"

	"softswitch/buffer"
	"softswitch/internal/ether"
	"softswitch/unit"
)

// With the default buffer 39 hosts send short lossless frames to one that pauses. Each stays below
// its XOFF threshold and all together below the shared pool, so nothing is congested but the
// one queue, and nothing may be lost: bytes are what runs out first.
func TestSlotsDoNotRunOutBeforeBytes(t *testing.T) {
	const ports, frames = 40, 600
	d := Defaults()
	s := newTestSwitch(t, ports, func(c *Config) {
		c.Buffer, c.Slots, c.Batch = d.Buffer, d.Slots, d.Batch
		c.Quanta = 65535
	})
	s.receive(0, pauseOf(3, 65535, 1))
	for range frames {
		for p := unit.Port(1); p < ports; p++ {
			s.receive(p, datagram{dst: stationMAC(0), src: stationMAC(p), priority: 3, size: ether.MinLen}.frame())
		}
	}
	for p := range unit.Port(ports) {
		if lost := s.Counters(p).LosslessLost; lost > 0 {
			t.Errorf("port %d: %d of %d lossless frames are lost", p, lost, frames)
		}
	}
	// An innocent: from port 1 to port 2, where nobody pauses and nothing waits.
	s.receive(1, datagram{dst: stationMAC(2), src: stationMAC(1), priority: 4, size: ether.MinLen}.frame())
	if got := len(s.drain(2)); got != 1 {
		t.Errorf("of an innocent's 1 frame %d arrive", got)
	}
}

// A buffer that is full of the shortest frames has had a slot for each, and then the headroom is
// what is full; so it is with cells.
func TestBytesRunOutFirst(t *testing.T) {
	for _, cell := range []int{0, 80, 208, 254} {
		s := newTestSwitch(t, 3, func(c *Config) { c.Slots, c.Buffer.Cell = 1, cell })
		s.receive(0, pauseOf(3, 65535, 1))
		s.receive(0, pauseOf(4, 65535, 1))
		for s.Counters(1).Drops[DropHeadroom] == 0 || s.Counters(2).Drops[DropHeadroom] == 0 {
			for p := unit.Port(1); p < 3; p++ {
				for _, priority := range []unit.Priority{3, 4} {
					s.receive(p, datagram{dst: stationMAC(0), src: stationMAC(p), priority: priority, size: ether.MinLen}.frame())
				}
			}
			if n := s.Counters(1).Drops[DropNoSlot] + s.Counters(2).Drops[DropNoSlot]; n > 0 {
				t.Fatalf("cells of %d bytes: %d lossless frames without a slot", cell, n)
			}
		}
	}
}

// Lossy frames have a bound of their own, and take nothing from lossless ones.
func TestLossySlots(t *testing.T) {
	s := newTestSwitch(t, 3, func(c *Config) { c.Slots = 20 })
	s.receive(0, pauseOf(3, 65535, 1))
	for range 30 {
		s.receive(1, datagram{dst: stationMAC(0), src: stationMAC(1), priority: 0, size: ether.MinLen}.frame())
	}
	if got := s.Counters(1).Drops[DropNoSlot]; got != 10 {
		t.Errorf("%d of 30 lossy frames find no slot, want 10", got)
	}
	s.receive(1, datagram{dst: stationMAC(0), src: stationMAC(1), priority: 3, size: ether.MinLen}.frame())
	if got := s.Queue(0, 3).Frames(); got != 1 {
		t.Errorf("of 1 lossless frame %d find a slot", got)
	}
	s.drain(0)
	s.receive(1, datagram{dst: stationMAC(0), src: stationMAC(1), priority: 0, size: ether.MinLen}.frame())
	if got := len(s.drain(0)); got != 1 {
		t.Errorf("of 1 lossy frame %d leave, after the others have", got)
	}
}

// Each port to which a lossless frame is to be flooded gets it, or has lost a lossless frame: it
// counts as one.
func TestFloodedFramesHaveCopies(t *testing.T) {
	const frames = 66 // of 60 bytes: below XOFF, which is at 4000
	s := newTestSwitch(t, 4, nil)
	for p := unit.Port(1); p < 4; p++ {
		s.receive(p, pauseOf(3, 1000, 1))
	}
	for range frames {
		s.receive(0, datagram{dst: unit.Broadcast, src: stationMAC(0), priority: 3, size: ether.MinLen}.frame())
	}
	if on, _ := s.mmu.XOFF(0, 3); on {
		t.Fatal("the priority group is XOFF: the test is not about congestion")
	}
	for p := unit.Port(1); p < 4; p++ {
		s.receive(p, resumeOf(3, 1))
	}
	left := len(s.drain(1)) + len(s.drain(2)) + len(s.drain(3))
	if missing, lost := 3*frames-left, s.Counters(0).LosslessLost; missing != 0 || lost != 0 {
		t.Errorf("%d of %d copies never left, %d count as lost", missing, 3*frames, lost)
	}
}

// takeSlots takes all slots but those that are reserved, two without which admit refuses a frame that
// comes in, and some beside them.
func (s *testSwitch) takeSlots(beside int) (giveBack func()) {
	var taken []*buffer.Frame
	for s.pool.Free() > s.reserve+2+beside {
		taken = append(taken, s.pool.Get())
	}
	return func() {
		for _, f := range taken {
			s.pool.Put(f)
		}
	}
}

// What a switch makes itself takes a slot only if it may keep that: none is made to be dropped for want
// of one.
func TestOwnFramesLeaveASlot(t *testing.T) {
	for own := range 2 {
		s := newTestSwitch(t, 6, func(c *Config) {
			withHosts(c)
			c.Rewrites = []Rewrite{{Priority: 3, In: ports(0), Out: ports(3), To: 4}}
			c.Subnets[0].Flood = ports(3)
			c.ARP = append(c.ARP, Neighbour{netip.MustParseAddr("10.0.1.11"), stationMAC(9)})
		})
		d := datagram{dst: portMAC(0), src: stationMAC(0), from: "10.0.1.10", to: "10.9.1.1", ttl: 1}
		giveBack := s.takeSlots(own)
		s.receive(0, d.frame())
		s.wantDrop(0, DropTTL)
		if told := len(s.drain(0)); told != own {
			t.Errorf("%d errors are told where there are slots for %d", told, own)
		}
		d.to, d.ttl, d.priority = "10.0.1.11", 64, 3
		s.receive(0, d.frame())
		s.wantDrops(0, map[Reason]uint64{DropNoCopy: uint64(1 - own)})
		if rewritten := len(s.drain(3)); rewritten != own || len(s.drain(1)) != 1 {
			t.Errorf("%d frames of another priority are flooded where there are slots for %d", rewritten, own)
		}
		giveBack()
	}
}

// A bridged IPv4 frame whose TTL is 0 is only bridged: its TTL is nobody's business there. It
// takes the last band, as TTL 1 does.
func TestBridgedTTL0WithBands(t *testing.T) {
	s := newTestSwitch(t, 6, func(c *Config) {
		withHosts(c)
		c.Bands = TTLBands{Width: 1, Priorities: []unit.Priority{3, 4}}
	})
	f := datagram{dst: stationMAC(1), src: stationMAC(0), from: "10.0.1.10", to: "10.0.1.11", priority: 3, ttl: 255}.frame()
	f[22] = 0
	s.receive(0, f)
	if got := s.drain(1); len(got) != 1 {
		t.Errorf("port 1 sends %s, want the frame", frameText(got))
	}
}
