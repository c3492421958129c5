package conform

import (
	"encoding/binary"

	"softswitch/internal/ether"
	"softswitch/pfcframe"
)

// PFC reads the frame as a PFC frame; ok is false of one that is none, or malformed.
func (s *Seen) PFC() (f pfcframe.Frame, ok bool) {
	f, _, err := pfcframe.Parse(s.Frame)
	return f, err == nil
}

// Type is the EtherType behind the addresses, of a tagged frame that of the tag.
func (s *Seen) Type() uint16 {
	if len(s.Frame) < ether.HeaderLen {
		return 0
	}
	return binary.BigEndian.Uint16(s.Frame[12:])
}
