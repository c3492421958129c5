package auth

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/unit"
)

// Mode is what a port asks of its far end.
type Mode uint8

// Modes.
const (
	Off    Mode = iota // no tag is made, and none is looked at
	Accept             // tags are made; what comes with one must be right, what comes without is believed
	Strict             // tags are made; what comes without one is not believed either
)

var modeNames = [...]string{"off", "accept", "strict"}

// String is the mode's name in files.
func (m Mode) String() string { return modeNames[m] }

// MarshalText writes the mode's name.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads the name of a mode. The error lists the valid names.
func (m *Mode) UnmarshalText(name []byte) error {
	i := slices.Index(modeNames[:], string(name))
	if i < 0 {
		return fmt.Errorf("%q; use %s", name, strings.Join(modeNames[:], ", "))
	}
	*m = Mode(i)
	return nil
}

// Key is a key of AES-128.
type Key [macKeyLen]byte

// String hides the key.
func (Key) String() string { return "(a key)" }

// GoString hides the key.
func (Key) GoString() string { return "(a key)" }

// KeysMax is how many keys a link may have at a time: while keys are changed, the old one
// and the new.
const KeysMax = 2

// Config is one end of a link.
type Config struct {
	Mode Mode
	// Link is the link's name, the same at both ends. It is part of what is authenticated.
	Link string
	// Keys are one or two: what is sent is signed with the first, what comes with either is
	// believed.
	Keys []Key
	// Self is the address of the port, which the frames that it sends bear.
	Self unit.MAC
	// First is the counter of the first frame that is sent. It must be above all that this
	// end has ever used with these keys: the time in nanoseconds is, as long as the clock
	// does not go back.
	First uint64
	// Gap is how long to wait for the answer to a challenge, at first.
	Gap unit.Time
}

// Verdict says whether a frame is believed, and if not, why.
type Verdict uint8

// Verdicts.
const (
	Believed  Verdict = iota
	Missing           // it has no tag
	Unknown           // no counter of the far end is known yet
	Wrong             // the code is wrong: another key, or forged
	Replayed          // its counter is not above the last, or too far ahead to tell
	Reflected         // it bears this end's own address
	Verdicts
)

var verdictNames = [Verdicts]string{"believed", "missing", "unknown", "wrong", "replayed", "reflected"}

// String is the verdict's name in logs and counters.
func (v Verdict) String() string { return verdictNames[v] }

// Says is the verdict for people: what was seen, and what it usually means.
func (v Verdict) Says() string {
	return [Verdicts]string{
		"believed",
		"without a tag: the far end has auth off, or somebody else sent it",
		"no answer from the far end yet: it has auth off, or is not there",
		"a wrong tag: the far end has another key, or somebody else sent it",
		"a tag that was there before: the frame was replayed, or the far end's clock went back",
		"this end's own frame came back: a cable leads back, or it was replayed",
	}[v]
}

// End is one end of a link. New makes one. Its calls must not overlap, and now never decreases.
type End struct {
	mode Mode
	link string
	self unit.MAC
	keys []*cmac
	by   int // the key that was right last

	counter uint64 // of the last frame that was sent

	known bool   // last counts
	last  uint64 // the counter of the last frame that was believed

	nonce uint64    // of the challenge that is not answered yet; 0 is none
	due   unit.Time // when to send a challenge
	sent  unit.Time // when the last one was sent
	told  unit.Time // when this end last acted on a hello that could be a replayed one
	asked uint64    // the greatest counter of a challenge, while the far end is not known
	gap   unit.Time
	wait  unit.Time // until the challenge after the next one
}

// New is an end of a link. It panics as SetKeys does.
func New(c Config) *End {
	e := &End{mode: c.Mode, link: c.Link, self: c.Self, counter: max(c.First, 1) - 1, due: unit.Never, sent: -unit.Never, told: -unit.Never, gap: c.Gap, wait: c.Gap}
	e.SetKeys(c.Keys)
	return e
}

// SetKeys puts other keys in the place of those that the end has. It panics without one, or
// with more than KeysMax. What the ends know of each other stays.
func (e *End) SetKeys(keys []Key) {
	if len(keys) == 0 || len(keys) > KeysMax {
		panic(fmt.Sprintf("linkauth: link %s with %d keys, want 1 to %d", e.link, len(keys), KeysMax))
	}
	e.keys, e.by = nil, 0
	for _, k := range keys {
		e.keys = append(e.keys, keyOf(k, e.link))
	}
}

// Link is the name of the link.
func (e *End) Link() string { return e.link }

// keyOf is the key of a link, from one that many links may share.
func keyOf(k Key, link string) *cmac {
	return newMAC(newMAC(k).SumOf([]byte("softswitch link " + link)))
}

// SetSelf sets the address of the port.
func (e *End) SetSelf(m unit.MAC) { e.self = m }

// Mode is the end's mode.
func (e *End) Mode() Mode { return e.mode }

// Known reports whether the far end has answered.
func (e *End) Known() bool { return e.known }
