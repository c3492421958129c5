package decode

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"softswitch/internal/ether"
	"softswitch/itsyhdr"
	"softswitch/pfcframe"
)

// Link types that are read, by their numbers in pcap and pcapng files (the LINKTYPE registry
// of tcpdump.org).
const (
	linkEthernet = 1
	linkSLL      = 113 // "any" of older tcpdumps
	linkSLL2     = 276 // "any" of newer ones
)

// isRead reports whether frames of a link type are read.
func isRead(link uint16) bool {
	return link == linkEthernet || link == linkSLL || link == linkSLL2
}

// errLink refuses a link type that is not read.
func errLink(link uint16) error {
	return fmt.Errorf("decode: link type %d; valid: 1 (Ethernet), 113 (Linux cooked, SLL), 276 (SLL2)", link)
}

// fcsLen is the length of a frame check sequence.
const fcsLen = 4

// linkWord takes apart the last word of a pcap header: the link type, and how many octets of
// frame check sequence each frame ends with, 0 if it does not say
// (draft-ietf-opsawg-pcap, section 4).
func linkWord(w uint32) (link uint16, fcs int) {
	const present = 1 << 26
	if w&present != 0 {
		fcs = int(w>>28) * 2
	}
	return uint16(w), fcs
}

// asEthernet makes an Ethernet frame without FCS of f; false if it is none.
func asEthernet(f *captured) bool {
	switch f.link {
	case linkEthernet:
		f.cutFCS()
		return true
	case linkSLL:
		const header = 16
		if b := f.data; len(b) >= header {
			return f.uncook(header, b[14:16], binary.BigEndian.Uint16(b[2:]), b[1], b[6:12])
		}
	case linkSLL2:
		const header = 20
		if b := f.data; len(b) >= header {
			f.iface = fmt.Sprintf("if%d", binary.BigEndian.Uint32(b[4:]))
			return f.uncook(header, b[0:2], binary.BigEndian.Uint16(b[8:]), b[10], b[12:18])
		}
	}
	return false
}

// cutFCS takes away the frame check sequence: as long as the capture says it is, or the last
// four octets of what is longer than the shortest frame, if they are the CRC of the rest.
func (f *captured) cutFCS() {
	n := f.fcs
	if n == 0 && f.length == len(f.data) && f.length >= ether.MinLen+fcsLen {
		sum := f.length - fcsLen
		if crc32.ChecksumIEEE(f.data[:sum]) == binary.LittleEndian.Uint32(f.data[sum:]) {
			n = fcsLen
		}
	}
	f.length = max(f.length-n, 0)
	f.data = f.data[:min(len(f.data), f.length)]
}

// uncook puts an Ethernet header in the place of a cooked one of n octets, which says the
// frame's EtherType, its sender and of what kind its destination is, but not which: flow
// control goes to one group address by its EtherType.
func (f *captured) uncook(n int, etherType []byte, hardware uint16, kind byte, src []byte) bool {
	const ethernet, multicast, outgoing = 1, 2, 4 // ARPHRD_ETHER, PACKET_MULTICAST, PACKET_OUTGOING
	if hardware != ethernet {
		return false
	}
	b := make([]byte, 0, ether.HeaderLen+len(f.data)-n)
	dst := make([]byte, 6)
	if kind == multicast || kind == outgoing {
		switch behindTags(binary.BigEndian.Uint16(etherType), f.data[n:]) {
		case pfcframe.EtherType:
			copy(dst, pfcframe.Address)
		case itsyhdr.MessageEtherType:
			copy(dst, itsyhdr.MessageAddress)
		}
	}
	b = append(append(append(b, dst...), src...), etherType...)
	f.data = append(b, f.data[n:]...)
	f.length += ether.HeaderLen - n
	return true
}

// behindTags is the EtherType of a frame whose first one is given, with what is behind that.
func behindTags(etherType uint16, b []byte) uint16 {
	for isTag(etherType) && len(b) >= tagLen {
		etherType, b = binary.BigEndian.Uint16(b[2:]), b[tagLen:]
	}
	return etherType
}
