package sim

import (
	"math"
	"math/bits"

	"softswitch/unit"
)

// timers is one deadline per id, and the order in which they fire: by time, and
// at the same time by id. Ids are dense and known from the start, so that order
// is total and depends on nothing else. It is a 4-ary heap that knows where each
// id is; nothing in it is ever stale.
type timers struct {
	heap []key // the n deadlines, and none after them
	n    int
	pos  []int32 // by id: index in heap, -1 if it is not there
	bits uint8   // of an id in a key
	mask key     // the bits of an id
}

// key is a deadline: its time, and below it its id, so that one comparison gives
// the order. With 1000 ids the time may reach 104 days, with a million 2.4 hours.
type key int64

// none is later than every deadline.
const none key = math.MaxInt64

// idBits is how many bits of a key the ids of n timers take.
func idBits(n int) uint8 { return uint8(bits.Len(uint(n))) }

func newTimers(n int) timers {
	t := timers{heap: make([]key, n+5), pos: make([]int32, n), bits: idBits(n)}
	t.mask = 1<<t.bits - 1
	for i := range t.pos {
		t.pos[i] = -1
	}
	for i := range t.heap {
		t.heap[i] = none
	}
	return t
}

// limit is the first time that no deadline can have.
func (t *timers) limit() unit.Time { return unit.Time(none >> t.bits) }

// set moves id's deadline to at; a time of limit or later, such as unit.Never,
// takes it out.
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

// first is the id that fires next, and when; ok is false if none does.
func (t *timers) first() (id int32, at unit.Time, ok bool) {
	k := t.heap[0]
	return int32(k & t.mask), unit.Time(k >> t.bits), t.n > 0
}

// up puts k where the entry at i was, or nearer to the root.
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

// down puts k where the entry at i was, or farther from the root.
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

// least is min(a, b) without a branch, which would be predicted wrongly half of
// the time. Neither is negative.
func least(a, b key) key {
	d := a - b
	return b + d&(d>>63)
}
