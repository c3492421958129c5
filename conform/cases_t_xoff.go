package conform

import (
	"fmt"

	"softswitch/internal/ether"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// How soon XOFF is sent: T08 and T09 of cases_t.go.

// How often frames go one by one up to the XOFF point in T08 and T09: to find it, or, where the profile does
// not know it and it may move, to measure. In how many trials at most, and how many bursts there are, by how a
// DUT lets go: where a pause has to run out after each, fewer.
const (
	slowXOFF   = 3
	onlyXOFF   = 12
	triesXOFF  = 8
	burstsXOFF = 30
	fewXOFF    = 5
)

// boundXOFF is how long after the frame that reaches XOFF a pause may come: behind a frame of the MTU.
func boundXOFF(t *Task) unit.Time {
	return 2*t.FrameTime(0, t.MaxFrame()+ether.VLANLen) + t.FrameTime(0, pfcframe.Len) + t.Profile.PFC.Slack + 2*t.Profile.Buffer.Delay
}

// xoffNext is the next script of T08 and T09. The point is found first, by frames so slow that one has been
// answered before the next one comes; then bursts go beyond it. Where XOFF is not known, it may depend on what
// else the DUT holds, and it is left at slow frames: a pause that is late comes at any time between two.
func xoffNext(t *Task, done []*Record, loaded bool) *Script {
	found, missed, d := 0, 0, t.Storm(300*unit.Millisecond)
	gap := max(5*t.FrameTime(0, t.MaxFrame()), 2*boundXOFF(t))
	for _, r := range done {
		if r.Train("burst") != nil {
			return nil
		}
		if _, _, ok := pointXOFF(t, r); ok {
			found++
			continue
		}
		missed++
		// Not enough: for longer, or faster if the watchdog would see it.
		if d *= 2; d > t.Patience() {
			d, gap = t.Patience(), max(gap/2, t.FrameTime(0, t.MaxFrame()))
		}
	}
	switch known := t.Profile.Buffer.XOFF.Is; {
	case known && found == slowXOFF:
		return xoffBursts(t, done, loaded)
	case missed == triesXOFF, !known && found == onlyXOFF:
		return nil
	}
	return xoffSlow(t, d, gap, loaded)
}

// load fills port 0 with frames of all priorities from the other ports, at times, if it is loaded. What shows
// the tester's silences goes another way then.
func (s *Script) load(loaded bool, at []Phase) {
	t := s.task
	quiet := t.Time(100 * unit.Millisecond)
	if !loaded {
		s.Send(backStream(t, 1, 0, quiet)).Start = at[0].From
		return
	}
	if c, ok := t.innocent(1 << t.Lossless().First()); ok {
		s.Send(Stream{Name: "aside", From: 0, To: 2, Priority: c, Control: true, Quiet: quiet}).Start = at[0].From
	}
	set := t.Profile.Sendable()
	if !t.Profile.Buffer.XOFF.Is && t.Lossy() != 0 {
		set = t.Lossy() // what lossless ones hold may move XOFF
	}
	for from := 1; from <= 2; from++ {
		for more := set; more != 0; more &= more - 1 {
			c := more.First()
			rate := t.Speed(from)
			if t.Safe > 0 {
				rate = min(rate, t.Safe)
			}
			s.Send(Stream{
				Name: fmt.Sprintf("priority %d of port %s", c, t.Profile.Ports[from].Name), From: from, To: 0, Priority: c,
				Lengths: []int{t.MaxFrame()}, Rate: rate / unit.Rate(set.Len()), Only: at, Tally: true,
			}).Start = at[0].From
		}
	}
}

// drainXOFF is how long it takes until all is out that so many frames left behind, and the DUT's pauses are
// over.
func drainXOFF(t *Task, frames int) unit.Time {
	d := unit.Time(frames+8)*t.FrameTime(1, t.MaxFrame()) + 2*t.Allowance(0) + t.Time(30*unit.Millisecond)
	if t.Profile.PFC.Resume == "expiry" {
		d += t.ownPause(0)
	}
	return d
}

func xoffSlow(t *Task, d, gap unit.Time, loaded bool) *Script {
	c := t.Lossless().First()
	s := t.Script(fmt.Sprintf("frames of the MTU each %v into a stopped port", gap))
	s.Storm("stop", 1, 1<<c, 65535)
	wait := t.Allowance(1) + t.Time(10*unit.Millisecond)
	s.load(loaded, []Phase{{From: s.Now(), To: s.Now() + wait + d}})
	s.Wait(wait)
	n := t.MaxFrame()
	s.Send(Stream{Name: "test", From: 0, To: 1, Priority: c, Lengths: []int{n}, Rate: max(1, unit.Rate(int64(n+unit.WireOverhead)*8*int64(unit.Second)/int64(gap)))})
	s.Phase("stopped", d)
	s.Halt("test")
	s.Release("stop")
	s.Phase("go", drainXOFF(t, int(d/gap)))
	return s
}

// firstPause is the first pause of a priority at port 0 in a window.
func firstPause(r *Record, c unit.Priority, w Window) (p PauseSeen, ok bool) {
	for _, p := range r.PausesOf(0, c) {
		if p.Quanta > 0 && w.maybe(p.At) {
			return p, true
		}
	}
	return p, false
}

// pointXOFF is which frame of a slow trial reached the XOFF point, counted from 0: at the earliest, if the pause
// came in time, and at the latest.
func pointXOFF(t *Task, r *Record) (lo, hi int, ok bool) {
	p, ok := firstPause(r, t.Lossless().First(), r.Phase("stopped").Window())
	if !ok {
		return 0, 0, false
	}
	lo, hi = -1, -1
	for i, left := range r.Stream("test").Left {
		came := left.Plus(t.Profile.Buffer.Delay)
		if came.Lo > p.At.Hi {
			break
		}
		hi = i
		if lo < 0 && came.Hi >= p.At.Lo-boundXOFF(t) {
			lo = i
		}
	}
	if lo < 0 {
		lo = hi
	}
	return lo, hi, hi >= 0
}

// pointsXOFF is that of all slow trials.
func pointsXOFF(t *Task, done []*Record) (lo, hi int, ok bool) {
	for _, r := range done {
		if r.Train("burst") != nil {
			continue
		}
		l, h, is := pointXOFF(t, r)
		switch {
		case !is:
		case !ok:
			lo, hi, ok = l, h, true
		default:
			lo, hi = min(lo, l), max(hi, h)
		}
	}
	return lo, hi, ok
}

func xoffBursts(t *Task, done []*Record, loaded bool) *Script {
	c := t.Lossless().First()
	_, hi, _ := pointsXOFF(t, done)
	n := burstsXOFF
	if t.Profile.PFC.Resume == "expiry" {
		n = fewXOFF
	}
	s := t.Script("bursts of frames of the MTU into a stopped port")
	// Pauses and resumes in one train: what is stopped for so short is no storm that could lapse.
	stop := Train{Name: "burst", Port: 1}
	var bursts, loads []Phase
	wait := t.Allowance(1) + t.Time(10*unit.Millisecond)
	burst := unit.Time(hi+4)*t.FrameTime(0, t.MaxFrame()) + 2*boundXOFF(t)
	repeat := t.Quanta(1, 65535) / 3
	for range n {
		from := s.Now()
		for at := from; at < from+wait+burst; at += repeat {
			stop.Frames, stop.At = append(stop.Frames, t.Frame(Pause(1<<c, 65535), 1)), append(stop.At, at)
		}
		s.Wait(wait)
		bursts = append(bursts, s.Phase("burst", burst))
		loads = append(loads, Phase{From: from, To: s.Now()})
		stop.Frames, stop.At = append(stop.Frames, t.Frame(Pause(1<<c, 0), 1)), append(stop.At, s.Now())
		s.Wait(drainXOFF(t, hi+4+int(2*boundXOFF(t)/t.FrameTime(0, t.MaxFrame()))))
	}
	s.Trains = append(s.Trains, &stop)
	test := s.Send(Stream{Name: "test", From: 0, To: 1, Priority: c, Lengths: []int{t.MaxFrame()}, Rate: LineRate, Only: bursts})
	test.Start = bursts[0].From
	s.load(loaded, loads)
	return s
}

func judgeXOFF(t *Task, done []*Record, j *Judge) {
	c := t.Lossless().First()
	lo, hi, ok := pointsXOFF(t, done)
	j.True("a pause of the priority as frame after frame fills the DUT", ok, map[bool]string{true: "came", false: "none came"}[ok], "one")
	if !ok {
		return
	}
	j.Note("XOFF is reached by frame %d to %d of %s", lo+1, hi+1, unit.Count(t.MaxFrame(), "byte"))
	least, most := unit.Never, unit.Time(0)
	for k, r := range done {
		j.Whole(r, "test")
		left := r.Stream("test").Left
		if r.Train("burst") == nil {
			if p, ok := firstPause(r, c, r.Phase("stopped").Window()); ok && !t.Profile.Buffer.XOFF.Is {
				_, last, _ := pointXOFF(t, r)
				late := p.At.Minus(left[last].Plus(t.Profile.Buffer.Delay))
				least, most = min(least, late.Hi), max(most, late.Hi)
				j.Time(fmt.Sprintf("trial %d: from a frame to the pause before the next", k+1), late, -unit.Second, boundXOFF(t))
			}
			continue
		}
		for i, w := range r.Script.Phases {
			first := 0
			for first < len(left) && left[first].Lo < w.From {
				first++
			}
			end := first
			for end < len(left) && left[end].Lo <= w.To {
				end++
			}
			p, ok := firstPause(r, c, Exactly(w.From, w.To))
			what := fmt.Sprintf("burst %d", i+1)
			if !ok || end == first {
				j.Some(what+": pauses of the priority", Count{0, uint64(end - first)})
				continue
			}
			at := func(k int) Span { return left[min(first+k, end-1)].Plus(t.Profile.Buffer.Delay) }
			late := Span{p.At.Lo - at(hi).Hi, p.At.Hi - at(lo).Lo}
			least, most = min(least, late.Hi), max(most, late.Hi)
			j.Time(what+": from the frame that reaches XOFF to the pause", late, -unit.Second, boundXOFF(t))
		}
	}
	if most > 0 {
		j.Found("xoff latency", float64(least)/1000, float64(most)/1000, "us")
	}
}
