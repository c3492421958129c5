// Package pacer keeps the clock of an egress that sends at a link's rate, for switches
// and hosts alike, under a driver that is not exact: it asks late, by its granularity
// and sometimes by much more.
//
//	Begin(now) ──▶ Ready? ──▶ Send(frame time) ──▶ Ready? ... ──▶ At: ask again
//
// Invariants:
//   - rate: no more leaves than the rate allows since the egress began to wait, and no
//     less if the driver is late by at most creditMax granularities and there is time
//     to make up for it.
//   - no-savings: what had nothing to send does not save up time.
//   - bounded-burst: at once leaves what one and a half granularities are worth, and a
//     seventh; on a slow link, where that is little, what the far end takes at once
//     (AtOnce). The headroom there holds only what a wire carries until a pause is heeded:
//     after a stall of the machine, bursts of 8 ms at 100 Mbit/s, 100 KB, were put into 30
//     KB of it.
//
// It reads no clock, and knows nothing of frames, queues and pauses.
package pacer

import "softswitch/unit"

// creditMax bounds what a late driver may make up for, in units of its granularity.
const creditMax = 8

// Wire is the clock. The zero value is a wire that is free.
type Wire struct {
	// AtOnce is how many bytes the far end takes at once, however slow the link is.
	AtOnce int

	free unit.Time // the wire is free from then on
	// Lost time is made up for at no more than 8/7 of the rate: soon is the clock of a
	// wire so much faster, which itself may make up for one burst.
	soon    unit.Time
	waiting bool
}

// Burst is what may be made up for at once, at a rate and with a driver of granularity
// g; at most 8/7 of it leave.
func (w *Wire) Burst(r unit.Rate, g unit.Time) unit.Time {
	if g == 0 {
		return 0
	}
	return max(g+g/2, r.FrameTime(w.AtOnce)*7/8)
}

// Begin starts to send at now, at rate r and with a driver of granularity g; 0 is exact.
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

// Send takes the wire for a frame of t.
func (w *Wire) Send(t unit.Time) {
	w.free += t
	w.soon += t - t/8
}

// At is from when on the next frame may leave.
func (w *Wire) At() unit.Time { return max(w.free, w.soon) }

// Wait says that there is something to send at At: what the driver is late until the
// next Begin may be made up for.
func (w *Wire) Wait() { w.waiting = true }

// Reset frees the wire at now, where its rate has changed.
func (w *Wire) Reset(now unit.Time) { w.free, w.soon = min(w.free, now), min(w.soon, now) }

// LinkDown forgets that something waits.
func (w *Wire) LinkDown() { w.waiting = false }
