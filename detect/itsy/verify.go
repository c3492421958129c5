package itsy

import (
	"math/bits"

	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// asksMax is how many verifications a neighbour may begin at once. Chosen: four times slotCount, since most
// of those that meet here give way to greater ones.
const asksMax = 16

// wireFailed is the flag of an acknowledgement below which a walk failed.
const wireFailed = 1

// verify starts a verification of priority group i, unless another one is passing. If the last one never
// ended, somebody may not answer: then only one queue counts, if that is enough.
func (d *detector) verify(now unit.Time, c *priority, i unit.Port) {
	for s := range d.slots() {
		switch {
		case d.owns(s, c, i):
			if left := int16(s.until - d.hops(now)); left > 0 { // a new suspicion does not end one that is under way
				d.wait(now, c, i, int(left))
				return
			}
			s.id = label{} // one that never ended; the next has another rank, so that no answer is taken for its own
		case s.part(c).engaged.Has(i) && !d.isIdle(now, s):
			d.waitTurn(now, c, i)
			return
		}
	}
	// A rank of its own: no label has it, so that nothing which comes home is taken for part of this.
	c.clock = later(c.clock)
	s := d.takeSlot(now, c, newLabel(c.clock, d.at(i)))
	if s == nil {
		d.waitTurn(now, c, i)
		return
	}
	d.trace(detect.StepVerify, c, unit.NoPort, i, s.id)
	c.suspect.Remove(i)
	s.parent = root
	// The last one may have been held up by a queue behind which nobody answers. Only the owner can leave
	// queues out: all others still ask about each of theirs. Or a message was lost, and it is best tried again
	// soon; or the loop is longer than it was waited for. Nobody can tell which.
	n := &c.in[i]
	if c.unanswered.Has(i) {
		n.unended++
		s.patience = min(uint8(bits.TrailingZeros8(n.unended)), maxTries)
		d.askOne(c, s, i)
	} else {
		n.unended = 0
	}
	c.unanswered.Add(i)
	d.waitForEnd(now, c, i, retryHops<<s.patience)
	s.until = n.due
	if d.isStuck(c, s, i, false) {
		d.engage(c, s, i)
	}
	d.settle(now, s)
}

// askOne leaves out all paused queues but one that keeps priority group i XOFF by itself, any of these;
// none if there is none.
func (d *detector) askOne(c *priority, s *slot, i unit.Port) {
	n, one := 0, unit.NoPort
	for set := c.paused; !set.Empty(); set.Pop() {
		p := set.First()
		if !d.stays(c, i, p.Set()) {
			continue
		}
		if n++; d.random.Below(n) == 0 {
			one = p
		}
	}
	if one == unit.NoPort {
		return
	}
	// free is what release and grants add to, so these queues stay out for as long as the verification lasts.
	for _, k := range d.order {
		s.part(k).free = k.paused
	}
	s.part(c).free.Remove(one)
}

// Message takes a message of a verification. The first one that reaches a passive switch
// is acknowledged when all that followed from it has been, any other at once. Only a
// query may make a switch take part; a verification that it does not know, or no longer
// knows, gets no acknowledgement, so that it never ends.
func (d *detector) Message(now unit.Time, p unit.Port, t itsyhdr.TLV) {
	c := d.priorities[t.Priority]
	// Nothing that a host sends is believed (docs/detection.md, "What it sends").
	if c == nil || d.view.FacesHost(p) || t.Seq == 0 || t.Initiator.Node == 0 {
		return
	}
	id := newLabel(t.Seq, t.Initiator)
	if t.Kind == itsyhdr.KindTemporalCheck {
		d.check(now, c, p, unit.Port(t.Hops), id)
		return
	}
	if t.Period >= unit.Priorities || d.priorities[t.Period] == nil {
		return
	}
	owner := d.priorities[t.Period]
	s := owner.find(id)
	// Not for an own one: its slot is gone because it was given up, and without an owner it would go on for
	// nobody.
	if s == nil && t.Kind == itsyhdr.KindQuery && t.Initiator.Node != d.self && c.in[p].mayAsk(d.hops(now)) {
		if s = d.takeSlot(now, owner, id); s != nil {
			s.patience = min(t.Hops, maxTries)
		}
	}
	if s == nil {
		return
	}
	s.seen = d.hops(now)
	if t.Kind == itsyhdr.KindAck {
		d.acked(s, t.Flags)
	} else {
		d.asked(now, c, s, p, t)
	}
	d.settle(now, s)
}

// acked takes an acknowledgement.
func (d *detector) acked(s *slot, flags uint8) {
	if s.deficit > 0 {
		s.deficit--
	}
	if flags&wireFailed != 0 {
		s.flags |= slotFailed
	}
}

// asked takes a query, a grant or a walk.
func (d *detector) asked(now unit.Time, c *priority, s *slot, p unit.Port, t itsyhdr.TLV) {
	first := s.parent == passive
	if first {
		s.parent, s.asker = p, c.id
	}
	if t.Kind == itsyhdr.KindGrant {
		s.part(c).free.Add(p)
	}
	// Before anything is said of a priority group here: what was resumed while this switch was passive, and
	// what is granted by this message, frees priority groups first. Otherwise a false declaration results
	// (TestMutants).
	d.recheck(s)
	switch t.Kind {
	case itsyhdr.KindQuery:
		d.query(c, s, p)
	case itsyhdr.KindWalk:
		d.walk(now, c, s, p, unit.Port(t.Hops))
	}
	// Last: whatever the message caused is under way before it counts as done.
	if !first {
		d.ack(c, s, p)
	}
}

// query asks priority group i whether it is stuck. One that is free says so each time that it is asked: who
// asks again has lost what it knew, with its slot.
func (d *detector) query(c *priority, s *slot, i unit.Port) {
	switch {
	case s.part(c).engaged.Has(i):
	case d.isStuck(c, s, i, false):
		d.engage(c, s, i)
	default:
		d.send(c, s, i, itsyhdr.TLV{Kind: itsyhdr.KindGrant})
	}
	// Some priority group that the owner waits for, by whatever way, waits for the owner.
	if d.owns(s, c, i) {
		s.flags |= slotReturned
	}
}

// engage asks about every paused queue that priority group i waits for. Bound: one query for each queue of a
// switch in a verification, since asked never loses one.
func (d *detector) engage(c *priority, s *slot, i unit.Port) {
	s.part(c).engaged.Add(i)
	for _, k := range d.order {
		pt := s.part(k)
		for set := k.paused.Without(pt.asked); !set.Empty(); set.Pop() {
			p := set.First()
			if _, waits := d.waitsFor(c, i, k, p); !waits {
				continue
			}
			pt.asked.Add(p)
			if !pt.free.Has(p) {
				d.send(k, s, p, itsyhdr.TLV{Kind: itsyhdr.KindQuery})
			}
		}
	}
}

// waitsFor reports whether priority group i of priority c waits for queue p of priority k: it has bytes of its
// own there, or some wait there that share its pool.
func (d *detector) waitsFor(c *priority, i unit.Port, k *priority, p unit.Port) (own, waits bool) {
	own = k == c && d.view.Held(c.pg(i), c.queue(p)) > 0
	return own, own || d.view.Shares() && d.view.Backlog(k.queue(p)) > 0
}

// recheck frees the engaged priority groups that are stuck no more. The owner's priority group grants
// only if it was asked.
func (d *detector) recheck(s *slot) {
	for _, c := range d.order {
		for set := s.part(c).engaged; !set.Empty(); set.Pop() {
			i := set.First()
			if d.isStuck(c, s, i, true) {
				continue
			}
			s.part(c).engaged.Remove(i)
			if !d.owns(s, c, i) || s.flags&slotReturned != 0 {
				d.send(c, s, i, itsyhdr.TLV{Kind: itsyhdr.KindGrant})
			}
		}
	}
}

// walk looks whether priority group i is as it was. via is the owner's queue by which the walk
// left; i hands it on with what it sends, so that it names a way round the loop. It is
// unit.NoPort where the walk came by a queue in which a priority group on its way has no bytes of its
// own: what others hold is no part of a loop. A priority group that learns via later walks once more.
//
// Each priority group that the walk passes was engaged before the first pass ended and is so after it, without
// a break: a priority group that left was disengaged, and a queue that was resumed is in free. So all were
// stuck at the instant at which the first pass ended, whatever order the walk looks at them in.
func (d *detector) walk(now unit.Time, c *priority, s *slot, i, via unit.Port) {
	pt := s.part(c)
	if d.owns(s, c, i) && s.via == unit.NoPort && pt.asked.Has(via) {
		s.via = via
	}
	switch {
	case pt.walked.Has(i) && (via == unit.NoPort || pt.named.Has(i)):
	case !pt.engaged.Has(i):
		s.flags |= slotFailed
	default:
		// Two that verify the same loop would both declare it.
		d.yield(c, i, s.id)
		d.putOff(now, c, i, walkedHops)
		d.walkOn(c, s, i, via)
	}
}

// yield gives up what priority group i suspects, and its own verification if that is smaller
// than the one of id, whose walk has come by: the deadlock is about to be declared.
func (d *detector) yield(c *priority, i unit.Port, id label) {
	c.suspect.Remove(i)
	for k := range c.slots {
		if s := &c.slots[k]; s.id.owner() == d.at(i) && s.id.less(id) {
			s.id = label{}
			c.unanswered.Remove(i)
		}
	}
}

// walkOn sends the walk on to the priority groups that priority group i waits for. Bound: twice by each
// priority group, once without and once with a name of the owner's queue.
func (d *detector) walkOn(c *priority, s *slot, i, via unit.Port) {
	owns := d.owns(s, c, i)
	s.part(c).walked.Add(i)
	if owns || via != unit.NoPort {
		s.part(c).named.Add(i)
	}
	for _, k := range d.order {
		for set := s.part(k).asked.Without(s.part(k).free); !set.Empty(); set.Pop() {
			p, from := set.First(), via
			own, waits := d.waitsFor(c, i, k, p)
			switch {
			case !waits:
				continue
			case !own:
				from = unit.NoPort
			case owns:
				from = p
			}
			d.send(k, s, p, itsyhdr.TLV{Kind: itsyhdr.KindWalk, Hops: uint8(from)})
		}
	}
}

func (d *detector) ack(c *priority, s *slot, p unit.Port) {
	t := itsyhdr.TLV{Kind: itsyhdr.KindAck}
	if s.flags&slotFailed != 0 {
		t.Flags = wireFailed
	}
	d.send(c, s, p, t)
}

// settle goes on when all that this switch sent is acknowledged. The parent's acknowledgement waits for
// that, so that the owner has the last one only when nothing of the pass is under way anywhere.
func (d *detector) settle(now unit.Time, s *slot) {
	switch {
	case s.deficit > 0 || s.parent == passive:
	case s.parent == root:
		d.conclude(now, d.priorities[s.priority], s)
	default:
		d.ack(d.priorities[s.asker], s, s.parent)
		s.parent = passive
	}
}

// conclude ends a pass at its owner.
func (d *detector) conclude(now unit.Time, c *priority, s *slot) {
	i := s.id.owner().Port
	d.recheck(s)
	switch {
	// Live: something that i waits for moves. Its label may go round a loop that waits for i as well, and
	// hide the labels of that loop, so it is withheld.
	case !s.part(c).engaged.Has(i):
		d.close(now, c, s, i, liveHops)
		if !c.live.Has(i) {
			c.live.Add(i)
			d.act.Repause(c.pg(i))
		}
	// Stuck, and nobody that it waits for waits for it: a victim, and the deadlock is another's to declare.
	case s.flags&(slotWalking|slotReturned) == 0:
		d.close(now, c, s, i, victimHops)
	case s.flags&slotWalking == 0:
		s.flags |= slotWalking
		d.walkOn(c, s, i, unit.NoPort)
		d.settle(now, s)
	// Something has changed since; or no way home uses only bytes of the priority groups' own; or i's pause
	// may have run out, so that its upstream could send.
	case s.flags&slotFailed != 0 || s.via == unit.NoPort || s.part(c).free.Has(s.via) || d.view.Lapsed(c.pg(i)):
		d.close(now, c, s, i, liveHops) // a via that is free is on no loop, though i is stuck by another queue
	default:
		id, via := s.id, s.via
		s.id = label{}
		d.declare(now, c, i, via, id)
	}
}
