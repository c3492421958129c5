package impair

import (
	"math/rand/v2"
	"slices"

	"softswitch/itsyhdr"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// Faults are what a wire does to the frames that one end sends into it.
type Faults struct {
	Delay unit.Time
	// Jitter is the largest random extra delay, drawn evenly from 0; frames keep their
	// order.
	Jitter unit.Time
	// ControlLoss is how many of PerMille control frames (PFC, messages of detectors) are
	// lost.
	ControlLoss int
	// Loss is how many of Whole other frames are lost, Duplicate how many of Whole frames
	// of any kind come twice, Reorder how many take twice the delay, in which others
	// overtake them.
	Loss, Duplicate, Reorder int
}

// What shares of frames are counted in.
const (
	PerMille = 1000
	Whole    = 10_000
)

// Resolution is how precisely a live wire keeps time: what is shorter, it does not play.
const Resolution = unit.Millisecond

// Live is the part of f that a live wire plays.
func (f Faults) Live() Faults {
	if f.Delay < Resolution {
		f.Delay = 0
	}
	if f.Jitter < Resolution {
		f.Jitter = 0
	}
	return f
}

// Any reports whether the wire does anything but carry frames at once.
func (f Faults) Any() bool { return f != Faults{} }

// Fate is what becomes of a frame.
type Fate struct {
	// Copies is how many of it come: 0 if it is lost.
	Copies int
	// Extra is by how much it is later than the delay of the wire.
	Extra unit.Time
	// Overtaken says that it need not keep its place among the other frames. Its Extra
	// holds the second delay.
	Overtaken bool
}

// State is what a live wire does and has done.
type State struct {
	Faults Faults `json:"faults"`
	// Frames that the wire lost, that came twice and that were overtaken so far, and that
	// are on their way now.
	Lost       uint64 `json:"lost"`
	Duplicated uint64 `json:"duplicated"`
	Overtaken  uint64 `json:"overtaken"`
	Held       int64  `json:"held"`
	// Changed says that the faults are not those that its node was started with.
	Changed bool `json:"changed"`
}

// Wire is one direction of a wire. The zero value carries every frame at once.
type Wire struct {
	Faults  Faults
	rand    *rand.Rand // nil until it is needed
	control int        // control frames that Send was asked about so far
	losses  []int      // which of those get lost
}

// Stream names the random numbers of the wire that leads to a port: the index of its node in
// the fabric, and its number.
func Stream(node int, p unit.Port) uint64 { return uint64(node+1)<<8 | uint64(p) }

// Lose has the nth control frame from now on get lost; the next one is the first.
func (w *Wire) Lose(nth int) { w.losses = append(w.losses, w.control+nth) }

// Losing reports whether a control frame is still to get lost by Lose.
func (w *Wire) Losing() bool { return len(w.losses) > 0 }

// Faultless reports whether Send and Carry have nothing to decide: each frame comes, once, and in
// its place. It is quick to ask.
func (w *Wire) Faultless() bool {
	f := &w.Faults
	return f.Jitter == 0 && f.ControlLoss|f.Loss|f.Duplicate|f.Reorder == 0 && len(w.losses) == 0
}

// Send decides what becomes of the next frame; seed and stream are the same in each call.
func (w *Wire) Send(frame []byte, seed, stream uint64) Fate {
	if IsControl(frame) {
		w.control++
		if w.losesNow() || w.one(w.Faults.ControlLoss, PerMille, seed, stream) {
			return Fate{}
		}
	} else if w.one(w.Faults.Loss, Whole, seed, stream) {
		return Fate{}
	}
	return w.Carry(seed, stream)
}

// Carry is Send for a frame that the wire does not lose, and does not count.
func (w *Wire) Carry(seed, stream uint64) Fate {
	f := Fate{Copies: 1}
	if j := w.Faults.Jitter; j > 0 {
		f.Extra = unit.Time(w.draw(seed, stream).Int64N(int64(j) + 1))
	}
	if w.one(w.Faults.Duplicate, Whole, seed, stream) {
		f.Copies = 2
	}
	if f.Overtaken = w.one(w.Faults.Reorder, Whole, seed, stream); f.Overtaken {
		f.Extra += w.Faults.Delay
	}
	return f
}

// losesNow reports whether the control frame that was just counted gets lost by Lose.
func (w *Wire) losesNow() bool {
	i := slices.Index(w.losses, w.control)
	if i >= 0 {
		w.losses = slices.Delete(w.losses, i, i+1)
	}
	return i >= 0
}

// one is true for n of all frames.
func (w *Wire) one(n, all int, seed, stream uint64) bool {
	return n > 0 && w.draw(seed, stream).IntN(all) < n
}

func (w *Wire) draw(seed, stream uint64) *rand.Rand {
	if w.rand == nil {
		w.rand = rand.New(rand.NewPCG(seed, stream))
	}
	return w.rand
}

// IsControl reports whether a frame is a PFC frame or a message of a detector.
func IsControl(b []byte) bool { return pfcframe.IsMACControl(b) || itsyhdr.IsMessage(b) }
