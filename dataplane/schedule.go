package dataplane

import (
	"math/bits"

	"softswitch/unit"
)

// quantumBytes is what a class of weight 1 may send each round.
const quantumBytes = 1600

// pick chooses the queue that sends next: the highest strict class that has
// frames and is not paused, else deficit round robin among the weighted ones
// (Shreedhar and Varghese, 1995). ok is false if nothing may leave.
func (p *port) pick(weights *[unit.Priorities]int) (c unit.Priority, ok bool) {
	set := p.sendable()
	if set == 0 {
		return 0, false
	}
	var weighted unit.ClassSet
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

// pickWeighted goes round the classes of set, which is not empty. A class whose
// queue ran empty or is paused keeps no deficit. A full round raises every
// deficit by at least quantumBytes, which is more than a frame: two suffice.
func (p *port) pickWeighted(set unit.ClassSet, weights *[unit.Priorities]int) unit.Priority {
	for {
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
