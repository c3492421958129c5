package dataplane

// What belief.go says that a router neither believes nor forwards, row by row.

import (
	"fmt"
	"testing"

	"softswitch/internal/ether"
	"softswitch/unit"
)

// wantUnrouted wants that a frame that came in at port 0 leaves by no port.
func (s *testSwitch) wantUnrouted(f []byte, r Reason) {
	s.t.Helper()
	s.receive(0, f)
	s.wantDrop(0, r)
	for p := range unit.Port(s.Ports()) {
		s.wantNothing(p)
	}
}

// A header that was damaged on the way leads anywhere. A bridge does not read it.
func TestRouteVerifiesTheChecksum(t *testing.T) {
	s := newTestSwitch(t, 6, withHosts)
	good := datagram{dst: portMAC(0), src: stationMAC(0), from: "10.0.1.10", to: "10.9.1.1", priority: 3}.frame()
	for at := ether.HeaderLen + 1; at < ether.HeaderLen+ether.IPv4Len; at++ {
		if at == ether.HeaderLen+2 || at == ether.HeaderLen+3 {
			continue // a wrong length is malformed
		}
		f := edit(good, at, good[at]^0x10)
		s.wantUnrouted(f, DropIPChecksum)
		ether.PutMAC(f, stationMAC(1))
		s.receive(0, f)
		s.wantData(1, f)
	}
	s.receive(0, good)
	if got := s.drain(3); len(got) != 1 {
		t.Errorf("the good one: port 3 sends %s", frameText(got))
	}
}

func TestMartians(t *testing.T) {
	s := newTestSwitch(t, 6, withHosts)
	for _, way := range []struct{ from, to string }{
		{"10.0.1.10", "255.255.255.255"},
		{"10.0.1.10", "224.0.0.5"},
		{"10.0.1.10", "239.1.1.1"},
		{"10.0.1.10", "240.0.0.1"},
		{"10.0.1.10", "127.0.0.1"},
		{"10.0.1.10", "0.0.0.0"},
		{"10.0.1.10", "0.1.2.3"},
		{"10.0.1.10", "10.0.1.255"},
		{"10.0.1.10", "10.0.2.255"},
		{"127.0.0.1", "10.9.1.1"},
		{"224.0.0.5", "10.9.1.1"},
		{"255.255.255.255", "10.9.1.1"},
		{"240.0.0.1", "10.9.1.1"},
		{"0.0.0.0", "10.9.1.1"},
		{"0.255.0.1", "10.9.1.1"},
		{"10.0.1.255", "10.9.1.1"},
		{"10.0.2.255", "10.9.1.1"},
	} {
		s.wantUnrouted(datagram{dst: portMAC(0), src: stationMAC(0), from: way.from, to: way.to, priority: 3}.frame(), DropMartian)
	}
	for _, to := range []string{"1.0.0.1", "126.255.255.255", "128.0.0.1", "223.255.255.255", "10.9.1.255"} { // beside them
		s.receive(0, datagram{dst: portMAC(0), src: stationMAC(0), from: "10.0.1.10", to: to, priority: 3}.frame())
		if got := len(s.drain(3)) + len(s.drain(4)); got != 1 {
			t.Errorf("%d frames for %s leave, want 1", got, to)
		}
	}
	s.wantNoDrops()
}

// A subnet of 31 bits has two stations, and no broadcast.
func TestSubnetOf31Bits(t *testing.T) {
	s := newTestSwitch(t, 6, func(c *Config) { withHosts(c); c.Subnets[1].Prefix = prefix("10.0.2.0/31") })
	s.receive(2, arp(ether.ARPRequest, unit.Broadcast, stationMAC(2), "10.0.2.0", 0, "10.0.2.1"))
	if got := s.drain(2); len(got) != 1 {
		t.Errorf("port 2 sends %s, want an answer", frameText(got))
	}
	d := datagram{dst: portMAC(3), src: peerMAC(3), from: "10.0.2.1", to: "10.0.2.0"}
	s.receive(3, d.frame())
	s.wantData(2, d.routed(stationMAC(2), portMAC(2)))
	s.wantNoDrops()
}

// An ARP packet by nobody is not believed, not answered and not passed on; what is for the
// address that it claims goes where it went before.
func TestARPSenders(t *testing.T) {
	for _, tc := range []struct {
		name string
		mac  unit.MAC
		ip   string
	}{
		{"broadcast", unit.Broadcast, "10.0.1.10"},
		{"a group", 0x01005e000001, "10.0.1.10"},
		{"no address", 0, "10.0.1.10"},
		{"of the switch's port", portMAC(0), "10.0.1.10"},
		{"of another port", portMAC(4), "10.0.1.10"},
		{"the gateway", stationMAC(0), "10.0.1.1"},
		{"the subnet's broadcast", stationMAC(0), "10.0.1.255"},
		{"the subnet", stationMAC(0), "10.0.1.0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newTestSwitch(t, 6, routed)
			for _, op := range []uint16{ether.ARPRequest, ether.ARPReply} {
				for _, target := range []string{"10.0.1.1", "10.0.1.11"} {
					f := arp(op, unit.Broadcast, stationMAC(0), tc.ip, 0, target)
					ether.PutMAC(f[ether.HeaderLen+8:], tc.mac)
					s.wantUnrouted(f, DropARPSender)
				}
			}
			if got := s.ARPEntries(s.now); len(got) != 0 {
				t.Errorf("learned %v", got)
			}
		})
	}
}

// A host that looks whether an address is free has none yet, and is answered.
func TestARPProbe(t *testing.T) {
	s := newTestSwitch(t, 6, routed)
	s.receive(0, arp(ether.ARPRequest, unit.Broadcast, stationMAC(0), "0.0.0.0", 0, "10.0.1.1"))
	s.wantData(0, arp(ether.ARPReply, stationMAC(0), portMAC(0), "10.0.1.1", stationMAC(0), "0.0.0.0"))
	s.wantNoDrops()
	if got := s.ARPEntries(s.now); len(got) != 0 {
		t.Errorf("learned %v", got)
	}
}

// What is for the router itself is not flooded, nor is it learned that it is elsewhere.
func TestOwnAddresses(t *testing.T) {
	s := newTestSwitch(t, 6, routed)
	s.wantUnrouted(plain(portMAC(0), stationMAC(0), 100), DropNotForUs)
	for p := range unit.Port(6) {
		claim := plain(unit.Broadcast, portMAC(p), 100)
		s.receive(1, claim)
		s.wantData(0, claim)
		s.wantUnrouted(plain(portMAC(p), stationMAC(0), 100), DropNotForUs)
	}
	s.SetMAC(1, 0x02ff00000001)
	s.wantUnrouted(plain(0x02ff00000001, stationMAC(0), 100), DropNotForUs)
}

// hears is what a host makes of the frames that its port sends: by RFC 826 it takes the sender's
// address of each ARP packet for an address that it knows.
func hears(gateway unit.MAC, frames [][]byte) unit.MAC {
	for _, f := range frames {
		if a := ether.ARP(f[ether.HeaderLen:]); a.Valid() && a.SenderIP() == ip32("10.0.1.1") {
			gateway = a.SenderMAC()
		}
	}
	return gateway
}

// The gateway has one address at all ports of a subnet: in answers, in requests, as the source
// of what is routed and of what is flooded. What a host sends to it is routed at every port; so
// is what it sends to the port.
func TestGatewayIsOneStation(t *testing.T) {
	s := newTestSwitch(t, 6, routed)
	s.receive(1, arp(ether.ARPRequest, unit.Broadcast, stationMAC(1), "10.0.1.11", 0, "10.0.1.1"))
	gateway := hears(0, s.drain(1))
	if gateway != portMAC(0) {
		t.Errorf("the gateway answers as %v, want %v", gateway, portMAC(0))
	}
	s.receive(3, datagram{dst: portMAC(3), src: peerMAC(3), to: "10.0.1.99", priority: 3}.frame()) // nobody has that
	for p := range unit.Port(2) {
		if got := hears(gateway, s.drain(p)); got != gateway {
			t.Errorf("asking at port %d the gateway is %v, and it answered as %v", p, got, gateway)
		}
	}
	s.wantDrop(3, DropARPUnresolved)
	down := datagram{dst: portMAC(3), src: peerMAC(3), to: "10.0.1.11", priority: 3}
	s.receive(3, down.frame())
	s.wantData(1, down.routed(stationMAC(1), gateway))
	for _, dst := range []unit.MAC{gateway, portMAC(1)} {
		up := datagram{dst: dst, src: stationMAC(1), from: "10.0.1.11", to: "10.9.1.1", priority: 3}
		s.receive(1, up.frame())
		s.wantData(3, up.routed(peerMAC(3), portMAC(3)))
	}
	s.wantUnrouted(datagram{dst: portMAC(1), src: stationMAC(0), to: "10.9.1.1"}.frame(), DropNotForUs)
	s.advance(macAge + 1)
	s.receive(3, down.frame())
	for p := range unit.Port(2) {
		s.wantData(p, down.routed(stationMAC(1), gateway)) // flooded
	}
	s.wantNoDrops()
}

// A subnet is a bridge of its own: a station that bears the address of one of another subnet
// takes nothing that is for that one, wherever its frames lead.
func TestStationsAreOfASubnet(t *testing.T) {
	s := newTestSwitch(t, 6, routed)
	s.receive(0, arp(ether.ARPRequest, unit.Broadcast, stationMAC(0), "10.0.1.10", 0, "10.0.1.1"))
	s.drain(0)
	s.receive(2, plain(stationMAC(5), stationMAC(0), 100))
	s.wantDrop(2, DropNoPort) // alone in its subnet
	s.receive(2, datagram{dst: portMAC(2), src: stationMAC(0), from: "10.0.2.10", to: "10.9.1.1"}.frame())
	s.drain(3)
	s.wantMACs(fmt.Sprintf("%v at 0 static false", stationMAC(0)), fmt.Sprintf("%v at 2 static false", stationMAC(0)))
	d := datagram{dst: portMAC(3), src: peerMAC(3), to: "10.0.1.10", priority: 3}
	s.receive(3, d.frame())
	s.wantData(0, d.routed(stationMAC(0), portMAC(0)))
	f := plain(stationMAC(0), stationMAC(1), 100)
	s.receive(1, f)
	s.wantData(0, f)
	s.wantNothing(0, 1, 2, 3, 4, 5)
	s.wantNoDrops()
	if got := s.ARPEntries(s.now); len(got) != 1 || got[0].Port != 0 {
		t.Errorf("neighbours %v, want one at port 0", got)
	}
}

// ask is a request for the gateway by a host, which is answered.
func (s *testSwitch) ask(in unit.Port, mac unit.MAC, ip string) {
	s.t.Helper()
	s.receive(in, arp(ether.ARPRequest, unit.Broadcast, mac, ip, 0, "10.0.1.1"))
	if got := s.drain(in); len(got) != 1 {
		s.t.Fatalf("port %d sends %s, want an answer", in, frameText(got))
	}
}

// A host that made up addresses once is forgotten when they have aged: there is room for others
// behind its port.
func TestARPEntriesAge(t *testing.T) {
	s := newTestSwitch(t, 6, func(c *Config) { routed(c); c.Subnets[0].Prefix = prefix("10.0.0.0/15") })
	for i := range arpTableMax/2 + 3 {
		s.ask(0, stationMAC(0), fmt.Sprintf("10.1.%d.%d", i>>8, i&255))
		s.advance(unit.Millisecond)
	}
	s.wantDrops(0, map[Reason]uint64{OddARPTable: 3})
	s.advance(arpAge)
	s.ask(0, stationMAC(9), "10.0.1.77")
	s.wantNoDrops()
	if got := s.ARPEntries(s.now); len(got) != 1 || got[0].MAC != stationMAC(9) {
		t.Errorf("%d neighbours, want the new one alone", len(got))
	}
}

// A neighbour that frames are sent to is asked again before it ages, so that none of them is
// lost; if it is silent it is forgotten. A static one is neither.
func TestARPEntryIsRenewed(t *testing.T) {
	s := newTestSwitch(t, 6, func(c *Config) { withHosts(c); weigh(c, nil) })
	s.ask(1, stationMAC(1), "10.0.1.11")
	for _, answers := range []bool{true, false} {
		s.advance(arpAge - arpRenew + 1)
		d := datagram{dst: portMAC(3), src: peerMAC(3), to: "10.0.1.11", priority: 3}
		s.receive(3, d.frame())
		request := arp(ether.ARPRequest, unit.Broadcast, portMAC(0), "10.0.1.1", 0, "10.0.1.11")
		for p := range unit.Port(2) { // its MAC entry has aged: it is flooded
			s.wantData(p, d.routed(stationMAC(1), portMAC(0)), request)
		}
		if answers {
			s.receive(1, arp(ether.ARPReply, portMAC(0), stationMAC(1), "10.0.1.11", portMAC(0), "10.0.1.1"))
			s.receive(3, d.frame())
			s.wantData(1, d.routed(stationMAC(1), portMAC(0)))
			s.wantNothing(0)
		} else {
			s.advance(arpRenew)
			s.receive(3, d.frame())
			s.wantDrop(3, DropARPUnresolved)
		}
	}
	d := datagram{dst: portMAC(3), src: peerMAC(3), to: "10.0.1.10", priority: 3}
	s.drain(0)
	s.drain(1)
	s.receive(3, d.frame())
	s.wantData(0, d.routed(stationMAC(0), portMAC(0)))
	s.wantNothing(0, 1)
}

// What was learned at a port goes with its link, and a station that moves is where it was heard
// last.
func TestNeighboursMove(t *testing.T) {
	s := newTestSwitch(t, 6, withHosts)
	s.ask(0, stationMAC(8), "10.0.1.18")
	s.ask(1, stationMAC(9), "10.0.1.19")
	s.ask(1, stationMAC(8), "10.0.1.18")
	d := datagram{dst: portMAC(3), src: peerMAC(3), to: "10.0.1.18"}
	s.receive(3, d.frame())
	s.wantData(1, d.routed(stationMAC(8), portMAC(0)))
	s.ask(0, stationMAC(7), "10.0.1.18") // another card
	s.receive(3, d.frame())
	s.wantData(0, d.routed(stationMAC(7), portMAC(0)))
	s.link(1, false)
	s.link(0, false)
	s.link(0, true)
	if got := s.ARPEntries(s.now); len(got) != 2 || !got[0].Static || !got[1].Static {
		t.Errorf("neighbours %v, want the static ones", got)
	}
	s.wantMACs(fmt.Sprintf("%v at 0 static true", stationMAC(0)), fmt.Sprintf("%v at 2 static true", stationMAC(2)))
}

// Nobody's address is not learned: what is for it is flooded.
func TestNobodysAddressIsNotLearned(t *testing.T) {
	s := newTestSwitch(t, 3, withoutStations)
	s.receive(0, plain(unit.Broadcast, 0, 100), plain(unit.Broadcast, 0x01005e000001, 100))
	s.drain(1)
	s.drain(2)
	s.wantMACs()
}
