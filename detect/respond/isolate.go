package respond

import (
	"slices"

	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// isolation is what is done at a priority group of a loop until the loop has moved on. The queue
// by which its frames stay on the loop sends no others, so that nothing new comes onto
// the loop; and the priority group may be given an extra threshold.
type isolation struct {
	id       claimID
	active   bool
	isolated bool      // until the loop has moved on; an extra threshold is kept a while longer
	bytes    int       // that it resumes at more than usual; 0: it has no extra threshold (any more)
	xon      int       // its usual XON threshold
	via      unit.Port // the queue that serves it alone
	began    unit.Time // the last time
	due      unit.Time // when to look at it
	until    unit.Time // when it ends in any case
	settled  unit.Time // when the extra threshold may end, if nothing is isolated
	quiet    unit.Time // for how long it is kept after that
	told     unit.Time // until when it has to be left alone to have been isolated half of the time, on the word of others
}

// next is when there is something to do about it.
func (l *isolation) next() unit.Time {
	if !l.active {
		return unit.Never
	}
	return l.due
}

// isolate restricts the queue by which the claim of id left priority group i. It reports false if
// the priority group is isolated for another claim, or the queue serves another group alone.
func (r *responder) isolate(now unit.Time, c *priority, i unit.Port, id claimID) bool {
	l, via := &c.in[i].isolation, c.in[i].pass.via
	switch {
	case l.isolated:
		return l.id == id
	case c.servedAlone(via):
		return false
	case !l.active:
		l.bytes = 0
	}
	again := l.quiet > 0 && now-l.began > unit.Time(freshHops)*r.hop
	*l = isolation{
		id: id, active: true, isolated: true, bytes: l.bytes, xon: l.xon, via: via, began: now,
		due: r.hops(now, 1), until: r.hops(now, isolationHops), quiet: l.quiet, told: l.told,
	}
	if r.policy.Trigger {
		l.quiet = max(flowQuiet, l.quiet)
		if again {
			l.quiet = min(2*l.quiet, quietMax*flowQuiet)
		}
	}
	r.act.Restrict(c.pg(i), c.queue(via), true)
	for _, k := range r.priorities {
		if k != c {
			r.watch(now, k)
		}
	}
	return true
}

// servedAlone reports whether the queue of p serves a priority group alone.
func (c *priority) servedAlone(p unit.Port) bool {
	return slices.ContainsFunc(c.in, func(b pg) bool { return b.isolation.isolated && b.isolation.via == p })
}

// give raises the thresholds of priority group i, which is isolated, so much that it resumes at
// bytes more than usual. It reports false if there is no reserve.
func (r *responder) give(c *priority, i unit.Port, bytes int) bool {
	l, b := &c.in[i].isolation, c.pg(i)
	if l.bytes == 0 {
		l.xon = r.view.XON(b)
	}
	ok := r.act.Extra(b, bytes)
	if short := l.xon + bytes - r.view.XON(b); ok && short > 0 { // its XON threshold is a fixed one
		ok = r.act.Extra(b, bytes+short)
	}
	if ok {
		l.bytes = bytes
	}
	return ok
}

// takeBack ends the isolation of priority group i and its extra threshold.
func (r *responder) takeBack(now unit.Time, c *priority, i unit.Port) {
	l := &c.in[i].isolation
	r.release(now, c, i)
	l.active, l.bytes = false, 0
	r.act.Extra(c.pg(i), 0)
}

// release ends the isolation of priority group i.
func (r *responder) release(now unit.Time, c *priority, i unit.Port) {
	l := &c.in[i].isolation
	if !l.isolated {
		return
	}
	l.isolated = false
	r.act.Restrict(c.pg(i), c.queue(l.via), false)
	if a := &c.in[i].attempt; a.phase == moving {
		a.due = 0
	}
	r.watch(now, c)
}

// isolationDue ends the extra threshold of priority group i once it is at its usual XON threshold,
// and its isolation when the queue is empty of the loop's frames, or the time is up.
func (r *responder) isolationDue(now unit.Time, c *priority, i unit.Port) {
	l := &c.in[i].isolation
	if l.next() > now {
		return
	}
	b, q := c.pg(i), c.queue(l.via)
	switch {
	case l.isolated && (now >= l.until || !r.view.Paused(q) && r.view.Held(b, q) == 0):
		r.release(now, c, i)
		l.settled = now + l.quiet
		l.until = r.hops(l.settled, isolationHops)
	case !l.isolated && (l.bytes == 0 || now >= l.until || now >= l.settled && r.view.Charged(b) <= l.xon):
		r.takeBack(now, c, i)
		return
	}
	l.due = r.hops(now, 1)
	if !l.isolated && l.bytes > 0 {
		l.due = max(l.due, l.settled)
	}
}

// startIsolation sends a seal after the claim of priority group i.
func (r *responder) startIsolation(now unit.Time, c *priority, i unit.Port) {
	a, s := &c.in[i].attempt, &c.in[i].pass
	if !r.isolate(now, c, i, s.id) { // it is isolated for a loop that was broken before
		r.withdraw(now, c, i)
		return
	}
	a.phase, a.due = isolating, r.hops(now, isolatingHops)
	a.rounds++
	r.sendOn(c, i, itsyhdr.KindSeal, 0, 0)
}

// sendOn sends a message of kind, which has come n hops, the way of the claim that passed
// priority group i. The message carries how much room the loop needs.
func (r *responder) sendOn(c *priority, i unit.Port, kind itsyhdr.Kind, n int, flags uint8) bool {
	s := &c.in[i].pass
	return r.act.Send(s.via, itsyhdr.TLV{
		Kind: kind, Priority: c.id, Initiator: s.id.owner, Seq: s.id.seq, Trigger: unit.NodePort{Node: r.self, Port: i},
		Hops: uint8(n + 1), Flags: flags, Period: s.need,
	})
}

// passSeal takes the seal of a loop, which reaches priority group i, and sends it on. The priority group
// itself has to wait as the claim found it. On the word of others it is isolated for at most half of the
// time, apart from some times in a row, so that seals of a loop that does not exist cost one queue no more
// than that.
func (r *responder) passSeal(now unit.Time, c *priority, i unit.Port, t itsyhdr.TLV) {
	id := claimOf(t)
	if id.owner == r.ownID(i, 0).owner {
		if a := &c.in[i].attempt; a.phase == isolating && a.seq == id.seq {
			r.isolated(now, c, i)
		}
		return
	}
	l := &c.in[i].isolation
	switch {
	case !c.in[i].pass.isWayOf(id, now) || !r.waits(now, c, i):
		return
	case l.isolated || l.told < r.hops(now, toldMax*isolationHops):
		began := !l.isolated
		if !r.isolate(now, c, i, id) {
			return
		}
		if began {
			l.told = r.hops(max(now, l.told), 2*isolationHops)
		}
	default: // the seal goes on all the same
		r.act.Refuse(detect.RefusedHeld, c.pg(i), c.queue(c.in[i].pass.via))
	}
	r.sendOn(c, i, itsyhdr.KindSeal, int(t.Hops), 0)
}

// bubble takes the bubble of a loop, which reaches priority group i, and sends it on.
func (r *responder) bubble(now unit.Time, c *priority, i unit.Port, t itsyhdr.TLV) {
	id, l := claimOf(t), &c.in[i].isolation
	if id.owner == r.ownID(i, 0).owner || !c.in[i].pass.isWayOf(id, now) || !l.active || l.id != id {
		return // it is home, or the loop has moved on here
	}
	c.in[i].pass.need = max(c.in[i].pass.need, t.Period)
	if !r.makeRoom(c, i) && t.Flags&flagSpare == 0 {
		r.act.Refuse(detect.RefusedNoReserve, c.pg(i), c.queue(l.via))
		r.send(c, i, itsyhdr.KindBubble, id, flagBack)
		return
	}
	r.sendOn(c, i, itsyhdr.KindBubble, int(t.Hops), t.Flags)
}

// bubbleBack takes back what a bubble gave: a priority group further down has no reserve.
func (r *responder) bubbleBack(now unit.Time, c *priority, p unit.Port, id claimID) {
	for n := range c.in {
		i, l := unit.Port(n), &c.in[n].isolation
		if !l.active || l.id != id || l.via != p {
			continue
		}
		r.takeBack(now, c, i)
		if id.owner == r.ownID(i, 0).owner {
			r.refuse(detect.RefusedNoReserve, c, i)
			r.hold(now, c, i)
		} else {
			r.send(c, i, itsyhdr.KindBubble, id, flagBack)
		}
		return
	}
}

// nextRound looks whether the loop is still closed although something was done.
func (r *responder) nextRound(now unit.Time, c *priority, i unit.Port) {
	a := &c.in[i].attempt
	switch {
	case !r.waits(now, c, i):
		r.hold(now, c, i)
	case a.rounds >= roundsMax:
		r.refuse(detect.RefusedNoReserve, c, i)
		r.hold(now, c, i)
	default:
		a.phase, a.tries, a.due = retrying, 0, r.hops(now, pauseHops)
	}
}
