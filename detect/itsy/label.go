package itsy

import (
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// label is what an egress port stores of the last pause that it received: a label, and
// the initial trigger that the pausing priority group names. word is
//
//	63     48 47     32 31    24  23  22  21  20   0
//	rank      owner's   owner's   F   T   D    0
//	          node      port
//
// F: the label came by waits that prove a deadlock if it comes home. T: it has passed
// the priority group that is the trigger. D: its owner has declared a deadlock. Rank 0 is no
// label; the trigger may be there nonetheless.
type label struct {
	word    uint64
	trigger trigger
}

// The id of a label is its rank and owner: one mint, whichever priority group repeats it. Flags and trigger
// are those of the priority group that sends it and differ from queue to queue, so two labels are the same if
// their ids are.
const (
	ownerShift = 24
	rankShift  = 48

	flagProof   uint64 = 1 << 23
	flagTrigger uint64 = 1 << 22
	flagDone    uint64 = 1 << 21

	maskPort uint64 = 1<<24 - 1
	maskID   uint64 = 1<<64 - 1<<ownerShift
)

func newLabel(rank uint16, owner unit.NodePort) label {
	return label{word: uint64(rank)<<rankShift | uint64(pack(owner))<<ownerShift}
}

// pack and unpack are a port of a node in 24 bits: 16 of the node, 8 of the port (unit.MaxPorts is 256). The
// paper uses 14 and 6 bits (ITSY paper, section V).
func pack(np unit.NodePort) uint32 { return uint32(np.Node)<<8 | uint32(np.Port) }

func unpack(v uint32) unit.NodePort {
	return unit.NodePort{Node: unit.NodeID(v >> 8), Port: unit.Port(v & 0xff)}
}

func (l label) rank() uint16         { return uint16(l.word >> rankShift) }
func (l label) owner() unit.NodePort { return unpack(uint32(l.word >> ownerShift & maskPort)) }
func (l label) isNone() bool         { return l.rank() == 0 }

// id is the label without its flags and trigger.
func (l label) id() label { return label{word: l.word & maskID} }

// has reports whether l has all of these flags, with is l with them.
func (l label) has(flags uint64) bool   { return l.word&flags == flags }
func (l label) with(flags uint64) label { return label{l.word | flags, l.trigger} }

// withTrigger is l with another trigger, and with T as passed says.
func (l label) withTrigger(t trigger, passed bool) label {
	l.word, l.trigger = l.word&^flagTrigger, t
	if passed {
		l.word |= flagTrigger
	}
	return l
}

// less is the order of labels: by rank, then by owner. Ranks are serial numbers
// (RFC 1982): of two that lie less than 32768 apart, the one that was counted later
// is the greater, also across the wrap. No label is less than any.
//
// The owner breaks ties: of two labels that meet on a loop one always survives. Ranks that lie exactly
// 32768 apart have no order (RFC 1982, section 3.2): each is before the other.
func (l label) less(m label) bool {
	switch {
	case m.isNone():
		return false
	case l.isNone():
		return true
	case l.rank() != m.rank():
		return before(l.rank(), m.rank())
	}
	return l.word&maskID < m.word&maskID
}

// before is the order of ranks that are not 0.
func before(a, b uint16) bool { return int16(a-b) < 0 }

// later is the rank after a: never 0, which is no label on the wire (docs/format/itsy.md, kind 3).
func later(a uint16) uint16 { return max(a+1, 1) }

// Flags on the wire (docs/format/itsy.md, kind 3).
const (
	wireProof   = 1
	wireTrigger = 2
	wireDone    = 4
	wireHost    = itsyhdr.FlagHost
)

// flags pairs the flags of a label with those on the wire.
var flags = [...]struct {
	label uint64
	wire  uint8
}{{flagProof, wireProof}, {flagTrigger, wireTrigger}, {flagDone, wireDone}}

// tlv is l as a pause frame carries it.
func (l label) tlv() itsyhdr.TLV {
	t := itsyhdr.TLV{Kind: itsyhdr.KindLabel, Seq: l.rank(), Trigger: l.trigger.at()}
	if l.trigger.isHost() {
		t.Flags |= wireHost
	}
	if !l.isNone() {
		t.Initiator = l.owner()
	}
	for _, f := range flags {
		if l.has(f.label) {
			t.Flags |= f.wire
		}
	}
	return t
}

// parseLabel takes the label out of a pause frame; no label if the TLV is none of
// this detector's, or makes no sense.
func parseLabel(t itsyhdr.TLV) label {
	if t.Kind != itsyhdr.KindLabel {
		return label{}
	}
	var l label
	// A label without a rank or an owner comes home to nobody. Its F and D go with it: they speak of the
	// owner. The trigger is a matter of its own, and stays.
	if t.Seq != 0 && t.Initiator.Node != 0 {
		l = newLabel(t.Seq, t.Initiator)
		for _, f := range flags {
			if t.Flags&f.wire != 0 {
				l = l.with(f.label)
			}
		}
	}
	return l.withTrigger(newTrigger(t.Trigger, t.Flags&wireHost != 0), t.Flags&wireTrigger != 0)
}
