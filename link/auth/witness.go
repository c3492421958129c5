package auth

import (
	"encoding/binary"
	"maps"
	"slices"

	"softswitch/internal/ether"
	"softswitch/itsyhdr"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// Witness judges the frames of a capture. It has the keys and takes no part. It learns the
// counter of a sender, and by which link it sends, from its hellos; frames before the first one
// are Unknown. A capture may have a frame twice, where it left and where it came, so that a
// witness calls nothing Replayed.
type Witness struct {
	links   []string
	macs    map[string][]*cmac
	senders map[unit.MAC]*sender
}

type sender struct {
	link string
	last uint64
}

// NewWitness is a witness with the keys of links, by their names: what AllLinks has is of no
// use to it.
func NewWitness(keys Keys) *Witness {
	w := &Witness{macs: map[string][]*cmac{}, senders: map[unit.MAC]*sender{}}
	for _, link := range slices.Sorted(maps.Keys(keys)) {
		if link == AllLinks {
			continue
		}
		w.links = append(w.links, link)
		for _, k := range keys[link] {
			w.macs[link] = append(w.macs[link], keyOf(k, link))
		}
	}
	return w
}

// Judge judges a frame, and says by which link it was sent, as far as that is known. A frame
// that is no control frame, or is not whole, is Missing.
func (w *Witness) Judge(frame []byte) (v Verdict, link string) {
	at, hello := tagOf(frame)
	if at < 0 || untagged(frame, at) {
		return Missing, ""
	}
	if hello {
		return w.hear(frame)
	}
	s := w.senders[ether.Src(frame)]
	if s == nil {
		return Unknown, ""
	}
	ahead := int64(int16(binary.BigEndian.Uint16(frame[at:]) - uint16(s.last)))
	counter := s.last + uint64(ahead)
	if !w.right(s.link, frame, at, counter) {
		return Wrong, s.link
	}
	s.last = max(s.last, counter)
	return Believed, s.link
}

// hear takes a hello, which has the whole counter.
func (w *Witness) hear(frame []byte) (v Verdict, link string) {
	counter := binary.BigEndian.Uint64(frame[offCounter:])
	for _, link := range w.links {
		if uint16(counter) == binary.BigEndian.Uint16(frame[tagAt:]) && w.right(link, frame, tagAt, counter) {
			w.senders[ether.Src(frame)] = &sender{link, counter}
			return Believed, link
		}
	}
	return Wrong, ""
}

func (w *Witness) right(link string, frame []byte, at int, counter uint64) bool {
	frame = slices.Clone(frame)
	return slices.ContainsFunc(w.macs[link], func(m *cmac) bool { return m.made(frame, at, counter) })
}

// tagOf is where a control frame has its tag, negative if it has none.
func tagOf(frame []byte) (at int, hello bool) {
	if itsyhdr.IsMessage(frame) {
		_, t, err := itsyhdr.ParseMessage(frame)
		switch {
		case err == nil:
			return tagAt, t.Kind == itsyhdr.KindHello
		case len(frame) > itsyhdr.MessageLen:
			return len(frame) - TagLen, false
		}
		return -1, false
	}
	_, pad, err := pfcframe.Parse(frame)
	if err != nil {
		return -1, false
	}
	if _, err := itsyhdr.Parse(pad); err != nil {
		return -1, false
	}
	return pfcframe.PadOffset + itsyhdr.AuthOffset, false
}
