// Package pacer keeps the clock of an egress that sends at a link's rate, for switches
// and hosts, with a driver that is not exact: it calls late, by its granularity and
// sometimes by much more.
//
//	Begin(now) ──▶ Ready? ──▶ Send(frame time) ──▶ Ready? ... ──▶ At: ask again
//
// Invariants:
//   - rate: no more leaves than the rate allows since the egress began to wait, and no
//     less if the driver is late by at most creditMax granularities and there is time
//     to catch up.
//   - no-savings: an idle egress does not accumulate credit.
//   - bounded-burst: what leaves at once is at most what the rate carries in one and a
//     half granularities, and a seventh more; on a slow link, where that is little, what
//     the far end takes at once (AtOnce). The headroom there only holds what a wire
//     carries until a pause takes effect: after a stall of the machine, bursts of 8 ms at
//     100 Mbit/s, 100 KB, hit 30 KB of it.
//
// It reads no clock and has no notion of frames, queues and pauses.
package pacer

import "softswitch/unit"

// creditMax is how late a driver may be and still catch up, in units of its
// granularity.
const creditMax = 8

// Wire is the clock. The zero value is an idle wire.
type Wire struct {
	// AtOnce is how many bytes the far end takes at once, however slow the link is.
	AtOnce int

	free unit.Time // the wire is idle from then on
	// A late driver catches up at no more than 8/7 of the rate: soon is the clock of a
	// wire faster by that much, which may itself catch up by one burst.
	soon    unit.Time
	waiting bool
}

// Burst is the time that may be caught up at once, at rate r with a driver of
// granularity g; at most 8/7 of it leaves.
func (w *Wire) Burst(r unit.Rate, g unit.Time) unit.Time {
	if g == 0 {
		return 0
	}
	return max(g+g/2, r.FrameTime(w.AtOnce)*7/8)
}

// Begin starts sending at now, at rate r with a driver of granularity g; 0 is exact.
func (w *Wire) Begin(now unit.Time, r unit.Rate, g unit.Time) {
	if w.waiting {
		burst := w.Burst(r, g)
		w.free, w.soon = max(w.free, now-max(creditMax*g, burst)), max(w.soon, now-burst)
	} else {
		w.free, w.soon = max(w.free, now), max(w.soon, now)
	}
	w.waiting = false
}

// Ready reports whether a frame may leave at now.
func (w *Wire) Ready(now unit.Time) bool { return w.At() <= now }

// Send occupies the wire for a frame of duration t.
func (w *Wire) Send(t unit.Time) {
	w.free += t
	w.soon += t - t/8
}

// At is when the next frame may leave.
func (w *Wire) At() unit.Time { return max(w.free, w.soon) }

// Wait says that there is something to send at At: if the driver's next Begin is late,
// it may catch up.
func (w *Wire) Wait() { w.waiting = true }

// Rescale changes what is left at now of the time until the next frame, as the rate goes from a 2^from-th of
// the link's to a 2^to-th.
func (w *Wire) Rescale(now unit.Time, from, to uint8) {
	for _, t := range []*unit.Time{&w.free, &w.soon} {
		if left := *t - now; left > 0 {
			*t = now + left<<to>>from
		}
	}
}

// Reset frees the wire at now, after its rate has changed.
func (w *Wire) Reset(now unit.Time) { w.free, w.soon = min(w.free, now), min(w.soon, now) }

// LinkDown forgets that something is waiting.
func (w *Wire) LinkDown() { w.waiting = false }
