package impair

import "bytes"

// TapeMax is how many control frames a Tape keeps.
const TapeMax = 64

// Tape keeps the last control frames that passed on a wire, for somebody who replays them. The
// zero value is empty.
type Tape struct {
	frames [TapeMax][]byte
	n      int // that passed
}

// See keeps a copy of a frame if it is a control frame.
func (t *Tape) See(frame []byte) {
	if IsControl(frame) {
		at := &t.frames[t.n%TapeMax]
		*at = append((*at)[:0], frame...)
		t.n++
	}
}

// Last is a copy of the nth last control frame that passed, the last one for 1. The bit flip, which
// counts from 1, is inverted; 0 inverts none. Last is nil if there was no such frame.
func (t *Tape) Last(nth, flip int) []byte {
	if nth < 1 || nth > min(t.n, TapeMax) {
		return nil
	}
	f := bytes.Clone(t.frames[(t.n-nth)%TapeMax])
	if bit := flip - 1; bit >= 0 && bit/8 < len(f) {
		f[bit/8] ^= 0x80 >> (bit % 8)
	}
	return f
}
