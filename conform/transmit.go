package conform

import (
	"softswitch/buffer"
	"softswitch/unit"
)

// behind is how far a stream may be behind its times and still catch up, in frames; what it missed
// before, while it was paused or its port was busy, it does not send.
const behind = 4

// Transmit implements dataplane.Machine. What is due first goes first; control frames go before data.
func (t *Tester) Transmit(now unit.Time, out unit.Port, fs []*buffer.Frame) (n int, next unit.Time) {
	if len(fs) == 0 {
		return 0, unit.Never // the wire is busy: the driver asks again when it is not
	}
	p := int(out)
	for n < len(fs) {
		b, what, ok := t.next(now, p)
		if !ok {
			break
		}
		f := t.pool.Get()
		if f == nil {
			break // all are lent: the driver asks again when some have left
		}
		f.Data, f.Len = b(f.Data[:0])
		what.at, what.script = now, t.number
		t.ports[p].flight = append(t.ports[p].flight, what)
		fs[n] = f
		n++
	}
	return n, t.wake(now, p)
}

// next is what port p sends now: how it is built, and what it is; ok is false if it sends nothing.
func (t *Tester) next(now unit.Time, p int) (build func(b []byte) ([]byte, int), what flown, ok bool) {
	side := &t.ports[p]
	if len(side.replies) > 0 {
		r := side.replies[0]
		side.replies = side.replies[1:]
		return copied(r), flown{}, true
	}
	if t.script == nil {
		return nil, what, false
	}
	if now >= side.intro {
		side.intro = unit.Never
		c := least(t.task)
		h := t.header(p, (p+1)%len(t.ports), c)
		return func(b []byte) ([]byte, int) {
			return h.frame(b, flowOf(t.number, introduction), 0, now, 64, t.keep, nil)
		}, flown{}, true
	}
	if frame, i := t.nextOfTrains(now, p); frame != nil {
		return copied(frame), flown{kind: flownTrain, index: i}, true
	}
	if frame, what := t.nextOfReceivers(now, p); frame != nil {
		return copied(frame), what, true
	}
	return t.nextOfStreams(now, p)
}

// least is a priority for frames that are of no stream: a lossy one, if there is one.
func least(t *Task) unit.Priority {
	if s := t.Lossy(); s != 0 {
		return s.First()
	}
	return t.Profile.Sendable().First()
}

func copied(frame []byte) func(b []byte) ([]byte, int) {
	return func(b []byte) ([]byte, int) { return append(b, frame...), len(frame) }
}

func (t *Tester) nextOfTrains(now unit.Time, p int) (frame []byte, train int) {
	first := -1
	for i := range t.trains {
		r := &t.trains[i]
		if r.Port == p && r.next(t.began) <= now && (first < 0 || r.next(t.began) < t.trains[first].next(t.began)) {
			first = i
		}
	}
	if first < 0 {
		return nil, 0
	}
	r := &t.trains[first]
	if r.due == unit.Never || r.Stop > 0 && r.due >= t.began+r.Stop {
		r.due, r.last = unit.Never, true
		frame = r.Last
	} else {
		frame = r.Frames[r.n%uint64(len(r.Frames))]
		r.advance(now, t.began)
	}
	frame = append([]byte(nil), frame...)
	putMark(frame, t.number, uint16(first), uint32(len(t.rec.Trains[first].Left)))
	return frame, first
}

// next is when the train sends next, on the driver's clock.
func (r *runner) next(began unit.Time) unit.Time {
	if r.Stop > 0 && r.due >= began+r.Stop {
		if r.last {
			return unit.Never
		}
		return began + r.Stop
	}
	return r.due
}

// advance reckons when the frame after the present one is due.
func (r *runner) advance(now, began unit.Time) {
	r.n++
	switch {
	case r.At != nil && r.n < uint64(len(r.At)):
		r.due = began + r.At[r.n]
	case r.At != nil, r.Count > 0 && r.n >= r.Count:
		r.due = unit.Never
	default:
		r.due += r.Every
		if r.due < now-r.Every { // no burst after a stall
			r.due = now
		}
	}
}

// nextOfStreams is the frame of the stream that is due first and may send.
func (t *Tester) nextOfStreams(now unit.Time, p int) (build func(b []byte) ([]byte, int), what flown, ok bool) {
	first := -1
	for i := range t.streams {
		s := &t.streams[i]
		if s.From != p || s.due > now || t.blocked(now, s) || first >= 0 && s.due >= t.streams[first].due {
			continue
		}
		// What was due in a time to send, and blocked until after it, is not sent.
		if at := t.open(s, now); at > now {
			s.due = at
			continue
		}
		first = i
	}
	if first < 0 || t.ports[p].free > now {
		return nil, what, false
	}
	s, r := &t.streams[first], &t.rec.Streams[first]
	k := int(s.seq % uint64(len(s.Lengths)))
	n, seq := s.Lengths[k], s.seq
	s.seq++
	r.Sent++
	if z := &t.ports[p].paused[s.Priority]; now >= z.since && now < z.until {
		r.Defied++
	}
	every := s.every[k]
	s.due = t.open(s, max(s.due+every, now-behind*every))
	t.ports[p].free = max(t.ports[p].free, now-t.task.Grain) + t.task.FrameTime(p, n)
	return func(b []byte) ([]byte, int) {
		return s.header.frame(b, flowOf(t.number, first), seq, now, n, t.keep, s.Payload)
	}, flown{kind: flownStream, index: first}, true
}

// open is the first time from at on, on the driver's clock, when a stream sends; unit.Never if it does
// not any more.
func (t *Tester) open(s *sender, at unit.Time) unit.Time {
	if s.Count > 0 && s.seq >= s.Count {
		return unit.Never
	}
	if at = s.Stream.open(at - t.began); at < unit.Never {
		at += t.began
	}
	return at
}

// blocked reports whether the DUT's pauses keep a stream from sending.
func (t *Tester) blocked(now unit.Time, s *sender) bool {
	z := &t.ports[s.From].paused[s.Priority]
	switch s.Obey {
	case Ignores:
		return false
	case Late:
		return now >= z.since+s.Late && now < z.until
	}
	return now < z.until
}

// wake is when port p has something to do next.
func (t *Tester) wake(now unit.Time, p int) (next unit.Time) {
	next = unit.Never
	if t.script == nil {
		return next
	}
	next = t.ports[p].intro
	for i := range t.trains {
		if r := &t.trains[i]; r.Port == p {
			next = min(next, r.next(t.began))
		}
	}
	for i := range t.receivers {
		if r := &t.receivers[i]; r.Port == p {
			next = min(next, t.wakeOf(now, r))
		}
	}
	for i := range t.streams {
		s := &t.streams[i]
		if s.From != p || s.due == unit.Never {
			continue
		}
		at := max(s.due, t.ports[p].free)
		if t.blocked(now, s) {
			at = max(at, t.ports[p].paused[s.Priority].until)
		}
		next = min(next, t.open(s, at))
	}
	return max(next, now)
}

// Sent implements dataplane.Machine.
func (t *Tester) Sent(now unit.Time, out unit.Port, fs []*buffer.Frame) {
	side := &t.ports[out]
	for i, f := range fs {
		t.pool.Put(f)
		t.left(side.flight[i], now)
	}
	side.flight = append(side.flight[:0], side.flight[len(fs):]...)
}

// left records that a frame of the script left, by now at the latest.
func (t *Tester) left(w flown, now unit.Time) {
	if t.script == nil || w.script != t.number {
		return
	}
	at := t.relative(Span{w.at, now})
	if t.task.Grain == 0 {
		at.Lo = at.Hi // an exact driver says when the last bit left
	}
	switch w.kind {
	case flownStream:
		if !t.streams[w.index].Tally {
			t.rec.Streams[w.index].Left = append(t.rec.Streams[w.index].Left, at)
		}
	case flownTrain:
		t.rec.Trains[w.index].Left = append(t.rec.Trains[w.index].Left, at)
	case flownReceiver:
		r := &t.rec.Receivers[w.index]
		r.Left, r.Quanta, r.Priority = append(r.Left, at), append(r.Quanta, w.quanta), append(r.Priority, w.priority)
	}
}
