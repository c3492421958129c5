package model

import (
	"slices"

	"softswitch/internal/stat"
)

// state is the state of a fabric: the numbers of the states of its switches and of the sequences
// on its wires, the marks, and what is spent of the bounds.
type state []uint32

// store is the states that were reached, numbered in the order in which they were.
type store struct {
	width  int
	pages  [][]uint32
	before []uint32 // by state: from which it was reached first
	table  []uint64 // a hash table: 32 bits of a state's hash, and its number + 1 in the others
}

const pageStates = 1 << 16

func newStore(width int) *store { return &store{width: width, table: make([]uint64, 1<<16)} }

func (t *store) len() int { return len(t.before) }

// at is state i.
func (t *store) at(i uint32) state {
	from := int(i%pageStates) * t.width
	return t.pages[i/pageStates][from : from+t.width]
}

// add adds s, which was reached from state before, unless it is known.
func (t *store) add(s state, before uint32) {
	if 2*t.len() >= len(t.table) {
		t.grow()
	}
	h := hash(s)
	at, known := t.find(s, h)
	if known {
		return
	}
	if t.len()%pageStates == 0 {
		t.pages = append(t.pages, make([]uint32, 0, pageStates*t.width))
	}
	last := &t.pages[len(t.pages)-1]
	*last = append(*last, s...)
	t.before = append(t.before, before)
	t.table[at] = uint64(h)<<32 | uint64(t.len())
}

// find is where s, with hash h, is in the table, or belongs.
func (t *store) find(s state, h uint32) (at int, known bool) {
	mask := len(t.table) - 1
	for at = int(h) & mask; t.table[at] != 0; at = (at + 1) & mask {
		if e := t.table[at]; uint32(e>>32) == h && slices.Equal(t.at(uint32(e)-1), s) {
			return at, true
		}
	}
	return at, false
}

func (t *store) grow() {
	old := t.table
	t.table = make([]uint64, 2*len(old))
	mask := len(t.table) - 1
	for _, e := range old {
		if e == 0 {
			continue
		}
		at := int(e>>32) & mask
		for t.table[at] != 0 {
			at = (at + 1) & mask
		}
		t.table[at] = e
	}
}

func hash(s state) uint32 {
	h := uint64(0)
	for _, v := range s {
		h = stat.Mix(h ^ uint64(v))
	}
	return uint32(h)
}
