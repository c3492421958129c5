package itsy

import (
	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// asksMax is how many verifications a neighbour may begin at once.
const asksMax = 16

// wireFailed is the flag of an acknowledgement below which a walk failed.
const wireFailed = 1

// verify starts a verification of bucket i, unless another one is passing. If the last one never
// ended, somebody may not answer: then only one queue counts, if that is enough.
func (d *detector) verify(now unit.Time, c *class, i unit.Port) {
	for k := range c.slots {
		s := &c.slots[k]
		switch {
		case s.id.owner() == d.at(i):
			s.id = 0 // one that never ended
		case s.engaged.Has(i) && !d.isIdle(now, s):
			d.waitAgain(now, c, i, liveHops)
			return
		}
	}
	c.clock = later(c.clock)
	s := d.takeSlot(now, c, newLabel(c.clock, d.at(i)))
	if s == nil {
		d.waitAgain(now, c, i, liveHops)
		return
	}
	d.trace(detect.StepVerify, c, unit.NoPort, i, s.id)
	c.suspect.Remove(i)
	d.waitAgain(now, c, i, retryHops) // if it never ends
	s.parent = root
	if c.unanswered.Has(i) {
		s.free = d.allButStrong(c, i)
	}
	c.unanswered.Add(i)
	if d.isStuck(c, s, i, c.paused) {
		d.engage(c, s, i)
	}
	d.settle(now, c, s)
}

// allButStrong is all paused queues but one that keeps bucket i XOFF by itself, any of these;
// none if there is none.
func (d *detector) allButStrong(c *class, i unit.Port) (all unit.PortSet) {
	n := 0
	for set := c.paused; set != 0; set &= set - 1 {
		p := set.First()
		if d.view.Held(c.bucket(i), c.queue(p)) <= d.view.XON(c.bucket(i)) {
			continue
		}
		if n++; d.random.Below(n) == 0 {
			all = c.paused
			all.Remove(p)
		}
	}
	return all
}

// Message takes a message of a verification. The first one that comes to a switch
// which is passive is acknowledged when all that followed from it has been, any other
// at once. Only a query may make a switch take part; of a verification that it does
// not know, or knows no more, it acknowledges nothing, so that it never ends.
func (d *detector) Message(now unit.Time, p unit.Port, t itsyhdr.TLV) {
	c := d.classes[t.Class]
	if c == nil || d.view.FacesHost(p) || t.Seq == 0 || t.Initiator.Node == 0 {
		return
	}
	id := newLabel(t.Seq, t.Initiator)
	if t.Kind == itsyhdr.KindTemporalCheck {
		d.check(now, c, p, unit.Port(t.Hops), id)
		return
	}
	s := c.find(id)
	if s == nil && t.Kind == itsyhdr.KindQuery && t.Initiator.Node != d.self && c.in[p].mayAsk(d.hops(now)) {
		s = d.takeSlot(now, c, id)
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
	d.settle(now, c, s)
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
func (d *detector) asked(now unit.Time, c *class, s *slot, p unit.Port, t itsyhdr.TLV) {
	first := s.parent == passive
	if first {
		s.parent = p
	}
	if t.Kind == itsyhdr.KindGrant {
		s.free.Add(p)
	}
	d.recheck(c, s)
	switch t.Kind {
	case itsyhdr.KindQuery:
		d.query(c, s, p)
	case itsyhdr.KindWalk:
		d.walk(now, c, s, p, unit.Port(t.Hops))
	}
	if !first {
		d.ack(c, s, p)
	}
}

// query asks bucket i whether it is stuck.
func (d *detector) query(c *class, s *slot, i unit.Port) {
	switch {
	case s.engaged.Has(i):
	case d.isStuck(c, s, i, c.paused):
		d.engage(c, s, i)
	default:
		d.send(c, s, i, itsyhdr.TLV{Kind: itsyhdr.KindGrant})
	}
	if s.id.owner() == d.at(i) {
		s.flags |= slotReturned
	}
}

// engage asks about every paused queue in which bucket i has bytes.
func (d *detector) engage(c *class, s *slot, i unit.Port) {
	s.engaged.Add(i)
	for set := c.paused &^ s.asked; set != 0; set &= set - 1 {
		p := set.First()
		if d.view.Held(c.bucket(i), c.queue(p)) == 0 {
			continue
		}
		s.asked.Add(p)
		if !s.free.Has(p) {
			d.send(c, s, p, itsyhdr.TLV{Kind: itsyhdr.KindQuery})
		}
	}
}

// recheck frees the engaged buckets that are stuck no more. The owner's bucket grants
// only if it was asked.
func (d *detector) recheck(c *class, s *slot) {
	for set := s.engaged; set != 0; set &= set - 1 {
		i := set.First()
		if d.isStuck(c, s, i, s.asked) {
			continue
		}
		s.engaged.Remove(i)
		if s.id.owner() != d.at(i) || s.flags&slotReturned != 0 {
			d.send(c, s, i, itsyhdr.TLV{Kind: itsyhdr.KindGrant})
		}
	}
}

// walk looks whether bucket i is as it was. via is the owner's queue by which the walk
// left; i hands it on with what it sends, so that it names a way round the loop.
func (d *detector) walk(now unit.Time, c *class, s *slot, i, via unit.Port) {
	if s.id.owner() == d.at(i) && s.via == unit.NoPort && s.asked.Has(via) {
		s.via = via
	}
	switch {
	case s.walked.Has(i):
	case !s.engaged.Has(i):
		s.flags |= slotFailed
	default:
		d.yield(c, i, s.id)
		d.wait(now, c, i, walkedHops)
		d.walkOn(c, s, i, via)
	}
}

// yield gives up what bucket i suspects, and its own verification if that is smaller
// than the one of id, whose walk has come by: the deadlock is about to be declared.
func (d *detector) yield(c *class, i unit.Port, id label) {
	c.suspect.Remove(i)
	for k := range c.slots {
		if s := &c.slots[k]; s.id.owner() == d.at(i) && s.id.less(id) {
			s.id = 0
			c.unanswered.Remove(i)
		}
	}
}

// walkOn sends the walk on to the buckets that bucket i waits for.
func (d *detector) walkOn(c *class, s *slot, i, via unit.Port) {
	s.walked.Add(i)
	for set := s.asked &^ s.free; set != 0; set &= set - 1 {
		p := set.First()
		if d.view.Held(c.bucket(i), c.queue(p)) == 0 {
			continue
		}
		from := via
		if s.id.owner() == d.at(i) {
			from = p
		}
		d.send(c, s, p, itsyhdr.TLV{Kind: itsyhdr.KindWalk, Hops: uint8(from)})
	}
}

func (d *detector) ack(c *class, s *slot, p unit.Port) {
	t := itsyhdr.TLV{Kind: itsyhdr.KindAck}
	if s.flags&slotFailed != 0 {
		t.Flags = wireFailed
	}
	d.send(c, s, p, t)
}

// settle goes on when all that this switch sent is acknowledged.
func (d *detector) settle(now unit.Time, c *class, s *slot) {
	switch {
	case s.deficit > 0 || s.parent == passive:
	case s.parent == root:
		d.conclude(now, c, s)
	default:
		d.ack(c, s, s.parent)
		s.parent = passive
	}
}

// conclude ends a pass at its owner.
func (d *detector) conclude(now unit.Time, c *class, s *slot) {
	i := s.id.owner().Port
	d.recheck(c, s)
	switch {
	case !s.engaged.Has(i):
		d.close(now, c, s, i, liveHops)
	case s.flags&(slotWalking|slotReturned) == 0:
		d.close(now, c, s, i, victimHops)
	case s.flags&slotWalking == 0:
		s.flags |= slotWalking
		d.walkOn(c, s, i, unit.NoPort)
		d.settle(now, c, s)
	case s.flags&slotFailed != 0 || s.via == unit.NoPort || d.view.Lapsed(c.bucket(i)):
		d.close(now, c, s, i, liveHops)
	default:
		id, via := s.id, s.via
		s.id = 0
		d.declare(now, c, i, via, id)
	}
}
