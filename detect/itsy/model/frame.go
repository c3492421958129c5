package model

import (
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// frame is what one end of a link sends to the other: a pause or a resume of the priority group
// there, with its period, or a message.
type frame struct {
	kind   frameKind
	period uint8
	tlv    itsyhdr.TLV
}

type frameKind uint8

const (
	pauseFrame frameKind = iota
	resumeFrame
	messageFrame
)

// wires are the frames that there ever were, and the sequences of them that there ever were on
// a wire, each with a number. Frame numbers begin at 1; sequence 0 is the empty one.
type wires struct {
	frames  []frame
	frameOf map[frame]uint32

	seqs   []seq
	consed map[[2]uint32]uint32
	added  map[[2]uint32]uint32
}

// seq is the frames on a wire: the one that arrives next, and the rest.
type seq struct {
	head, rest uint32
	owners     uint32 // the switches, as bits, whose checks and verifications messages in it belong to
	pauses     bool   // a pause is in it
}

func newWires() *wires {
	return &wires{frames: make([]frame, 1), frameOf: map[frame]uint32{}, seqs: make([]seq, 1), consed: map[[2]uint32]uint32{}, added: map[[2]uint32]uint32{}}
}

func (w *wires) frame(f frame) uint32 {
	n, ok := w.frameOf[f]
	if !ok {
		n = uint32(len(w.frames))
		w.frames = append(w.frames, f)
		w.frameOf[f] = n
	}
	return n
}

// add is the sequence s with frame f behind it.
func (w *wires) add(s, f uint32) uint32 {
	key := [2]uint32{s, f}
	n, ok := w.added[key]
	if !ok {
		if s == 0 {
			n = w.cons(f, 0)
		} else {
			n = w.cons(w.seqs[s].head, w.add(w.seqs[s].rest, f))
		}
		w.added[key] = n
	}
	return n
}

// cons is the sequence s with frame f before it.
func (w *wires) cons(f, s uint32) uint32 {
	key := [2]uint32{f, s}
	n, ok := w.consed[key]
	if !ok {
		n = uint32(len(w.seqs))
		is := seq{head: f, rest: s, owners: w.seqs[s].owners, pauses: w.seqs[s].pauses}
		switch fr := w.frames[f]; fr.kind {
		case pauseFrame:
			is.pauses = true
		case messageFrame:
			is.owners |= bit(fr.tlv.Initiator.Node)
		}
		w.seqs = append(w.seqs, is)
		w.consed[key] = n
	}
	return n
}

// bit is switch k as a bit.
func bit(k unit.NodeID) uint32 { return 1 << k }
