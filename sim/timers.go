package sim

import (
	"math"
	"math/bits"

	"softswitch/unit"
)

// timers holds at most one deadline per id. They fire in order of time, and at the same
// time in order of id. Ids are dense and known from the start, so the order is total
// and depends on nothing else. It is a tournament by fours: the first of each group goes
// on to a group nearer to the root, and a deadline that changes is played again from its
// place to the root, without a branch that depends on the others: min is a conditional move.
type timers struct {
	groups [][4]key // four places in each; the first of group g goes on to place g+2
	place  []uint32 // by id, 0 if the id has had no deadline yet
	free   uint32   // the first place that no id has had
	bits   uint8    // width of the id in a key
	mask   key      // the bits of an id
}

// root is the place of the first deadline of all.
const root = 3

// key is a deadline: the time in the upper bits, the id in the lower ones, so that one
// comparison gives the order. With 1000 ids the time can reach 104 days, with a million
// 2.4 hours.
type key int64

// none sorts after every deadline.
const none key = math.MaxInt64

// idBits is how many bits of a key the ids of n timers need.
func idBits(n int) uint8 { return uint8(bits.Len(uint(n))) }

// newTimers are timers with ids below n. No more than most of them ever have a deadline.
func newTimers(n, most int) timers {
	games := max(1, (most+1)/3) // each leaves one of four
	t := timers{groups: make([][4]key, 1+games), place: make([]uint32, n), free: uint32(root + games), bits: idBits(n)}
	t.mask = 1<<t.bits - 1
	for i := range t.groups {
		t.groups[i] = [4]key{none, none, none, none}
	}
	return t
}

// limit is the first time that is too late for a deadline.
func (t *timers) limit() unit.Time { return unit.Time(none >> t.bits) }

// set moves id's deadline to at. A time of limit or later, such as unit.Never, removes
// it.
func (t *timers) set(id int32, at unit.Time) {
	k := key(at)<<t.bits | key(id)
	if at >= t.limit() {
		k = none
	}
	p := t.place[id]
	if p == 0 {
		p = t.free
		t.free++
		t.place[id] = p
	}
	g := &t.groups[p/4]
	g[p%4] = k
	for p > root {
		first := min(min(g[0], g[1]), min(g[2], g[3]))
		p = p/4 + 2
		g = &t.groups[p/4]
		g[p%4] = first
	}
}

// first returns the id that fires next, and when; ok is false if no deadline is set.
func (t *timers) first() (id int32, at unit.Time, ok bool) {
	k := t.groups[root/4][root%4]
	return int32(k & t.mask), unit.Time(k >> t.bits), k != none
}
