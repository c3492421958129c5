package clocks

import (
	"softswitch/unit"
)

// MaxDrift is how much faster or slower than true time a clock may run, in parts per
// million. Crystals of servers keep to 100 at any temperature (IEEE 802.3 asks for 100 of
// their NICs), and Linux steers CLOCK_MONOTONIC by at most 500 while NTP pulls it, but by a
// few tens in the long run (adjtimex(2)).
const MaxDrift = 200

// Drift is by how much a clock may be wrong about how long something took, in ns, rounded up. Whole
// milliseconds and the rest are taken apart, so that no product exceeds 64 bits.
func Drift(t unit.Time) unit.Time { return t/1e6*MaxDrift + t%1e6*MaxDrift/1e6 + 1 }

// relative is by how much two clocks may drift apart, in parts per million of one of them:
// 2 x MaxDrift, and the rest for what is of second order.
const relative = 2*MaxDrift + 1

// Window is how far from a moment frames count for what they say of the offset there. A
// clock must not step twice within two of them. Chosen: the longer it is the more frames count, and the more
// is assumed of steps; within a second two clocks drift apart by 0.4 ms at most (relative).
const Window = unit.Second

// Stamp is a moment by one of the clocks, which are numbered from 0.
type Stamp struct {
	Clock int
	At    unit.Time
}

// Pair is a frame: when it left, by the clock of its sender, and when it came, by that of
// its receiver.
type Pair struct{ Sent, Received Stamp }

// Interval is from the earliest to the latest time that something can have happened at.
// -unit.Never and unit.Never mean that there is no such bound.
type Interval struct{ From, To unit.Time }

var unbounded = Interval{-unit.Never, unit.Never}

func (i Interval) empty() bool { return i.From > i.To }

// Width is how far apart the bounds are, unit.Never if one is missing.
func (i Interval) Width() unit.Time {
	if i.From == -unit.Never || i.To == unit.Never {
		return unit.Never
	}
	return i.To - i.From
}

// Over are the bounds by another clock of something in the interval, given those of each moment: no
// earlier than the earlier end can be, and no later than the later one.
func (i Interval) Over(bounds func(unit.Time) Interval) Interval {
	out := unbounded
	if i.From != -unit.Never {
		out.From = bounds(i.From).From
	}
	if i.To != unit.Never {
		out.To = bounds(i.To).To
	}
	return out
}

func (i Interval) and(j Interval) Interval { return Interval{max(i.From, j.From), min(i.To, j.To)} }
func (i Interval) hull(j Interval) Interval {
	return Interval{min(i.From, j.From), max(i.To, j.To)}
}

// Net is what frames say of several clocks.
type Net struct {
	n     int
	edges []*edge // by [of*n + on]; nil for two clocks that share no frame
}

// New is what these frames say of n clocks. Frames that left and came by the same clock say
// nothing.
func New(n int, pairs []Pair) *Net {
	net := &Net{n: n, edges: make([]*edge, n*n)}
	for _, p := range pairs {
		s, r := p.Sent, p.Received
		if s.Clock == r.Clock {
			continue
		}
		// What was sent at s.At, by s.Clock, was before r.At; and the other way round.
		net.edge(s.Clock, r.Clock).most.add(s.At, r.At)
		net.edge(r.Clock, s.Clock).least.add(r.At, s.At)
	}
	for _, e := range net.edges {
		if e != nil {
			e.build()
		}
	}
	return net
}

// edge is what is known of times of one clock by another, made when the first frame between them is met.
func (n *Net) edge(of, on int) *edge {
	e := &n.edges[of*n.n+on]
	if *e == nil {
		*e = new(edge)
	}
	return *e
}

// Bounds are between what times of clock on the moment was.
func (n *Net) Bounds(of Stamp, on int) Interval {
	if all := n.routes(of, on, (*edge).bounds); !all.empty() {
		return all
	}
	return n.Causal(of, on) // the clocks contradict each other by way of third ones
}

// Causal are the bounds that follow from causality alone.
func (n *Net) Causal(of Stamp, on int) Interval { return n.routes(of, on, (*edge).causal) }

// routes is where all ways from one clock to the other agree: the direct one, those by one
// clock between them, and where there is none of either a shortest one. Each way is a bound that holds,
// so where they meet holds too; longer ways are left out, as each frame on a way loosens it.
func (n *Net) routes(of Stamp, on int, bounds func(*edge, unit.Time) Interval) Interval {
	x := Interval{of.At, of.At}
	if of.Clock == on {
		return x
	}
	all, found := unbounded, false
	if e := n.edges[of.Clock*n.n+on]; e != nil {
		all, found = e.over(x, bounds), true
	}
	for by := range n.n {
		first, second := n.edges[of.Clock*n.n+by], n.edges[by*n.n+on]
		if first != nil && second != nil {
			all, found = all.and(second.over(first.over(x, bounds), bounds)), true
		}
	}
	if found {
		return all
	}
	for _, next := range n.way(of.Clock, on) {
		x = n.edges[of.Clock*n.n+next].over(x, bounds)
		of.Clock = next
		found = true
	}
	if !found {
		return unbounded
	}
	return x
}

// way are the clocks after the first on a shortest way between two; none if there is no way.
func (n *Net) way(from, to int) (way []int) {
	next := make([]int, n.n) // towards to, + 1
	next[to] = to + 1
	for work := []int{to}; len(work) > 0; work = work[1:] {
		for c := range n.n {
			if next[c] == 0 && n.edges[c*n.n+work[0]] != nil {
				next[c] = work[0] + 1
				work = append(work, c)
			}
		}
	}
	for c := from; c != to; {
		if next[c] == 0 {
			return nil
		}
		c = next[c] - 1
		way = append(way, c)
	}
	return way
}
