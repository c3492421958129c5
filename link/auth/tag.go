package auth

import (
	"crypto/subtle"
	"encoding/binary"

	"softswitch/internal/ether"
	"softswitch/unit"
)

// TagLen is the length of a tag in octets: the counter's low 16 bits, then 48 of the code.
const TagLen = 8

const (
	lowLen  = 2
	codeLen = TagLen - lowLen
)

// window is how far a counter may be ahead of the last one: half of what its low bits tell.
const window = 1 << 15

// Sign writes the tag of a frame, which is complete but for it, at frame[at:at+TagLen]. The
// source address of the frame must be that of the port.
func (e *End) Sign(frame []byte, at int) {
	e.counter++
	tag := frame[at : at+TagLen]
	clear(tag)
	code := e.keys[0].Sum(head(e.counter), frame)
	binary.BigEndian.PutUint16(tag, uint16(e.counter))
	copy(tag[lowLen:], code[:codeLen])
}

// head is what stands before a frame in what is authenticated: a block with the whole counter.
func head(counter uint64) (b [macLen]byte) {
	binary.BigEndian.PutUint64(b[:], counter)
	return b
}

// Open judges a frame with its tag at frame[at:at+TagLen]; a negative at is a frame without
// a tag. What cannot be believed for want of a counter makes this end ask for it: see Due.
func (e *End) Open(now unit.Time, frame []byte, at int) Verdict {
	v := e.judge(frame, at)
	if v == Unknown || v == Wrong || v == Replayed {
		e.ask(now)
	}
	return v
}

func (e *End) judge(frame []byte, at int) Verdict {
	switch {
	case at < 0 || untagged(frame, at):
		return Missing
	case ether.Src(frame) == e.self:
		return Reflected
	case !e.known:
		return Unknown
	}
	ahead := binary.BigEndian.Uint16(frame[at:]) - uint16(e.last)
	if ahead == 0 || ahead > window {
		return Replayed
	}
	counter := e.last + uint64(ahead)
	if !e.verify(frame, at, counter) {
		return Wrong
	}
	e.last = counter
	return Believed
}

// Believes reports whether this end acts on a frame with this verdict.
func (e *End) Believes(v Verdict) bool { return v == Believed || v == Missing && e.mode == Accept }

// verify reports whether the code of a frame is right for a counter, by any key.
func (e *End) verify(frame []byte, at int, counter uint64) bool {
	for i := range e.keys {
		k := (e.by + i) % len(e.keys)
		if e.keys[k].made(frame, at, counter) {
			e.by = k
			return true
		}
	}
	return false
}

// made reports whether the code of a frame is that of a key for a counter. The frame is as before when it
// returns.
func (m *cmac) made(frame []byte, at int, counter uint64) bool {
	tag := [TagLen]byte(frame[at:])
	clear(frame[at : at+TagLen])
	code := m.Sum(head(counter), frame)
	copy(frame[at:], tag[:])
	return subtle.ConstantTimeCompare(code[:codeLen], tag[lowLen:]) == 1
}

// untagged reports whether there is no tag where a frame has room for one.
func untagged(frame []byte, at int) bool { return [TagLen]byte(frame[at:]) == [TagLen]byte{} }
