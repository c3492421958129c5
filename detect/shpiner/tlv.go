package shpiner

import (
	"encoding/binary"
	"fmt"

	"softswitch/unit"
)

// Values on the wire.
const (
	Type    = 127            // organisationally specific (IEEE 802.1AB, 8.6)
	OUI     = "\x02\x49\x54" // locally administered
	Subtype = 2
	Version = 1
)

const (
	offOUI     = 2
	offSubtype = 5
	offKind    = 6 // version in the upper four bits
	offClass   = 7 // in the upper three bits; phase below
	headLen    = 8
)

const (
	kindElection = 1
	kindPath     = 2
)

const maxClass = 1<<3 - 1

// appendHead appends the octets that every message of n octets begins with.
func appendHead(dst []byte, n int, kind uint8, class unit.Priority, phase Phase) []byte {
	if class > maxClass {
		panic(fmt.Sprintf("clcm: class %d; valid: 0 to 7", class))
	}
	dst = binary.BigEndian.AppendUint16(dst, uint16(Type<<9|(n-offOUI)))
	dst = append(dst, OUI...)
	return append(dst, Subtype, Version<<4|kind, uint8(class)<<5|uint8(phase))
}

// checkHead wants the octets that are the same in every message of a kind.
func checkHead(b []byte, kind uint8) error {
	switch {
	case len(b) < headLen:
		return ErrShort
	case b[0]>>1 != Type:
		return ErrType
	case string(b[offOUI:offSubtype]) != OUI:
		return ErrOUI
	case b[offSubtype] != Subtype:
		return ErrSubtype
	case b[offKind]>>4 != Version:
		return ErrVersion
	case b[offKind]&0x0f != kind:
		return ErrKind
	}
	return nil
}

// tlvLen is how many octets the TLV at b says that it has, with type and length.
func tlvLen(b []byte) int { return offOUI + int(binary.BigEndian.Uint16(b)&0x1ff) }

func classOf(b []byte) unit.Priority { return unit.Priority(b[offClass] >> 5) }
func phaseOf(b []byte) Phase         { return Phase(b[offClass] & 0x1f) }
