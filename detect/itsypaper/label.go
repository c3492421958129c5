package itsypaper

import (
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// HopLimit is the number of links that a label or a check may cross. A label that
// a pause carries on keeps its count.
const HopLimit = 64

// MaxNode is the highest switch number that an id holds.
const MaxNode = 1<<14 - 1

// MaxPorts is how many ports of a switch an id tells apart (ITSY, section V).
const MaxPorts = 64

// label is the generic initiator's {S, P, Seq} as a port stores it:
//
//	31       18 17    12 11     4  3   2  1  0
//	S (14 bits) P (6)    Seq (8)   M   0  0  0
//
// M says that the initiator is a middle switch. The low three bits are free for
// slot. The zero value is none: there is no switch 0.
type label uint32

const middleBit label = 1 << 3

func newLabel(initiator unit.NodePort, seq uint8) label {
	return label(initiator.Node)<<18 | label(initiator.Port)<<12 | label(seq)<<4
}

// parseLabel takes the label out of t. ok is false if a field does not fit, as
// with another vendor's or a forged TLV.
func parseLabel(t itsyhdr.TLV) (l label, ok bool) {
	if t.Initiator.Node == 0 || t.Initiator.Node > MaxNode || t.Initiator.Port >= MaxPorts ||
		t.Seq > 0xff || t.Hops >= HopLimit {
		return 0, false
	}
	l = newLabel(t.Initiator, uint8(t.Seq))
	if t.Trigger != t.Initiator {
		l |= middleBit
	}
	return l, true
}

func (l label) initiator() unit.NodePort {
	return unit.NodePort{Node: unit.NodeID(l >> 18), Port: unit.Port(l >> 12 & 0x3f)}
}

func (l label) seq() uint8   { return uint8(l >> 4) }
func (l label) middle() bool { return l&middleBit != 0 }

// sameInitiator reports whether l and m have the same {S, P}, of any Seq, and
// mean it in the same sense: as a trigger or as a middle switch.
func (l label) sameInitiator(m label) bool { return (l^m)&^(0xff<<4) == 0 }

// tlv is the checking message that carries l. For a middle switch's id the
// trigger is zero, unknown: a port has no room to store both.
func (l label) tlv(way trail) itsyhdr.TLV {
	t := itsyhdr.TLV{
		Kind:      itsyhdr.KindChecking,
		Flags:     way.round(),
		Initiator: l.initiator(),
		Seq:       uint16(l.seq()),
		Hops:      way.hops(),
	}
	if !l.middle() {
		t.Trigger = t.Initiator
	}
	return t
}

// trail is how a stored label came: the links it crossed before the last one (6
// bits) and the round it belongs to (2 bits, TLV.Flags on the wire). A switch that
// learns a label again after a resume starts the next round, 1, 2, 3, 1 and so on,
// so that the label may pass once more where it is known (receive.go), and a check
// after it (check.go).
type trail uint8

// firstRound is that of a label that no switch has learned again.
const firstRound = 1

// newTrail reads a round that is none, as a stranger may send it, as the first.
func newTrail(hops, round uint8) trail { return trail(hops<<2 | max(round&3, firstRound)) }

func (w trail) hops() uint8      { return uint8(w >> 2) }
func (w trail) round() uint8     { return uint8(w & 3) }
func (w trail) nextRound() uint8 { return w.round()%3 + 1 }
