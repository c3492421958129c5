package conform

import (
	"encoding/binary"

	"softswitch/host"
	"softswitch/internal/ether"
	"softswitch/unit"
)

// A frame of a stream is one of a host's flow (package host), so that captures of it are read as such:
// Ethernet, IPv4, UDP, and a record with its number. One of less than host.FrameMin bytes has a record of
// its own:
//
//	0 2  magic 0x5347
//	2 4  number of the flow: that of the script, and of the stream in it
//	6 8  number of the frame
const (
	headerLen  = ether.HeaderLen + ether.IPv4Len + ether.UDPLen
	shortMagic = 0x5347
	shortLen   = 14
)

// shortest is the shortest frame of a stream, the shortest of Ethernet.
const shortest = ether.MinLen

// stranger is the stream number of the frames by which stations are made known.
const introduction = 0xffff

// flowOf is the flow number of a stream of a script.
func flowOf(script uint16, stream int) uint32 { return uint32(script)<<16 | uint32(stream) }

// header is what the frames of a stream have in common.
type header struct {
	dst, src     unit.MAC
	tagged       bool
	priority     unit.Priority
	tos          uint8
	srcIP, dstIP unit.Addr
	srcPort      uint16
}

// put appends frame seq of a flow, n bytes long without its tag, to b, of which no more than keep bytes
// are written.
func (h *header) put(b []byte, flow uint32, seq uint64, now unit.Time, n, keep int, payload []byte) []byte {
	var eth [ether.HeaderLen + ether.VLANLen]byte
	ether.SetAddresses(eth[:], h.dst, h.src)
	at := 12
	if h.tagged {
		binary.BigEndian.PutUint16(eth[at:], ether.TypeVLAN)
		binary.BigEndian.PutUint16(eth[at+2:], uint16(h.priority)<<13)
		at += ether.VLANLen
	}
	binary.BigEndian.PutUint16(eth[at:], ether.TypeIPv4)
	b = append(b, eth[:at+2]...)
	var ip [ether.IPv4Len + ether.UDPLen + host.RecordLen]byte
	total := n - ether.HeaderLen
	ether.PutIPv4(ip[:], h.tos, 64, ether.ProtoUDP, total, uint32(h.srcIP), uint32(h.dstIP))
	udp := ip[ether.IPv4Len:]
	binary.BigEndian.PutUint16(udp, h.srcPort)
	binary.BigEndian.PutUint16(udp[2:], host.Port)
	binary.BigEndian.PutUint16(udp[4:], uint16(total-ether.IPv4Len))
	record := host.RecordLen
	if n >= host.FrameMin {
		host.PutRecord(udp[ether.UDPLen:], flow, seq, now)
	} else {
		record = shortLen
		p := udp[ether.UDPLen:]
		binary.BigEndian.PutUint16(p, shortMagic)
		binary.BigEndian.PutUint32(p[2:], flow)
		binary.BigEndian.PutUint64(p[6:], seq)
	}
	b = append(b, ip[:ether.IPv4Len+ether.UDPLen+record]...)
	rest := min(n-headerLen-record, keep-len(b))
	for i := range rest {
		if i < len(payload) {
			b = append(b, payload[i])
		} else {
			b = append(b, filler(seq, i))
		}
	}
	return b
}

// frame is put, and the length of the frame with its tag.
func (h *header) frame(b []byte, flow uint32, seq uint64, now unit.Time, n, keep int, payload []byte) ([]byte, int) {
	b = h.put(b, flow, seq, now, n, keep, payload)
	if h.tagged {
		n += ether.VLANLen
	}
	return b, n
}

// filler is byte i behind the record of a frame.
func filler(seq uint64, i int) byte { return byte(seq) + byte(i) }

// numbered is what is read of a frame of a stream.
type numbered struct {
	flow uint32
	seq  uint64
	ce   bool
	rest []byte // behind the record
}

// readNumbered reads a frame of a stream; ok is false of any other.
func readNumbered(b []byte, n int) (f numbered, ok bool) {
	typ, off, _, _, ok := ether.Layer(b)
	if !ok || typ != ether.TypeIPv4 {
		return f, false
	}
	ip := ether.IPv4(b[off:])
	if !ip.Valid(n-off) || ip.Proto() != ether.ProtoUDP || ip.IsFragment() || len(ip) < ip.HeaderLen()+ether.UDPLen+shortLen {
		return f, false
	}
	if _, dst := ip.Ports(); dst != host.Port {
		return f, false
	}
	f.ce = ip.ECN() == ether.CE
	p := ip[ip.HeaderLen()+ether.UDPLen:]
	end := min(len(p), ip.TotalLen()-ip.HeaderLen()-ether.UDPLen) // a short frame was padded
	if flow, seq, _, is := host.ReadRecord(p[:end]); is {
		f.flow, f.seq, f.rest = flow, seq, p[host.RecordLen:end]
		return f, true
	}
	if binary.BigEndian.Uint16(p) != shortMagic {
		return f, false
	}
	f.flow, f.seq, f.rest = binary.BigEndian.Uint32(p[2:]), binary.BigEndian.Uint64(p[6:]), p[shortLen:end]
	return f, true
}

// whole reports whether the rest of a frame is as it was sent.
func (f *numbered) whole(payload []byte) bool {
	for i, v := range f.rest {
		want := filler(f.seq, i)
		if i < len(payload) {
			want = payload[i]
		}
		if v != want {
			return false
		}
	}
	return true
}
