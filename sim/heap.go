package sim

import (
	"math"
	"math/bits"

	"softswitch/unit"
)

// timers holds at most one deadline per id. They fire in order of time, and at the same
// time in order of id. Ids are dense and known from the start, so the order is total
// and depends on nothing else. It is a 4-ary heap that tracks the position of each id,
// so it never holds a stale entry.
type timers struct {
	heap []key // the n deadlines; the entries after them are none
	n    int
	pos  []int32 // by id: index in heap, -1 if the id has no deadline
	bits uint8   // width of the id in a key
	mask key     // the bits of an id
}

// key is a deadline: the time in the upper bits, the id in the lower ones, so that one
// comparison gives the order. With 1000 ids the time can reach 104 days, with a million
// 2.4 hours.
type key int64

// none sorts after every deadline.
const none key = math.MaxInt64

// idBits is how many bits of a key the ids of n timers need.
func idBits(n int) uint8 { return uint8(bits.Len(uint(n))) }

// newTimers are timers with ids below n, at most so many of which have a deadline at a time.
func newTimers(n, most int) timers {
	t := timers{heap: make([]key, most+5), pos: make([]int32, n), bits: idBits(n)}
	t.mask = 1<<t.bits - 1
	for i := range t.pos {
		t.pos[i] = -1
	}
	for i := range t.heap {
		t.heap[i] = none
	}
	return t
}

// limit is the first time that is too late for a deadline.
func (t *timers) limit() unit.Time { return unit.Time(none >> t.bits) }

// set moves id's deadline to at. A time of limit or later, such as unit.Never, removes
// it.
func (t *timers) set(id int32, at unit.Time) {
	i := int(t.pos[id])
	if at >= t.limit() {
		if i >= 0 {
			t.remove(id, i)
		}
		return
	}
	k := key(at)<<t.bits | key(id)
	switch {
	case i < 0:
		t.n++
		t.up(t.n-1, k)
	case k < t.heap[i]:
		t.up(i, k)
	case k > t.heap[i]:
		t.down(i, k)
	}
}

func (t *timers) remove(id int32, i int) {
	t.pos[id] = -1
	t.n--
	last := t.heap[t.n]
	t.heap[t.n] = none
	switch {
	case i == t.n:
	case last < t.heap[i]:
		t.up(i, last)
	default:
		t.down(i, last)
	}
}

// first returns the id that fires next, and when; ok is false if no deadline is set.
func (t *timers) first() (id int32, at unit.Time, ok bool) {
	k := t.heap[0]
	return int32(k & t.mask), unit.Time(k >> t.bits), t.n > 0
}

// up moves k from position i towards the root to its place.
func (t *timers) up(i int, k key) {
	for i > 0 {
		parent := (i - 1) / 4
		p := t.heap[parent]
		if p < k {
			break
		}
		t.heap[i], t.pos[p&t.mask] = p, int32(i)
		i = parent
	}
	t.heap[i], t.pos[k&t.mask] = k, int32(i)
}

// down moves k from position i away from the root to its place.
func (t *timers) down(i int, k key) {
	for 4*i+1 < t.n {
		c := t.heap[4*i+1:][:4]
		child := least(least(c[0], c[1]), least(c[2], c[3]))
		if child >= k {
			break
		}
		at := &t.pos[child&t.mask]
		t.heap[i], i, *at = child, int(*at), int32(i)
	}
	t.heap[i], t.pos[k&t.mask] = k, int32(i)
}

// least is min(a, b) without a branch, which would be mispredicted half of the time.
// Both are at least 0.
func least(a, b key) key {
	d := a - b
	return b + d&(d>>63)
}
