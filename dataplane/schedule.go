package dataplane

import (
	"math/bits"

	"softswitch/buffer"
	"softswitch/detect"
	"softswitch/unit"
)

// quantumBytes is what a priority of weight 1 may send each round. Chosen: above the 1518 bytes of a
// full frame with its tag, since deficit round robin finds the next frame in one round if the
// quantum is no less than the longest frame (Shreedhar and Varghese, 1995). With jumbo frames it
// takes more: see pickWeighted.
const quantumBytes = 1600

// pick chooses the queue that sends next: the highest strict priority that has
// frames and is not paused, else deficit round robin among the weighted ones
// (Shreedhar and Varghese, 1995). ok is false if nothing may leave.
func (p *port) pick(weights *[unit.Priorities]int) (c unit.Priority, ok bool) {
	set := p.sendable()
	if set == 0 {
		return 0, false
	}
	var weighted unit.PrioritySet
	// From the highest priority down. The first strict one wins, also over weighted priorities above
	// it: these share what strict ones leave.
	for rest := set; rest != 0; {
		c := unit.Priority(bits.Len8(uint8(rest)) - 1)
		if weights[c] == 0 {
			return c, true
		}
		weighted.Add(c)
		rest &^= 1 << c
	}
	return p.pickWeighted(weighted, weights), true
}

// pickWeighted goes round the priorities of set, which is not empty. A priority whose
// queue ran empty or is paused keeps no deficit. A full round raises every
// deficit by at least quantumBytes: two suffice for frames of 1514 bytes, seven for
// those of 9230.
func (p *port) pickWeighted(set unit.PrioritySet, weights *[unit.Priorities]int) unit.Priority {
	for {
		// The turn stays with a priority as long as its deficit lasts. It gets its quantum when the
		// turn reaches it, once a round.
		c := p.turn
		if set.Has(c) {
			if n := p.next(c).Len; p.deficit[c] >= n {
				p.deficit[c] -= n
				return c
			}
		} else {
			p.deficit[c] = 0
		}
		p.turn = (p.turn + 1) & 7
		if set.Has(p.turn) {
			p.deficit[p.turn] += weights[p.turn] * quantumBytes
		}
	}
}

// sendable are the priorities of which a frame may leave. Invariant: no priority in which a pause is
// active, unless an action forces it. All that leaves is chosen from this set.
func (p *port) sendable() unit.PrioritySet {
	m := &p.acted
	set := p.backlog &^ (p.paused &^ m.force)
	// These may have a backlog and nothing in it that may leave. next walks the queue, so the
	// others are not asked.
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
	}
	return b, false
}
