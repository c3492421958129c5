package host

import (
	"encoding/binary"
	"net/netip"

	"softswitch/internal/ether"
	"softswitch/unit"
)

// A flow's frame: Ethernet, IPv4, UDP to port 4791, and as payload a record of
//
//	0  2  magic 0x5346
//	2  4  flow number
//	6  8  sequence number
//	14 8  time of sending, ns
const (
	headerLen = ether.HeaderLen + ether.IPv4Len + ether.UDPLen
	RecordLen = 22
	magic     = 0x5346
)

// build writes frame seq of flow fl, of size bytes, into b, which has that length or is
// only the frame's beginning. It leaves the bytes behind the payload as they are.
func (h *Host) build(b []byte, n *nic, fl *Flow, size int, seq uint64, now unit.Time) {
	h.buildHeaders(b, n, fl.To, fl.SrcPort, DSCP(fl.Priority)<<2, uint8(fl.TTL), size)
	PutRecord(b[headerLen:], fl.Number, seq, now)
}

// buildHeaders writes the headers of a frame of size bytes to b, up to UDP's.
func (h *Host) buildHeaders(b []byte, n *nic, to netip.Addr, srcPort uint16, tos, ttl uint8, size int) {
	ether.SetAddresses(b, n.GatewayMAC, n.MAC)
	binary.BigEndian.PutUint16(b[12:], ether.TypeIPv4)
	ip, total := b[ether.HeaderLen:], size-ether.HeaderLen
	ether.PutIPv4(ip, tos, ttl, ether.ProtoUDP, total, addr32(n.Address), addr32(to))
	udp := ip[ether.IPv4Len:]
	binary.BigEndian.PutUint16(udp, srcPort)
	binary.BigEndian.PutUint16(udp[2:], Port)
	binary.BigEndian.PutUint16(udp[4:], uint16(total-ether.IPv4Len))
	binary.BigEndian.PutUint16(udp[6:], 0) // no checksum (RFC 768)
}

// PutRecord writes the record of a flow's frame, of RecordLen bytes.
func PutRecord(p []byte, number uint32, seq uint64, now unit.Time) {
	binary.BigEndian.PutUint16(p, magic)
	binary.BigEndian.PutUint32(p[2:], number)
	binary.BigEndian.PutUint64(p[6:], seq)
	binary.BigEndian.PutUint64(p[14:], uint64(now))
}

// payload reads a flow's payload behind the IPv4 header at off; ok is false for any
// other frame.
func payload(b []byte, off int) (flow uint32, seq uint64, sent unit.Time, ok bool) {
	ip := ether.IPv4(b[off:])
	if ip.Proto() != ether.ProtoUDP || ip.IsFragment() {
		return 0, 0, 0, false
	}
	p := b[off+ip.HeaderLen():]
	if len(p) < ether.UDPLen+RecordLen || binary.BigEndian.Uint16(p[2:]) != Port {
		return 0, 0, 0, false
	}
	return ReadRecord(p[ether.UDPLen:])
}

// ReadRecord reads the record of a flow's frame, if p begins with one.
func ReadRecord(p []byte) (flow uint32, seq uint64, sent unit.Time, ok bool) {
	if len(p) < RecordLen || binary.BigEndian.Uint16(p) != magic {
		return 0, 0, 0, false
	}
	return binary.BigEndian.Uint32(p[2:]), binary.BigEndian.Uint64(p[6:]), unit.Time(binary.BigEndian.Uint64(p[14:])), true
}

// shortNumber is what a packet that is too short for a record has of its number: the low 16
// bits, as its IPv4 identification, of which a datagram that must not be fragmented has no
// other use (RFC 6864, 4.1).
func shortNumber(seq uint64) uint16 { return uint16(seq) }

// fullNumber is the number of such a packet: the one nearest to next, which is expected.
func fullNumber(ip []byte, next uint64) uint64 {
	ahead := int64(int16(binary.BigEndian.Uint16(ip[4:]) - uint16(next)))
	if ahead < 0 && uint64(-ahead) > next { // of no packet of ours
		return next
	}
	return next + uint64(ahead)
}

// DSCP is the code point of a priority: 8 x priority, but 26 for priority 3, as usual for
// RoCEv2.
func DSCP(c unit.Priority) uint8 {
	if c == 3 {
		return 26
	}
	return uint8(c) << 3
}
