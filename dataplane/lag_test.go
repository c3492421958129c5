package dataplane

import (
	"fmt"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/unit"
)

// lagRouter is a router with a LAG of ports 2, 3 and 4 beside the link of port 1 to where 10.9.0.0/16 is,
// and a backup by port 5. Frames of the test come in by port 0.
func lagRouter(t *testing.T) *testSwitch {
	return newTestSwitch(t, 6, func(c *Config) {
		c.MAC = nil
		c.LAGs = []LAG{{"PortChannel1", ports(2, 3, 4)}}
		c.Routes = []Route{
			{Prefix: prefix("10.9.0.0/16"), Ports: ports(1, 2, 3, 4)},
			{Prefix: prefix("10.8.0.0/16"), Ports: ports(2, 3, 4), Backup: ports(5)},
		}
	})
}

// ways sends a frame of each of n flows in by a port, and counts those that leave by each.
func (s *testSwitch) ways(in unit.Port, net string, n int) (by [6]int) {
	for i := range n {
		s.receive(in, datagram{dst: portMAC(in), src: peerMAC(in), priority: 3, size: 100, to: fmt.Sprintf("%s.%d.%d", net, i/250, 1+i%250)}.frame())
		for p := range unit.Port(6) {
			by[p] += len(s.drain(p))
		}
	}
	return by
}

// wantParts wants n flows to leave in these parts by each port, give or take five standard deviations.
func wantParts(t *testing.T, what string, by [6]int, n int, parts [6]float64) {
	t.Helper()
	for p, part := range parts {
		if off := float64(by[p]) - part*float64(n); off*off > 25*part*(1-part)*float64(n) {
			t.Errorf("%s: %v of %d by port %d, want a part of %.2f: %v", what, by[p], n, p, part, by)
		}
	}
}

// TestLAGIsOneWay: a LAG has the part of one link, whatever its members are, and each of those that are up
// the same part of it. What fails moves, and what heals comes back.
func TestLAGIsOneWay(t *testing.T) {
	const n = 3000
	s := lagRouter(t)
	wantParts(t, "all up", s.ways(0, "10.9", n), n, [6]float64{1: 1. / 2, 2: 1. / 6, 3: 1. / 6, 4: 1. / 6})
	before := s.ways(0, "10.8", 200)
	s.link(3, false)
	s.wantEvents("link 3 down", "LAG of port 3: 2 up")
	wantParts(t, "without 3", s.ways(0, "10.9", n), n, [6]float64{1: 1. / 2, 2: 1. / 4, 4: 1. / 4})
	s.link(2, false)
	wantParts(t, "without 2 and 3", s.ways(0, "10.9", n), n, [6]float64{1: 1. / 2, 4: 1. / 2})
	wantParts(t, "one member left", s.ways(0, "10.8", n), n, [6]float64{4: 1})
	s.link(4, false)
	wantParts(t, "the LAG is down", s.ways(0, "10.9", n), n, [6]float64{1: 1})
	wantParts(t, "the LAG is down", s.ways(0, "10.8", n), n, [6]float64{5: 1})
	for p := unit.Port(2); p <= 4; p++ {
		s.link(p, true)
	}
	if after := s.ways(0, "10.8", 200); after != before {
		t.Errorf("by each port %v, and before anything failed %v", after, before)
	}
}

// TestLAGSplitHorizon: a frame that came by one member goes back by none, unless there is no other
// neighbour: then by the one by which it came.
func TestLAGSplitHorizon(t *testing.T) {
	const n = 500
	s := lagRouter(t)
	for in := unit.Port(2); in <= 4; in++ {
		wantParts(t, "another neighbour", s.ways(in, "10.9", n), n, [6]float64{1: 1})
		var alone [6]float64
		alone[in] = 1
		wantParts(t, "no other", s.ways(in, "10.8", n), n, alone)
	}
	wantParts(t, "by the single link", s.ways(1, "10.9", n), n, [6]float64{2: 1. / 3, 3: 1. / 3, 4: 1. / 3})
}

// TestLAGBridges: a bridge sends one copy of what it floods into a LAG, and none back into the one by which
// it came, and a station is at all members.
func TestLAGBridges(t *testing.T) {
	s := newTestSwitch(t, 6, func(c *Config) {
		c.MAC = nil
		c.LAGs = []LAG{{"PortChannel1", ports(2, 3, 4)}}
	})
	copies := func() (lag int, others [6]int) {
		for p := range unit.Port(6) {
			n := len(s.drain(p))
			if s.cfg.LAGs[0].Ports.Has(p) {
				lag += n
				continue
			}
			others[p] = n
		}
		return lag, others
	}
	want := func(what string, lag int, others [6]int) {
		t.Helper()
		if gotLAG, got := copies(); gotLAG != lag || got != others {
			t.Errorf("%s: %d by the LAG and %v by others, want %d and %v", what, gotLAG, got, lag, others)
		}
	}
	s.receive(0, between(0, 2, 0, 1))
	want("unknown", 1, [6]int{1: 1, 5: 1})
	s.receive(3, between(2, 9, 0, 2))
	want("unknown, from a member", 0, [6]int{0: 1, 1: 1, 5: 1})
	s.receive(0, between(0, 2, 0, 3))
	want("learned at a member", 1, [6]int{})
	s.receive(4, between(2, 0, 0, 4))
	want("from another member", 0, [6]int{0: 1})
	s.link(3, false)
	s.link(4, false)
	s.receive(0, between(0, 2, 0, 5))
	want("its member is down", 1, [6]int{})
	s.link(2, false)
	s.receive(0, between(0, 2, 0, 6))
	want("all members are down", 0, [6]int{1: 1, 5: 1})
}

// TestLAGCosts: choosing a member allocates nothing.
func TestLAGCosts(t *testing.T) {
	lags := []LAG{{"PortChannel1", ports(2, 3, 4)}, {"PortChannel2", ports(7, 8)}}
	all, hash := ports(1, 2, 3, 4, 7, 8), uint32(testkit.Seed(t))
	if n := testing.AllocsPerRun(100, func() { hash += uint32(choose(all, lags, hash, 7)) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
