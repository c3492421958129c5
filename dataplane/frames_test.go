package dataplane

import (
	"encoding/binary"
	"net/netip"

	"softswitch/internal/ether"
	"softswitch/itsyhdr"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// datagram is a UDP datagram in an Ethernet frame. The zero value of a field is
// filled in by frame.
type datagram struct {
	dst, src     unit.MAC
	from, to     string
	priority     unit.Priority // as DSCP priority << 3
	ecn          uint8         // the two bits behind the code point
	ttl          uint8         // 64
	sport, dport uint16        // 49152, 4791
	proto        uint8         // UDP
	size         int           // of the frame without tag; 1000
	id           uint32        // in the payload, to tell frames apart
}

func (d datagram) frame() []byte {
	if d.from == "" {
		d.from = "10.0.0.1"
	}
	if d.to == "" {
		d.to = "10.0.0.2"
	}
	d.ttl, d.size = or(d.ttl, 64), or(d.size, 1000)
	d.sport, d.dport = or(d.sport, 49152), or(d.dport, 4791)
	d.proto = or(d.proto, ether.ProtoUDP)
	f := make([]byte, d.size)
	ether.SetAddresses(f, d.dst, d.src)
	binary.BigEndian.PutUint16(f[12:], ether.TypeIPv4)
	ip := f[ether.HeaderLen:]
	ether.PutIPv4(ip, uint8(d.priority)<<5|d.ecn, d.ttl, d.proto, len(ip), ip32(d.from), ip32(d.to))
	udp := ip[ether.IPv4Len:]
	binary.BigEndian.PutUint16(udp, d.sport)
	binary.BigEndian.PutUint16(udp[2:], d.dport)
	binary.BigEndian.PutUint16(udp[4:], uint16(len(udp)))
	if len(udp) >= 12 {
		binary.BigEndian.PutUint32(udp[8:], d.id)
	}
	return f
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// between is a frame of 1000 bytes from the station behind one port to the one
// behind another.
func between(in, out unit.Port, priority unit.Priority, id uint32) []byte {
	return datagram{dst: stationMAC(out), src: stationMAC(in), priority: priority, id: id}.frame()
}

// several is n such frames, ids from 1.
func several(n int, in, out unit.Port, priority unit.Priority) (fs [][]byte) {
	for i := range n {
		fs = append(fs, between(in, out, priority, uint32(i+1)))
	}
	return fs
}

// tagged puts an 802.1Q tag with this PCP into a frame.
func tagged(f []byte, pcp uint8) []byte {
	tag := []byte{0x81, 0, pcp << 5, 1}
	return append(append(append([]byte{}, f[:12]...), tag...), f[12:]...)
}

// plain is a frame of n bytes of an EtherType that means nothing to a switch.
func plain(dst, src unit.MAC, n int) []byte {
	f := make([]byte, n)
	ether.SetAddresses(f, dst, src)
	f[12], f[13] = 0x88, 0xb6
	return f
}

// pfc is a PFC frame for some priorities, without a TLV.
func pfc(quanta map[unit.Priority]uint16) []byte {
	f := pfcframe.Frame{Src: [6]byte{2, 0xcc}}
	for c, q := range quanta {
		f.Enable.Add(c)
		f.Quanta[c] = q
	}
	b := make([]byte, pfcframe.Len)
	pfcframe.Put(b, f)
	return b
}

// pfcWith is a PFC frame for the TLV's priority that carries it.
func pfcWith(quanta uint16, t itsyhdr.TLV) []byte {
	b := pfc(map[unit.Priority]uint16{t.Priority: quanta})
	itsyhdr.Put(b[pfcframe.PadOffset:], t)
	return b
}

// pauseOf is the pause frame of a priority group's period, as a switch without a label
// sends it; resumeOf its end.
func pauseOf(priority unit.Priority, quanta uint16, period uint8) []byte {
	return pfcWith(quanta, itsyhdr.TLV{Priority: priority, Period: period})
}

func resumeOf(priority unit.Priority, period uint8) []byte { return pauseOf(priority, 0, period) }

func message(t itsyhdr.TLV) []byte {
	b := make([]byte, itsyhdr.MessageLen)
	itsyhdr.PutMessage(b, [6]byte{2, 0xcc}, t)
	return b
}

// arp is an ARP frame, padded to the least length.
func arp(op uint16, dst, senderMAC unit.MAC, senderIP string, targetMAC unit.MAC, targetIP string) []byte {
	f := make([]byte, ether.MinLen)
	ether.SetAddresses(f, dst, senderMAC)
	binary.BigEndian.PutUint16(f[12:], ether.TypeARP)
	ether.PutARP(f[ether.HeaderLen:], op, senderMAC, ip32(senderIP), targetMAC, ip32(targetIP))
	return f
}

func ip32(s string) uint32 { return addr32(netip.MustParseAddr(s)) }

func prefix(s string) netip.Prefix { return netip.MustParsePrefix(s) }

func ports(ps ...unit.Port) (set unit.PortSet) {
	for _, p := range ps {
		set.Add(p)
	}
	return set
}

// label is a label of the exact detector, as a test tells it from others.
func label(seq uint16) itsyhdr.TLV {
	return itsyhdr.TLV{Kind: itsyhdr.KindLabel, Initiator: unit.NodePort{Node: 5, Port: 2}, Seq: seq, Trigger: unit.NodePort{Node: 9}, Hops: 1}
}
