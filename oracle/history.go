package oracle

import (
	"fmt"
	"slices"
	"sort"

	"softswitch/unit"
)

// History is S* over time. The zero value is empty.
//
// Invariants, kept by Settle: changes are in order of time, no two at one time, and each differs from
// the one before (the first from nothing). end is the last time of which anything is known.
type History struct {
	changes []change
	end     unit.Time
}

// change is a change of S*: stuck is S* from at on, until the next change. The very instant of the
// change belongs to both sides for a finding: see inCore.
type change struct {
	at    unit.Time
	stuck *Stuck
}

// Interval is the time from From to To, both included. Open means that it had not ended
// when the run did; To is then the end of the run.
type Interval struct {
	From, To unit.Time
	Open     bool
}

// Deadlock is a component of the core through its life: it grows, merges with others,
// or falls apart, until nothing of it is left. Components that merge become one
// deadlock, as old as the oldest. If the core is without it and it comes back, that is another one, which
// has to be declared again.
type Deadlock struct {
	Interval
	// Knot: at some time of its life it waited for nothing outside. Only such a
	// deadlock counts as missed if nobody declares it.
	Knot bool
	// KnotFor is the total time in which it, or a part of it, waited for nothing outside. The rest
	// of the time it hangs on another deadlock, which has to be declared.
	KnotFor unit.Time
	// Undecided: logs of several clocks do not tell whether it was a knot, or whether it was
	// declared.
	Undecided bool
	// Kind is what it was at any time: Strong and Flooded stay once they are true.
	Kind
	// Queues that were ever in its core, in order of node, port, priority.
	Queues []Queue
	// Declarers are the priority groups that declared it while it lasted, in order of time.
	Declarers []PG
}

// Settle records S* as it is after all events of the time at. Times must not go back;
// of several calls for one time the last one counts. What S* was between two events of one instant
// is never recorded: such a state had no duration, and its order would be that of the logs.
func (h *History) Settle(at unit.Time, s *Stuck) {
	if at < h.end {
		panic(fmt.Sprintf("oracle: settled at %d after %d", at, h.end))
	}
	h.end = at
	if n := len(h.changes); n > 0 && h.changes[n-1].at == at {
		h.changes = h.changes[:n-1]
	}
	if !h.last().equal(s) {
		h.changes = append(h.changes, change{at, s})
	}
}

// last is S* after the last change; before the first one nothing is stuck.
func (h *History) last() *Stuck {
	if len(h.changes) == 0 {
		return nothing
	}
	return h.changes[len(h.changes)-1].stuck
}

// At is S* after all events of the time at.
func (h *History) At(at unit.Time) *Stuck {
	if i := h.index(at); i >= 0 {
		return h.changes[i].stuck
	}
	return nothing
}

// index returns the last change at or before time at, or -1.
func (h *History) index(at unit.Time) int {
	return sort.Search(len(h.changes), func(i int) bool { return h.changes[i].at > at }) - 1
}

// until is when change i stopped being true: at the next change or the end of the run.
func (h *History) until(i int) (to unit.Time, open bool) {
	if i+1 < len(h.changes) {
		return h.changes[i+1].at, false
	}
	return h.end, true
}

// Intervals are the times with a deadlock anywhere. The first one begins at the onset.
func (h *History) Intervals() []Interval {
	return h.where(func(s *Stuck) bool { return !s.Empty() })
}

// Openings are the times in which something would have been stuck if XON had stayed as it was: it
// opened by itself.
func (h *History) Openings() []Interval {
	return h.where(func(s *Stuck) bool { return len(s.Opening) > 0 })
}

// where returns the longest intervals in which is holds for S*. It holds or not from change to change,
// so intervals that touch are one.
func (h *History) where(is func(*Stuck) bool) []Interval {
	var all []Interval
	for i, c := range h.changes {
		if !is(c.stuck) {
			continue
		}
		to, open := h.until(i)
		if n := len(all); n > 0 && all[n-1].To == c.at {
			all[n-1].To, all[n-1].Open = to, open
		} else {
			all = append(all, Interval{c.at, to, open})
		}
	}
	return all
}

// lives is every deadlock of a history, and which deadlock each component belongs to.
type lives struct {
	all []Deadlock // by onset, then first queue
	of  [][]int    // by change and component: index in all
}

// lives follows the components from change to change: a component that shares a queue
// with one of the previous change is the same deadlock.
//
// Each component of each change gets an id, and ids of one deadlock are joined (union-find). The lesser
// id is the root, so the root of a deadlock is its oldest component. What merges is joined for all time,
// before the merger too: then two knots that were apart are reported as one deadlock. What falls apart
// stays one, for both parts share a queue with the whole.
func (h *History) lives() lives {
	var parent []int
	find := func(id int) int {
		for parent[id] != id {
			id = parent[id]
		}
		return id
	}
	of := make([][]int, len(h.changes))
	var before map[Queue]int
	for i, c := range h.changes {
		now := make(map[Queue]int)
		for _, comp := range c.stuck.Components {
			id := len(parent)
			parent = append(parent, id)
			for _, q := range comp.Queues {
				if old, ok := before[q]; ok {
					parent[max(find(id), find(old))] = min(find(id), find(old))
				}
				now[q] = id
			}
			of[i] = append(of[i], id)
		}
		before = now
	}
	return h.collect(of, find)
}

// collect makes the deadlocks of the ids, and puts their indices in the place of the ids. Changes are
// gone through in order of time, so a deadlock begins where it is met first, and its end is that of the
// last change that has a part of it. Several parts that are knots at one time are one time of a knot.
func (h *History) collect(of [][]int, find func(int) int) lives {
	l := lives{of: of}
	index := make(map[int]int) // by root
	var counted []unit.Time    // by deadlock: until when KnotFor is
	for i, ids := range of {
		to, open := h.until(i)
		for c, id := range ids {
			comp := h.changes[i].stuck.Components[c]
			n, known := index[find(id)]
			if !known {
				n = len(l.all)
				index[find(id)] = n
				l.all = append(l.all, Deadlock{Interval: Interval{From: h.changes[i].at}})
				counted = append(counted, 0)
			}
			d := &l.all[n]
			d.To, d.Open, d.Knot = to, open, d.Knot || comp.Knot
			if comp.Knot {
				d.KnotFor += to - max(h.changes[i].at, counted[n])
				counted[n] = to
			}
			d.Strong, d.Flooded = d.Strong || comp.Strong, d.Flooded || comp.Flooded
			d.Queues = append(d.Queues, comp.Queues...)
			ids[c] = n
		}
	}
	for i := range l.all {
		slices.SortFunc(l.all[i].Queues, compareQueues)
		l.all[i].Queues = slices.Compact(l.all[i].Queues)
	}
	return l
}
