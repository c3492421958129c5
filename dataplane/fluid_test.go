package dataplane

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"softswitch/buffer"
	"softswitch/internal/ether"
	"softswitch/internal/testkit"
	"softswitch/unit"
)

// fluid is the scheduler without frames, after Parekh and Gallager's generalized processor sharing: each
// backlogged weighted queue is served all the time, in proportion to its weight, with what strict ones leave.
type fluid struct {
	scheduler Scheduler
	backlog   [unit.Priorities]float64
	served    [unit.Priorities]float64
}

// serve gives bytes of the link's time to the queues.
func (f *fluid) serve(bytes float64) {
	for c := unit.Priorities - 1; c >= 0; c-- {
		if f.scheduler.Strict.Has(unit.Priority(c)) {
			n := min(bytes, f.backlog[c])
			f.take(c, n)
			bytes -= n
		}
	}
	// Until nothing is left to give, or nobody to take it: the one that is empty first ends a step.
	for bytes > 1e-6 {
		weights, step := 0.0, math.Inf(1)
		for c := range unit.Priorities {
			if w := f.weight(c); w > 0 {
				weights += w
				step = min(step, f.backlog[c]/w)
			}
		}
		if weights == 0 {
			return
		}
		step = min(step, bytes/weights)
		for c := range unit.Priorities {
			if w := f.weight(c); w > 0 {
				f.take(c, step*w)
			}
		}
		bytes -= step * weights
	}
}

// weight is that of a queue that has something to send and is not strict, else 0.
func (f *fluid) weight(c int) float64 {
	if f.backlog[c] < 1e-6 {
		return 0
	}
	return float64(f.scheduler.Weight(unit.Priority(c)))
}

func (f *fluid) take(c int, n float64) {
	f.backlog[c] -= n
	f.served[c] += n
}

// What each of eight queues gets in a window is what the fluid gives it: within 2 % of the link's time
// over 50 rounds. Of 50 settings (make test: 10), with strict and weighted queues, some of them with less to send than
// they may, and frames of all lengths, jumbo ones too.
func TestFluid(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	worst := 0.0
	for range testkit.Sized(10, 50) {
		worst = max(worst, likeFluid(t, r))
	}
	t.Logf("at most %.2f %% of the link's time apart", 100*worst)
}

// likeFluid is how far a random setting was apart from the fluid, as a share of the window.
func likeFluid(t *testing.T, r *rand.Rand) (worst float64) {
	longest := [...]int{1514, 9230}[r.IntN(2)]
	var scheduler Scheduler
	var sizes [unit.Priorities][2]int
	var load [unit.Priorities]float64 // of the link, by each queue
	for c := range unit.Priority(unit.Priorities) {
		scheduler.Weights[c] = uint8(1 + r.IntN(20))
		a, b := 60+r.IntN(longest-59), 60+r.IntN(longest-59)
		sizes[c] = [2]int{min(a, b), max(a, b)}
		if load[c] = 2; r.IntN(3) == 0 {
			load[c] = 0.25 * r.Float64()
		}
		if r.IntN(4) == 0 {
			scheduler.Strict.Add(c)
			load[c] = 0.2 * r.Float64()
		}
	}
	if c := r.IntN(unit.Priorities); !slices.ContainsFunc(load[:], func(l float64) bool { return l > 1 }) { // the link is never idle
		scheduler.Strict &^= 1 << c
		load[c] = 2
	}
	s := newTestSwitch(t, 2, func(c *Config) {
		c.MaxFrame, c.SlotBytes = longest, buffer.SlotBytes(longest+ether.VLANLen)
		c.Ports[1].Scheduler = scheduler
		c.Buffer.Lossless, c.Buffer.LossyQueue = 0, 1<<30
		c.Slots = 1 << 16 // ten times what ever waits: a slot has 9 KB, and the Go runtime clears memory that was used before
	})
	round := 0
	for _, q := range scheduler.quanta(longest + ether.VLANLen) {
		round += int(q)
	}
	what := fmt.Sprintf("longest %d, %+v, load %.2f, sizes %v", longest, scheduler, load, sizes)
	f := fluid{scheduler: scheduler}
	var owed [unit.Priorities]float64 // by the source of each queue
	var served [unit.Priorities]float64
	offer := func(n float64) {
		for c := range unit.Priorities {
			// A queue that has more than it may send is kept full, without being without end.
			if owed[c] += n * load[c]; load[c] >= 1 {
				owed[c] = min(owed[c], 4*float64(longest))
			}
			for s.Queue(1, unit.Priority(c)).Frames() < 8 || load[c] < 1 {
				size := sizes[c][r.IntN(2)]
				if owed[c] < float64(size+unit.WireOverhead) && (load[c] < 1 || s.Queue(1, unit.Priority(c)).Frames() > 2) {
					break
				}
				owed[c] -= float64(size + unit.WireOverhead)
				s.receive(0, datagram{dst: stationMAC(1), priority: unit.Priority(c), size: size}.frame())
				f.backlog[c] += float64(size + unit.WireOverhead)
			}
		}
	}
	window := 50 * float64(round)
	offer(float64(longest))
	for passed := 0.0; passed < window; {
		fs := s.lend(1, 1)
		if len(fs) != 1 {
			t.Fatalf("a port with full queues sends nothing: %s", what)
		}
		n := float64(fs[0].Len + unit.WireOverhead)
		served[fs[0].OutPriority] += n
		s.sent(1)
		f.serve(n)
		offer(n)
		passed += n
	}
	for c := range served {
		apart := math.Abs(served[c]-f.served[c]) / window
		if apart > 0.02 {
			t.Errorf("queue %d sent %.0f bytes of %.0f, the fluid %.0f: %s", c, served[c], window, f.served[c], what)
		}
		worst = max(worst, apart)
	}
	return worst
}
