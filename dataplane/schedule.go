package dataplane

import (
	"math/bits"

	"softswitch/buffer"
	"softswitch/detect"
	"softswitch/unit"
)

// Scheduler is how the priorities of a port share its egress (IEEE 802.1Q, 8.6.8): first those that
// are Strict, the highest one before the others, then the others by deficit round robin. These share what
// is left of the link's time in proportion to their weights. The zero value is the default: all
// priorities share evenly, so that none waits for ever.
type Scheduler struct {
	Strict unit.PrioritySet
	// Weights are of the others, at most WeightMax; 0 is 1.
	Weights [unit.Priorities]uint8
}

// WeightMax is the largest weight, as in SONiC's SCHEDULER table.
const WeightMax = 100

// Weight is the weight of a priority, 0 if it is strict.
func (s Scheduler) Weight(c unit.Priority) int {
	if s.Strict.Has(c) {
		return 0
	}
	return max(1, int(s.Weights[c]))
}

// quanta are what each weighted priority may send a round, in bytes on the wire. The one of the least
// weight gets the longest frame: deficit round robin finds the next frame in one round if no
// quantum is below that (Shreedhar and Varghese, 1995), and rounds are no longer than they have to be.
func (s Scheduler) quanta(longest int) (q [unit.Priorities]int32) {
	least := WeightMax
	for c := range unit.Priority(unit.Priorities) {
		if w := s.Weight(c); w > 0 {
			least = min(least, w)
		}
	}
	for c := range unit.Priority(unit.Priorities) {
		q[c] = int32((longest + unit.WireOverhead) * s.Weight(c) / least)
	}
	return q
}

// LongestWait is how long a weighted queue waits at most for the others of a port of rate r, whatever
// their weights are: one round, in which each of the 7 others sends its quantum and what was left of
// the one before, less than a frame. longest is the longest frame, in bytes without FCS. It is unit.Never
// where the rate is unlimited.
func LongestWait(r unit.Rate, longest int) unit.Time {
	if r <= 0 {
		return unit.Never
	}
	return (unit.Priorities - 1) * (WeightMax + 1) * r.FrameTime(longest)
}

// pick chooses the queue that sends next: the highest strict priority that has
// frames and is not paused, else deficit round robin among the weighted ones
// (Shreedhar and Varghese, 1995). ok is false if nothing may leave.
func (p *port) pick(now unit.Time) (c unit.Priority, ok bool) {
	set := p.sendable()
	// Mostly one queue has frames: nobody waits for another.
	if set&(set-1) == 0 && p.passed == 0 {
		return set.First(), set != 0
	}
	switch strict := set & p.strict; {
	case strict != 0:
		// Also before weighted priorities above it: these share what strict ones leave.
		c = unit.Priority(bits.Len8(uint8(strict)) - 1)
	case set != 0:
		c = p.pickWeighted(set)
	default:
		p.pass(now, 0)
		return 0, false
	}
	p.pass(now, set&^(1<<c))
	return c, true
}

// pickWeighted goes round the priorities of set, which is not empty. The turn stays with a priority as
// long as its deficit lasts. Each is reached with a quantum of the longest frame at least, so that
// it finds one in a round.
func (p *port) pickWeighted(set unit.PrioritySet) unit.Priority {
	for {
		c := p.turn
		if set.Has(c) {
			if p.deficit[c] >= int32(p.next(c).Len+unit.WireOverhead) {
				return c
			}
		}
		after := bits.RotateLeft8(uint8(set), -int(c)-1) // bit 0 is of the priority after c
		p.grant(set, (c+1+unit.Priority(bits.TrailingZeros8(after)))&7)
	}
}

// grant gives the turn to c, and its quantum. A priority whose queue ran empty or is paused, which is
// not in set, keeps no deficit.
func (p *port) grant(set unit.PrioritySet, c unit.Priority) {
	for gone := p.owed &^ set; gone != 0; gone &= gone - 1 {
		p.deficit[gone.First()] = 0
	}
	p.owed = p.owed&set | 1<<c
	p.turn = c
	p.deficit[c] += p.quanta[c]
}

// spend takes a frame of n bytes that leaves off the deficit of its priority: the preamble, the FCS and
// the gap count too. One that went without being weighed, since it was alone, may have used up its turn:
// a round has passed then.
func (p *port) spend(c unit.Priority, n int) {
	if p.strict.Has(c) {
		return
	}
	p.deficit[c] -= int32(n + unit.WireOverhead)
	if p.deficit[c] < 0 || p.turn != c {
		p.grant(1<<c, c)
	}
}

// sendable are the priorities of which a frame may leave. Invariant: no priority in which a pause is
// active, unless an action forces it, and none that is slowed down before its time (gentle.go). All that
// leaves is chosen from this set.
func (p *port) sendable() unit.PrioritySet {
	m := &p.acted
	set := p.backlog &^ (p.paused &^ m.force)
	if p.gentle != nil {
		set &^= p.gentle.waits
	}
	// These may have a backlog and nothing in it that may leave. next walks the queue, so the
	// others are not asked. The queue of a full ring has frames of it.
	for odd := set & (m.restrict | m.force); odd != 0; odd &= odd - 1 {
		if c := odd.First(); p.next(c) == nil {
			set &^= 1 << c
		}
	}
	return set
}

// next is the frame of priority c that leaves next, nil if none may.
func (p *port) next(c unit.Priority) *buffer.Frame {
	f := p.queues[c].Head()
	if b, reserved := p.reservedFor(c); reserved {
		for f != nil && (f.In != b.Port || f.InPriority != b.Priority) {
			f = f.Next()
		}
	}
	return f
}

// reservedFor is the priority group whose frames alone may leave the queue of priority c, if it is
// reserved.
func (p *port) reservedFor(c unit.Priority) (b detect.PG, reserved bool) {
	m := &p.acted
	switch {
	// Before the restriction: an allowance is for the active pause and ends with it (endPause);
	// the restriction stays.
	case (m.force & p.paused).Has(c):
		return m.forced[c], true
	case m.restrict.Has(c):
		return m.only[c], true
	case p.ring != nil && p.ring.full.Has(c):
		return detect.PG{Port: p.ring.In, Priority: c}, true
	}
	return b, false
}
