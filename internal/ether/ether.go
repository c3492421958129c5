// Package ether reads and rewrites the fields of Ethernet, 802.1Q, IPv4, UDP and
// ARP that a switch touches, in place, in a frame that starts at its destination
// MAC and carries no FCS.
//
// The accessors read at fixed offsets and expect the caller to have checked the
// length; Layer does that check once for the L2 header.
//
// What it does not do: it keeps no packet objects, builds no layers and knows
// neither PFC nor ITSY.
package ether

import (
	"encoding/binary"
	"math/bits"

	"softswitch/unit"
)

// EtherTypes.
const (
	TypeIPv4 = 0x0800
	TypeARP  = 0x0806
	TypeVLAN = 0x8100
)

// Lengths in bytes.
const (
	HeaderLen = 14 // MACs and EtherType
	VLANLen   = 4
	IPv4Len   = 20 // without options
	UDPLen    = 8
	ARPLen    = 28 // for IPv4 over Ethernet
	MinLen    = 60 // shortest frame without FCS
)

// ProtoICMP, ProtoTCP and ProtoUDP are IPv4 protocol numbers.
const (
	ProtoICMP = 1
	ProtoTCP  = 6
	ProtoUDP  = 17
)

// ReadMAC reads six bytes.
func ReadMAC(b []byte) unit.MAC {
	_ = b[5]
	return unit.MAC(b[0])<<40 | unit.MAC(b[1])<<32 | unit.MAC(binary.BigEndian.Uint32(b[2:]))
}

// PutMAC writes six bytes.
func PutMAC(b []byte, m unit.MAC) {
	_ = b[5]
	b[0], b[1] = byte(m>>40), byte(m>>32)
	binary.BigEndian.PutUint32(b[2:], uint32(m))
}

// Dst reads a frame's destination address.
func Dst(f []byte) unit.MAC { return ReadMAC(f) }

// Src reads a frame's source address.
func Src(f []byte) unit.MAC { return ReadMAC(f[6:]) }

// SetAddresses writes both addresses of a frame.
func SetAddresses(f []byte, dst, src unit.MAC) {
	PutMAC(f, dst)
	PutMAC(f[6:], src)
}

// Layer finds what an Ethernet header leads to: the EtherType behind at most one
// 802.1Q tag, the offset of its payload, and the tag's priority. ok is false if
// the frame ends before.
func Layer(f []byte) (etherType uint16, off int, pcp uint8, tagged, ok bool) {
	if len(f) < HeaderLen {
		return 0, 0, 0, false, false
	}
	etherType, off = binary.BigEndian.Uint16(f[12:]), HeaderLen
	if etherType == TypeVLAN {
		if len(f) < HeaderLen+VLANLen {
			return 0, 0, 0, false, false
		}
		pcp, tagged = f[14]>>5, true
		etherType, off = binary.BigEndian.Uint16(f[16:]), HeaderLen+VLANLen
	}
	return etherType, off, pcp, tagged, true
}

// IPv4 is a frame's bytes from the IPv4 header on.
type IPv4 []byte

// Valid reports whether p begins with a whole IPv4 header and whether the n bytes
// that were on the wire from there on hold the datagram that it announces. n is
// len(p), unless only the beginning of the frame was kept.
func (p IPv4) Valid(n int) bool {
	if len(p) < IPv4Len || p[0]>>4 != 4 {
		return false
	}
	h := p.HeaderLen()
	total := p.TotalLen()
	return h >= IPv4Len && h <= len(p) && h <= total && total <= n
}

// HeaderLen is the header's length in bytes.
func (p IPv4) HeaderLen() int { return int(p[0]&15) * 4 }

// TotalLen is the datagram's length in bytes.
func (p IPv4) TotalLen() int { return int(binary.BigEndian.Uint16(p[2:4])) }

// DSCP is the differentiated services code point.
func (p IPv4) DSCP() uint8 { return p[1] >> 2 }

// The two bits of ECN (RFC 3168, section 5) that have a meaning to a switch; the other two
// values, 1 and 2, are of a sender that acts on CE.
const (
	NotECT = 0 // the sender does not act on CE
	CE     = 3 // Congestion Experienced
)

// ECN is the two bits behind the code point.
func (p IPv4) ECN() uint8 { return p[1] & 3 }

// TTL is the time to live.
func (p IPv4) TTL() uint8 { return p[8] }

// Proto is the protocol number.
func (p IPv4) Proto() uint8 { return p[9] }

// Src is the source address.
func (p IPv4) Src() uint32 { return binary.BigEndian.Uint32(p[12:16]) }

// Dst is the destination address.
func (p IPv4) Dst() uint32 { return binary.BigEndian.Uint32(p[16:20]) }

// IsFragment reports whether p is a fragment other than the first.
func (p IPv4) IsFragment() bool { return binary.BigEndian.Uint16(p[6:8])&0x1fff != 0 }

// Ports reads the ports of TCP or UDP; zero for anything else and for fragments,
// so that all fragments of a datagram hash alike.
func (p IPv4) Ports() (src, dst uint16) {
	h := p.HeaderLen()
	if (p.Proto() != ProtoUDP && p.Proto() != ProtoTCP) || len(p) < h+4 || binary.BigEndian.Uint16(p[6:8])&0x3fff != 0 {
		return 0, 0
	}
	return binary.BigEndian.Uint16(p[h:]), binary.BigEndian.Uint16(p[h+2:])
}

// DecrementTTL lowers the TTL by one and mends the checksum incrementally
// (RFC 1624, equation 3). The TTL must not be zero.
func (p IPv4) DecrementTTL() {
	// The TTL is the upper byte of its 16-bit word m, so m' = m - 0x0100 and
	// HC' = ~(~HC + ~m + m') = ~(~HC + 0xfeff). To add 0x0100 to HC instead gives
	// ffff where the checksum is 0000.
	p[8]--
	sum := uint32(^binary.BigEndian.Uint16(p[10:])) + 0xfeff
	sum += sum >> 16
	binary.BigEndian.PutUint16(p[10:], ^uint16(sum))
}

// PutIPv4 writes a 20-byte header without options, with its checksum.
func PutIPv4(p []byte, tos, ttl, proto uint8, total int, src, dst uint32) {
	_ = p[IPv4Len-1]
	p[0], p[1] = 0x45, tos
	binary.BigEndian.PutUint16(p[2:], uint16(total))
	binary.BigEndian.PutUint32(p[4:], 0x4000) // id 0, don't fragment
	p[8], p[9] = ttl, proto
	p[10], p[11] = 0, 0
	binary.BigEndian.PutUint32(p[12:], src)
	binary.BigEndian.PutUint32(p[16:], dst)
	binary.BigEndian.PutUint16(p[10:], Checksum(p[:IPv4Len]))
}

// SetID sets the identification of a header that PutIPv4 wrote, and its checksum.
func SetID(p []byte, id uint16) {
	binary.BigEndian.PutUint16(p[4:], id)
	p[10], p[11] = 0, 0
	binary.BigEndian.PutUint16(p[10:], Checksum(p[:IPv4Len]))
}

// HasChecksum reports whether the header's checksum is that of the header: with it the 16-bit words
// add up to all ones (RFC 1071, section 1). Preconditions: p.Valid, for HeaderLen.
func (p IPv4) HasChecksum() bool {
	if p.HeaderLen() != IPv4Len {
		return Checksum(p[:p.HeaderLen()]) == 0
	}
	// Each routed frame comes here, nearly always without options. 2^64, 2^32 and 2^16 are all 1 in
	// the arithmetic of 16-bit words, in which all ones are 0; the sum itself is not 0, for the
	// version is not.
	h := (*[IPv4Len]byte)(p)
	sum, carry := bits.Add64(binary.BigEndian.Uint64(h[:8]), binary.BigEndian.Uint64(h[8:16]), 0)
	sum, carry = bits.Add64(sum, uint64(binary.BigEndian.Uint32(h[16:])), carry)
	return (sum+carry)%0xffff == 0
}

// Checksum is the Internet checksum of b (RFC 1071).
func Checksum(b []byte) uint16 { return ^Fold(Sum(0, b)) }

// Sum adds the 16-bit words of b, for the Internet checksum. It may begin with the sum of
// what is before b, if that has an even number of bytes.
func Sum(sum uint64, b []byte) uint64 {
	// A word of 64 bits counts as the sum of its four: 2^16 is 1 in this arithmetic. So
	// is 2^64, which is why the carry comes back.
	var carry uint64
	for ; len(b) >= 32; b = b[32:] {
		sum, carry = bits.Add64(sum, binary.BigEndian.Uint64(b), 0)
		sum, carry = bits.Add64(sum, binary.BigEndian.Uint64(b[8:]), carry)
		sum, carry = bits.Add64(sum, binary.BigEndian.Uint64(b[16:]), carry)
		sum, carry = bits.Add64(sum, binary.BigEndian.Uint64(b[24:]), carry)
		sum, carry = bits.Add64(sum, 0, carry)
		sum += carry
	}
	for ; len(b) >= 2; b = b[2:] {
		sum, carry = bits.Add64(sum, uint64(binary.BigEndian.Uint16(b)), 0)
		sum += carry
	}
	if len(b) == 1 {
		sum, carry = bits.Add64(sum, uint64(b[0])<<8, 0)
		sum += carry
	}
	return sum
}

// Fold brings a sum down to 16 bits. The checksum is its complement.
func Fold(sum uint64) uint16 {
	for sum>>16 != 0 {
		sum = sum&0xffff + sum>>16
	}
	return uint16(sum)
}

// ARP operations.
const (
	ARPRequest = 1
	ARPReply   = 2
)

// ARP is a frame's bytes from the ARP header on.
type ARP []byte

// Valid reports whether a is a whole ARP packet for IPv4 over Ethernet.
func (a ARP) Valid() bool {
	return len(a) >= ARPLen && binary.BigEndian.Uint32(a) == 0x00010800 && a[4] == 6 && a[5] == 4
}

// Op is the operation.
func (a ARP) Op() uint16 { return binary.BigEndian.Uint16(a[6:]) }

// SenderMAC is the sender's hardware address.
func (a ARP) SenderMAC() unit.MAC { return ReadMAC(a[8:]) }

// SenderIP is the sender's protocol address.
func (a ARP) SenderIP() uint32 { return binary.BigEndian.Uint32(a[14:]) }

// TargetIP is the target's protocol address.
func (a ARP) TargetIP() uint32 { return binary.BigEndian.Uint32(a[24:]) }

// PutARP writes an ARP packet for IPv4 over Ethernet.
func PutARP(a []byte, op uint16, senderMAC unit.MAC, senderIP uint32, targetMAC unit.MAC, targetIP uint32) {
	_ = a[ARPLen-1]
	binary.BigEndian.PutUint32(a, 0x00010800)
	a[4], a[5] = 6, 4
	binary.BigEndian.PutUint16(a[6:], op)
	PutMAC(a[8:], senderMAC)
	binary.BigEndian.PutUint32(a[14:], senderIP)
	PutMAC(a[18:], targetMAC)
	binary.BigEndian.PutUint32(a[24:], targetIP)
}
