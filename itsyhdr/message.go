package itsyhdr

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// MessageLen is the size of a message frame in bytes, without FCS.
const MessageLen = 60

// Values on the wire of a message frame.
const (
	// MessageAddress is the destination of every message frame, six bytes. It is the
	// nearest-bridge group address (IEEE 802.1Q table 8-1, the one LLDP uses): every
	// bridge keeps it on the link, so a message cannot outlive its hop even where a
	// plain bridge sits between two switches. The PFC address would stop as surely,
	// but there a MAC may swallow the frame before any software sees it.
	MessageAddress = "\x01\x80\xc2\x00\x00\x0e"
	// MessageEtherType is local experimental EtherType 1 (IEEE Std 802, clause 9.2). Others
	// may use it too: a message is recognised by address and EtherType together, and the
	// TLV begins with an OUI.
	MessageEtherType = 0x88b5
)

// MessageTLV is where in a message frame its TLV begins, MessagePad where that ends and the
// padding begins.
const (
	MessageTLV = offMsgTLV
	MessagePad = offMsgTLV + Len
)

const (
	offMsgSrc  = 6
	offMsgType = 12
	offMsgTLV  = 14
)

// Reasons of ParseMessage, in addition to those of Parse.
var (
	// ErrNotMessage means that the destination or the EtherType is not that of a message frame.
	ErrNotMessage = errors.New("itsyhdr: not a message frame; want destination 01:80:c2:00:00:0e and EtherType 0x88b5")
	// ErrLong means that the frame is too long: message frames have one size.
	ErrLong = errors.New("itsyhdr: message frame is longer than 60 bytes")
)

// IsMessage reports whether b is a message frame by its address and EtherType, and
// so must never be forwarded, whatever ParseMessage then says of it.
func IsMessage(b []byte) bool {
	return len(b) >= offMsgTLV && string(b[:offMsgSrc]) == MessageAddress &&
		binary.BigEndian.Uint16(b[offMsgType:]) == MessageEtherType
}

// PutMessage writes the message frame from src with t into the first MessageLen
// bytes of dst. It panics if dst is shorter, and where Put does.
func PutMessage(dst []byte, src [6]byte, t TLV) {
	if len(dst) < MessageLen {
		panic(fmt.Sprintf("itsyhdr: PutMessage into %d bytes, want at least %d", len(dst), MessageLen))
	}
	dst = dst[:MessageLen]
	copy(dst, MessageAddress)
	copy(dst[offMsgSrc:], src[:])
	binary.BigEndian.PutUint16(dst[offMsgType:], MessageEtherType)
	Put(dst[offMsgTLV:], t)
	clear(dst[offMsgTLV+Len:])
}

// PutNumber numbers the message frame dst, which PutMessage has made, in the two octets behind its TLV: what
// is sent on a link is numbered in turn, so that the far end knows a frame that comes twice. 0 is no number.
func PutNumber(dst []byte, n uint16) { binary.BigEndian.PutUint16(dst[MessagePad:], n) }

// Number is the number of the message frame b, which ParseMessage accepts and which is no hello; 0 if its
// sender numbers none.
func Number(b []byte) uint16 { return binary.BigEndian.Uint16(b[MessagePad:]) }

// ParseMessage reads the message frame b, from its destination address on and
// without FCS: its sender and its TLV. What follows the TLV is Number's, and else ignored. All zero in
// the TLV's place is ErrNone, which in a message is a fault.
func ParseMessage(b []byte) (src [6]byte, t TLV, err error) {
	switch {
	case len(b) < offMsgTLV:
		return src, TLV{}, ErrShort
	case !IsMessage(b):
		return src, TLV{}, ErrNotMessage
	case len(b) < MessageLen:
		return src, TLV{}, ErrShort
	case len(b) > MessageLen:
		return src, TLV{}, ErrLong
	}
	if t, err = Parse(b[offMsgTLV:]); err != nil {
		return src, TLV{}, err
	}
	copy(src[:], b[offMsgSrc:])
	return src, t, nil
}
