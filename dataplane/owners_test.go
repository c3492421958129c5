package dataplane

import (
	"net/netip"
	"testing"

	"softswitch/internal/ether"
	"softswitch/unit"
)

// sharedGateway is the gateway's address where several switches own a subnet.
const sharedGateway unit.MAC = 0x02cc00000001

// Where other switches own the subnet too, what is for a station whose port is down goes to them: not by
// the port by which it came, if there is another, and as routed frames go.
func TestSubnetWithOtherOwners(t *testing.T) {
	s := newTestSwitch(t, 6, func(c *Config) {
		withHosts(c)
		c.Subnets[0].Backup, c.Subnets[0].GatewayMAC = unit.PortsOf(3, 4), sharedGateway
		c.MAC = append(c.MAC, Station{MAC: stationMAC(1), Port: 1})
		c.ARP = append(c.ARP, Neighbour{IP: netip.MustParseAddr("10.0.1.11"), MAC: stationMAC(1)})
	})
	from := func(in unit.Port) []byte {
		return datagram{dst: portMAC(in), src: peerMAC(in), from: "10.9.1.1", to: "10.0.1.11", priority: 3}.frame()
	}
	s.receive(3, from(3))
	if got := s.drain(1); len(got) != 1 || ether.Src(got[0]) != sharedGateway || ether.Dst(got[0]) != stationMAC(1) {
		t.Fatalf("port 1 sends %s, want a frame from the gateway's address", frameText(got))
	}
	s.link(1, false)
	for _, c := range []struct{ in, out unit.Port }{{3, 4}, {4, 3}} {
		s.receive(c.in, from(c.in))
		got := s.drain(c.out)
		if len(got) != 1 || ether.Dst(got[0]) != peerMAC(c.out) || got[0][ether.HeaderLen+8] != 63 {
			t.Errorf("what came in by %d leaves by %d as %s, want it sent on to the far end", c.in, c.out, frameText(got))
		}
		s.wantNothing(c.in)
	}
	if outs, flooded := s.Ways(3, addr32(netip.MustParseAddr("10.0.1.11")), 3); flooded || outs != unit.PortsOf(4) {
		t.Errorf("the ways of a frame that comes in by 3 are %v", outs)
	}
	s.link(4, false)
	s.receive(3, from(3))
	if got := s.drain(3); len(got) != 1 {
		t.Errorf("with no other way port 3 sends %s, want the frame back", frameText(got))
	}
	s.wantNoDrops()
	s.link(3, false)
	s.receive(5, from(5))
	s.wantDrop(5, DropNoPort)

	// The gateway's address is the router's at every port of the subnet, and no station's.
	s.link(3, true)
	s.receive(0, datagram{dst: sharedGateway, src: stationMAC(0), from: "10.0.1.10", to: "10.9.1.1", priority: 3}.frame())
	if got := s.drain(3); len(got) != 1 {
		t.Errorf("what is sent to the gateway leaves by port 3 as %s", frameText(got))
	}
}
