package conform

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"

	"softswitch/internal/ether"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// Control is a control frame to be built, right or wrong in any of its fields. Pause and Pause8023 make right
// ones, to be spoilt.
type Control struct {
	Dst unit.MAC
	// Src is OwnMAC for that of the port that sends it.
	Src unit.MAC
	// Tags stand between the source and the EtherType, each with its TPID in the upper 16 bits.
	Tags   []uint32
	Type   uint16
	Opcode uint16
	// Vector is the class-enable vector with its reserved octet, of a PFC frame.
	Vector uint16
	Timers [unit.Priorities]uint16
	// Len is the length in bytes without FCS, tags included. What is longer than the timers is padding,
	// and what is shorter is cut.
	Len int
}

// OwnMAC stands for the address of the port that sends a frame.
const OwnMAC unit.MAC = 1 << 63

// groupMAC is the destination of MAC Control frames (IEEE 802.1Q, table 8-1).
const groupMAC unit.MAC = 0x0180c2000001

// Pause pauses the priorities of a set for quanta of 512 bit times each; 0 resumes them (IEEE 802.3,
// annex 31D).
func Pause(set unit.PrioritySet, quanta uint16) Control {
	c := Control{Dst: groupMAC, Src: OwnMAC, Type: pfcframe.EtherType, Opcode: pfcframe.OpcodePFC, Vector: uint16(set), Len: pfcframe.Len}
	for p := range unit.Priority(unit.Priorities) {
		if set.Has(p) {
			c.Timers[p] = quanta
		}
	}
	return c
}

// Pause8023 is an 802.3x PAUSE, which stops all priorities (IEEE 802.3, annex 31B).
func Pause8023(quanta uint16) Control {
	return Control{Dst: groupMAC, Src: OwnMAC, Type: pfcframe.EtherType, Opcode: pfcframe.OpcodePause, Vector: quanta, Len: pfcframe.Len}
}

// Frame builds the frame, as own sends it.
func (c Control) Frame(own unit.MAC) Frame {
	src := c.Src
	if src == OwnMAC {
		src = own
	}
	b := make([]byte, 12, max(c.Len, 64))
	ether.PutMAC(b, c.Dst)
	ether.PutMAC(b[6:], src)
	for _, t := range c.Tags {
		b = binary.BigEndian.AppendUint32(b, t)
	}
	b = binary.BigEndian.AppendUint16(b, c.Type)
	b = binary.BigEndian.AppendUint16(b, c.Opcode)
	b = binary.BigEndian.AppendUint16(b, c.Vector)
	for _, t := range c.Timers {
		b = binary.BigEndian.AppendUint16(b, t)
	}
	for len(b) < c.Len {
		b = append(b, 0)
	}
	return b[:c.Len]
}

// Frame is the bytes of a frame from its destination address on, without FCS. Its text is hexadecimal.
type Frame []byte

// MarshalText writes f as UnmarshalText reads it.
func (f Frame) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, f), nil }

// UnmarshalText reads hexadecimal digits.
func (f *Frame) UnmarshalText(text []byte) (err error) {
	*f, err = hex.DecodeString(string(text))
	return err
}

// The tester's mark says which frame of which train a control frame is, if the DUT lets it out again. It
// is in the last bytes of the padding:
//
//	0 6  "sftest"
//	6 2  number of the script
//	8 2  train
//	10 4 number of the frame
const (
	markMagic = "sftest"
	markLen   = len(markMagic) + 8
)

// putMark marks a frame at its end, if its padding has room.
func putMark(b []byte, script, train uint16, n uint32) {
	if len(b) < pfcframe.PadOffset+markLen {
		return
	}
	m := b[len(b)-markLen:]
	copy(m, markMagic)
	binary.BigEndian.PutUint16(m[6:], script)
	binary.BigEndian.PutUint16(m[8:], train)
	binary.BigEndian.PutUint32(m[10:], n)
}

// mark is what a frame is marked with.
func mark(b []byte) (script, train uint16, n uint32, ok bool) {
	i := bytes.LastIndex(b, []byte(markMagic))
	if i < 0 || i+markLen > len(b) {
		return 0, 0, 0, false
	}
	m := b[i:]
	return binary.BigEndian.Uint16(m[6:]), binary.BigEndian.Uint16(m[8:]), binary.BigEndian.Uint32(m[10:]), true
}
