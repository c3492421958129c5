package conform

import (
	"cmp"
	"fmt"
	"slices"

	"softswitch/internal/ether"
	"softswitch/unit"
)

// Captured is a frame of a record as it passed a port of the tester.
type Captured struct {
	Port int
	Out  bool // it left the tester
	At   Span
	// Frame is its bytes without FCS: of a frame of a stream as it was sent, of a control frame of the DUT
	// the first 128.
	Frame Frame
	// Comment is why the frame matters, "" of the many that do not.
	Comment string
}

// Captured builds the frames of a record again, in the order of their times, with comments on those that a
// judge looks at: those that did not come, or came while their priority was paused, the first and last frame of a
// train, and the tester's own that came back. Frames of a stream that is a Tally are left out: nobody knows
// when they passed.
func (r *Record) Captured(t *Task) (all []Captured) {
	build := &Tester{task: t}
	number := uint16(r.Trial + 1)
	for i, f := range r.Script.Streams {
		x := &r.Streams[i]
		s := build.sender(i, f)
		frame := func(seq uint64, at unit.Time, ce bool) Frame {
			h := s.header
			if ce {
				h.tos |= ether.CE
			}
			n := f.Lengths[seq%uint64(len(f.Lengths))]
			return h.put(nil, flowOf(number, i), seq, at, n, n+ether.VLANLen, f.Payload)
		}
		came := make([]bool, len(x.Left))
		for k, a := range x.Arrivals {
			port, comment := f.To, ""
			if f.Anywhere {
				port = a.Port
			}
			if a.Seq < uint64(len(came)) {
				came[a.Seq] = true
			}
			if k > 0 && a.Seq < x.Arrivals[k-1].Seq {
				comment = fmt.Sprintf("stream %s: frame %d came after %d", f.Name, a.Seq, x.Arrivals[k-1].Seq)
			}
			if of, w, is := r.pausedAt(t, port, f.Priority, a.At); is {
				comment = fmt.Sprintf("stream %s: frame %d came while the storm %s paused priority %d, in force from %v to %v", f.Name, a.Seq, of, f.Priority, w.From, w.To)
			}
			all = append(all, Captured{port, false, a.At, frame(a.Seq, a.At.Lo, a.CE), comment})
		}
		for seq, at := range x.Left {
			comment := ""
			if !came[seq] && !f.Tally {
				comment = fmt.Sprintf("stream %s: frame %d did not come", f.Name, seq)
			}
			all = append(all, Captured{f.From, true, at, frame(uint64(seq), at.Lo, false), comment})
		}
	}
	for i, f := range r.Script.Trains {
		for n, at := range r.Trains[i].Left {
			frame, comment := f.Frames[n%len(f.Frames)], ""
			last := n == len(r.Trains[i].Left)-1
			if last && f.Last != nil {
				frame = f.Last
			}
			frame = slices.Clone(frame)
			putMark(frame, number, uint16(i), uint32(n))
			switch {
			case n == 0:
				comment = fmt.Sprintf("train %s: its first frame", f.Name)
			case last:
				comment = fmt.Sprintf("train %s: its last frame", f.Name)
			}
			all = append(all, Captured{f.Port, true, at, frame, comment})
		}
	}
	for i, f := range r.Script.Receivers {
		x := &r.Receivers[i]
		for n, at := range x.Left {
			frame := t.Frame(Pause(1<<x.Priority[n], x.Quanta[n]), f.Port)
			all = append(all, Captured{f.Port, true, at, frame, ""})
		}
	}
	for i := range r.Seen {
		s, comment := &r.Seen[i], ""
		if s.Own {
			comment = "the tester sent this frame by another port: the DUT let it out again"
		}
		all = append(all, Captured{s.Port, false, s.At, s.Frame, comment})
	}
	for i := range all {
		all[i].Comment = r.inPhase(all[i].Comment, all[i].At)
	}
	slices.SortStableFunc(all, func(a, b Captured) int { return cmp.Compare(a.When(), b.When()) })
	return all
}

// When is the one time of a frame in a capture: of one that came the latest, and of one that left the
// earliest, so that a frame stands there before its arrival.
func (c *Captured) When() unit.Time {
	if c.Out {
		return c.At.Lo
	}
	return c.At.Hi
}

// inPhase adds to a comment in which phase of the script the frame is.
func (r *Record) inPhase(comment string, at Span) string {
	if comment == "" {
		return ""
	}
	for _, p := range r.Script.Phases {
		if at.Lo >= p.From && at.Lo < p.To {
			return comment + "; phase " + p.Name
		}
	}
	return comment
}

// pausedAt is the storm that surely had a priority paused at a port when a frame came.
func (r *Record) pausedAt(t *Task, port int, c unit.Priority, at Span) (storm string, w Window, is bool) {
	for _, f := range r.Script.Trains {
		if f.Port != port || !f.Set.Has(c) || f.Pause == 0 {
			continue
		}
		if w, ok := r.Paused(t, f.Name); ok && w.surely(at) {
			return f.Name, w, true
		}
	}
	return "", w, false
}
