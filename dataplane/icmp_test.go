package dataplane

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"testing"

	"softswitch/buffer"
	"softswitch/internal/ether"
	"softswitch/unit"
)

// echo is an ICMP echo with a payload of size bytes, in a frame.
func (d datagram) echo(size int) []byte {
	d.proto, d.size = ether.ProtoICMP, ether.HeaderLen+ether.IPv4Len+icmpLen+size
	f := d.frame()
	m := f[ether.HeaderLen+ether.IPv4Len:]
	copy(m, []byte{icmpEcho, 0, 0, 0, 0x12, 0x34, 0, 7})
	for i := range m[icmpLen:] {
		m[icmpLen+i] = byte(i)
	}
	binary.BigEndian.PutUint16(m[2:], ether.Checksum(m))
	return f
}

// icmpMessage is the ICMP message of a frame with a whole and right header from a gateway to a host
// of priority 0; nil if it is none.
func icmpMessage(f []byte, from, to string) []byte {
	ip := ether.IPv4(f[ether.HeaderLen:])
	if !ip.Valid(len(ip)) || ip.Proto() != ether.ProtoICMP || ip.Src() != ip32(from) || ip.Dst() != ip32(to) ||
		ether.Checksum(ip[:ip.HeaderLen()]) != 0 || ip.TTL() != 64 || ip.DSCP() != 0 {
		return nil
	}
	return ip[ip.HeaderLen():ip.TotalLen()]
}

// wantError wants that port 0 sends one frame, to the host of 10.0.1.10, that tells of f.
func (s *testSwitch) wantError(f []byte, kind, code uint8) {
	s.t.Helper()
	got := s.drain(0)
	if len(got) != 1 || ether.Dst(got[0]) != stationMAC(0) || ether.Src(got[0]) != portMAC(0) {
		s.t.Fatalf("port 0 sends %s, want one ICMP error", frameText(got))
	}
	m := icmpMessage(got[0], "10.0.1.1", "10.0.1.10")
	if len(m) < icmpLen || m[0] != kind || m[1] != code || ether.Checksum(m) != 0 {
		s.t.Fatalf("port 0 sends %s, want type %d, code %d", frameText(got), kind, code)
	}
	ip := ether.IPv4(f[ether.HeaderLen:])
	want := ip[:min(ip.TotalLen(), icmpLongest-ether.IPv4Len-icmpLen)]
	if !bytes.Equal(m[icmpLen:], want) {
		s.t.Fatalf("the error quotes %x, want %x", m[icmpLen:], want)
	}
}

func (s *testSwitch) wantSilence(f []byte, r Reason) {
	s.t.Helper()
	s.receive(0, f)
	s.wantDrop(0, r)
	for p := range unit.Port(s.Ports()) {
		s.wantNothing(p)
	}
}

// withoutDefault is a router that has a way to 10.9.0.0/16 alone.
func withoutDefault(c *Config) { withHosts(c); c.Routes = c.Routes[1:] }

// Each gateway answers an echo, wherever it comes from and whatever its TTL is.
func TestGatewayAnswersEcho(t *testing.T) {
	s := newTestSwitch(t, 6, withoutDefault)
	for _, to := range []string{"10.0.1.1", "10.0.2.1"} {
		for _, size := range []int{0, 1, 56, 1400} {
			for _, priority := range []unit.Priority{0, 2, 3} {
				d := datagram{dst: portMAC(0), src: stationMAC(0), from: "10.0.1.10", to: to, ttl: 1, priority: priority, ecn: ether.CE}
				f := d.echo(size)
				s.receive(0, f)
				got := s.drain(0)
				if len(got) != 1 || ether.Dst(got[0]) != stationMAC(0) || ether.Src(got[0]) != portMAC(0) {
					t.Fatalf("port 0 sends %s, want an answer", frameText(got))
				}
				m := icmpMessage(got[0], to, "10.0.1.10")
				if priority == 2 { // lossy as it is: it keeps its code point
					got[0][ether.HeaderLen+1] = 0
					continue
				}
				asked := f[ether.HeaderLen+ether.IPv4Len:]
				if m == nil || m[0] != icmpEchoReply || m[1] != 0 || ether.Checksum(m) != 0 || !bytes.Equal(m[4:], asked[4:]) {
					t.Fatalf("port 0 sends %s, want an answer to %x", frameText(got), asked)
				}
			}
		}
	}
	d := datagram{dst: portMAC(3), src: peerMAC(3), from: "10.9.1.1", to: "10.0.1.1"}
	s.receive(3, d.echo(56))
	if got := s.drain(3); len(got) != 1 || ether.Dst(got[0]) != peerMAC(3) || icmpMessage(got[0], "10.0.1.1", "10.9.1.1") == nil {
		t.Errorf("port 3 sends %s, want an answer", frameText(got))
	}
	s.wantNoDrops()
	s.wantNothing(0, 1, 2, 3, 4, 5)
}

// A host that there is no room for in the MAC table hears the router as any: what that says is flooded
// to the port of the host too, the only one of its subnet or not.
func TestAnswerWithoutAMACEntry(t *testing.T) {
	s := newTestSwitch(t, 6, func(c *Config) { withoutDefault(c); c.MAC = nil })
	s.macs.max = 0
	for _, tc := range []struct {
		host, gateway string
		in            unit.Port
		outs          unit.PortSet
	}{{"10.0.1.10", "10.0.1.1", 0, ports(0, 1)}, {"10.0.2.10", "10.0.2.1", 2, ports(2)}} {
		d := datagram{dst: portMAC(tc.in), src: stationMAC(tc.in), from: tc.host, to: tc.gateway}
		late := d
		late.to, late.ttl = "10.9.1.1", 1
		for kind, f := range map[byte][]byte{icmpEchoReply: d.echo(56), icmpTimeExceeded: late.frame()} {
			s.receive(tc.in, f)
			for p := range unit.Port(s.Ports()) {
				got := s.drain(p)
				if n := len(got); n > 1 || n == 1 != tc.outs.Has(p) {
					t.Errorf("to %s: port %d sends %s, want one frame each at %b", tc.host, p, frameText(got), tc.outs)
				} else if n == 1 && icmpMessage(got[0], tc.gateway, tc.host)[0] != kind {
					t.Errorf("to %s: port %d sends %s, want type %d", tc.host, p, frameText(got), kind)
				}
			}
		}
		s.wantDrops(tc.in, map[Reason]uint64{OddMACTable: 2, DropTTL: 1})
	}
}

// What else is for a gateway ends there, in silence.
func TestNoAnswer(t *testing.T) {
	s := newTestSwitch(t, 6, withoutDefault)
	d := datagram{dst: portMAC(0), src: stationMAC(0), from: "10.0.1.10", to: "10.0.1.1"}
	s.wantSilence(d.frame(), DropNotForUs) // UDP
	for at, v := range map[int]byte{34: icmpEchoReply, 35: 1} {
		s.wantSilence(edit(d.echo(56), at, v), DropNotForUs)
	}
	for _, fragment := range []uint16{0x2000, 0x0001} {
		f := d.echo(56)
		binary.BigEndian.PutUint16(f[ether.HeaderLen+6:], fragment)
		resum(f)
		s.wantSilence(f, DropNotForUs)
	}
	d.from = "10.0.2.1"
	s.wantSilence(d.echo(56), DropNotForUs) // as if it came from the router
	d.from = "11.1.1.1"
	s.wantSilence(d.echo(56), DropNotForUs) // no way back
}

// resum sets the header checksum of a frame that was edited.
func resum(f []byte) {
	ip := ether.IPv4(f[ether.HeaderLen:])
	ip[10], ip[11] = 0, 0
	binary.BigEndian.PutUint16(ip[10:], ether.Checksum(ip[:ip.HeaderLen()]))
}

// The source of a datagram is told why it ends here.
func TestICMPErrors(t *testing.T) {
	s := newTestSwitch(t, 6, withoutDefault)
	d := datagram{dst: portMAC(0), src: stationMAC(0), from: "10.0.1.10", to: "10.9.1.1", ttl: 1}
	for _, size := range []int{60, 98, 1000, 1514} {
		d.size = size
		f := d.frame()
		s.receive(0, f)
		s.wantDrop(0, DropTTL)
		s.wantError(f, icmpTimeExceeded, 0)
	}
	short := datagram{dst: portMAC(0), src: stationMAC(0), from: "10.0.1.10", to: "10.9.1.1", ttl: 1, size: 60}.frame()
	binary.BigEndian.PutUint16(short[ether.HeaderLen+2:], 30) // the rest is padding
	resum(short)
	s.receive(0, short)
	s.wantDrop(0, DropTTL)
	s.wantError(short, icmpTimeExceeded, 0)
	d.ttl, d.to, d.size = 64, "11.1.1.1", 98
	s.receive(0, d.frame())
	s.wantDrop(0, DropNoRoute)
	s.wantError(d.frame(), icmpUnreachable, codeNet)
	s.link(3, false)
	d.to = "10.9.1.1"
	s.receive(0, d.echo(56)) // of a query it is told
	s.wantDrop(0, DropNoPort)
	s.wantError(d.echo(56), icmpUnreachable, codeNet)
}

// What is told of a datagram, and how long it is, depends neither on how much of it the driver keeps nor on
// the slot: an older frame may have made it longer.
func TestICMPErrorsOfWhatIsNotKept(t *testing.T) {
	const kept = 64
	d := datagram{dst: portMAC(0), src: stationMAC(0), from: "10.0.1.10", to: "10.9.1.1", ttl: 1}
	for _, size := range []int{60, 64, 90, 600, 1514} {
		d.size = size
		whole := newTestSwitch(t, 6, withoutDefault)
		whole.receive(0, d.frame())
		want := whole.drain(0)
		whole.wantDrop(0, DropTTL)
		for _, grown := range []int{0, 100, 1000} {
			s := newTestSwitch(t, 6, func(c *Config) {
				withoutDefault(c)
				c.Pool = buffer.NewPool(0, 1000, 1000, kept)
			})
			fs := make([]*buffer.Frame, s.cfg.Batch)
			s.Lend(0, fs)
			for _, f := range fs {
				f.Data = append(f.Data, make([]byte, grown)...)
			}
			for _, f := range fs {
				s.pool.Put(f)
			}
			f := make([]*buffer.Frame, 1)
			s.Lend(0, f)
			f[0].Data, f[0].Len = append(f[0].Data[:0], d.frame()[:min(size, kept)]...), size
			s.Parse(f[0])
			s.Receive(s.now, 0, f)
			s.work()
			s.wantDrop(0, DropTTL)
			got := s.lend(0, 2)
			if len(got) != 1 || got[0].Len != len(want[0]) || len(got[0].Data) != min(got[0].Len, kept) {
				t.Fatalf("of %d bytes, slots grown by %d: %s, of which %d bytes are kept; want one of %d", size, grown, unit.Count(len(got), "frame"), len(got[0].Data), len(want[0]))
			}
			// The checksum is of what is kept.
			b, w := got[0].Data, want[0][:len(got[0].Data)]
			if !bytes.Equal(b[:36], w[:36]) || !bytes.Equal(b[38:], w[38:]) {
				t.Errorf("of %d bytes, slots grown by %d: %x, want %x", size, grown, b, w)
			}
			s.sent(0)
		}
	}
}

// A host that does not answer requests is unreachable, not one that is asked for now.
func TestHostUnreachable(t *testing.T) {
	s := newTestSwitch(t, 6, withoutDefault)
	d := datagram{dst: portMAC(0), src: stationMAC(0), from: "10.0.1.10", to: "10.0.2.99"}
	s.receive(0, d.frame())
	s.wantDrop(0, DropARPUnresolved)
	s.wantNothing(0)
	s.advance(arpRetry)
	s.receive(0, d.frame(), d.frame())
	s.wantDrops(0, map[Reason]uint64{DropARPUnresolved: 2})
	s.wantError(d.frame(), icmpUnreachable, codeHost)
}

// A host that was asked for long ago is asked for anew before it counts as unreachable.
func TestSilenceIsForgotten(t *testing.T) {
	s := newTestSwitch(t, 6, withoutDefault)
	d := datagram{dst: portMAC(0), src: stationMAC(0), from: "10.0.1.10", to: "10.0.2.99"}
	request := arp(ether.ARPRequest, unit.Broadcast, portMAC(2), "10.0.2.1", 0, "10.0.2.99")
	for range 3 {
		s.advance(arpSilence)
		s.receive(0, d.frame())
		s.wantDrop(0, DropARPUnresolved)
		s.wantData(2, request)
		s.wantNothing(0)
	}
	for range 3 {
		s.advance(arpSilence - 1)
		s.receive(0, d.frame())
		s.wantError(d.frame(), icmpUnreachable, codeHost)
	}
}

// A host that was not asked for, as there was no slot for a request, is not silent.
func TestRequestThatIsNotSent(t *testing.T) {
	s := newTestSwitch(t, 6, withoutDefault)
	d := datagram{dst: portMAC(0), src: stationMAC(0), from: "10.0.1.10", to: "10.0.2.99"}
	for _, beside := range []int{-1, 0} {
		giveBack := s.takeSlots(beside)
		s.receive(0, d.frame())
		s.wantDrop(0, DropARPUnresolved)
		s.wantNothing(2)
		giveBack()
		s.advance(arpRetry)
	}
	s.receive(0, d.frame())
	s.wantDrop(0, DropARPUnresolved)
	s.wantNothing(0)
	s.wantData(2, arp(ether.ARPRequest, unit.Broadcast, portMAC(2), "10.0.2.1", 0, "10.0.2.99"))
}

// About some frames nothing is told.
func TestNothingIsTold(t *testing.T) {
	s := newTestSwitch(t, 6, withoutDefault)
	d := datagram{dst: portMAC(0), src: stationMAC(0), from: "10.0.1.10", to: "10.9.1.1", ttl: 1}
	lossless := d
	lossless.priority = 3
	s.wantSilence(lossless.frame(), DropTTL)
	for _, kind := range icmpErrors {
		f := edit(d.echo(56), ether.HeaderLen+ether.IPv4Len, kind)
		s.wantSilence(f, DropTTL)
	}
	fragment := d.frame()
	binary.BigEndian.PutUint16(fragment[ether.HeaderLen+6:], 1)
	resum(fragment)
	s.wantSilence(fragment, DropTTL)
	for _, from := range []string{"10.0.1.1", "10.0.2.1", "11.1.1.1"} {
		d.from = from
		s.wantSilence(d.frame(), DropTTL)
	}
	d.from = "127.0.0.1"
	s.wantSilence(d.frame(), DropMartian)
}

// A router with an ID speaks by it of what came in by a port of no subnet, and answers echoes to
// it, with and without subnets, and wherever a route to it leads.
func TestRouterID(t *testing.T) {
	for _, id := range []string{"198.18.0.7", "10.9.255.1"} {
		for _, withSubnets := range []bool{true, false} {
			s := newTestSwitch(t, 6, func(c *Config) {
				withoutDefault(c)
				c.RouterID = netip.MustParseAddr(id)
				if !withSubnets {
					c.Subnets, c.ARP = nil, nil
				}
			})
			d := datagram{dst: portMAC(3), src: peerMAC(3), from: "10.9.1.1", to: "10.9.1.2", ttl: 1}
			s.receive(3, d.frame())
			s.wantDrop(3, DropTTL)
			if got := s.drain(3); len(got) != 1 || icmpMessage(got[0], id, "10.9.1.1")[0] != icmpTimeExceeded {
				t.Errorf("port 3 sends %s, want an error of %s", frameText(got), id)
			}
			d.to = id
			s.receive(3, d.echo(56))
			if got := s.drain(3); len(got) != 1 || icmpMessage(got[0], id, "10.9.1.1")[0] != icmpEchoReply {
				t.Errorf("port 3 sends %s, want an answer of %s", frameText(got), id)
			}
			d.from = id
			d.to = "10.9.1.2"
			s.receive(3, d.frame()) // as if it came from the router
			s.wantDrop(3, DropTTL)
			s.wantNothing(3)
			if withSubnets {
				d = datagram{dst: portMAC(0), src: stationMAC(0), from: "10.0.1.10", to: "10.9.1.1", ttl: 1}
				s.receive(0, d.frame())
				s.wantDrop(0, DropTTL)
				s.wantError(d.frame(), icmpTimeExceeded, 0)
			}
		}
	}
}

// A router without a subnet has no address, one without a lossy priority no way to speak.
func TestRouterThatSaysNothing(t *testing.T) {
	d := datagram{dst: portMAC(3), src: peerMAC(3), from: "10.9.1.1", to: "10.9.1.2", ttl: 1}
	s := newTestSwitch(t, 6, func(c *Config) { withHosts(c); c.Subnets, c.ARP = nil, nil })
	s.receive(3, d.frame())
	s.wantDrop(3, DropTTL)
	s.wantNothing(0, 1, 2, 3, 4, 5)
	s = newTestSwitch(t, 6, func(c *Config) { withHosts(c); c.Buffer.Lossless = 0xff })
	s.receive(3, d.frame())
	s.wantDrop(3, DropTTL)
	d.to = "10.0.1.1"
	s.receive(3, d.echo(56))
	s.wantDrop(3, DropNotForUs)
	s.wantNothing(0, 1, 2, 3, 4, 5)
}

// Ten errors at once, and then a hundred a second; echoes are answered without a limit.
func TestICMPRate(t *testing.T) {
	s := newTestSwitch(t, 6, withoutDefault)
	d := datagram{dst: portMAC(0), src: stationMAC(0), from: "10.0.1.10", to: "10.9.1.1", ttl: 1, size: 60}
	told := func(n int) int {
		for range n {
			s.receive(0, d.frame())
		}
		return len(s.drain(0))
	}
	if n := told(50); n != icmpBurst {
		t.Errorf("of 50 errors at once %d are told, want %d", n, icmpBurst)
	}
	n := 0
	for range 1000 {
		s.advance(unit.Millisecond)
		n += told(1)
	}
	if n < 99 || n > 101 {
		t.Errorf("in a second %d errors are told, want 100", n)
	}
	e := datagram{dst: portMAC(0), src: stationMAC(0), from: "10.0.1.10", to: "10.0.1.1"}.echo(0)
	s.receive(0, e, e, e, e, e, e, e, e, e, e, e, e)
	if n := len(s.drain(0)); n != 12 {
		t.Errorf("of 12 echoes %d are answered", n)
	}
}

// Errors take slots from what may wait in lossy queues, and none beyond.
func TestICMPSlots(t *testing.T) {
	s := newTestSwitch(t, 6, func(c *Config) { withoutDefault(c); c.Slots = 3 })
	d := datagram{dst: portMAC(0), src: stationMAC(0), from: "10.0.1.10", to: "10.9.1.1", ttl: 1, size: 60}
	for range 5 {
		s.receive(0, d.frame())
	}
	if n := s.uncharged; n != 3 {
		t.Errorf("%d frames wait in lossy queues, want 3", n)
	}
	s.wantDrops(0, map[Reason]uint64{DropTTL: 5})
	if n := len(s.drain(0)); n != 3 {
		t.Errorf("%d errors leave, want 3", n)
	}
}
