package conform

import (
	"slices"

	"softswitch/unit"
)

// How late a frame of a control stream came, longer than the soonest one, is how late anything can have
// been on its way then: at the tester, which may have had to wait for a processor, on the way, or at a DUT
// on the same machine. So is how long a processor of this machine stood still. Spans are widened by it: what
// left was heard later, what came had left sooner.

// slot is the time for which one uncertainty holds.
const slot = 5 * unit.Millisecond

// lateness is how late something can have been, by slots.
type lateness []unit.Time

// add says that something was late by this much, from a time to another; the slots beside count too.
func (l *lateness) add(from, to, by unit.Time) {
	for at := max(0, from/slot-1); at <= to/slot+1; at++ {
		if int(at) >= len(*l) {
			*l = append(*l, make([]unit.Time, int(at)+1-len(*l))...)
		}
		(*l)[at] = max((*l)[at], by)
	}
}

// stoodStill is how long a processor stood still in the trial, at worst. A tester that is late does not obey
// pauses in time, lets its own lapse and sends what it owes at once; a DUT on the same machine is late
// likewise. A case that fails then proves nothing, where a processor stood still for longer than tolerable.
func (r *Record) stoodStill() (worst unit.Time) {
	for _, s := range r.Stalls {
		worst = max(worst, min(s.To, r.End)-max(s.From, 0))
	}
	return worst
}

// controlled reports whether the trial had a control stream.
func (r *Record) controlled() bool {
	return slices.ContainsFunc(r.Script.Streams, func(f *Stream) bool { return f.Control })
}

// lateness is what the control streams and the stalls of a record show.
func (r *Record) lateness() (late lateness) {
	for _, s := range r.Stalls {
		late.add(s.From, s.To, s.To-s.From)
	}
	for i, f := range r.Script.Streams {
		s := &r.Streams[i]
		if !f.Control || f.Tally || len(s.Arrivals) == 0 {
			continue
		}
		soonest := unit.Never
		for _, a := range s.Arrivals {
			soonest = min(soonest, a.At.Hi-s.Left[a.Seq].Hi)
		}
		for _, a := range s.Arrivals {
			left := s.Left[a.Seq]
			late.add(left.Lo, a.At.Hi, a.At.Hi-left.Lo-max(soonest, 0))
		}
	}
	return late
}

// widen widens the spans of a live record, by at least this much.
func (r *Record) widen(least unit.Time) {
	if least == 0 {
		return
	}
	late := r.lateness()
	by := func(at unit.Time) unit.Time {
		e := least
		if i := int(at / slot); at >= 0 && i < len(late) {
			e = max(e, late[i])
		}
		r.Uncertain = max(r.Uncertain, e)
		return e
	}
	left := func(spans []Span) {
		for i := range spans {
			spans[i].Hi += by(spans[i].Hi)
		}
	}
	for i := range r.Streams {
		left(r.Streams[i].Left)
		for k := range r.Streams[i].Arrivals {
			at := &r.Streams[i].Arrivals[k].At
			at.Lo -= by(at.Hi)
		}
	}
	for i := range r.Trains {
		left(r.Trains[i].Left)
	}
	for i := range r.Receivers {
		left(r.Receivers[i].Left)
	}
	for i := range r.Seen {
		r.Seen[i].At.Lo -= by(r.Seen[i].At.Hi)
	}
}
