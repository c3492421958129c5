package congestion

import (
	"math"

	"softswitch/unit"
)

// This file is DCQCN and TIMELY as their papers have them, slowly: one event after the
// other, in floats.

// slowReaction is a reaction point (figure 7 and equations 1 to 4 of the DCQCN paper, with
// the timers of HPCC's simulator where a profile has them). A tick is an event of its own
// in a list, however many there are.
type slowReaction struct {
	p          DCQCN
	line       float64
	rc, rt     float64
	alpha      float64
	started    bool
	cnpA, cnpD bool
	ticks      []tick // at most one of a kind
	bytes      int64
	t, b       int // stages
	rounded    int // cuts and rises, each of which is rounded in the fast one
}

// tick is a timer that is to expire.
type tick struct {
	at   unit.Time
	kind kind
}

type kind int

// The kinds in the order in which those of one instant take place.
const (
	alphaTick kind = iota
	cutTick
	riseTick
)

func newSlowReaction(p DCQCN, line unit.Rate) *slowReaction {
	return &slowReaction{p: p, line: float64(line), rc: float64(line), rt: float64(line)}
}

// set starts the timer of a kind anew.
func (r *slowReaction) set(at unit.Time, k kind) {
	for i, e := range r.ticks {
		if e.kind == k {
			r.ticks = append(r.ticks[:i], r.ticks[i+1:]...)
			break
		}
	}
	r.ticks = append(r.ticks, tick{at, k})
}

// until lets all timers up to now expire, the earliest first.
func (r *slowReaction) until(now unit.Time) {
	for len(r.ticks) > 0 {
		first := r.ticks[0]
		for _, e := range r.ticks {
			if e.at < first.at || e.at == first.at && e.kind < first.kind {
				first = e
			}
		}
		if first.at > now {
			return
		}
		switch first.kind {
		case alphaTick:
			r.setAlpha(r.cnpA)
			r.cnpA = false
			r.set(first.at+r.p.AlphaTimer, alphaTick)
		case cutTick:
			r.set(first.at+r.p.CutTimer, cutTick)
			if r.cnpD {
				r.cutRate(first.at)
				r.cnpD = false
			}
		case riseTick:
			r.rise()
			r.t++
			r.set(first.at+r.p.RiseTimer, riseTick)
		}
	}
}

func (r *slowReaction) setAlpha(cnp bool) {
	g := float64(r.p.Gain) / 1024
	r.alpha *= 1 - g
	if cnp {
		r.alpha += g
	}
}

func (r *slowReaction) cutRate(now unit.Time) {
	r.rounded++
	if !r.p.KeepTarget || r.t > 0 {
		r.rt = r.rc
	}
	r.rc = math.Max(float64(r.p.Min), r.rc*(1-r.alpha/2))
	r.t, r.b, r.bytes = 0, 0, 0
	r.set(now+r.p.RiseTimer, riseTick)
}

func (r *slowReaction) rise() {
	if r.rc < r.line {
		r.rounded++
	}
	most, least := max(r.t, r.b), r.t
	if r.p.RiseBytes > 0 {
		least = min(r.t, r.b)
	}
	if most >= r.p.Recovery && least > r.p.Recovery {
		r.rt += float64(r.p.HAI)
	} else if most >= r.p.Recovery {
		r.rt += float64(r.p.AI)
	}
	r.rt = math.Min(r.rt, r.line)
	r.rc = (r.rc + r.rt) / 2
}

func (r *slowReaction) cnp(now unit.Time) {
	r.until(now)
	if !r.started {
		r.started, r.alpha = true, 1
		r.set(now+r.p.AlphaTimer, alphaTick)
		r.set(now+r.p.RiseTimer, riseTick)
		if r.p.CutTimer > 0 {
			r.set(now+r.p.CutTimer, cutTick)
		}
	}
	if r.p.CutTimer > 0 {
		r.cnpA, r.cnpD = true, true
		return
	}
	r.cutRate(now)
	r.setAlpha(true)
	r.set(now+r.p.AlphaTimer, alphaTick)
}

func (r *slowReaction) sent(now unit.Time, bytes int) {
	r.until(now)
	if !r.started || r.p.RiseBytes == 0 {
		return
	}
	for r.bytes += int64(bytes); r.bytes >= r.p.RiseBytes; r.bytes -= r.p.RiseBytes {
		r.rise()
		r.b++
	}
}

// slowTimely is algorithm 1 of the TIMELY paper, with its hyper-active increase.
type slowTimely struct {
	p          TimelyParams
	line, rate float64
	prev       unit.Time
	diff       float64 // of round-trip times, smoothed
	falling    int
	changes    int
}

// gradient is what the normalized gradient would be with the round-trip time rtt.
func (t *slowTimely) gradient(rtt unit.Time) (diff, gradient float64) {
	if t.prev == 0 {
		return 0, 0
	}
	w := float64(t.p.Weight) / 1000
	diff = (1-w)*t.diff + w*float64(rtt-t.prev)
	return diff, diff / float64(t.p.MinRTT)
}

func (t *slowTimely) acked(rtt unit.Time) {
	t.changes++
	diff, gradient := t.gradient(rtt)
	t.diff, t.prev = diff, rtt
	if gradient <= 0 {
		t.falling++
	} else {
		t.falling = 0
	}
	beta, step := float64(t.p.Beta)/1000, float64(t.p.Step)
	switch {
	case rtt < t.p.Low:
		t.rate += step
	case rtt > t.p.High:
		t.rate *= 1 - beta*(1-float64(t.p.High)/float64(rtt))
	case gradient <= 0 && t.falling >= t.p.HAIAfter:
		t.rate += float64(t.p.HAISteps) * step
	case gradient <= 0:
		t.rate += step
	default:
		t.rate *= 1 - beta*gradient
	}
	t.rate = math.Min(math.Max(t.rate, float64(t.p.Min)), t.line)
}
