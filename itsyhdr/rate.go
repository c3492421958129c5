package itsyhdr

import (
	"encoding/binary"

	"softswitch/unit"
)

// RateLen is the size of a rate message's TLV in octets. It is the payload of a message frame, beside the
// other TLVs of this OUI (docs/format/gfc.md).
const RateLen = 9

const (
	rateSubtype = 4
	rateKind    = 1
	offStage    = 8
)

// Rate is what a switch tells the one before it by Gentle Flow Control: frames of Priority may come at the
// link's rate divided by 2^Stage. Stage 0 is the link's rate; none stops them.
type Rate struct {
	Priority unit.Priority
	Stage    uint8
}

// Append appends the TLV of r to dst.
func (r Rate) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint16(dst, Type<<9|(RateLen-2))
	dst = append(dst, OUI...)
	return append(dst, rateSubtype, Version<<4|rateKind, uint8(r.Priority)<<5, r.Stage)
}

// ParseRate reads the rate message at the beginning of a message frame's payload; ok is false if it is
// none. What follows it is ignored.
func ParseRate(payload []byte) (r Rate, ok bool) {
	if len(payload) < RateLen || binary.BigEndian.Uint16(payload) != Type<<9|(RateLen-2) ||
		string(payload[offOUI:offSubtype]) != OUI || payload[offSubtype] != rateSubtype || payload[offKind] != Version<<4|rateKind {
		return Rate{}, false
	}
	return Rate{Priority: unit.Priority(payload[offPriority] >> 5), Stage: payload[offStage]}, true
}
