package gso

import (
	"encoding/binary"

	"softswitch/internal/ether"
)

// HeaderLen is the length of struct virtio_net_hdr.
const HeaderLen = 10

// MaxFrame is the longest frame with a header: an Ethernet header, two tags, and the
// longest IP packet.
const MaxFrame = ether.HeaderLen + 2*ether.VLANLen + maxIP

const maxIP = 65535

// Values of the header's fields (linux/virtio_net.h).
const (
	needsChecksum = 1    // flags
	plain         = 0    // type
	tcp4          = 1    // type
	tcp6          = 4    // type
	udp           = 5    // type: datagrams of one flow, of IPv4 or IPv6
	withCWR       = 0x80 // added to a type: the first frame alone keeps CWR
)

// header is struct virtio_net_hdr.
type header struct {
	flags, kind uint8
	headers     uint16 // bytes of all headers: a hint
	size        uint16 // bytes of payload in each frame, less in the last
	sumStart    uint16 // where summing starts, for the checksum that has to be completed
	sumOffset   uint16 // from there, where it is
}

// readHeader reads the kernel's fields, which are in the machine's order.
func readHeader(b []byte) header {
	_ = b[HeaderLen-1]
	return header{
		flags: b[0], kind: b[1],
		headers: binary.NativeEndian.Uint16(b[2:]), size: binary.NativeEndian.Uint16(b[4:]),
		sumStart: binary.NativeEndian.Uint16(b[6:]), sumOffset: binary.NativeEndian.Uint16(b[8:]),
	}
}

// IsUnfinished reports whether the header at the front of b leaves work for its frame.
func IsUnfinished(b []byte) bool {
	h := readHeader(b)
	return h.kind != plain || h.flags&needsChecksum != 0
}

// Shift tells the header at the front of b that n bytes were put into its frame, before the IP
// header.
func Shift(b []byte, n int) {
	h := readHeader(b)
	if h.flags&needsChecksum != 0 {
		h.sumStart += uint16(n)
	}
	h.put(b)
}

func (h header) put(b []byte) {
	_ = b[HeaderLen-1]
	b[0], b[1] = h.flags, h.kind
	binary.NativeEndian.PutUint16(b[2:], h.headers)
	binary.NativeEndian.PutUint16(b[4:], h.size)
	binary.NativeEndian.PutUint16(b[6:], h.sumStart)
	binary.NativeEndian.PutUint16(b[8:], h.sumOffset)
}

// Lengths in bytes, and fields of TCP.
const (
	ip6Len      = 40
	tcpLen      = 20 // without options
	tcpSeq      = 4
	tcpAck      = 8
	tcpFlags    = 13
	tcpWindow   = 14
	tcpSum      = 16
	udpLen      = 8
	udpLength   = 4
	udpSum      = 6
	maxTCPLen   = 60
	maxHeaders  = ether.HeaderLen + 2*ether.VLANLen + 60 + maxTCPLen
	typeIPv6    = 0x86dd
	typeService = 0x88a8 // 802.1ad
)

// Flags of TCP.
const (
	fin = 1 << 0
	psh = 1 << 3
	ack = 1 << 4
	ece = 1 << 6
	cwr = 1 << 7
)

// layout is where the headers of a TCP or UDP frame are.
type layout struct {
	ip, l4, payload int
	proto           byte
	v6              bool
}

// layoutOf finds the headers of a TCP frame. ok is false if f is none, is a fragment, or
// has headers that are cut off.
func layoutOf(f []byte) (l layout, ok bool) {
	if l, ok = layoutOfIP(f, ether.ProtoTCP); !ok || len(f) < l.l4+tcpLen {
		return l, false
	}
	n := int(f[l.l4+12]>>4) * 4
	l.payload = l.l4 + n
	return l, n >= tcpLen && len(f) >= l.payload
}

// layoutOfUDP is layoutOf for UDP.
func layoutOfUDP(f []byte) (l layout, ok bool) {
	l, ok = layoutOfIP(f, ether.ProtoUDP)
	l.payload = l.l4 + udpLen
	return l, ok && len(f) >= l.payload
}

// layoutOfIP finds the IP header of a frame that carries proto, and where that begins.
func layoutOfIP(f []byte, proto byte) (l layout, ok bool) {
	l.ip, l.proto = ether.HeaderLen, proto
	for tags := 0; ; tags++ {
		if len(f) < l.ip {
			return l, false
		}
		switch binary.BigEndian.Uint16(f[l.ip-2:]) {
		case ether.TypeVLAN, typeService:
			if tags == 2 {
				return l, false
			}
			l.ip += ether.VLANLen
			continue
		case ether.TypeIPv4:
		case typeIPv6:
			l.v6 = true
		default:
			return l, false
		}
		break
	}
	p := f[l.ip:]
	if l.v6 {
		if len(p) < ip6Len || p[0]>>4 != 6 || p[6] != proto {
			return l, false
		}
		l.l4 = l.ip + ip6Len
	} else {
		const moreOrOffset = 0x3fff
		if len(p) < ether.IPv4Len || p[0]>>4 != 4 || p[9] != proto || binary.BigEndian.Uint16(p[6:])&moreOrOffset != 0 {
			return l, false
		}
		n := ether.IPv4(p).HeaderLen()
		if n < ether.IPv4Len {
			return l, false
		}
		l.l4 = l.ip + n
	}
	return l, true
}

// length is the length of the IP packet in bytes, as its header has it.
func (l layout) length(f []byte) int {
	if l.v6 {
		return ip6Len + int(binary.BigEndian.Uint16(f[l.ip+4:]))
	}
	return ether.IPv4(f[l.ip:]).TotalLen()
}

// setLength writes the length of the IP packet, and the checksum of an IPv4 header.
func (l layout) setLength(f []byte, n int) {
	p := f[l.ip:]
	if l.v6 {
		binary.BigEndian.PutUint16(p[4:], uint16(n-ip6Len))
		return
	}
	binary.BigEndian.PutUint16(p[2:], uint16(n))
	p[10], p[11] = 0, 0
	binary.BigEndian.PutUint16(p[10:], ether.Checksum(p[:l.l4-l.ip]))
}

// pseudo is the sum, not folded, of the pseudo header of a TCP segment or a datagram of n bytes.
func (l layout) pseudo(f []byte, n int) uint64 {
	addresses := f[l.ip+12 : l.ip+20]
	if l.v6 {
		addresses = f[l.ip+8 : l.ip+40]
	}
	return ether.Sum(uint64(n)+uint64(l.proto), addresses)
}
