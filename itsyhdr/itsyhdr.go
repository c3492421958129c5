package itsyhdr

import "softswitch/internal/unit"

// Kind says what a TLV carries.
type Kind uint8

// Kinds of TLV.
const (
	KindPeriod        Kind = 0 // only the XOFF period of the pausing bucket: no label
	KindChecking      Kind = 1 // ITSY III-B: a checking message
	KindTemporalCheck Kind = 2 // ITSY III-B: a temporal consistency check
	KindLabel         Kind = 3 // a label of the exact detector
)

// TLV is the ITSY metadata of one frame, unpacked. The zero value carries nothing.
type TLV struct {
	Kind      Kind          // 4 bits
	Class     unit.Priority // 3 bits
	Flags     uint8         // 5 bits
	Initiator unit.NodePort // {S_gen-ini, P_gen-ini}
	Seq       uint16
	Trigger   unit.NodePort // {S_tri, P_tri}
	Hops      uint8
	Period    uint8 // XOFF period of the bucket that pauses, modulo 256
	Auth      uint64
}
