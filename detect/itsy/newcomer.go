package itsy

import (
	"cmp"
	"math/bits"
	"slices"

	"softswitch/detect"
	"softswitch/unit"
)

// Of what a deadlock needs, what came last is what it came by. So a queue remembers which
// flows were the last to begin there, for the diagnosis.

// Chosen: as many newcomers as a cause can name (detect.CauseFlowsMax), at 12 bytes each, and filters that
// take 64 bytes a queue however many flows there are. Among many short flows the last one says little anyway.
const (
	newestMax   = 8  // flows that a queue remembers with the time at which they began
	seenMax     = 64 // flows after which a filter is full
	filterWords = 4  // a filter has 256 bits, two a flow: full, it takes one new flow in six for a known one
)

// newest are the flows that began last in a queue. A flow that has not been here while two
// filters filled is new again.
type newest struct {
	seen  [2]filter // flows that were here: since the filter was emptied, and before that
	flows [newestMax]detect.FlowID
	began [newestMax]unit.Time
	count uint8 // of flows in seen[0]
	last  uint8 // where in flows the newest is
}

// filter is a Bloom filter of flows.
type filter [filterWords]uint64

// has reports whether f is in the filter; now and then it says so of one that is not.
func (s *filter) has(f detect.FlowID) bool {
	return s[f>>6%filterWords]>>(f%64)&1 != 0 && s[f>>14%filterWords]>>(f>>8%64)&1 != 0
}

func (s *filter) add(f detect.FlowID) {
	s[f>>6%filterWords] |= 1 << (f % 64)
	s[f>>14%filterWords] |= 1 << (f >> 8 % 64)
}

// see takes note of a frame of flow f.
func (r *newest) see(now unit.Time, f detect.FlowID) {
	if f == 0 || r.seen[0].has(f) {
		return
	}
	if !r.seen[1].has(f) {
		r.last = (r.last + 1) % newestMax
		r.flows[r.last], r.began[r.last] = f, now
	}
	r.seen[0].add(f)
	if r.count++; r.count == seenMax {
		r.seen[0], r.seen[1], r.count = filter{}, r.seen[0], 0
	}
}

// age is how long ago f began; ok is false if it is not one of the newest.
func (r *newest) age(now unit.Time, f detect.FlowID) (age unit.Time, ok bool) {
	for i, g := range r.flows {
		if g == f && f != 0 {
			return now - r.began[i], true
		}
	}
	return 0, false
}

// eldest is the age of the oldest of them.
func (r *newest) eldest(now unit.Time) (age unit.Time) {
	for i, f := range r.flows {
		if f != 0 {
			age = max(age, now-r.began[i])
		}
	}
	return age
}

// with adds to flows those that began with f, one of the newest: f, and those that are
// younger than the eldest by at least half as many octaves as f.
func (r *newest) with(now unit.Time, f detect.FlowID, eldest uint32, flows *detect.CauseFlows) {
	age, _ := r.age(now, f)
	octaves := func(t unit.Time) int { return log2(eldest) - log2(micros(t)) }
	for i, g := range r.flows {
		if g == f || g != 0 && 2*octaves(now-r.began[i]) > octaves(age) {
			flows.Add(g)
		}
	}
}

// young is a flow that waits on the loop and is one of the newest of a queue there.
type young struct {
	flow  detect.FlowID
	age   uint32        // us since it began, where it did so last
	bytes uint32        // that hold the loop
	at    unit.NodePort // the egress of the turn that most of those hold,
	in    unit.Port     // and its ingress
	most  uint32        // how many these are
}

// youngMin is by how many 16ths of an octave a flow is younger than the eldest if it is young
// at all. Chosen: an eighth of an octave, some 9 %, so that flows that began together are not told apart.
const youngMin = 2

// weight is how much speaks for y as what the deadlock came by: its bytes, and by how many
// octaves it is younger than the eldest flow.
func (y *young) weight(eldest uint32) uint64 {
	octaves := log2(eldest) - log2(y.age)
	if octaves < youngMin {
		return 0
	}
	return uint64(y.bytes) * uint64(octaves)
}

// log2 is the logarithm of max(1, n), in 16ths and never too large: the four bits behind the highest one are
// the fraction, which is linear between two powers of two where the logarithm is above.
func log2(n uint32) int {
	n = max(n, 1)
	whole := bits.Len32(n) - 1
	return whole<<4 | int(uint64(n)<<4>>whole&15)
}

// addYoung adds what one turn knows of a flow. If there is no room the flow for which least
// speaks goes.
func (l *lap) addYoung(add young) {
	least := 0
	for i := range l.young {
		y := &l.young[i]
		switch {
		case y.flow == add.flow:
			y.age, y.bytes = min(y.age, add.age), y.bytes+add.bytes
			if add.most > y.most {
				y.at, y.in, y.most = add.at, add.in, add.most
			}
			return
		case y.flow == 0:
			*y = add
			return
		case y.weight(l.eldest) < l.young[least].weight(l.eldest):
			least = i
		}
	}
	if l.young[least].weight(l.eldest) < add.weight(l.eldest) {
		l.young[least] = add
	}
}

// newcomers are the flows for which most speaks: the first most of all, the others at least
// half as much. stand says that they stand out: two thirds of all speak for those that came with
// the first, within a sixteenth of its age; or a turn of the loop is held by one flow alone
// anyway.
func (l *lap) newcomers() (flows []young, stand bool) {
	all := l.young
	slices.SortStableFunc(all[:], func(a, b young) int { return cmp.Compare(b.weight(l.eldest), a.weight(l.eldest)) })
	first := all[0]
	best := first.weight(l.eldest)
	if best == 0 {
		return nil, false
	}
	n := 0
	var sum, with uint64
	for _, y := range all {
		w := y.weight(l.eldest)
		sum += w
		if 2*w >= best {
			n++
		}
		if max(y.age, first.age)-min(y.age, first.age) <= first.age/16 {
			with += w
		}
	}
	return all[:n], l.least.count == 1 || 3*with >= 2*sum
}
