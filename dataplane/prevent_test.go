package dataplane

import (
	"math/rand/v2"
	"testing"

	"softswitch/detect"
	"softswitch/internal/ether"
	"softswitch/internal/testkit"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// turning gives frames of priority 3 that come in at 3 or 4 and leave by one of them
// priority 4, and those of priority 4 priority 0, which is lossy.
func turning(c *Config) {
	c.Rewrites = []Rewrite{{3, ports(3, 4), ports(3, 4), 4}, {4, ports(3, 4), ports(3, 4), 0}}
}

// across is a frame that comes in at port 4 and is routed out of port 3.
func across(priority unit.Priority, id uint32) datagram {
	return datagram{dst: portMAC(4), src: peerMAC(4), from: "10.8.1.1", to: "10.9.1.1", priority: priority, id: id}
}

// in is what becomes of d when it leaves by port 3 in another priority.
func (d datagram) in(priority unit.Priority) []byte {
	d.priority = priority
	return d.routed(peerMAC(3), portMAC(3))
}

// A frame leaves in the priority of its rule: its DSCP says so, its ECN bits stay, its
// checksum is right, and nothing else has changed.
func TestRewriteMarks(t *testing.T) {
	s := newTestSwitch(t, 6, func(c *Config) { withHosts(c); turning(c) })
	for _, tc := range []struct{ priority, want unit.Priority }{{3, 4}, {4, 0}, {5, 5}, {0, 0}} {
		d := across(tc.priority, 1)
		s.receive(4, d.frame())
		s.wantData(3, d.in(tc.want))
	}
	// From a host, or to one, there is no rule.
	d := datagram{dst: portMAC(0), src: stationMAC(0), from: "10.0.1.10", to: "10.9.1.1", priority: 3}
	s.receive(0, d.frame())
	s.wantData(3, d.in(3))
	s.wantNoDrops()
	for tos := range 256 {
		d := across(3, 2)
		f, want := d.frame(), d.in(4)
		for _, b := range [][]byte{f, want} {
			b[15] = b[15]&^3 | uint8(tos)&3
			b[18], b[19] = uint8(tos), uint8(tos*7) // the ID: another checksum each time
			b[24], b[25] = 0, 0
			sum := ether.Checksum(b[14:34])
			b[24], b[25] = byte(sum>>8), byte(sum)
		}
		s.receive(4, f)
		s.wantData(3, want)
	}
}

// The code point of a priority is one that the switch itself takes for it.
func TestRewriteMarksByDSCPMap(t *testing.T) {
	s := newTestSwitch(t, 6, func(c *Config) {
		withHosts(c)
		turning(c)
		for dscp := range c.DSCP {
			c.DSCP[dscp] = 3
		}
		c.DSCP[45], c.DSCP[1] = 4, 0
	})
	f := across(3, 1).frame()
	s.receive(4, f)
	if got := s.transmit(3, 1); len(got) != 1 || ether.IPv4(got[0][14:]).DSCP() != 45 {
		t.Errorf("got %s, want DSCP 45", frameText(got))
	}
	c := testConfig(6)
	turning(&c)
	for dscp := range c.DSCP {
		c.DSCP[dscp] = 3
	}
	if _, err := NewSwitch(c); err == nil {
		t.Error("a switch was made that has no code point for priority 4")
	}
	usual := DefaultDSCP()
	for priority, want := range []uint8{0, 8, 16, 26, 32, 40, 48, 56} {
		if got, ok := codePoint(&usual, unit.Priority(priority)); !ok || got != want {
			t.Errorf("priority %d is marked with DSCP %d, want %d", priority, got, want)
		}
	}
}

// With trusted tags the tag says the priority; a frame without one keeps priority 0.
func TestRewriteTags(t *testing.T) {
	s := newTestSwitch(t, 6, func(c *Config) { withHosts(c); turning(c); c.TrustPCP = true })
	d := across(5, 1)
	s.receive(4, tagged(d.frame(), 3))
	s.wantData(3, tagged(d.in(5), 4))
	s.receive(4, tagged(d.frame(), 4))
	s.wantData(3, tagged(d.in(5), 0))
	s.receive(4, d.frame())
	s.wantData(3, d.in(5))
}

// A frame with a rule is charged to the priority in which it came and waits in the one
// in which it leaves: a pause of that one stops it, and pauses go out for the other.
func TestRewriteAccounts(t *testing.T) {
	s := newTestSwitch(t, 6, func(c *Config) { withHosts(c); turning(c) })
	s.receive(3, pauseOf(4, 1000, 1))
	for id := range uint32(4) {
		s.receive(4, across(3, id).frame())
	}
	s.wantNothing(3)
	s.wantPause(4, 3, 1, itsyhdr.TLV{})
	if n, _ := s.mmu.Bytes(4, 3); n != 4000 || s.mmu.Held(4, 3, 3, 4) != 4000 || s.Queue(3, 4).Bytes() != 4000 {
		t.Errorf("priority group %d bytes, held %d, queue %d; want 4000 each", n, s.mmu.Held(4, 3, 3, 4), s.Queue(3, 4).Bytes())
	}
	s.receive(3, resumeOf(4, 1))
	s.wantData(3, across(3, 0).in(4))
	s.wantResume(4, 3, 1)
}

// A frame that goes on in a lossy priority is charged to nobody, and is not lost if the
// queue there is full.
func TestRewriteToLossy(t *testing.T) {
	s := newTestSwitch(t, 6, func(c *Config) { withHosts(c); turning(c); c.Buffer.LossyQueue = 3000 })
	for id := range uint32(4) {
		s.receive(4, across(4, id).frame())
	}
	if n, _ := s.mmu.Bytes(4, 4); n != 0 || s.Queue(3, 0).Bytes() != 3000 {
		t.Errorf("priority group %d bytes, queue %d; want 0 and 3000", n, s.Queue(3, 0).Bytes())
	}
	s.wantDrop(4, DropLossyPort)
	s.wantNothing(4)
	if n := s.Counters(4).LosslessLost; n != 0 {
		t.Errorf("%d frames counted as lost", n)
	}
}

// A frame that is flooded to ports where it leaves in different priorities is one frame
// for each priority.
func TestRewriteFlooded(t *testing.T) {
	s := newTestSwitch(t, 6, func(c *Config) {
		withHosts(c)
		turning(c)
		c.Subnets[0].Flood = ports(3, 4)
		c.ARP = append(c.ARP, c.ARP[0])
		c.ARP[0].MAC, c.ARP[2].MAC = 0x02dd00000001, 0x02dd00000001
	})
	d := datagram{dst: portMAC(4), src: peerMAC(4), from: "10.8.1.1", to: "10.0.1.10", priority: 3}
	s.receive(4, d.frame())
	if n, _ := s.mmu.Bytes(4, 3); n != 2000 {
		t.Errorf("%d bytes are charged, want one frame for each priority: 2000", n)
	}
	stays := d.routed(0x02dd00000001, portMAC(0))
	d.priority = 4
	turns := d.routed(0x02dd00000001, portMAC(0))
	s.wantData(0, stays)
	s.wantData(1, stays)
	s.wantData(3, turns)
	if n, _ := s.mmu.Bytes(4, 3); n != 0 {
		t.Errorf("%d bytes are still charged", n)
	}
}

// Of lossless frames nothing is flooded: one whose station has an ARP entry and no
// MAC entry is dropped, and broadcasts go on in a lossy priority.
func TestNoFlood(t *testing.T) {
	s := newTestSwitch(t, 6, func(c *Config) { withHosts(c); c.NoFlood = true; c.MAC = c.MAC[1:] })
	d := datagram{dst: portMAC(4), src: peerMAC(4), from: "10.8.1.1", to: "10.0.1.10", priority: 3}
	s.receive(4, d.frame())
	s.wantNothing(0, 1)
	s.wantDrop(4, DropIncompleteARP)
	if n := s.Counters(4).LosslessLost; n != 0 {
		t.Errorf("%d frames counted as lost", n)
	}
	d.priority = 1
	s.receive(4, d.frame()) // lossy: flooded as ever
	s.wantData(0, d.routed(stationMAC(0), portMAC(0)))
	s.wantData(1, d.routed(stationMAC(0), portMAC(0)))

	b := datagram{dst: unit.Broadcast, src: stationMAC(0), priority: 3}
	s.receive(0, b.frame())
	if n, _ := s.mmu.Bytes(0, 3); n != 0 || s.Queue(1, 0).Bytes() != 1000 {
		t.Errorf("priority group %d bytes, lossy queue %d; want 0 and 1000", n, s.Queue(1, 0).Bytes())
	}
	b.priority = 0
	s.wantData(1, b.frame())
	s.wantNoDrops()
}

// The priority follows the TTL with which a frame leaves.
func TestTTLBands(t *testing.T) {
	s := newTestSwitch(t, 6, func(c *Config) {
		withHosts(c)
		c.Buffer.Lossless = 1<<3 | 1<<4 | 1<<5
		c.Bands = TTLBands{Width: 8, Priorities: []unit.Priority{3, 4, 5}}
	})
	for _, tc := range []struct {
		ttl            uint8
		priority, want unit.Priority
	}{{255, 3, 3}, {18, 3, 3}, {17, 3, 4}, {10, 3, 4}, {9, 3, 5}, {2, 3, 5}, {10, 5, 4}, {2, 1, 1}} {
		d := across(tc.priority, 1)
		d.ttl = tc.ttl
		s.receive(4, d.frame())
		s.wantData(3, d.in(tc.want))
	}
	s.wantNoDrops()
}

// A limit is for a priority or for a flow at one port; what is above it is policed and
// not lost. An action neither replaces nor lifts it.
func TestLimits(t *testing.T) {
	f := across(3, 1)
	flow := detect.FlowID(ether.FlowHash(ip32(f.from), ip32(f.to), ether.ProtoUDP, 49152, 4791))
	const rate = 8_000_000 // a byte a microsecond
	for _, tc := range []struct {
		limit Limit
		d     datagram
		hit   bool
	}{
		{Limit{In: 4, OfPriority: true, Priority: 3, Rate: rate}, across(3, 1), true},
		{Limit{In: 4, OfPriority: true, Priority: 3, Rate: rate}, across(4, 1), false},
		{Limit{In: 3, OfPriority: true, Priority: 3, Rate: rate}, across(3, 1), false},
		{Limit{In: 4, Flow: flow, Rate: rate}, across(3, 1), true},
		{Limit{In: 4, Flow: flow, Rate: rate}, across(4, 1), true},
		{Limit{In: 4, Flow: flow + 1, Rate: rate}, across(3, 1), false},
	} {
		s := newTestSwitch(t, 6, func(c *Config) { withHosts(c); c.Limits = []Limit{tc.limit} })
		s.Police(4, flow, 0)
		passed := 0
		for range 1000 { // at twice the rate
			s.receive(4, tc.d.frame())
			passed += len(s.drain(3))
			s.advance(s.Config().Limits[0].Rate.FrameTime(1000) / 2)
		}
		policed := s.Counters(4).Drops[DropPoliced]
		if tc.hit && (passed < 500 || passed > 500+2*policerFrames) || !tc.hit && passed != 1000 || passed+int(policed) != 1000 {
			t.Errorf("%+v, priority %d: %d passed, %d policed", tc.limit, tc.d.priority, passed, policed)
		}
		if n := s.Counters(4).LosslessLost; n != 0 {
			t.Errorf("%d frames counted as lost", n)
		}
	}
}

// randomRewrites are rules for all priorities without pairs of ports in common.
func randomRewrites(rng *rand.Rand, n int) (rules []Rewrite) {
	for priority := range unit.Priority(unit.Priorities) {
		if priority != 3 && priority != 4 {
			continue
		}
		for in := range unit.Port(n) {
			rules = append(rules, Rewrite{priority, ports(in), unit.PortsOfWords([4]uint64{uint64(rng.Uint32())}).And(unit.PortsBelow(n)), unit.Priority([]int{0, 3, 4}[rng.IntN(3)])})
		}
	}
	return rules
}

// TestRandomRewrites: whatever the rules, the log tells what the switch holds after
// each step, and nothing is left when it is drained.
func TestRandomRewrites(t *testing.T) {
	for range 20 {
		seed := testkit.Seed(t)
		rng := rand.New(rand.NewPCG(seed, 0))
		s := newTestSwitch(t, 4, func(c *Config) {
			c.Rewrites = randomRewrites(rng, 4)
			c.MAC = c.MAC[:3] // what is for port 3 is flooded
		})
		m := newMirror(s.mmu.Shares())
		for step := range 1500 {
			randomStep(rng, s)
			for _, e := range s.log {
				if err := m.apply(e); err != nil {
					t.Fatalf("seed %d, step %d: %s: %v", seed, step, eventText(e), err)
				}
			}
			s.log = nil
			if diff := m.diff(s.view, s.mmu); diff != "" && s.flooded == 0 {
				t.Fatalf("seed %d, step %d: %s", seed, step, diff)
			}
		}
		s.wantDrained()
		for from := range 4 * unit.Priorities {
			for to := range 4 * unit.Priorities {
				in, out := unit.Port(from/unit.Priorities), unit.Port(to/unit.Priorities)
				if n := s.mmu.Held(in, unit.Priority(from%unit.Priorities), out, unit.Priority(to%unit.Priorities)); n != 0 {
					t.Fatalf("seed %d: drained, but %d bytes of %d wait in %d", seed, n, from, to)
				}
			}
		}
	}
}

// randomStep is a frame that arrives, or some that leave, or a pause or its end.
func randomStep(rng *rand.Rand, s *testSwitch) {
	p := unit.Port(rng.IntN(4))
	priority := unit.Priority([]int{0, 3, 4}[rng.IntN(3)])
	switch k := rng.IntN(20); {
	case k < 10:
		s.receive(p, between(p, (p+1+unit.Port(rng.IntN(3)))%4, priority, rng.Uint32()))
	case k < 17:
		s.transmit(p, 1+rng.IntN(3))
	case k < 19:
		s.receive(p, pauseOf(priority|3, uint16(rng.IntN(2)*1000), uint8(rng.IntN(3))))
	default:
		s.advance(unit.Time(rng.IntN(20_000)))
	}
}
