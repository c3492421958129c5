package workload

import (
	"math"

	"softswitch/internal/stat"
	"softswitch/unit"
)

// arrivals draws the messages of each host as a Poisson process.
func (d *drawing) arrivals() {
	n := len(d.Rates)
	partner := derangement(d.rand(n), n)
	for from := range n {
		r := d.rand(from)
		// The mean time between two messages, in nanoseconds.
		gap := 8 * d.Sizes.Mean() / (d.Load * float64(d.Rates[from])) * float64(unit.Second)
		for active := 0.0; ; {
			active -= gap * math.Log(1-share(r))
			at := d.Start + d.awake(active)
			if at >= d.Stop || active > float64(d.Stop) {
				break
			}
			to := partner[from]
			if d.Pattern == Random {
				to = (from + 1 + r.Below(n-1)) % n
			}
			if !d.add(Message{from, to, d.Sizes.draw(r), at}) {
				return
			}
		}
	}
}

// awake is the time at which a host that is silent now and then has been active for this
// many nanoseconds.
func (d *drawing) awake(active float64) unit.Time {
	if d.On == 0 {
		return unit.Time(active)
	}
	bursts := math.Floor(active / float64(d.On))
	return unit.Time(active + bursts*float64(d.Off))
}

// derangement is an order of n in which none has its own place: a random one whose fixed
// points have changed places with their neighbours.
func derangement(r *stat.Rand, n int) []int {
	p := make([]int, n)
	for i := range p {
		j := r.Below(i + 1)
		p[i], p[j] = p[j], i
	}
	for i := range p {
		if next := (i + 1) % n; p[i] == i {
			p[i], p[next] = p[next], p[i]
		}
	}
	return p
}

// rounds draws what comes all at once, and again after each period.
func (d *drawing) rounds() {
	r := d.rand(0)
	for at := d.Start; at < d.Stop; at += d.Period {
		if !d.round(r, at) || d.Period == 0 {
			return
		}
	}
}

// round draws one round and returns false once there are too many messages.
func (d *drawing) round(r *stat.Rand, at unit.Time) bool {
	n := len(d.Rates)
	ok := true
	add := func(from, to int, share float64) {
		size := share * float64(d.Sizes.draw(r)) / float64(max(1, d.Chunks))
		for range max(1, d.Chunks) {
			ok = ok && d.add(Message{from, to, max(1, int(math.Ceil(size))), at})
		}
	}
	switch d.Pattern {
	case Incast:
		hosts := make([]int, n)
		for i := range hosts {
			hosts[i] = i
		}
		for i := range d.FanIn + 1 { // the first is the receiver
			j := i + r.Below(n-i)
			hosts[i], hosts[j] = hosts[j], hosts[i]
			if i > 0 {
				add(hosts[i], hosts[0], 1)
			}
		}
	case AllToAll:
		for shift := 1; shift < n; shift++ {
			for from := range n {
				add(from, (from+shift)%n, 1)
			}
		}
	case Ring:
		// n-1 steps reduce, n-1 gather, each with an n-th of the bytes.
		for from := range n {
			add(from, (from+1)%n, 2*float64(n-1)/float64(n))
		}
	case Tree:
		// All bytes go up every link of the tree, and the sum comes down.
		for child := 1; child < n; child++ {
			add(child, (child-1)/2, 1)
			add((child-1)/2, child, 1)
		}
	}
	return ok
}
