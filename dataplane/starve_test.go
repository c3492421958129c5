package dataplane

import (
	"testing"

	"softswitch/unit"
)

// starving is a switch whose port 1, with strict priority 4, is never without a frame of it: take sends one
// frame, of a microsecond.
type starving struct {
	*testSwitch
	t *testing.T
}

func newStarving(t *testing.T) starving {
	return starving{newTestSwitch(t, 2, func(c *Config) { c.Ports[1].Scheduler.Strict.Add(4) }), t}
}

func (s starving) queue(c unit.Priority) { s.receive(0, between(0, 1, c, 0)) }

// take lets the frame of a priority leave, and a microsecond pass.
func (s starving) take(want unit.Priority) {
	s.t.Helper()
	fs := s.lend(1, 1)
	if len(fs) != 1 || fs[0].OutPriority != want {
		s.t.Fatalf("%d frames leave, want one of priority %d", len(fs), want)
	}
	s.sent(1)
	s.advance(unit.Microsecond)
}

func (s starving) want(c unit.Priority, want unit.Time) {
	s.t.Helper()
	if got := StarvedOf(s.Switch, 1)[c]; got != want {
		s.t.Errorf("priority %d waited for %s, want %s", c, got, want)
	}
}

func (s starving) waits(c unit.Priority, want unit.Time) {
	s.t.Helper()
	if got := WaitingOf(s.Switch, 1)[c]; got != want {
		s.t.Errorf("priority %d waits for %s, want %s", c, got, want)
	}
}

// The wait is from the first frame that goes before it, and lasts until it sends: also while it is
// asked for.
func TestStarved(t *testing.T) {
	s := newStarving(t)
	s.queue(3)
	s.queue(4)
	s.queue(4)
	s.advance(9 * unit.Microsecond) // nothing leaves, nobody is served before another
	s.take(4)
	s.take(4)
	s.want(3, unit.Microsecond) // as of the last frame
	s.waits(3, unit.Microsecond)
	s.take(3)
	s.want(3, 2*unit.Microsecond)
	s.waits(3, 0)
	s.want(4, 0)
	s.queue(3)
	s.take(3)
	s.want(3, 2*unit.Microsecond) // alone it does not wait
}

// What is paused, or dropped, does not starve, and what waits after that begins again.
func TestPausedIsNotStarved(t *testing.T) {
	for name, end := range map[string]func(s starving){
		"paused": func(s starving) { s.receive(1, pauseOf(3, 65535, 1)) },
		"down": func(s starving) {
			s.SetLink(s.now, 1, false)
			s.SetLink(s.now, 1, true)
			s.queue(4)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStarving(t)
			s.queue(3)
			s.queue(4)
			s.queue(4)
			s.take(4)
			end(s)
			s.advance(unit.Second)
			s.take(4)
			s.want(3, unit.Microsecond)
			s.receive(1, resumeOf(3, 1))
			s.drain(1)
			s.queue(3)
			s.queue(4)
			s.take(4)
			s.take(3)
			s.want(3, unit.Microsecond)
		})
	}
}

// With weights a queue waits for one round at most, whatever the weights and the frames are: then
// LongestWait is a bound, and one that is nearly reached.
func TestLongestWait(t *testing.T) {
	const rate, longest = 100_000_000, 9230
	nearest := unit.Time(0)
	for _, size := range []int{777, longest} {
		s := newTestSwitch(t, 2, func(c *Config) {
			c.MaxFrame, c.SlotBytes = longest, 10_000
			c.Buffer.Profile.StaticTh, c.Buffer.LossyQueue, c.Buffer.Shared = 8*longest, 8*longest, 100*longest
			for i := range c.Ports[1].Scheduler.Weights {
				c.Ports[1].Scheduler.Weights[i] = WeightMax
			}
			c.Ports[1].Scheduler.Weights[3] = 1
		})
		f := feeder{s, map[unit.Priority]int{}}
		for c := range unit.Priority(unit.Priorities) {
			f.size[c] = size
		}
		f.size[3] = longest
		for sent := 0; sent < 3; {
			c, n := f.take()
			if c == 3 {
				sent++
			}
			s.advance(unit.Rate(rate).FrameTime(n))
		}
		bound := LongestWait(rate, longest+4)
		waited := StarvedOf(s.Switch, 1)[3]
		if waited > bound {
			t.Errorf("frames of %d: waited for %s, above the bound of %s", size, waited, bound)
		}
		nearest = max(nearest, waited*100/bound)
	}
	if nearest < 95 {
		t.Errorf("no wait is above %d %% of the bound", nearest)
	}
}
