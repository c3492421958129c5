package itsy

import (
	"softswitch/detect"
	"softswitch/internal/unit"
	"softswitch/itsyhdr"
)

// slotCount is how many verifications a switch takes part in at once.
const slotCount = 4

// slot is a switch's part in one verification.
type slot struct {
	id label // owner and rank; 0: the slot is free

	asked   unit.PortSet // queues that were asked about
	free    unit.PortSet // queues that do not count: granted, or resumed since
	engaged unit.PortSet // buckets that are stuck as far as is known
	walked  unit.PortSet // of those, which were found unchanged by the walk

	deficit uint16 // messages that were sent and not acknowledged
	seen    uint16 // when the last message came, in hops
	parent  unit.Port
	via     unit.Port // at the owner: the queue by which a walk came back
	flags   uint8
}

// Values of slot.parent that are no port: the switch is passive, or the owner.
const (
	passive = unit.NoPort
	root    = unit.NoPort - 1
)

// Flags of a slot.
const (
	slotReturned = 1 << iota // at the owner: a query came back
	slotWalking              // at the owner: the second pass
	slotFailed               // a walk failed
)

const wireFailed = 1

// find is the slot of id, nil if there is none.
func (c *class) find(id label) *slot {
	for k := range c.slots {
		if s := &c.slots[k]; s.id == id && id != 0 {
			return s
		}
	}
	return nil
}

// claim is a slot for id: a free one, else one that has been idle, else the one
// with the smallest id if that is smaller.
func (d *detector) claim(now unit.Time, c *class, id label) *slot {
	var best *slot
	for k := range c.slots {
		s := &c.slots[k]
		switch {
		case s.id == 0 || d.hops(now)-s.seen > idleHops:
			*s = slot{id: id, parent: passive, via: unit.NoPort, seen: d.hops(now)}
			return s
		case s.id.less(id) && (best == nil || s.id.less(best.id)):
			best = s
		}
	}
	if best != nil {
		*best = slot{id: id, parent: passive, via: unit.NoPort, seen: d.hops(now)}
	}
	return best
}

// disengage: bucket i does not count any more in any verification.
func (c *class) disengage(i unit.Port) {
	for k := range c.slots {
		c.slots[k].engaged.Remove(i)
	}
}

// stuck reports whether bucket i is stuck as far as this switch can tell.
func (d *detector) stuck(c *class, s *slot, i unit.Port, in unit.PortSet) bool {
	b := c.bucket(i)
	return c.xoff.Has(i) && !c.done.Has(i) && d.view.HeldIn(b, in&^s.free) > d.view.XON(b)
}

// verify starts a verification of bucket i, unless another one is passing.
func (d *detector) verify(now unit.Time, c *class, i unit.Port) {
	for k := range c.slots {
		s := &c.slots[k]
		if s.id != 0 && s.id.owner() == d.at(i) {
			s.id = 0
		}
		if s.id != 0 && s.engaged.Has(i) && d.hops(now)-s.seen <= idleHops {
			d.wait(now, c, i, liveHops+d.random.below(liveHops))
			return
		}
	}
	c.clock = later(c.clock, 1)
	s := d.claim(now, c, newLabel(c.clock, d.at(i)))
	if s == nil {
		d.wait(now, c, i, liveHops+d.random.below(liveHops))
		return
	}
	c.suspect.Remove(i)
	d.waitToMint(now, c, i)
	d.trace(detect.StepVerify, c, unit.NoPort, i, s.id)
	s.parent = root
	if d.stuck(c, s, i, c.paused) {
		d.engage(c, s, i)
	}
	d.settle(now, c, s)
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

func (d *detector) send(c *class, s *slot, p unit.Port, t itsyhdr.TLV) {
	t.Class, t.Initiator, t.Seq = c.id, s.id.owner(), s.id.rank()
	d.act.Send(p, t)
	if t.Kind != itsyhdr.KindAck {
		s.deficit++
	}
}

// Message takes a message of a verification.
func (d *detector) Message(now unit.Time, p unit.Port, t itsyhdr.TLV) {
	c := d.classes[t.Class]
	if c == nil || d.hosts.Has(p) || t.Seq == 0 || t.Initiator.Node == 0 {
		return
	}
	id := newLabel(t.Seq, t.Initiator)
	s := c.find(id)
	if s == nil && t.Kind == itsyhdr.KindQuery && t.Initiator.Node != d.self {
		s = d.claim(now, c, id)
	}
	if s == nil {
		return
	}
	s.seen = d.hops(now)
	if t.Kind == itsyhdr.KindAck {
		if s.deficit > 0 {
			s.deficit--
		}
		if t.Flags&wireFailed != 0 {
			s.flags |= slotFailed
		}
		d.settle(now, c, s)
		return
	}
	first := s.parent == passive
	if first {
		s.parent = p
	}
	d.recheck(c, s)
	switch t.Kind {
	case itsyhdr.KindQuery:
		d.query(c, s, p)
	case itsyhdr.KindGrant:
		s.free.Add(p)
		d.recheck(c, s)
	case itsyhdr.KindWalk:
		d.walk(now, c, s, p, unit.Port(t.Hops))
	}
	if !first {
		d.ack(c, s, p)
	}
	d.settle(now, c, s)
}

func (d *detector) query(c *class, s *slot, i unit.Port) {
	switch {
	case s.engaged.Has(i):
	case d.stuck(c, s, i, c.paused):
		d.engage(c, s, i)
	default:
		d.send(c, s, i, itsyhdr.TLV{Kind: itsyhdr.KindGrant})
	}
	if s.id.owner() == d.at(i) {
		s.flags |= slotReturned
	}
}

// recheck frees the engaged buckets that have lost their support.
func (d *detector) recheck(c *class, s *slot) {
	for set := s.engaged; set != 0; set &= set - 1 {
		i := set.First()
		if d.stuck(c, s, i, s.asked&c.paused) {
			continue
		}
		s.engaged.Remove(i)
		if s.id.owner() != d.at(i) || s.flags&slotReturned != 0 {
			d.send(c, s, i, itsyhdr.TLV{Kind: itsyhdr.KindGrant})
		}
	}
}

// release: the pause of queue p has ended.
func (d *detector) release(c *class, p unit.Port) {
	for k := range c.slots {
		s := &c.slots[k]
		if s.id == 0 {
			continue
		}
		s.free.Add(p)
		if s.parent != passive {
			d.recheck(c, s)
		}
	}
}

func (d *detector) walk(now unit.Time, c *class, s *slot, i unit.Port, via unit.Port) {
	if s.id.owner() == d.at(i) && s.via == unit.NoPort {
		s.via = via
	}
	switch {
	case s.walked.Has(i):
	case !s.engaged.Has(i):
		s.flags |= slotFailed
	default:
		d.walkOn(c, s, i, via)
		c.suspect.Remove(i)
		if c.blocked.Has(i) {
			d.wait(now, c, i, walkedHops)
		}
	}
}

func (d *detector) walkOn(c *class, s *slot, i, via unit.Port) {
	s.walked.Add(i)
	for set := s.asked &^ s.free; set != 0; set &= set - 1 {
		p := set.First()
		if d.view.Held(c.bucket(i), c.queue(p)) == 0 {
			continue
		}
		from := via
		if from == unit.NoPort {
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

func (d *detector) settle(now unit.Time, c *class, s *slot) {
	if s.deficit > 0 || s.parent == passive {
		return
	}
	if s.parent == root {
		d.conclude(now, c, s)
		return
	}
	d.ack(c, s, s.parent)
	s.parent = passive
}

func (d *detector) conclude(now unit.Time, c *class, s *slot) {
	i := s.id.owner().Port
	d.recheck(c, s)
	switch {
	case !s.engaged.Has(i):
		d.fail(c, s, i)
		d.backOff(now, c, i, liveHops)
	case s.flags&slotWalking == 0 && s.flags&slotReturned == 0:
		d.fail(c, s, i)
		d.backOff(now, c, i, victimHops)
	case s.flags&slotWalking == 0:
		s.flags |= slotWalking
		d.walkOn(c, s, i, unit.NoPort)
		d.settle(now, c, s)
	case s.flags&slotFailed != 0 || s.via == unit.NoPort || d.view.Lapsed(c.bucket(i)):
		d.fail(c, s, i)
		d.backOff(now, c, i, liveHops)
	default:
		id, via := s.id, s.via
		s.id = 0
		d.declare(now, c, i, via, id)
	}
}

func (d *detector) fail(c *class, s *slot, i unit.Port) {
	d.trace(detect.StepFail, c, unit.NoPort, i, s.id)
	s.id = 0
}

// backOff sets when bucket i, whose verification failed, acts again: the later the
// more often it did.
func (d *detector) backOff(now unit.Time, c *class, i unit.Port, hops int) {
	n := &c.in[i]
	d.wait(now, c, i, (hops+d.random.below(hops))<<n.tries)
	n.tries = min(n.tries+1, maxTries)
}
