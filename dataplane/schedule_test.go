package dataplane

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"softswitch/buffer"
	"softswitch/internal/ether"
	"softswitch/internal/testkit"
	"softswitch/unit"
)

// weigh gives priorities weights at every port; the others are strict.
func weigh(c *Config, weights map[unit.Priority]uint8) {
	for p := range c.Ports {
		s := &c.Ports[p].Scheduler
		for priority := range unit.Priority(unit.Priorities) {
			if w := weights[priority]; w > 0 {
				s.Weights[priority] = w
			} else {
				s.Strict.Add(priority)
			}
		}
	}
}

// Strict priority: the highest priority that has frames and is not paused.
func TestStrictPriority(t *testing.T) {
	s := newTestSwitch(t, 2, func(c *Config) { weigh(c, nil) })
	f := func(c unit.Priority, id uint32) []byte { return between(0, 1, c, id) }
	s.receive(0, f(0, 1), f(3, 2), f(7, 3), f(3, 4), f(5, 5), f(0, 6), f(4, 7))
	s.wantData(1, f(7, 3), f(5, 5), f(4, 7))
	s.receive(1, pauseOf(3, 1000, 1))
	s.wantData(1, f(0, 1))
	s.receive(0, f(6, 8))
	s.wantData(1, f(6, 8))
	s.receive(1, resumeOf(3, 1))
	s.wantData(1, f(3, 2), f(3, 4), f(0, 6))
	s.wantNothing(1)
}

// feeder keeps queues of port 1 full with frames of given sizes.
type feeder struct {
	s    *testSwitch
	size map[unit.Priority]int
}

func (f feeder) feed() {
	for c := range unit.Priority(unit.Priorities) {
		for f.size[c] > 0 && f.s.Queue(1, c).Frames() < 3 {
			f.s.receive(0, datagram{dst: stationMAC(1), priority: c, size: f.size[c]}.frame())
		}
	}
}

// take transmits one frame and says of which priority it was.
func (f feeder) take() (priority unit.Priority, size int) {
	f.feed()
	fs := f.s.lend(1, 1)
	if len(fs) != 1 {
		f.s.t.Fatal("a port with full queues sends nothing")
	}
	priority, size = fs[0].OutPriority, fs[0].Len
	f.s.sent(1)
	return priority, size
}

// half is the length of a frame that is half of the longest on the wire.
const half = (1518+unit.WireOverhead)/2 - unit.WireOverhead

// Weighted priorities share exactly by weight: a round of frames of half a quantum
// gives a priority of weight w 2w frames, and no other number.
func TestWeightsExact(t *testing.T) {
	weights := map[unit.Priority]uint8{0: 10, 1: 30, 2: 20, 6: 50}
	s := newTestSwitch(t, 2, func(c *Config) { weigh(c, weights) })
	f := feeder{s, map[unit.Priority]int{0: half, 1: half, 2: half, 6: half}}
	f.take() // the first round begins in the middle of the ring
	for round := range 200 {
		got := make(map[unit.Priority]int)
		for range 2 * (1 + 3 + 2 + 5) {
			c, _ := f.take()
			got[c]++
		}
		for cl, w := range weights {
			if got[cl] != 2*int(w)/10 {
				t.Fatalf("round %d: priority %d of weight %d sent %d frames, want %d: %v", round, cl, w, got[cl], 2*w/10, got)
			}
		}
	}
}

// Nobody has to choose anything: priorities share evenly.
func TestEvenByDefault(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	f := feeder{s, map[unit.Priority]int{}}
	for c := range unit.Priority(unit.Priorities) {
		f.size[c] = half
	}
	got := map[unit.Priority]int{}
	for range 8 * 100 {
		c, _ := f.take()
		got[c]++
	}
	for c := range f.size {
		if got[c] < 99 || got[c] > 101 {
			t.Errorf("priority %d sent %d of 800 frames, want an eighth: %v", c, got[c], got)
		}
	}
}

// With any sizes, the bytes over weight of two backlogged priorities differ by at
// most a quantum and a largest frame each.
func TestWeightsByBytes(t *testing.T) {
	seed := testkit.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	for round := range 10 {
		longest := 1514
		if round >= 7 {
			longest = 9230
		}
		f := feeder{size: map[unit.Priority]int{}}
		weight := map[unit.Priority]uint8{}
		for range 2 + rng.IntN(4) {
			cl := unit.Priority(rng.IntN(8))
			f.size[cl], weight[cl] = 60+rng.IntN(longest-59), uint8(1+rng.IntN(6))
		}
		f.s = newTestSwitch(t, 2, func(c *Config) {
			c.MaxFrame, c.SlotBytes = longest, buffer.SlotBytes(longest+ether.VLANLen)
			c.Buffer.Profile.StaticTh, c.Buffer.LossyQueue = 4*longest, 4*longest
			weigh(c, weight)
		})
		sent := map[unit.Priority]float64{}
		for range 3000 {
			c, n := f.take()
			sent[c] += float64(n+unit.WireOverhead) / float64(weight[c])
			for a := range f.size {
				for b := range f.size {
					if d := sent[a] - sent[b]; d > float64(4*(longest+ether.VLANLen+unit.WireOverhead)) {
						t.Fatalf("seed %d: priorities %d and %d: %.0f bytes a weight apart; sizes %v, weights %v", seed, a, b, d, f.size, weight)
					}
				}
			}
		}
	}
}

// Weighted priorities share what strict ones leave.
func TestStrictBeforeWeighted(t *testing.T) {
	s := newTestSwitch(t, 2, func(c *Config) { weigh(c, map[unit.Priority]uint8{1: 1, 6: 1}) })
	f := func(c unit.Priority, id uint32) []byte { return between(0, 1, c, id) }
	s.receive(0, f(6, 1), f(1, 2), f(0, 3), f(3, 4))
	s.wantData(1, f(3, 4), f(0, 3))
	got := fmt.Sprint(s.transmit(1, 2))
	if want := fmt.Sprint([][]byte{f(1, 2), f(6, 1)}); got != want {
		t.Errorf("weighted priorities 1 and 6 of equal weight: got another order or frame")
	}
}

// A priority that is paused or idle saves up no turn: when it comes back it gets its
// share, not what it missed.
func TestWeightedPrioritySavesNothing(t *testing.T) {
	s := newTestSwitch(t, 2, func(c *Config) { weigh(c, map[unit.Priority]uint8{3: 1, 1: 1}) })
	f := feeder{s, map[unit.Priority]int{3: 800, 1: 800}}
	for range 5 {
		f.take()
	}
	s.receive(1, pauseOf(3, 65535, 1))
	for range 100 {
		if c, _ := f.take(); c != 1 {
			t.Fatalf("priority %d sends while it is paused", c)
		}
	}
	s.receive(1, resumeOf(3, 1))
	got := map[unit.Priority]int{}
	for range 100 {
		c, _ := f.take()
		got[c]++
	}
	if got[3] < 48 || got[3] > 52 {
		t.Errorf("after its pause priority 3 sent %d of 100 frames, want its half", got[3])
	}
}

// What a priority had left of its turn when it was paused is gone.
func TestPauseEndsTheTurn(t *testing.T) {
	s := newTestSwitch(t, 2, func(c *Config) { weigh(c, map[unit.Priority]uint8{3: 10, 1: 1}) })
	f := feeder{s, map[unit.Priority]int{3: half, 1: half}}
	for c := unit.Priority(1); c != 3; {
		c, _ = f.take()
	}
	s.receive(1, pauseOf(3, 65535, 1)) // 19 of its 20 frames are still to come
	for range 10 {
		f.take()
	}
	s.receive(1, resumeOf(3, 1))
	run, longest := 0, 0
	for range 100 {
		if c, _ := f.take(); c == 3 {
			run++
		} else {
			run = 0
		}
		longest = max(longest, run)
	}
	if longest != 20 {
		t.Errorf("after its pause priority 3 sent %d frames in one turn, want 20", longest)
	}
}
