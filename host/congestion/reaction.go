package congestion

import (
	"math/bits"

	"softswitch/unit"
)

// Reaction is a flow's reaction point: what DCQCN makes of CNPs at a sender.
//
// Until its first CNP a flow may send at line rate. Then alpha, the share of frames that
// were marked as the sender reckons it, begins at 1, and timers run for good.
// NewReaction makes one; the zero value is not usable.
type Reaction struct {
	p    *DCQCN
	line unit.Rate

	limited         bool // a CNP has come
	current, target unit.Rate
	alpha           uint64 // in 1/one
	marked, cut     bool   // a CNP came since alpha's and since the cut's last tick

	alphaAt, cutAt, riseAt unit.Time // the next ticks
	bytes                  int64     // sent since the last rise for bytes
	// Rises by timer and by bytes since the last cut, at most Recovery+1, for more make no
	// difference; nor do those at line rate, which are not all counted.
	timed, counted int
}

// one is alpha 1. What is rounded away is 2^-48 at a tick, and at most 1/Gain times as much
// in all: less than a bit per second of the fastest rate.
const (
	oneBits = 48
	one     = 1 << oneBits
)

// NewReaction is the reaction point of a flow at a link of rate line, with parameters that
// have to stay as they are as long as it is used.
func NewReaction(p *DCQCN, line unit.Rate) Reaction {
	return Reaction{p: p, line: line, current: line, target: line}
}

// CNP takes note of a congestion notification packet.
func (r *Reaction) CNP(now unit.Time) {
	r.run(now)
	if !r.limited {
		r.limited, r.alpha = true, one
		r.alphaAt, r.cutAt, r.riseAt = now+r.p.AlphaTimer, now+r.p.CutTimer, now+r.p.RiseTimer
	}
	if r.p.CutTimer > 0 {
		r.marked, r.cut = true, true
		return
	}
	r.cutAt = unit.Never
	r.lower(now)
	r.observe(true)
	r.alphaAt = now + r.p.AlphaTimer
}

// Sent takes note of the bytes sent.
func (r *Reaction) Sent(now unit.Time, bytes int) {
	r.run(now)
	if !r.limited || r.p.RiseBytes == 0 {
		return
	}
	r.bytes += int64(bytes)
	for ; r.bytes >= r.p.RiseBytes; r.bytes -= r.p.RiseBytes {
		r.rise()
		r.counted = min(r.counted+1, r.p.Recovery+1)
	}
}

// Rate is how fast the flow may send, in bits per second on the wire.
func (r *Reaction) Rate(now unit.Time) unit.Rate {
	r.run(now)
	return r.current
}

// run does what the timers would have done until now: alpha's tick before the cut's before
// the rise's where they fall together. Ticks that would change nothing are passed over at
// once: of alpha when it is 0, of the cut without a CNP, of the rise at line rate. So a gap
// costs at most the ticks in which alpha falls to 0, about 9,000 at a gain of 4, and the
// rises from the minimum to the line.
func (r *Reaction) run(now unit.Time) {
	if !r.limited {
		return
	}
	for {
		switch t := min(r.alphaAt, r.cutAt, r.riseAt); {
		case t > now:
			return
		case t == r.alphaAt:
			r.observe(r.marked)
			r.marked = false
			r.alphaAt = next(t, r.p.AlphaTimer, now, r.alpha == 0)
		case t == r.cutAt:
			if r.cut {
				r.lower(t)
				r.cut = false
			}
			r.cutAt = next(t, r.p.CutTimer, now, true)
		default:
			r.rise()
			r.timed = min(r.timed+1, r.p.Recovery+1)
			r.riseAt = next(t, r.p.RiseTimer, now, r.current == r.line)
		}
	}
}

// next is the tick after the one at t, or, if those until now change nothing, the first
// after now.
func next(t, period, now unit.Time, idle bool) unit.Time {
	if idle {
		t += (now - t) / period * period
	}
	return t + period
}

// observe moves alpha towards 1 if there was a CNP, and towards 0 if not. It is rounded
// down, and so reaches 0.
func (r *Reaction) observe(cnp bool) {
	r.alpha -= (r.alpha*r.p.Gain + 1023) / 1024
	if cnp {
		r.alpha += r.p.Gain << (oneBits - 10)
	}
}

// lower cuts the rate by half of alpha, and begins fast recovery.
func (r *Reaction) lower(now unit.Time) {
	if !r.p.KeepTarget || r.timed > 0 {
		r.target = r.current
	}
	hi, lo := bits.Mul64(uint64(r.current), 2*one-r.alpha)
	r.current = max(r.p.Min, unit.Rate(hi<<(64-oneBits-1)|lo>>(oneBits+1)))
	r.timed, r.counted, r.bytes = 0, 0, 0
	r.riseAt = now + r.p.RiseTimer
}

// rise moves the rate half of the way to its target, which itself rises after Recovery
// rises. It is rounded up, and so reaches the target.
func (r *Reaction) rise() {
	least := r.timed
	if r.p.RiseBytes > 0 {
		least = min(least, r.counted)
	}
	switch {
	case max(r.timed, r.counted) < r.p.Recovery: // fast recovery
	case least > r.p.Recovery:
		r.target += r.p.HAI
	default:
		r.target += r.p.AI
	}
	r.target = min(r.target, r.line)
	r.current += (r.target - r.current + 1) / 2
}

// Notification is a flow's notification point: when a receiver sends CNPs. The zero value
// is a flow of which no marked frame has come.
type Notification struct {
	since unit.Time // the last CNP
	sent  bool
}

// Marked takes note of a frame that came with Congestion Experienced. It reports whether to
// send a CNP: if there was none within the interval before (Zhu et al., figure 6).
func (n *Notification) Marked(now, interval unit.Time) (send bool) {
	if n.sent && now-n.since < interval {
		return false
	}
	n.since, n.sent = now, true
	return true
}
