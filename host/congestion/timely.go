package congestion

import (
	"fmt"
	"math"
	"math/bits"

	"softswitch/unit"
)

// TimelyParams is the parameters of TIMELY (Mittal et al., "TIMELY: RTT-based Congestion
// Control for the Datacenter", SIGCOMM 2015).
type TimelyParams struct {
	// Low and High are T_low and T_high: with a shorter round trip the rate always rises,
	// with a longer one it always falls.
	Low, High unit.Time
	// MinRTT makes a difference of round-trip times a gradient.
	MinRTT unit.Time
	// Interval is how long to wait between two completions; those that come sooner are not
	// looked at. The paper has one per segment of 16 to 64 KB, which takes about that long.
	Interval unit.Time
	// Weight is alpha, in 1/1000: of the newest difference in the mean.
	Weight int64
	// Beta is by how much the rate falls, in 1/1000.
	Beta uint64
	// Step is delta, by which the rate rises, and Min the lowest rate.
	Step, Min unit.Rate
	// HAIAfter is how many completions in a row without a rising round-trip time make the
	// steps HAISteps times as large.
	HAIAfter, HAISteps int
}

// DefaultTimely is the paper's parameters (section 4.3), which are for 10 Gbit/s, with Step
// in proportion to line. MinRTT is 20 us as in Zhu et al., "ECN or Delay", CoNEXT 2016, and
// so is the least time between two updates; the lowest rate is one Step. The error says
// that line has to be above 0.
func DefaultTimely(line unit.Rate) (TimelyParams, error) {
	if line <= 0 {
		return TimelyParams{}, fmt.Errorf("congestion: a line of %d bit/s; valid: above 0, for TIMELY needs a rate to fall from", line)
	}
	const us = unit.Microsecond
	step := max(1, line/1000)
	return TimelyParams{
		Low: 50 * us, High: 500 * us, MinRTT: 20 * us, Interval: 20 * us, Weight: 875, Beta: 800,
		Step: step, Min: step, HAIAfter: 5, HAISteps: 5,
	}, nil
}

// Slow is p for an experiment that is played n times slower, as DCQCN.Slow.
func (p TimelyParams) Slow(n int) TimelyParams {
	for _, t := range []*unit.Time{&p.Low, &p.High, &p.MinRTT, &p.Interval} {
		*t *= unit.Time(n)
	}
	for _, r := range []*unit.Rate{&p.Step, &p.Min} {
		*r = max(1, *r/unit.Rate(n))
	}
	return p
}

// Timely is what TIMELY makes of the round-trip times of a flow. NewTimely makes one; the
// zero value is not usable.
type Timely struct {
	p       *TimelyParams
	line    unit.Rate
	rate    unit.Rate
	last    unit.Time // completion
	rtt     unit.Time // of it; 0 if there was none
	slope   int64     // the gradient, smoothed, in 1/level
	falling int       // completions in a row with a gradient of 0 or less, at most HAIAfter
}

// A gradient of 1 is level; one beyond steepest counts as steepest, which takes the rate to
// its minimum for long, and one below 2^-32 as 0.
const (
	levelBits = 32
	level     = 1 << levelBits
	steepest  = 1 << 20 * level
)

// NewTimely is a flow that begins at rate start, on a link of rate line, with parameters
// that have to stay as they are as long as it is used.
func NewTimely(p *TimelyParams, line, start unit.Rate) Timely {
	return Timely{p: p, line: line, rate: min(max(start, p.Min), line)}
}

// Rate is how fast the flow may send, in bits per second on the wire.
func (t *Timely) Rate() unit.Rate { return t.rate }

// Acked takes note of a completion: what was acknowledged at now was rtt, which is above 0,
// under way.
func (t *Timely) Acked(now, rtt unit.Time) {
	p := t.p
	if t.rtt > 0 && now-t.last < p.Interval {
		return
	}
	if t.rtt > 0 {
		t.slope = (t.slope*(1000-p.Weight) + gradient(rtt-t.rtt, p.MinRTT)*p.Weight) / 1000
	}
	t.last, t.rtt = now, rtt
	if t.slope > 0 {
		t.falling = 0
	} else {
		t.falling = min(t.falling+1, p.HAIAfter)
	}
	switch {
	case rtt < p.Low:
		t.rate += p.Step
	case rtt > p.High:
		t.lower(p.Beta*uint64(rtt-p.High), 1000*uint64(rtt))
	case t.slope > 0:
		t.lower(p.Beta*uint64(t.slope), 1000*level)
	case t.falling == p.HAIAfter:
		t.rate += p.Step * unit.Rate(p.HAISteps)
	default:
		t.rate += p.Step
	}
	t.rate = min(max(t.rate, p.Min), t.line)
}

// lower takes num/den of the rate away, rounded down, or more than all of it.
func (t *Timely) lower(num, den uint64) {
	t.rate -= unit.Rate(min(scaled(uint64(t.rate), num, den), uint64(t.rate)))
}

// gradient is diff/min in 1/level, rounded towards 0.
func gradient(diff, min unit.Time) int64 {
	if diff < 0 {
		return -gradient(-diff, min)
	}
	g := scaled(uint64(diff), level, uint64(min))
	if g > steepest {
		return steepest
	}
	return int64(g)
}

// scaled is a x num / den, rounded down, or the greatest number if it is greater.
func scaled(a, num, den uint64) uint64 {
	hi, lo := bits.Mul64(a, num)
	if hi >= den {
		return math.MaxUint64
	}
	q, _ := bits.Div64(hi, lo, den)
	return q
}
