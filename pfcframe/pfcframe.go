// Package pfcframe is the IEEE 802.1Qbb priority-based flow control frame, bytes
// to values and back: a MAC Control frame of exactly 60 bytes (FCS apart) that
// pauses and resumes each of eight priorities.
//
//	0                6           12    14     16     18            34              60
//	+----------------+-----------+-----+------+------+-------------+----------------+
//	| 01:80:C2:00:   | source    |88 08|01 01 |0 | E | 8 timers    | 26 octets of   |
//	| 00:01          |           |     |opcode|vector| in quanta   | opaque padding |
//	+----------------+-----------+-----+------+------+-------------+----------------+
//	                                                                `-- Put and Parse
//	                                                                    hand it out
//
// The byte table with a worked example is docs/format/pfc.md.
//
// Read in this order: Frame, Put (pfcframe.go), then IsMACControl, Pad, Parse
// and ParsePause with the reasons for which they refuse a frame (parse.go).
//
// Invariants:
//   - round trip: Parse(Put(f)) is f, and what Parse accepts Put writes again, the
//     padding apart, to the same bytes;
//   - no allocation: neither way allocates, and no error is built at run time;
//   - no panic on input: only Put panics, on a destination that is too short.
//
// What it does not do: it gives the padding no meaning, keeps no pause time and
// counts nothing.
package pfcframe

import (
	"encoding/binary"
	"fmt"

	"softswitch/unit"
)

// Sizes and offsets in bytes, without FCS.
const (
	Len       = 60              // every PFC frame: minFrameSize less the FCS (IEEE 802.3, 31.4)
	PadOffset = 34              // where the padding begins
	PadLen    = Len - PadOffset // 26
)

// Values on the wire.
const (
	// Address is the destination of every PFC frame, six bytes: the group address
	// that no bridge relays (IEEE 802.3 Annex 31D, IEEE 802.1Q table 8-1).
	Address = "\x01\x80\xc2\x00\x00\x01"
	// EtherType is MAC Control (IEEE 802.3, 31.4.1.3).
	EtherType = 0x8808
	// OpcodePause is the 802.3x PAUSE, which stops all priorities (Annex 31B).
	OpcodePause = 0x0001
	// OpcodePFC is priority-based flow control (Annex 31D).
	OpcodePFC = 0x0101
)

const (
	offSrc    = 6
	offType   = 12
	offOpcode = 14
	offParams = 16 // PFC: reserved octet, enable octet; PAUSE: quanta
	offTimers = 18
)

// Frame is the meaning of a PFC frame. The zero value enables no priority.
type Frame struct {
	// Src is the address of the port that sent it.
	Src [6]byte
	// Enable is the set of priorities whose timers count; the others stay as they are.
	Enable unit.PrioritySet
	// Quanta is how long to pause each priority, in units of 512 bit times; 0 resumes.
	// A timer whose priority is not enabled has no meaning, but is carried.
	Quanta [unit.Priorities]uint16
}

// Put writes f into the first Len bytes of dst, the padding zero, and returns the
// padding: PadLen bytes of dst that the caller may fill. It panics if dst is
// shorter than Len.
func Put(dst []byte, f Frame) (pad []byte) {
	if len(dst) < Len {
		panic(fmt.Sprintf("pfcframe: Put into %d bytes, want at least %d", len(dst), Len))
	}
	dst = dst[:Len:Len]
	copy(dst, Address)
	copy(dst[offSrc:], f.Src[:])
	binary.BigEndian.PutUint16(dst[offType:], EtherType)
	binary.BigEndian.PutUint16(dst[offOpcode:], OpcodePFC)
	binary.BigEndian.PutUint16(dst[offParams:], uint16(f.Enable))
	for c, q := range f.Quanta {
		binary.BigEndian.PutUint16(dst[offTimers+2*c:], q)
	}
	pad = dst[PadOffset:]
	clear(pad)
	return pad
}
