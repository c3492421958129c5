package respond

import (
	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// breakIt breaks the deadlock of priority group i, unless it is open already.
func (r *responder) breakIt(now unit.Time, c *priority, i unit.Port) {
	a := &c.in[i].attempt
	a.tries = 0
	switch {
	case !r.view.LinkUp(i) || !r.view.LinkUp(c.in[i].pass.via):
		r.refuse(detect.RefusedPortDown, c, i)
		r.hold(now, c, i)
	case !r.waits(now, c, i), r.policy.Break == BreakNone:
		r.hold(now, c, i)
	default:
		r.startIsolation(now, c, i)
	}
}

// isolated: the seal of priority group i is home, and nothing comes onto the loop any more; or it
// was lost. Now the loop is made to move.
func (r *responder) isolated(now unit.Time, c *priority, i unit.Port) {
	if !c.in[i].isolation.isolated || !r.waits(now, c, i) {
		r.move(now, c, i)
		return
	}
	switch r.policy.Break {
	case BreakDrop:
		if r.policy.Turns {
			r.cureTurn(now, c, i, c.in[i].isolation.via)
		}
		r.drop(c, i, c.in[i].isolation.via)
		r.support(c, i)
		r.move(now, c, i)
	case BreakForce:
		r.ask(now, c, i)
	case BreakBubble:
		if !r.makeRoom(c, i) {
			r.takeBack(now, c, i)
			r.refuse(detect.RefusedNoReserve, c, i)
			r.hold(now, c, i)
			return
		}
		r.sendOn(c, i, itsyhdr.KindBubble, 0, 0)
		r.move(now, c, i)
	}
}

// support gives the loop of priority group i, which has begun to move, what a bubble would, where
// there is reserve: if its trigger is handled it should not close again.
func (r *responder) support(c *priority, i unit.Port) {
	if !r.policy.Trigger || !c.in[i].isolation.active {
		return
	}
	r.makeRoom(c, i)
	r.sendOn(c, i, itsyhdr.KindBubble, 0, flagSpare)
}

// move waits for what was done at priority group i to end.
func (r *responder) move(now unit.Time, c *priority, i unit.Port) {
	a, l := &c.in[i].attempt, &c.in[i].isolation
	a.phase, a.due = moving, now
	if l.isolated {
		a.due = l.until
	}
}

// giveUp takes back what was done at priority group i, which has no use. The rest of the loop
// follows by itself.
func (r *responder) giveUp(now unit.Time, c *priority, i unit.Port) {
	r.takeBack(now, c, i)
	r.hold(now, c, i)
}

// drop drops frames of priority group i, those in the loop's queue first, until it resumes.
func (r *responder) drop(c *priority, i, via unit.Port) {
	b := c.pg(i)
	r.act.Drop(b, c.queue(via))
	for p := range unit.Port(r.view.Ports()) {
		if on, _ := r.view.XOFF(b); !on {
			return
		}
		if p != via && r.isWay(c, i, p) {
			r.act.Drop(b, c.queue(p))
		}
	}
}

// excess is how many bytes priority group i has to lose before it resumes.
func (r *responder) excess(c *priority, i unit.Port) int {
	return max(0, r.view.Charged(c.pg(i))-r.view.XON(c.pg(i)))
}

// makeRoom gives priority group i enough to take what any priority group of its loop has above its XON
// threshold; if there is less, enough for what it has itself. It reports whether it has one of
// them.
func (r *responder) makeRoom(c *priority, i unit.Port) bool {
	l, s, most := &c.in[i].isolation, &c.in[i].pass, r.most(c, i)
	if l.bytes > s.had && r.excess(c, i) == 0 {
		return true
	}
	own := min(l.bytes+r.excess(c, i)+r.view.MTU(), most)
	loop := min(s.had+(int(s.need)+1)*r.view.MTU(), most)
	return loop > own && r.give(c, i, loop) || r.give(c, i, own)
}

// most is the greatest extra threshold that priority group i gets for a claim: needMax times what it had
// above XON when the claim came, for the priority groups of a loop are alike, and whatever more is asked
// for is the word of others. docs/security.md has what a switch that lies gets by it.
func (r *responder) most(c *priority, i unit.Port) int {
	s := &c.in[i].pass
	return s.had + (needMax*int(s.own)+1)*r.view.MTU()
}

const needMax = 8

// framesMax is the most frames that a message can ask room for.
const framesMax = 255

// excessFrames is the excess of priority group i in frames, as a message tells it.
func (r *responder) excessFrames(c *priority, i unit.Port) uint8 {
	return uint8(min((r.excess(c, i)+r.view.MTU()-1)/r.view.MTU(), framesMax))
}

// ask asks the next hop for room for what priority group i has to send. An answer to an earlier
// message counts for nothing: the room that it promises was there before what came since.
func (r *responder) ask(now unit.Time, c *priority, i unit.Port) {
	a, s := &c.in[i].attempt, &c.in[i].pass
	r.forceNoMore(c, i)                                     // the answer counts what has arrived by then
	frames := min(r.excess(c, i)/r.view.MTU()+2, framesMax) // rounded up, and the last one leaves whole
	a.phase, a.due = asking, r.hops(now, askHops)
	a.tries++
	a.ask++
	r.sendReserve(c, s.via, s.id, a.ask, frames, 0)
}

// forceNoMore takes back what priority group i may still force.
func (r *responder) forceNoMore(c *priority, i unit.Port) {
	r.act.Force(c.pg(i), c.queue(c.in[i].pass.via), 0)
}

// sendReserve sends a message about room for frames out of p: the one of number ask, or its answer.
func (r *responder) sendReserve(c *priority, p unit.Port, id claimID, ask uint8, frames int, flags uint8) {
	r.act.Send(p, itsyhdr.TLV{
		Kind: itsyhdr.KindReserve, Priority: c.id, Initiator: id.owner, Seq: id.seq, Hops: uint8(frames), Period: ask, Flags: flags,
	})
}

// askAgain: the next hop has not answered.
func (r *responder) askAgain(now unit.Time, c *priority, i unit.Port) {
	switch {
	case !r.waits(now, c, i):
		r.forceNoMore(c, i)
		r.support(c, i)
		r.move(now, c, i)
	case c.in[i].attempt.tries < triesMax:
		r.ask(now, c, i)
	default:
		r.refuse(detect.RefusedNoReserve, c, i)
		r.giveUp(now, c, i)
	}
}

// reserve grants the upstream of priority group i room for the frames that it asks for: the number
// that keeps the priority group XOFF or, if that is fewer than two, as many as were asked for; in either case
// no more than the priority group may be given, and than it takes without loss.
func (r *responder) reserve(now unit.Time, c *priority, i unit.Port, t itsyhdr.TLV) {
	id, frames, l := claimOf(t), int(t.Hops), &c.in[i].isolation
	if !l.isolated || l.id != id || !c.in[i].pass.isWayOf(id, now) {
		return // it does not keep anyone waiting any more, or what it may have is known of another claim
	}
	if n := (r.excess(c, i) - 1) / r.view.MTU(); n >= 2 {
		frames = min(frames, n)
	}
	frames = max(0, min(frames, (r.most(c, i)-l.bytes)/r.view.MTU()))
	if frames > 0 && !r.give(c, i, l.bytes+frames*r.view.MTU()) {
		r.takeBack(now, c, i)
		frames = 0
	}
	// It holds more than its threshold if an earlier extra threshold ended by time.
	frames = min(frames, r.view.Room(c.pg(i)))
	r.sendReserve(c, i, id, t.Period, frames, flagBack)
}

// reserved: the next hop of queue p has room for this many frames. If that was not enough
// it is asked again.
func (r *responder) reserved(now unit.Time, c *priority, p unit.Port, t itsyhdr.TLV) {
	id, frames := claimOf(t), int(t.Hops)
	i := id.owner.Port
	if id.owner.Node != r.self || int(i) >= len(c.in) {
		return
	}
	a := &c.in[i].attempt
	if a.phase != asking || a.seq != id.seq || a.ask != t.Period || c.in[i].pass.via != p {
		return
	}
	switch {
	case frames >= 2 && !r.waits(now, c, i):
		r.support(c, i)
		r.move(now, c, i)
	case frames < 2, a.rounds > roundsMax: // the last frame leaves whole
		r.refuse(detect.RefusedNoReserve, c, i)
		r.giveUp(now, c, i)
	default:
		bytes := min(r.excess(c, i), (frames-1)*r.view.MTU())
		a.tries = 0
		a.rounds++
		a.ask++ // it is answered once
		a.due = r.hops(now, 1) + r.view.Rate(p).FrameTime(bytes)
		r.act.Force(c.pg(i), c.queue(p), bytes)
	}
}
