package itsyhdr

import (
	"encoding/binary"
	"errors"
	"fmt"

	"softswitch/unit"
)

// Len is the size of a TLV in octets: all of a PFC frame's padding.
const Len = 26

// Values on the wire.
const (
	Type    = 127            // organisationally specific (IEEE 802.1AB, 8.6)
	Length  = Len - 2        // octets after the type and length field
	OUI     = "\x02\x49\x54" // locally administered
	Subtype = 1
	Version = 1
)

const (
	offOUI       = 2
	offSubtype   = 5
	offKind      = 6 // version in the upper four bits
	offPriority  = 7 // in the upper three bits; flags below
	offInitiator = 8
	offSeq       = 11
	offTrigger   = 13
	offHops      = 16
	offPeriod    = 17
	offAuth      = 18
)

// AuthOffset is where in a TLV its authentication tag begins, of 8 octets.
const AuthOffset = offAuth

const (
	maxPriority = 1<<3 - 1
	maxFlags    = 1<<5 - 1
)

// Reasons for which Parse and ParseMessage return no TLV, one value each so that
// a caller can count by reason. They are returned as they are, never wrapped.
var (
	// ErrNone is no fault: the padding is all zero, since the sender does not speak ITSY,
	// or has nothing to say.
	ErrNone = errors.New("itsyhdr: no TLV: the padding is all zero")
	// ErrShort means that there are too few bytes for the TLV or the message frame.
	ErrShort = errors.New("itsyhdr: truncated; want 26 octets for a TLV, 60 bytes for a message frame")
	// ErrType means that the TLV is not an organisationally specific one: a plain device
	// may leave anything in its padding.
	ErrType = errors.New("itsyhdr: wrong TLV type; want 127")
	// ErrLength means that the length field is not that of an ITSY TLV.
	ErrLength = errors.New("itsyhdr: wrong TLV length; want 24")
	// ErrOUI means that the TLV is another organisation's.
	ErrOUI = errors.New("itsyhdr: wrong OUI; want 02-49-54")
	// ErrSubtype means that the TLV is another one of ours.
	ErrSubtype = errors.New("itsyhdr: wrong subtype; want 1")
	// ErrVersion means that the TLV is of another version of the format.
	ErrVersion = errors.New("itsyhdr: unknown version; want 1")
	// ErrKind means that this version has no such Kind.
	ErrKind = errors.New("itsyhdr: unknown kind; want 0 (period), 1 (checking), 2 (temporal check), 3 (label), 4 (query), 5 (grant), 6 (walk), 7 (ack), 8 (claim), 9 (seal), 10 (bubble), 11 (reserve), 12 (trigger), 13 (found) or 14 (hello)")
)

// Put writes t into the first Len octets of dst. It panics if dst is shorter, or if
// a field of t does not fit: a kind without a name, a priority above 7, flags above
// 31, a port of unit.MaxPorts or more.
func Put(dst []byte, t TLV) {
	if len(dst) < Len {
		panic(fmt.Sprintf("itsyhdr: Put into %d octets, want at least %d", len(dst), Len))
	}
	if t.Priority > maxPriority || t.Flags > maxFlags || max(t.Initiator.Port, t.Trigger.Port) >= unit.MaxPorts || check(t) != nil {
		type fields TLV // without String, which leaves fields out
		panic(fmt.Sprintf("itsyhdr: Put of a TLV with a field out of range: %+v", fields(t)))
	}
	binary.BigEndian.PutUint16(dst, Type<<9|Length)
	copy(dst[offOUI:], OUI)
	dst[offSubtype] = Subtype
	dst[offKind] = Version<<4 | uint8(t.Kind)
	dst[offPriority] = uint8(t.Priority)<<5 | t.Flags
	putNodePort(dst[offInitiator:], t.Initiator)
	binary.BigEndian.PutUint16(dst[offSeq:], t.Seq)
	putNodePort(dst[offTrigger:], t.Trigger)
	dst[offHops] = t.Hops
	dst[offPeriod] = t.Period
	binary.BigEndian.PutUint64(dst[offAuth:], t.Auth)
}

// Parse reads the TLV in the first Len octets of b; more are left alone. The
// fields are judged in the order in which they lie; the first that is wrong is the
// error, and the TLV is then zero.
func Parse(b []byte) (TLV, error) {
	if len(b) < Len {
		return TLV{}, ErrShort
	}
	if err := checkHead(b); err != nil {
		return TLV{}, err
	}
	t := TLV{
		Kind:      Kind(b[offKind] & 0x0f),
		Priority:  unit.Priority(b[offPriority] >> 5),
		Flags:     b[offPriority] & maxFlags,
		Initiator: nodePort(b[offInitiator:]),
		Seq:       binary.BigEndian.Uint16(b[offSeq:]),
		Trigger:   nodePort(b[offTrigger:]),
		Hops:      b[offHops],
		Period:    b[offPeriod],
		Auth:      binary.BigEndian.Uint64(b[offAuth:]),
	}
	if err := check(t); err != nil {
		return TLV{}, err
	}
	return t, nil
}

// checkHead wants the octets that are the same in every TLV of this version.
func checkHead(b []byte) error {
	head := binary.BigEndian.Uint16(b)
	switch {
	case head == 0 && isZero(b[:Len]):
		return ErrNone
	case head>>9 != Type:
		return ErrType
	case head&0x1ff != Length:
		return ErrLength
	case string(b[offOUI:offSubtype]) != OUI:
		return ErrOUI
	case b[offSubtype] != Subtype:
		return ErrSubtype
	case b[offKind]>>4 != Version:
		return ErrVersion
	}
	return nil
}

// check wants values that the wire has room for but the format does not know.
func check(t TLV) error {
	if int(t.Kind) >= len(kindNames) {
		return ErrKind
	}
	return nil
}

func isZero(b []byte) bool {
	for _, v := range b {
		if v != 0 {
			return false
		}
	}
	return true
}

func putNodePort(dst []byte, np unit.NodePort) {
	binary.BigEndian.PutUint16(dst, uint16(np.Node))
	dst[2] = uint8(np.Port)
}

func nodePort(b []byte) unit.NodePort {
	return unit.NodePort{Node: unit.NodeID(binary.BigEndian.Uint16(b)), Port: unit.Port(b[2])}
}
