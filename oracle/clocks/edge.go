package clocks

import (
	"cmp"
	"math/bits"
	"slices"
	"sort"

	"softswitch/unit"
)

// edge is what the frames between two clocks say of the times of one, here, by the other,
// there. For the other direction there is another one (Net.edges).
type edge struct {
	most  anchors // of frames that left here: what was at that time here was at most at this one there
	least anchors // of frames that came here: at least
}

// anchors are moments here of which something is known there. Invariant, after sort: all is in order of
// at, so the anchors within Window of a moment are a range of it, and the tables answer for ranges.
type anchors struct {
	all []anchor // by time
	// sign is 1 where the least of what they say is wanted, and -1 where the greatest: that is
	// the least of all values times -1.
	sign unit.Time
	// plus and minus are the offsets that anchors show, with the drift until then, and less
	// it.
	plus, minus table
	// causal is the least that anchors from one on say; of those of least, until it.
	causal []unit.Time
}

// anchor is a frame: its moment here, and by what time there that was, or from when on.
type anchor struct{ at, by unit.Time }

func (a *anchors) add(at, by unit.Time) { a.all = append(a.all, anchor{at, by}) }

// drift is how much two clocks may drift apart in a time, to the nanosecond below.
func (a *anchors) drift(t unit.Time) unit.Time {
	t -= a.origin()
	return t/1e6*relative + t%1e6*relative/1e6
}

// origin keeps times small: only differences count.
func (a *anchors) origin() unit.Time {
	if len(a.all) == 0 {
		return 0
	}
	return a.all[0].at
}

// rounding is by how much drift may be wrong: once for each of two times.
const rounding = 2

// build makes all that bounds are read from. An upper bound by causality holds for what was earlier too, so
// the least is taken from the end on; a lower one for what was later, so from the beginning on.
func (e *edge) build() {
	e.most.sort()
	e.least.sort()
	e.most.fill(1)
	e.least.fill(-1)
	for i := len(e.most.all) - 2; i >= 0; i-- {
		e.most.causal[i] = min(e.most.causal[i], e.most.causal[i+1])
	}
	for i := 1; i < len(e.least.all); i++ {
		e.least.causal[i] = min(e.least.causal[i], e.least.causal[i-1])
	}
}

func (a *anchors) sort() {
	slices.SortFunc(a.all, func(x, y anchor) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.by, y.by)) })
}

// fill makes the tables, of all values times sign. What an anchor says of x is its offset by - at,
// loosened by the drift between at and x. That drift is a difference of two drifts since the origin, of at
// and of x; so the part of the anchor is in the table, and that of x is added when it is asked for.
func (a *anchors) fill(sign unit.Time) {
	plus, minus := make([]unit.Time, len(a.all)), make([]unit.Time, len(a.all))
	a.sign, a.causal = sign, make([]unit.Time, len(a.all))
	for i, v := range a.all {
		a.causal[i] = sign * v.by
		plus[i], minus[i] = sign*(v.by-v.at)+a.drift(v.at), sign*(v.by-v.at)-a.drift(v.at)
	}
	a.plus, a.minus = newTable(plus), newTable(minus)
}

// from is the index of the first anchor at t or later.
func (a *anchors) from(t unit.Time) int {
	return sort.Search(len(a.all), func(i int) bool { return a.all[i].at >= t })
}

// before and after are the least that the anchors within Window before x, or after it, say
// of x, times the sign; unit.Never without any. The one at x counts for both.
func (a *anchors) before(x unit.Time) unit.Time {
	i, j := a.from(x-Window), a.from(x+1)
	if i == j {
		return unit.Never
	}
	return a.minus.least(i, j) + a.sign*x + a.drift(x) + rounding
}

func (a *anchors) after(x unit.Time) unit.Time {
	i, j := a.from(x), a.from(x+Window+1)
	if i == j {
		return unit.Never
	}
	return a.plus.least(i, j) + a.sign*x - a.drift(x) + rounding
}

// causal are the bounds of x by causality alone.
func (e *edge) causal(x unit.Time) Interval {
	in := unbounded
	if i := e.most.from(x); i < len(e.most.all) {
		in.To = e.most.causal[i]
	}
	if i := e.least.from(x + 1); i > 0 {
		in.From = -e.least.causal[i-1]
	}
	return in
}

// bounds are those of causality and of the clocks together. Why the hull, and what an empty interval
// means: see the package.
func (e *edge) bounds(x unit.Time) Interval {
	before := Interval{-e.least.before(x), e.most.before(x)}
	after := Interval{-e.least.after(x), e.most.after(x)}
	causal := e.causal(x)
	all := before.hull(after)
	switch {
	case before.empty() && after.empty():
		return causal
	case before.empty():
		all = after
	case after.empty():
		all = before
	}
	if all = all.and(causal); all.empty() {
		return causal
	}
	return all
}

// over are the bounds of something between two times here.
func (e *edge) over(in Interval, bounds func(*edge, unit.Time) Interval) Interval {
	return in.Over(func(t unit.Time) Interval { return bounds(e, t) })
}

// table finds the least of a range of numbers: its row k has at i the least of the 1<<k
// numbers from i on (a sparse table).
type table [][]unit.Time

// newTable takes time and memory n log n, once for each edge and direction.
func newTable(v []unit.Time) table {
	t := table{v}
	for k := 1; 1<<k <= len(v); k++ {
		last, half := t[k-1], 1<<(k-1)
		row := make([]unit.Time, len(v)-1<<k+1)
		for i := range row {
			row[i] = min(last[i], last[i+half])
		}
		t = append(t, row)
	}
	return t
}

// least is the least of the numbers from i to before j, which must not be none: that of two rows of a
// power of two, which may overlap.
func (t table) least(i, j int) unit.Time {
	k := bits.Len(uint(j-i)) - 1
	return min(t[k][i], t[k][j-1<<k])
}
