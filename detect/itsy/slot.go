package itsy

import (
	"iter"

	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// slotCount is how many verifications a switch takes part in at once, for each priority of their owners.
// Chosen: those that meet are mostly of one deadlock, of which the greatest is enough; each slot has five
// port sets for every lossless priority.
const slotCount = 4

// slot is a switch's part in one verification: the state of a node of a diffusing computation (Dijkstra and
// Scholten), with a deficit, and a parent that is acknowledged last.
type slot struct {
	id label          // the owner, and a rank of its own; 0: the slot is free
	of []priorityPart // by lossless priority

	deficit uint16 // messages that were sent and not acknowledged
	seen    uint16 // when the last message came, in hops
	until   uint16 // at the owner: when it is given up, in hops
	// patience is the owner's: it waits retryHops << patience, and others take it for given up after
	// idleHops << patience without a message.
	patience uint8
	parent   unit.Port
	asker    unit.Priority // the priority of the message by which parent is the parent
	priority unit.Priority // the owner's
	via      unit.Port     // at the owner: the queue by which a walk left that came back
	flags    uint8
}

// priorityPart is what concerns one priority in a slot: that of the owner, or one that shares its pool with
// a priority that was asked about.
type priorityPart struct {
	asked   unit.PortSet // queues that were asked about
	free    unit.PortSet // queues that do not count: granted, resumed since, or left out by an owner that asks with one alone
	engaged unit.PortSet // priority groups that are stuck as far as is known
	walked  unit.PortSet // of those, which the walk found unchanged
	named   unit.PortSet // of those, which know a queue of the owner by which the walk came
}

func (s *slot) part(c *priority) *priorityPart { return &s.of[c.index] }

// Values of slot.parent that are no port: a switch that owes nobody an
// acknowledgement, and the owner's switch.
const (
	passive = unit.NoPort
	root    = unit.NoPort - 1
)

// Flags of a slot.
const (
	slotReturned = 1 << iota // at the owner: a query came back
	slotWalking              // at the owner: the walk has begun
	slotFailed               // a walk failed
)

// find is the slot of id, nil if there is none.
func (c *priority) find(id label) *slot {
	for k := range c.slots {
		if s := &c.slots[k]; s.id == id {
			return s
		}
	}
	return nil
}

// takeSlot is a slot for id, whose owner is of priority c: one that is free, else the idle one with the
// smallest id, else the one with the smallest id if that is smaller; nil if there is none. Of many
// verifications that meet everywhere the greatest ends. One that loses its slot here is acknowledged no
// more, so it never ends, and nothing is declared by it. An idle one may still be under way, on a loop that is
// longer than its owner takes it for.
func (d *detector) takeSlot(now unit.Time, c *priority, id label) *slot {
	best := &c.slots[0]
	for k := range c.slots[1:] {
		if s := &c.slots[1+k]; d.goesBefore(now, s, best) {
			best = s
		}
	}
	if !d.isIdle(now, best) && !best.id.less(id) {
		return nil
	}
	clear(best.of)
	*best = slot{id: id, of: best.of, priority: c.id, parent: passive, via: unit.NoPort, seen: d.hops(now)}
	return best
}

// goesBefore reports whether takeSlot gives s away before other. A free slot has the smallest id.
func (d *detector) goesBefore(now unit.Time, s, other *slot) bool {
	if idle := d.isIdle(now, s); idle != d.isIdle(now, other) {
		return idle
	}
	return s.id.less(other.id)
}

func (d *detector) isIdle(now unit.Time, s *slot) bool {
	return s.id == (label{}) || d.hops(now)-s.seen > idleHops<<s.patience
}

// abandon gives up a verification of priority group i: it never ends. Acknowledgements that are still on their
// way find no slot.
func (d *detector) abandon(c *priority, i unit.Port) {
	for k := range c.slots {
		if c.slots[k].id.owner() == d.at(i) {
			c.slots[k].id = label{}
		}
	}
}

// disengage: priority group i does not count any more in any verification. Nobody is told: a priority group
// that waits for i learns it from a resume, or from the walk, which fails at a priority group that is not
// engaged.
func (d *detector) disengage(c *priority, i unit.Port) {
	for s := range d.slots() {
		s.part(c).engaged.Remove(i)
	}
}

// slots are those of all priorities.
func (d *detector) slots() iter.Seq[*slot] {
	return func(yield func(*slot) bool) {
		for _, c := range d.order {
			for k := range c.slots {
				if !yield(&c.slots[k]) {
					return
				}
			}
		}
	}
}

// owns reports whether s is the verification of priority group i of priority c.
func (d *detector) owns(s *slot, c *priority, i unit.Port) bool {
	return s.priority == c.id && s.id.owner() == d.at(i)
}

// release: the pause of queue p has ended, so p does not count any more. A switch
// that is passive must not send: it looks at its priority groups with the next message, or
// the walk does. If p is paused again it stays out all the same: a frame may have left in between.
func (d *detector) release(c *priority, p unit.Port) {
	for s := range d.slots() {
		if s.id == (label{}) {
			continue
		}
		s.part(c).free.Add(p)
		if s.parent != passive {
			d.recheck(s)
		}
	}
}

// isStuck reports whether priority group i is stuck as far as this switch can tell, by those of the
// paused queues that count; of these by those alone that were asked about, if asked. Nobody was asked about
// a queue that was paused since: it may engage a priority group, for then it is asked about, but not keep one
// so.
func (d *detector) isStuck(c *priority, s *slot, i unit.Port, asked bool) bool {
	if !c.xoff.Has(i) || c.done.Has(i) {
		return false
	}
	for _, k := range d.order {
		pt := s.part(k)
		d.queues[k.id] = k.paused.Without(pt.free)
		if asked {
			d.queues[k.id] = d.queues[k.id].And(pt.asked)
		}
	}
	return d.view.Stays(c.pg(i), d.queues)
}

// send sends a message of the verification that is about priority c out of port p.
func (d *detector) send(c *priority, s *slot, p unit.Port, t itsyhdr.TLV) {
	// The switch that gets it finds its slot by the owner's priority, which Period carries
	// (docs/format/itsy.md).
	t.Priority, t.Initiator, t.Seq, t.Period = c.id, s.id.owner(), s.id.rank(), uint8(s.priority)
	if t.Kind == itsyhdr.KindQuery {
		t.Hops = s.patience
	}
	d.act.Send(p, t)
	// Counted even if Send finds no room: an answer that cannot come holds the verification up for good.
	if t.Kind != itsyhdr.KindAck {
		s.deficit++
	}
}

// close ends a verification of priority group i in which nothing was declared.
func (d *detector) close(now unit.Time, c *priority, s *slot, i unit.Port, hops int) {
	d.trace(detect.StepFail, c, unit.NoPort, i, s.id)
	s.id = label{}
	c.unanswered.Remove(i)
	// Who trusts waits four times as long each time: verify has doubled the wait too.
	if _, home := d.homes(c, i); home.Empty() || c.trusting.Has(i) {
		hops = longHops
	}
	d.waitLonger(now, c, i, hops)
}
