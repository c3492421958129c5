package respond

import (
	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// loan is what is done at a bucket of a loop until the loop has moved on. The queue by
// which its frames stay on the loop sends no others (seal), so that nothing new comes
// onto the loop; and it may be lent reserve.
type loan struct {
	id      claimID
	active  bool
	sealed  bool      // until the loop has moved on; what was lent is kept a while longer
	bytes   int       // that it resumes at more than usual; 0: nothing is lent (any more)
	xon     int       // its usual XON threshold
	via     unit.Port // the queue that serves it alone
	due     unit.Time // when to look at it
	until   unit.Time // when it ends in any case
	settled unit.Time // when what was lent may be returned, if nothing is sealed
	quiet   unit.Time // for how long it is kept after the seal
}

// next is when there is something to do about the loan.
func (l *loan) next() unit.Time {
	if !l.active {
		return unit.Never
	}
	return l.due
}

// seal restricts the queue by which the claim of id left bucket i. It reports false if
// the bucket is sealed for another claim.
func (r *responder) seal(now unit.Time, c *class, i unit.Port, id claimID) bool {
	l, via := &c.in[i].loan, c.in[i].pass.via
	switch {
	case l.sealed:
		return l.id == id
	case !l.active:
		l.bytes = 0
	}
	*l = loan{
		id: id, active: true, sealed: true, bytes: l.bytes, xon: l.xon, via: via,
		due: r.hops(now, 1), until: r.hops(now, loanHops), quiet: l.quiet,
	}
	if r.policy.Trigger {
		l.quiet = max(flowQuiet, min(2*l.quiet, quietMax*flowQuiet))
	}
	r.act.Restrict(c.bucket(i), c.queue(via), true)
	return true
}

// lend lends bucket i, which is sealed, so much that it resumes at bytes more than
// usual. It reports false if there is no reserve.
func (r *responder) lend(c *class, i unit.Port, bytes int) bool {
	l, b := &c.in[i].loan, c.bucket(i)
	if l.bytes == 0 {
		l.xon = r.view.XON(b)
	}
	ok := r.act.Loan(b, bytes)
	if short := l.xon + bytes - r.view.XON(b); ok && short > 0 { // its XON threshold is a fixed one
		ok = r.act.Loan(b, bytes+short)
	}
	if ok {
		l.bytes = bytes
	}
	return ok
}

// takeBack ends the loan and the seal of bucket i.
func (r *responder) takeBack(c *class, i unit.Port) {
	l := &c.in[i].loan
	r.unseal(c, i)
	l.active, l.bytes = false, 0
	r.act.Loan(c.bucket(i), 0)
}

// unseal ends the seal of bucket i.
func (r *responder) unseal(c *class, i unit.Port) {
	l := &c.in[i].loan
	if !l.sealed {
		return
	}
	l.sealed = false
	r.act.Restrict(c.bucket(i), c.queue(l.via), false)
	if a := &c.in[i].attempt; a.phase == moving {
		a.due = 0
	}
}

// loanDue returns what was lent to bucket i once it is at its usual XON threshold, and
// ends the seal when the queue is empty of the loop's frames, or the time is up.
func (r *responder) loanDue(now unit.Time, c *class, i unit.Port) {
	l := &c.in[i].loan
	if l.next() > now {
		return
	}
	b, q := c.bucket(i), c.queue(l.via)
	switch {
	case l.sealed && (now >= l.until || !r.view.Paused(q) && r.view.Held(b, q) == 0):
		r.unseal(c, i)
		l.settled = now + l.quiet
		l.until = r.hops(l.settled, loanHops)
	case !l.sealed && (l.bytes == 0 || now >= l.until || now >= l.settled && r.view.Charged(b) <= l.xon):
		r.takeBack(c, i)
		return
	}
	l.due = r.hops(now, 1)
	if !l.sealed && l.bytes > 0 {
		l.due = max(l.due, l.settled)
	}
}

// startSeal sends the seal of bucket i after its claim.
func (r *responder) startSeal(now unit.Time, c *class, i unit.Port) {
	a, s := &c.in[i].attempt, &c.in[i].pass
	if !r.seal(now, c, i, s.id) { // it is sealed for a loop that was broken before
		r.withdraw(now, c, i)
		return
	}
	a.phase, a.due = sealing, r.hops(now, sealHops)
	a.rounds++
	r.sendOn(c, i, itsyhdr.KindSeal, 0, 0)
}

// sendOn sends a message of kind, which has come n hops, the way of the claim that went
// by bucket i. With it goes how much room the loop needs.
func (r *responder) sendOn(c *class, i unit.Port, kind itsyhdr.Kind, n int, flags uint8) bool {
	s := &c.in[i].pass
	return r.act.Send(s.via, itsyhdr.TLV{
		Kind: kind, Class: c.id, Initiator: s.id.owner, Seq: s.id.seq, Hops: uint8(n + 1), Flags: flags, Period: s.need,
	})
}

// sealPass: the seal of a loop comes to bucket i, which is on it.
func (r *responder) sealPass(now unit.Time, c *class, i unit.Port, t itsyhdr.TLV) {
	id := claimOf(t)
	if id.owner == r.ownID(i, 0).owner {
		if a := &c.in[i].attempt; a.phase == sealing && a.seq == id.seq {
			r.sealed(now, c, i)
		}
		return
	}
	if !c.in[i].pass.isWayOf(id, now) || !r.seal(now, c, i, id) {
		return
	}
	r.sendOn(c, i, itsyhdr.KindSeal, int(t.Hops), 0)
}

// bubble: the bubble of a loop comes to bucket i, which is on it.
func (r *responder) bubble(now unit.Time, c *class, i unit.Port, t itsyhdr.TLV) {
	id, l := claimOf(t), &c.in[i].loan
	if id.owner == r.ownID(i, 0).owner || !c.in[i].pass.isWayOf(id, now) || !l.active || l.id != id {
		return // it is home, or the loop has moved on here
	}
	c.in[i].pass.need = max(c.in[i].pass.need, t.Period)
	if !r.makeRoom(c, i) && t.Flags&flagSpare == 0 {
		r.act.Refuse(detect.RefusedNoReserve, c.bucket(i), c.queue(l.via))
		r.send(c, i, itsyhdr.KindBubble, id, 0, flagBack)
		return
	}
	r.sendOn(c, i, itsyhdr.KindBubble, int(t.Hops), t.Flags)
}

// bubbleBack: a bucket further down has no reserve.
func (r *responder) bubbleBack(now unit.Time, c *class, p unit.Port, id claimID) {
	for n := range c.in {
		i, l := unit.Port(n), &c.in[n].loan
		if !l.active || l.id != id || l.via != p {
			continue
		}
		r.takeBack(c, i)
		if id.owner == r.ownID(i, 0).owner {
			r.refuse(detect.RefusedNoReserve, c, i)
			r.hold(now, c, i)
		} else {
			r.send(c, i, itsyhdr.KindBubble, id, 0, flagBack)
		}
		return
	}
}

// nextRound looks whether the loop is still closed although something was done.
func (r *responder) nextRound(now unit.Time, c *class, i unit.Port) {
	a := &c.in[i].attempt
	switch {
	case !r.waits(now, c, i):
		r.hold(now, c, i)
	case a.rounds == roundsMax:
		r.refuse(detect.RefusedNoReserve, c, i)
		r.hold(now, c, i)
	default:
		a.phase, a.tries, a.due = retrying, 0, r.hops(now, pauseHops)
	}
}
