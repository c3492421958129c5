package oracle

import (
	"cmp"
	"slices"

	"softswitch/oracle/clocks"
	"softswitch/unit"
)

// steps is a fact of one node over time: what it is from each of these times on, by the
// node's own clock. Before the first it is 0, which each kind of fact has for "nothing": no bytes, no
// pause, nothing in a headroom. Invariant: the times are in order and none is there twice.
type steps []stepTo

type stepTo struct {
	at unit.Time
	is int
}

// set notes that the fact has a value from a time on. Of several at one time the last
// counts, as S* is that of the end of an instant; what was between never was.
func (s *steps) set(at unit.Time, is int) {
	if n := len(*s); n > 0 && (*s)[n-1].at == at {
		(*s)[n-1].is = is
		return
	}
	*s = append(*s, stepTo{at, is})
}

// turn is when a value of a fact becomes possible, or is so no longer.
type turn struct {
	at  unit.Time
	add bool
	n   int // of the fact's values, from 0 for that before the first
}

// turns are those of all values, by the reference, in order: value n is possible from the
// earliest time at which it can have begun until the latest at which the next must have.
//
// So at each time one value at least is possible, if no bound is empty: the next value is added before
// one is taken away, or at the same time and ahead of it, as the sort is stable.
func (s steps) turns(when func(unit.Time) clocks.Interval) []turn {
	all := make([]turn, 0, 2*len(s))
	for i, v := range s {
		b := when(v.at)
		all = append(all, turn{b.From, true, i + 1}, turn{b.To, false, i})
	}
	slices.SortStableFunc(all, func(a, b turn) int { return cmp.Compare(a.at, b.at) })
	return all
}

// value is the fact's value number n.
func (s steps) value(n int) int {
	if n == 0 {
		return 0
	}
	return s[n-1].is
}

// least are the steps of the least that the fact can be, by the reference; with sign -1
// of the greatest.
//
// Values become possible in their order and cease to be in the same order, so the least of those that
// are is that of a sliding window. A value that a later one is not above will never be the least
// again, since the later one stays longer, and is dropped. Each is added once and dropped once: the
// time is linear, but for the sort. The result is taken after all turns of one time.
func (s steps) least(when func(unit.Time) clocks.Interval, sign int) steps {
	window := []int{0} // the possible values that no later one is below, in order
	var out steps
	all := s.turns(when)
	for i, t := range all {
		if t.add {
			v := sign * s.value(t.n)
			for len(window) > 0 && sign*s.value(window[len(window)-1]) >= v {
				window = window[:len(window)-1]
			}
			window = append(window, t.n)
		} else if window[0] == t.n {
			window = window[1:]
		}
		if i+1 == len(all) || all[i+1].at > t.at {
			if now := s.value(window[0]); out.value(len(out)) != now {
				out.set(t.at, now)
			}
		}
	}
	return out
}

// Values of the facts of which pause is active, and in which period a priority group is XOFF: none, or a
// period and 1. A period has 8 bits, so 1 to 256 are periods, and anyPeriod is the next number: a
// pause that carried none.
const (
	noPeriod  = 0
	anyPeriod = 257
)

// meet are the times at which a queue and the priority group that it waits for are in the same
// period for sure, and those at which they may be: 1 from a time on, or 0. The two are on different
// nodes, and may use different clocks; what each may be does not depend on the other.
func meet(queue, pg steps, queueWhen, pgWhen func(unit.Time) clocks.Interval) (surely, possibly steps) {
	var m meeting
	m.add(&m.queue, &m.pg, noPeriod, 1)
	m.add(&m.pg, &m.queue, noPeriod, 1)
	q, b := queue.turns(queueWhen), pg.turns(pgWhen)
	for len(q) > 0 || len(b) > 0 {
		now := unit.Never
		for _, of := range [...][]turn{q, b} {
			if len(of) > 0 {
				now = min(now, of[0].at)
			}
		}
		for ; len(q) > 0 && q[0].at == now; q = q[1:] {
			m.add(&m.queue, &m.pg, queue.value(q[0].n), q[0].change())
		}
		for ; len(b) > 0 && b[0].at == now; b = b[1:] {
			m.add(&m.pg, &m.queue, pg.value(b[0].n), b[0].change())
		}
		surely.turn(now, m.surely())
		possibly.turn(now, m.possibly())
	}
	return surely, possibly
}

func (t turn) change() int {
	if t.add {
		return 1
	}
	return -1
}

// turn notes that a fact that is 0 or 1 is on or off from a time on.
func (s *steps) turn(at unit.Time, on bool) {
	is := 0
	if on {
		is = 1
	}
	if s.value(len(*s)) != is {
		s.set(at, is)
	}
}

// meeting is in which periods a queue and the priority group that it waits for may be at a time.
type meeting struct {
	queue, pg values
	common    int // periods in which both may be
}

// values counts how often a fact may have each value: the same period may be there twice, before and
// after another one, and is possible until both are gone.
type values struct {
	count [anyPeriod + 1]int
	kinds int // values that it may have
}

// add counts the value is n times more in to. kinds and common change only when it becomes possible by
// that or ceases to be.
func (m *meeting) add(to, other *values, is, n int) {
	was := to.count[is] > 0
	to.count[is] += n
	now := to.count[is] > 0
	if was == now {
		return
	}
	to.kinds += n
	if is != noPeriod && other.count[is] > 0 {
		m.common += n
	}
}

// possibly reports whether some value that the queue may have meets some that the priority group may have: a
// period that both have, or a pause by any period with whatever period of a priority group that is XOFF.
func (m *meeting) possibly() bool {
	xoff := m.pg.kinds > 1 || m.pg.count[noPeriod] == 0
	return m.common > 0 || xoff && m.queue.count[anyPeriod] > 0
}

// surely reports that each value that the queue may have meets each that the priority group may have. A
// queue that may have several is never sure, even where each of them would do; that leaves something
// undecided, and proves nothing wrong. Nor is a priority group sure that may be XON. With a pause by any
// period it does not matter in which of several periods the priority group is.
func (m *meeting) surely() bool {
	if m.queue.kinds > 1 || m.pg.count[noPeriod] > 0 {
		return false
	}
	return m.queue.count[anyPeriod] > 0 || m.common > 0 && m.pg.kinds == 1
}
