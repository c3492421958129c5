package dataplane

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"

	"softswitch/buffer"
	"softswitch/internal/ether"
	"softswitch/internal/testkit"
	"softswitch/unit"
)

// flooding is a switch of which one host of a subnet has no MAC entry, and is flooded to
// port 5 too.
func flooding(c *Config) {
	withHosts(c)
	c.Subnets[1].Flood = ports(3, 5)
	c.ARP = append(c.ARP, Neighbour{netip.MustParseAddr("10.0.2.11"), stationMAC(9)})
}

// left is where the frames in the queues wait and in which priority, by port; it empties them.
func (s *testSwitch) left() map[unit.Port]unit.Priority {
	s.t.Helper()
	at := map[unit.Port]unit.Priority{}
	for p := range unit.Port(s.Ports()) {
		for _, f := range s.drain(p) {
			if binary.BigEndian.Uint16(f[12:]) == ether.TypeIPv4 {
				at[p] = s.cfg.DSCP[ether.IPv4(f[14:]).DSCP()]
			}
		}
	}
	return at
}

// TestWaysAreTaken: a switch does with every frame what Ways, Way and PriorityOut say, with
// any links down.
func TestWaysAreTaken(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for name, change := range map[string]func(*Config){
		"hosts":    withHosts,
		"turning":  func(c *Config) { withHosts(c); turning(c) },
		"flooding": func(c *Config) { flooding(c); turning(c) },
		"no flood": func(c *Config) { flooding(c); c.NoFlood = true },
		"bands":    func(c *Config) { flooding(c); c.Bands = TTLBands{Width: 20, Priorities: []unit.Priority{3, 4}} },
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestSwitch(t, 6, change)
			flooded := 0
			for range 3000 {
				if rng.IntN(4) == 0 {
					p := unit.Port(rng.IntN(6))
					s.link(p, !s.LinkUp(p))
				}
				if s.checkWays(unit.Port(rng.IntN(6)), rng) {
					flooded++
				}
			}
			if flooded == 0 && name == "flooding" {
				t.Error("nothing was flooded")
			}
		})
	}
}

// checkWays sends a random frame to port in and holds what becomes of it against Ways. It is from
// a gateway, which is told nothing of what is dropped: nothing but the frame leaves.
func (s *testSwitch) checkWays(in unit.Port, rng *rand.Rand) (flooded bool) {
	s.t.Helper()
	to := []string{"10.0.1.10", "10.0.1.11", "10.0.2.10", "10.0.2.11", "10.9.1.1", "10.8.7.7"}[rng.IntN(6)]
	d := datagram{
		dst: portMAC(in), src: peerMAC(in), from: "10.0.1.1", to: to, priority: unit.Priority(rng.IntN(6)),
		ttl: uint8(2 + rng.IntN(60)), sport: uint16(1 + rng.IntN(60000)), size: 100,
	}
	outs, flooded := s.Ways(in, ip32(to), d.priority)
	way := unit.NoPort
	if !flooded {
		f := s.fill(in, d.frame())
		way = s.Way(in, ip32(to), d.priority, f[0].Info.Hash)
		s.Receive(s.now, in, []*buffer.Frame{f[0]})
		s.work()
	} else {
		s.receive(in, d.frame())
	}
	got := s.left()
	if !s.LinkUp(in) {
		if len(got) > 0 {
			s.t.Fatalf("port %d is down and its frame went to %v", in, got)
		}
		return false
	}
	want := map[unit.Port]unit.Priority{}
	for ; !outs.Empty(); outs.Pop() {
		if p := outs.First(); (flooded || p == way) && s.LinkUp(p) {
			want[p] = s.PriorityOut(d.priority, in, p, d.ttl-1)
		}
	}
	if s.cfg.NoFlood && flooded { // a lossy frame goes on
		for p := range want {
			want[p] = d.priority
		}
	}
	same := len(got) == len(want)
	for p, c := range want {
		same = same && got[p] == c
	}
	if !same {
		s.t.Fatalf("%+v by port %d, links up %b: went to %v, want %v", d, in, s.up, got, want)
	}
	return flooded
}
