package dataplane

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"softswitch/detect"
	"softswitch/internal/ether"
	"softswitch/internal/testkit"
	"softswitch/unit"
)

// routed is a switch with hosts 10.0.1.0/24 at ports 0 and 1, hosts 10.0.2.0/24 at
// port 2, two uplinks 3 and 4 towards everything, and 5 as their backup.
func routed(c *Config) {
	c.MAC = nil
	c.Subnets = []Subnet{
		{Prefix: prefix("10.0.1.0/24"), Gateway: netip.MustParseAddr("10.0.1.1"), Ports: ports(0, 1)},
		{Prefix: prefix("10.0.2.0/24"), Gateway: netip.MustParseAddr("10.0.2.1"), Ports: ports(2)},
	}
	c.Routes = []Route{
		{Prefix: prefix("0.0.0.0/0"), Ports: ports(3, 4), Backup: ports(5)},
		{Prefix: prefix("10.9.0.0/16"), Ports: ports(3)},
	}
}

// withHosts is the same, with host 10.0.1.10 known at port 0 and 10.0.2.10 at 2.
func withHosts(c *Config) {
	routed(c)
	c.MAC = []Station{{stationMAC(0), 0}, {stationMAC(2), 2}}
	c.ARP = []Neighbour{{netip.MustParseAddr("10.0.1.10"), stationMAC(0)}, {netip.MustParseAddr("10.0.2.10"), stationMAC(2)}}
}

// routedFrame is what becomes of d when it leaves by a port towards a next hop.
func (d datagram) routed(dst, src unit.MAC) []byte {
	d.ttl = or(d.ttl, 64) - 1
	d.dst, d.src = dst, src
	return d.frame()
}

// A routed frame has new addresses, one hop less to live, the right checksum, and
// is otherwise the same.
func TestRouteRewrites(t *testing.T) {
	s := newTestSwitch(t, 6, withHosts)
	for _, ttl := range []uint8{2, 3, 64, 255} {
		d := datagram{dst: portMAC(0), src: stationMAC(0), from: "10.0.1.10", to: "10.9.1.1", priority: 3, ttl: ttl}
		s.receive(0, d.frame())
		s.wantData(3, d.routed(peerMAC(3), portMAC(3)))
		s.receive(0, tagged(d.frame(), 5))
		s.wantData(3, tagged(d.routed(peerMAC(3), portMAC(3)), 5))
	}
	d := datagram{dst: portMAC(4), src: peerMAC(4), from: "10.9.1.1", to: "10.0.2.10", priority: 3}
	s.receive(4, d.frame())
	s.wantData(2, d.routed(stationMAC(2), portMAC(2)))
	s.wantNoDrops()
}

func TestTTL(t *testing.T) {
	s := newTestSwitch(t, 6, withHosts)
	for _, ttl := range []uint8{1, 0} {
		for _, to := range []string{"10.9.1.1", "10.0.2.10"} {
			f := datagram{dst: portMAC(0), to: to, priority: 3, ttl: 2}.frame()
			for ip := ether.IPv4(f[ether.HeaderLen:]); ip.TTL() > ttl; {
				ip.DecrementTTL()
			}
			s.receive(0, f)
			s.wantDrop(0, DropTTL)
		}
	}
	s.wantNothing(0, 1, 2, 3, 4, 5)
}

func TestRouteDrops(t *testing.T) {
	s := newTestSwitch(t, 6, func(c *Config) { withHosts(c); c.Routes = c.Routes[1:] })
	s.receive(3, datagram{dst: portMAC(3), to: "10.0.3.1"}.frame())
	s.wantDrop(3, DropNoRoute)
	s.receive(3, datagram{dst: portMAC(4), to: "10.0.2.10"}.frame()) // another port's address
	s.wantDrop(3, DropNotForUs)
	s.receive(3, plain(portMAC(3), peerMAC(3), 100)) // not IP
	s.wantDrop(3, DropNotForUs)
	s.receive(3, plain(unit.Broadcast, peerMAC(3), 100))
	s.wantDrop(3, DropNotForUs)
	s.receive(3, arp(ether.ARPRequest, unit.Broadcast, peerMAC(3), "10.0.2.10", 0, "10.0.2.1"))
	s.wantDrop(3, DropNotForUs)
	s.link(3, false)
	s.receive(4, datagram{dst: portMAC(4), to: "10.9.1.1"}.frame())
	s.wantDrop(4, DropNoPort)
	s.link(2, false)
	s.receive(4, datagram{dst: portMAC(4), to: "10.0.2.10"}.frame())
	s.wantDrop(4, DropNoPort)
	s.wantNothing(0, 1, 2, 3, 4, 5)
}

// Inside a subnet frames are bridged, untouched; they never leave it.
func TestSubnetIsABridge(t *testing.T) {
	s := newTestSwitch(t, 6, routed)
	f := datagram{dst: stationMAC(1), src: stationMAC(0), from: "10.0.1.10", to: "10.0.1.11", ttl: 1}.frame()
	back := datagram{dst: stationMAC(0), src: stationMAC(1), from: "10.0.1.11", to: "10.0.1.10"}.frame()
	s.receive(0, f)
	s.wantData(1, f) // flooded: port 1 is the rest of the subnet
	s.receive(1, back)
	s.wantData(0, back)
	s.receive(0, plain(unit.Broadcast, stationMAC(0), 100))
	s.wantData(1, plain(unit.Broadcast, stationMAC(0), 100))
	s.wantNothing(0, 1, 2, 3, 4, 5)
	s.receive(2, plain(unit.Broadcast, stationMAC(2), 100)) // a subnet of one port
	s.wantDrop(2, DropNoPort)
}

// The gateway answers requests for its address and learns who asked.
func TestGatewayAnswersARP(t *testing.T) {
	s := newTestSwitch(t, 6, routed)
	s.receive(1, arp(ether.ARPRequest, unit.Broadcast, stationMAC(1), "10.0.1.11", 0, "10.0.1.1"))
	s.wantData(1, arp(ether.ARPReply, stationMAC(1), portMAC(0), "10.0.1.1", stationMAC(1), "10.0.1.11"))
	s.wantNothing(0, 1, 2, 3, 4, 5)
	d := datagram{dst: portMAC(3), src: peerMAC(3), to: "10.0.1.11"}
	s.receive(3, d.frame())
	s.wantData(1, d.routed(stationMAC(1), portMAC(0)))
	s.wantNothing(0, 1, 2, 3, 4, 5)
	s.wantNoDrops()
	// Behind a tag the reply keeps it.
	s.receive(1, tagged(arp(ether.ARPRequest, unit.Broadcast, stationMAC(1), "10.0.1.11", 0, "10.0.1.1"), 2))
	s.wantData(1, tagged(arp(ether.ARPReply, stationMAC(1), portMAC(0), "10.0.1.1", stationMAC(1), "10.0.1.11"), 2))
}

// ARP between hosts passes through and teaches the gateway too.
func TestARPBetweenHosts(t *testing.T) {
	s := newTestSwitch(t, 6, routed)
	request := arp(ether.ARPRequest, unit.Broadcast, stationMAC(0), "10.0.1.10", 0, "10.0.1.11")
	reply := arp(ether.ARPReply, stationMAC(0), stationMAC(1), "10.0.1.11", stationMAC(0), "10.0.1.10")
	s.receive(0, request)
	s.wantData(1, request)
	s.receive(1, reply)
	s.wantData(0, reply)
	for i, ip := range []string{"10.0.1.10", "10.0.1.11"} {
		d := datagram{dst: portMAC(3), src: peerMAC(3), to: ip}
		s.receive(3, d.frame())
		p := unit.Port(i)
		s.wantData(p, d.routed(stationMAC(p), portMAC(0)))
	}
	s.wantNothing(0, 1, 2, 3, 4, 5)
	s.wantNoDrops()
}

// A sender that is not of the subnet is not learned.
func TestARPOfAnotherSubnet(t *testing.T) {
	s := newTestSwitch(t, 6, routed)
	s.receive(0, arp(ether.ARPRequest, unit.Broadcast, stationMAC(0), "10.0.2.10", 0, "10.0.1.1"))
	s.drain(0)
	if _, _, ok := s.arps.lookup(s.now, ip32("10.0.2.10")); ok {
		t.Error("learned")
	}
}

// A frame for a host that nobody knows is dropped, and the host asked for, at most
// once a second; when it answers the next frame is delivered.
func TestARPRequestForUnknownHost(t *testing.T) {
	s := newTestSwitch(t, 6, routed)
	d := datagram{dst: portMAC(3), src: peerMAC(3), to: "10.0.1.11", priority: 3}
	request := arp(ether.ARPRequest, unit.Broadcast, portMAC(0), "10.0.1.1", 0, "10.0.1.11")
	ask := func() {
		t.Helper()
		s.receive(3, d.frame())
		s.wantDrop(3, DropARPUnresolved)
	}
	ask()
	s.wantData(0, request)
	s.wantData(1, request)
	ask()
	s.advance(arpRetry - 1)
	ask()
	s.wantNothing(0, 1, 2, 3, 4, 5)
	s.receive(3, datagram{dst: portMAC(3), to: "10.0.1.12"}.frame()) // another host
	s.wantDrop(3, DropARPUnresolved)
	other := arp(ether.ARPRequest, unit.Broadcast, portMAC(0), "10.0.1.1", 0, "10.0.1.12")
	s.wantData(0, other)
	s.wantData(1, other)
	s.advance(1)
	ask()
	s.wantData(0, request)
	s.wantData(1, request)
	s.receive(1, arp(ether.ARPReply, portMAC(0), stationMAC(1), "10.0.1.11", portMAC(0), "10.0.1.1"))
	s.wantNothing(0, 1, 2, 3, 4, 5) // the reply is for the gateway
	s.receive(3, d.frame())
	s.wantData(1, d.routed(stationMAC(1), portMAC(0)))
	s.wantNoDrops()
	if n := len(s.arps.asked); n != 1 {
		t.Errorf("%d hosts are asked for, want 1: who answers is not", n)
	}
}

// Hosts that never answer do not keep others from being asked for.
func TestManyUnknownHosts(t *testing.T) {
	s := newTestSwitch(t, 6, func(c *Config) { routed(c); c.Subnets[0].Prefix = prefix("10.0.0.0/15") })
	for i := range arpTableMax {
		s.receive(3, datagram{dst: portMAC(3), to: fmt.Sprintf("10.1.%d.%d", i>>8, i&255), size: 60}.frame())
		s.drain(0)
		s.drain(1)
	}
	s.advance(arpRetry)
	s.receive(3, datagram{dst: portMAC(3), to: "10.0.1.99"}.frame())
	request := arp(ether.ARPRequest, unit.Broadcast, portMAC(0), "10.0.1.1", 0, "10.0.1.99")
	s.wantData(0, request)
	s.wantData(1, request)
}

// A host that answers for addresses it made up gets half the ARP table; neighbours
// behind other ports are learned as ever.
func TestMadeUpNeighboursLeaveRoom(t *testing.T) {
	s := newTestSwitch(t, 6, func(c *Config) { routed(c); c.Subnets[0].Prefix = prefix("10.0.0.0/15") })
	learn := func(in unit.Port, i int) {
		s.receive(in, arp(ether.ARPReply, portMAC(in), stationMAC(in), fmt.Sprintf("10.1.%d.%d", i>>8, i&255), portMAC(in), "10.0.1.1"))
	}
	const room = arpTableMax / 2
	for i := range room {
		learn(0, i)
		s.advance(unit.Microsecond) // within the budget of control frames
	}
	s.wantNoDrops()
	learn(0, room)
	s.wantDrop(0, OddARPTable)
	learn(0, 5) // known
	learn(1, room)
	s.wantNoDrops()
	s.receive(3, datagram{dst: portMAC(3), to: "10.1.16.0"}.frame())
	if got := s.drain(1); len(got) != 1 {
		t.Errorf("%d frames for the neighbour at port 1, want 1", len(got))
	}
}

// A static neighbour stays what the configuration says, whoever claims its address.
func TestStaticNeighbour(t *testing.T) {
	s := newTestSwitch(t, 6, withHosts)
	s.receive(1, arp(ether.ARPRequest, unit.Broadcast, stationMAC(1), "10.0.1.10", 0, "10.0.1.1"))
	s.drain(1)
	d := datagram{dst: portMAC(3), src: peerMAC(3), to: "10.0.1.10"}
	s.receive(3, d.frame())
	s.wantData(0, d.routed(stationMAC(0), portMAC(0)))
}

// A host whose MAC entry has aged while its ARP entry has not is flooded in its
// subnet: every port gets it, the charge is one frame's.
func TestFloodToAgedHost(t *testing.T) {
	s := newTestSwitch(t, 6, routed)
	s.receive(1, arp(ether.ARPRequest, unit.Broadcast, stationMAC(1), "10.0.1.11", 0, "10.0.1.1"))
	s.drain(1)
	d := datagram{dst: portMAC(3), src: peerMAC(3), to: "10.0.1.11", priority: 3}
	s.advance(macAge + 1)
	s.receive(3, d.frame())
	if b, _ := s.MMU().Bytes(3, 3); b != 1000 {
		t.Errorf("%d bytes charged, want 1000", b)
	}
	s.wantData(0, d.routed(stationMAC(1), portMAC(0)))
	s.wantData(1, d.routed(stationMAC(1), portMAC(0)))
	s.wantNothing(0, 1, 2, 3, 4, 5)
}

// It is flooded to the subnet's further ports too, but not back to where it came
// from; what comes in by such a port is not bridged.
func TestFloodPorts(t *testing.T) {
	s := newTestSwitch(t, 6, func(c *Config) {
		withHosts(c)
		c.MAC = c.MAC[1:] // host 10.0.1.10 has an ARP entry only
		c.Subnets[0].Flood = ports(3, 4)
	})
	d := datagram{dst: portMAC(3), src: peerMAC(3), to: "10.0.1.10", priority: 3}
	s.receive(3, d.frame())
	for _, out := range []unit.Port{0, 1, 4} {
		s.wantData(out, d.routed(stationMAC(0), portMAC(0)))
	}
	s.wantNothing(0, 1, 2, 3, 4, 5)
	s.receive(4, d.routed(stationMAC(0), portMAC(0)))
	s.wantDrop(4, DropNotForUs)
	broadcast := plain(unit.Broadcast, stationMAC(1), 100)
	s.receive(1, broadcast) // known ways are not flooded further
	s.wantData(0, broadcast)
	s.wantNothing(0, 1, 2, 3, 4, 5)
}

// A host that only sends routed frames keeps its MAC entry by them.
func TestRoutedFramesKeepTheMACEntry(t *testing.T) {
	s := newTestSwitch(t, 6, routed)
	s.receive(1, arp(ether.ARPRequest, unit.Broadcast, stationMAC(1), "10.0.1.11", 0, "10.0.1.1"))
	s.drain(1)
	for range 10 {
		s.advance(macAge / 2)
		s.receive(1, datagram{dst: portMAC(1), src: stationMAC(1), from: "10.0.1.11", to: "10.9.1.1"}.frame())
		s.drain(3)
	}
	d := datagram{dst: portMAC(3), src: peerMAC(3), to: "10.0.1.11"}
	s.receive(3, d.frame())
	s.wantData(1, d.routed(stationMAC(1), portMAC(0)))
	s.wantNothing(0)
}

// --- the FIB ---

// slowLookup is the reference model of fib.lookup: the longest of all prefixes that
// contain the address, the first of equals.
func slowLookup(entries []fibEntry, ip uint32) int {
	best := -1
	addr := netip.AddrFrom4([4]byte{byte(ip >> 24), byte(ip >> 16), byte(ip >> 8), byte(ip)})
	for i, e := range entries {
		if e.prefix.Contains(addr) && (best < 0 || e.prefix.Bits() > entries[best].prefix.Bits()) {
			best = i
		}
	}
	return best
}

func TestLongestPrefixAgainstReferenceModel(t *testing.T) {
	seed := testkit.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 50 {
		var c Config
		random := func() netip.Prefix {
			// Few bits differ, so that prefixes nest.
			ip := rng.Uint32() & 0xc0c0c0c3
			a := netip.AddrFrom4([4]byte{byte(ip >> 24), byte(ip >> 16), byte(ip >> 8), byte(ip)})
			return netip.PrefixFrom(a, rng.IntN(33))
		}
		for range rng.IntN(4) {
			c.Subnets = append(c.Subnets, Subnet{Prefix: random(), Gateway: netip.IPv4Unspecified()})
		}
		for range rng.IntN(40) {
			c.Routes = append(c.Routes, Route{Prefix: random(), Ports: ports(1)})
		}
		f := newFIB(c)
		for range 2000 {
			ip := rng.Uint32() & 0xc0c0c0c3
			if rng.IntN(4) == 0 {
				ip = rng.Uint32()
			}
			var want *fibEntry
			if i := slowLookup(f.entries, ip); i >= 0 {
				want = &f.entries[i]
			}
			if got := f.lookup(ip); got != want {
				t.Fatalf("seed %d: lookup(%08x) = %+v, want %+v, of %+v", seed, ip, got, want, f.entries)
			}
		}
	}
}

// flows are datagrams of n flows for the default route.
func flows(n int) (ds []datagram) {
	for i := range n {
		ds = append(ds, datagram{dst: portMAC(0), src: stationMAC(0), from: "10.0.1.10", to: "10.77.0.1", sport: uint16(i + 1), size: 100})
	}
	return ds
}

// path is the port by which a frame leaves, received at a port.
func (s *testSwitch) path(in unit.Port, frame []byte) unit.Port {
	s.t.Helper()
	s.receive(in, frame)
	found := unit.NoPort
	for p := range unit.Port(s.Ports()) {
		if got := s.drain(p); len(got) == 1 && found == unit.NoPort {
			found = p
		} else if len(got) > 0 {
			s.t.Fatalf("%d frames leave by port %d, and one by %d", len(got), p, found)
		}
	}
	return found
}

func TestECMP(t *testing.T) {
	group := func(seed uint32) func(c *Config) {
		return func(c *Config) {
			withHosts(c)
			c.HashSeed = seed
			c.Routes = []Route{{Prefix: prefix("0.0.0.0/0"), Ports: ports(2, 3, 4, 5)}}
		}
	}
	s, other := newTestSwitch(t, 6, group(1)), newTestSwitch(t, 6, group(2))
	const n = 4000
	counts, same := make(map[unit.Port]int), 0
	var chosen []unit.Port
	for _, d := range flows(n) {
		p := s.path(0, d.frame())
		chosen = append(chosen, p)
		counts[p]++
		if p == other.path(0, d.frame()) {
			same++
		}
	}
	for p := unit.Port(2); p < 6; p++ {
		if counts[p] < n/4*9/10 || counts[p] > n/4*11/10 {
			t.Errorf("port %d has %d of %d flows, want about a quarter: %v", p, counts[p], n, counts)
		}
	}
	if same < n/4*85/100 || same > n/4*115/100 {
		t.Errorf("another seed chooses alike for %d of %d flows, want about a quarter", same, n)
	}
	for i, d := range flows(200) {
		d.ttl, d.size, d.id, d.priority = 9, 900, uint32(i), 3 // not in the 5-tuple
		if p := s.path(0, d.frame()); p != chosen[i] {
			t.Fatalf("flow %d left by port %d before, now by %d", i, chosen[i], p)
		}
	}
	// A port that fails takes none; when it is back every flow is where it was.
	s.link(3, false)
	for _, d := range flows(200) {
		if p := s.path(0, d.frame()); p == 3 || p < 2 {
			t.Fatalf("a flow leaves by port %d", p)
		}
	}
	s.link(3, true)
	for i, d := range flows(200) {
		if p := s.path(0, d.frame()); p != chosen[i] {
			t.Fatalf("flow %d left by port %d before the failure, now by %d", i, chosen[i], p)
		}
	}
}

// A frame does not go back where it came from, unless there is no other way.
func TestSplitHorizon(t *testing.T) {
	s := newTestSwitch(t, 6, withHosts)
	for _, d := range flows(100) {
		d.dst = portMAC(3)
		if p := s.path(3, d.frame()); p != 4 {
			t.Fatalf("leaves by port %d, want 4", p)
		}
	}
	s.link(4, false)
	for _, d := range flows(20) {
		d.dst = portMAC(3)
		if p := s.path(3, d.frame()); p != 3 {
			t.Fatalf("leaves by port %d, want 3: the only one", p)
		}
	}
	s.wantNoDrops()
}

// The backup serves while every primary port is down, and only then.
func TestBackup(t *testing.T) {
	s := newTestSwitch(t, 6, withHosts)
	d := flows(1)[0]
	d.priority = 3 // of lossless frames nothing is told
	s.link(3, false)
	if p := s.path(0, d.frame()); p != 4 {
		t.Errorf("one primary port is left: leaves by %d, want 4", p)
	}
	s.wantEvents("link 3 down")
	s.link(4, false)
	s.wantEvents("link 4 down", "route 0 by 5")
	if p := s.path(0, d.frame()); p != 5 {
		t.Errorf("leaves by %d, want the backup 5", p)
	}
	s.receive(0, datagram{dst: portMAC(0), to: "10.9.1.1", priority: 3}.frame()) // a route without a backup
	s.wantDrop(0, DropNoPort)
	s.link(5, false)
	s.receive(0, d.frame())
	s.wantDrop(0, DropNoPort)
	s.link(5, true)
	s.link(3, true)
	s.log = nil
	if p := s.path(0, d.frame()); p != 3 {
		t.Errorf("primary port 3 is back: leaves by %d", p)
	}
	s.wantEvents()
	s.link(3, false)
	s.wantEvents("link 3 down", "route 0 by 5") // each time anew
}

// Detour tells of frames that are charged to the priority group: what takes a lossy turn, or waits in a lossy
// queue, holds it up nowhere.
func TestDetour(t *testing.T) {
	s := newTestSwitch(t, 6, withHosts)
	s.advance(unit.Millisecond)
	s.link(3, false)
	s.advance(unit.Millisecond)
	s.link(4, false)
	q := detect.Queue{Port: 5, Priority: 3}
	s.receive(5, pauseOf(3, 65535, 1))
	f := datagram{dst: portMAC(0), src: stationMAC(0), from: "10.0.1.10", to: "11.1.1.1", priority: 3}.frame()
	wantDetour := func(want int) {
		t.Helper()
		if bytes, down, since := s.Detour(pg0, q); bytes != want || want > 0 && (down != 4 || since != s.now) {
			t.Errorf("%d bytes took a detour, for port %d that went down at %d; want %d, 4 and %d", bytes, down, since, want, s.now)
		}
	}
	s.LossyTurn(pg0, q, true)
	s.receive(0, f)
	wantDetour(0)
	s.LossyTurn(pg0, q, false)
	s.receive(0, f)
	wantDetour(len(f))
	if n := s.Held(pg0, q); n != len(f) {
		t.Errorf("M has %d bytes, want %d", n, len(f))
	}
}

// To leave one backup port for another is no reroute: the traffic had left its
// primary ports before.
func TestBackupOfABackup(t *testing.T) {
	s := newTestSwitch(t, 6, func(c *Config) {
		withHosts(c)
		c.Routes = []Route{{Prefix: prefix("0.0.0.0/0"), Ports: ports(3), Backup: ports(4, 5)}}
	})
	d := flows(1)[0]
	s.link(3, false)
	s.link(4, false)
	if p := s.path(0, d.frame()); p != 5 {
		t.Errorf("leaves by %d, want the backup 5", p)
	}
	s.link(4, true)
	s.link(5, false)
	if p := s.path(0, d.frame()); p != 4 {
		t.Errorf("leaves by %d, want the backup 4", p)
	}
	s.wantEvents("link 3 down", "route 0 by 4", "link 4 down", "link 4 up", "link 5 down")
}

// A switch that starts with its primary links down has not rerouted anything.
func TestNoRerouteAtStart(t *testing.T) {
	s := newTestSwitch(t, 6, withHosts)
	fresh, err := NewSwitch(s.cfg)
	if err != nil {
		t.Fatal(err)
	}
	fresh.SetLink(0, 5, true)
	fresh.SetLink(0, 3, true)
	_, ev := fresh.Work(nil)
	var got []string
	for _, e := range ev {
		got = append(got, eventText(e))
	}
	if want := []string{"link 5 up", "link 3 up"}; !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

func TestSetMAC(t *testing.T) {
	s := newTestSwitch(t, 6, withHosts)
	s.SetMAC(0, 0x02ff00000001)
	d := datagram{dst: 0x02ff00000001, src: stationMAC(0), to: "10.9.1.1"}
	s.receive(0, d.frame())
	if got := s.drain(3); len(got) != 1 || !bytes.Equal(got[0], d.routed(peerMAC(3), portMAC(3))) {
		t.Errorf("got %s", frameText(got))
	}
}

func TestNewSwitchRefuses(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(c *Config)
		want   string
	}{
		{"no ports", func(c *Config) { c.Ports = nil }, "switch sw7: ports: 0; valid: 1 to 256"},
		{"257 ports", func(c *Config) { c.Ports = make([]PortConfig, 257) }, "switch sw7: ports: 257; valid: 1 to 256"},
		{"no batch", func(c *Config) { c.Batch = 0 }, "switch sw7: batch: 0; valid: 1 or more"},
		{"small slots", func(c *Config) { c.SlotBytes = 1517 }, "switch sw7: slots of 1517 bytes; valid: 1518 or more for frames of 1514 and a tag"},
		{"no refresh", func(c *Config) { c.Refresh = 0 }, "switch sw7: refresh: 0 ns; valid: above 0"},
		{"no threshold", func(c *Config) { c.Buffer.Profile.StaticTh = 0 }, "switch sw7: buffer: size + static_th: 0 bytes; a group would be XOFF when empty"},
	} {
		c := testConfig(2)
		tc.change(&c)
		if s, err := NewSwitch(c); s != nil || err == nil || err.Error() != tc.want {
			t.Errorf("%s: error %v, want %q", tc.name, err, tc.want)
		}
	}
}

func TestDefaults(t *testing.T) {
	c := Defaults()
	c.Ports = make([]PortConfig, 4)
	c.Refresh = unit.Millisecond
	s, err := NewSwitch(c)
	if err != nil {
		t.Fatal(err)
	}
	if !s.MMU().Config().Profile.Unique() {
		t.Error("with the defaults a priority group can hold more than XON bytes in two queues")
	}
	if s.Detector().Name() != "none" || c.DSCP[26] != 3 || c.DSCP[48] != 6 {
		t.Errorf("detector %q, DSCP 26 in priority %d, 48 in %d", s.Detector().Name(), c.DSCP[26], c.DSCP[48])
	}
}
