package pfcframe

import (
	"encoding/binary"
	"errors"

	"softswitch/unit"
)

// Reasons for which Parse and ParsePause return no frame, one value each so that
// a caller can count by reason. They are returned as they are, never wrapped.
var (
	// ErrEtherType means that the EtherType is not MAC Control, though the frame may be sent to Address.
	ErrEtherType = errors.New("pfcframe: EtherType is not MAC Control (0x8808)")
	// ErrPause is no fault: the frame is of the other kind, 802.3x PAUSE. ParsePause
	// reads it.
	ErrPause = errors.New("pfcframe: opcode is PAUSE (0x0001), not PFC (0x0101)")
	// ErrOpcode means that the frame is for another MAC Control function.
	ErrOpcode = errors.New("pfcframe: unknown opcode; want PFC (0x0101) or PAUSE (0x0001)")
	// ErrAddress means that the destination is wrong. A PFC frame goes to the group address
	// alone; a PAUSE may also go to a station's own address, but to no other group.
	ErrAddress = errors.New("pfcframe: wrong destination address; want 01:80:c2:00:00:01")
	// ErrShort means that the frame is truncated, or not padded yet: see Pad.
	ErrShort = errors.New("pfcframe: frame is shorter than 60 bytes")
	// ErrLong means that the frame is oversized. MAC Control frames have one size (IEEE 802.3, 31.4).
	ErrLong = errors.New("pfcframe: frame is longer than 60 bytes")
	// ErrReserved means that a bit is set in the upper octet of the class-enable vector.
	ErrReserved = errors.New("pfcframe: reserved bits set in the upper octet of the class-enable vector; want 0")
)

// IsMACControl reports whether b belongs to the MAC Control sublayer, and so must
// never be forwarded, whatever Parse then says of it: its EtherType is MAC
// Control, or it is sent to Address. Both count, because a frame with only one of
// them right is a damaged or forged pause, not data. A tagged frame is recognised
// by its address only: MAC Control frames carry no tag.
func IsMACControl(b []byte) bool {
	return len(b) >= offSrc && string(b[:offSrc]) == Address ||
		len(b) >= offOpcode && binary.BigEndian.Uint16(b[offType:]) == EtherType
}

// Pad returns the MAC Control frame b as the MAC that sends it makes it: with zeros up to
// Len (IEEE 802.3, 3.2.8 and 4.2.3.3). A frame that a raw socket writes to a virtual link,
// or that is captured where it is sent, has not met a MAC yet. Timers that it lacks are
// zeros of its padding, too.
//
// b stays as it is if it has Len bytes or more, or ends before its class-enable vector, or
// the quanta of a PAUSE, does: that is truncated. The zeros are appended to b.
func Pad(b []byte) []byte {
	if len(b) < offTimers {
		return b
	}
	for len(b) < Len {
		b = append(b, 0)
	}
	return b
}

// Parse reads the PFC frame b, from its destination address on and without FCS.
// pad is the PadLen bytes of padding, within b.
//
// b is judged in this order: EtherType, opcode, address, length, reserved bits;
// the first that is wrong is the error, and b too short to hold an opcode is
// ErrShort. A PAUSE is ErrPause whatever the rest of it looks like.
//
// On ErrReserved f and pad are filled in all the same, the reserved bits left out.
// The switch drops such a frame and counts it: to pause on a bit that nobody has
// defined costs more than to wait for the next refresh. A caller that would
// rather ignore the bits has all it needs. On every other error they are zero.
func Parse(b []byte) (f Frame, pad []byte, err error) {
	if err := checkHeader(b, OpcodePFC); err != nil {
		return Frame{}, nil, err
	}
	if string(b[:offSrc]) != Address {
		return Frame{}, nil, ErrAddress
	}
	if err := checkLen(b); err != nil {
		return Frame{}, nil, err
	}
	copy(f.Src[:], b[offSrc:])
	f.Enable = unit.PrioritySet(b[offParams+1])
	for c := range f.Quanta {
		f.Quanta[c] = binary.BigEndian.Uint16(b[offTimers+2*c:])
	}
	if b[offParams] != 0 {
		err = ErrReserved
	}
	return f, b[PadOffset:Len:Len], err
}

// ParsePause reads the 802.3x PAUSE frame b: its sender and for how many quanta
// of 512 bit times all priorities shall stop, 0 to resume. It is sent to Address or
// to the station's own address (IEEE 802.3, 31B.1); whether an individual address
// is the station's own is for the caller to know. Errors are those of Parse, and
// ErrOpcode for a PFC frame too.
func ParsePause(b []byte) (src [6]byte, quanta uint16, err error) {
	if err := checkHeader(b, OpcodePause); err != nil {
		return src, 0, err
	}
	group := b[0]&1 != 0
	if group && string(b[:offSrc]) != Address {
		return src, 0, ErrAddress
	}
	if err := checkLen(b); err != nil {
		return src, 0, err
	}
	copy(src[:], b[offSrc:])
	return src, binary.BigEndian.Uint16(b[offParams:]), nil
}

// checkHeader wants MAC Control with the opcode want.
func checkHeader(b []byte, want uint16) error {
	if len(b) < offParams {
		return ErrShort
	}
	if binary.BigEndian.Uint16(b[offType:]) != EtherType {
		return ErrEtherType
	}
	switch op := binary.BigEndian.Uint16(b[offOpcode:]); {
	case op == want:
		return nil
	case op == OpcodePause:
		return ErrPause
	default:
		return ErrOpcode
	}
}

func checkLen(b []byte) error {
	switch {
	case len(b) < Len:
		return ErrShort
	case len(b) > Len:
		return ErrLong
	}
	return nil
}
