package dataplane

import (
	"math/rand/v2"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/unit"
)

const stormBudget = 10 * unit.Millisecond

// stormed is a switch whose port 0 leads to a host, and to which stations send.
func stormed(t *testing.T) *testSwitch {
	t.Helper()
	return newTestSwitch(t, 3, func(c *Config) {
		c.StormBudget = stormBudget
		for p := range c.Ports {
			c.Ports[p].Rate = 100_000_000
		}
		c.Ports[0].FacesHost = true
	})
}

// tick lets the switch do what is due until then.
func (s *testSwitch) until(then unit.Time) {
	for {
		for p := range unit.Port(s.Ports()) {
			s.drain(p)
		}
		next := unit.Never
		for p := range unit.Port(s.Ports()) {
			s.transmit(p, s.cfg.Batch)
			next = min(next, s.next)
		}
		if next = max(next, s.now+1); next > then {
			s.now = then
			return
		}
		s.now = next
	}
}

// pausedBy has the host pause priority 3 for that long, by pauses that overlap.
func (s *testSwitch) pausedBy(d unit.Time) {
	then := s.now + d
	for s.now < then {
		s.receive(0, pauseOf(3, 1000, 0)) // 5.12 ms
		s.until(min(then, s.now+2*unit.Millisecond))
	}
}

func (s *testSwitch) resumed() { s.receive(0, resumeOf(3, 0)) }

func (s *testSwitch) wantContained(want bool) {
	s.t.Helper()
	if got := s.ports[0].acted.contained.Has(3); got != want {
		s.t.Fatalf("at %d us the host is contained: %v, want %v", s.now/unit.Microsecond, got, want)
	}
}

// A host that pauses without end stops what is for it for as long as the budget lasts. Then its
// queue is lossy, so that nothing waits for it, until it has been quiet for as long.
func TestStormIsContained(t *testing.T) {
	s := stormed(t)
	s.receive(1, several(4, 1, 0, 3)...)
	s.pausedBy(stormBudget - unit.Millisecond)
	s.wantContained(false)
	if on, _ := s.mmu.XOFF(1, 3); !on || !s.QueuePaused(0, 3) {
		t.Fatal("within the budget the host is not heeded")
	}
	s.log = nil
	s.pausedBy(2 * unit.Millisecond)
	s.wantContained(true)
	if on, _ := s.mmu.XOFF(1, 3); on || s.QueuePaused(0, 3) || s.Queue(0, 3).Frames() > 0 {
		t.Fatal("a host that is contained is heeded")
	}
	// Its frames are charged to nobody.
	for i := range 40 {
		s.receive(1, between(1, 0, 3, uint32(i)))
	}
	if on, _ := s.mmu.XOFF(1, 3); on {
		t.Fatal("frames for a host that is contained hold up who sends them")
	}
	s.pausedBy(3 * stormBudget)
	s.wantContained(true)
	s.until(s.now + stormBudget - 3*unit.Millisecond)
	s.wantContained(true)
	s.until(s.now + 4*unit.Millisecond)
	s.wantContained(false)
	s.receive(0, pauseOf(3, 1000, 0))
	if !s.QueuePaused(0, 3) {
		t.Error("a host that was quiet is not heeded")
	}
	var told []string
	for _, e := range s.log {
		if text := eventText(e); text == "contain 65535.0 0.3 0" || text == "release 65535.0 0.3 0" {
			told = append(told, text)
		}
	}
	if len(told) != 2 || told[0][0] != 'c' {
		t.Errorf("told %q, want that it is contained, and that it is not any more", told)
	}
	s.wantLossy(1)
}

// wantLossy lets what was dropped in a lossy queue pass.
func (s *testSwitch) wantLossy(in unit.Port) { s.counts[in].Drops = s.Counters(in).Drops }

// A slow host, which lets go of its queue a hundredth of the time or more, is never contained; one
// that does so less is, in the end.
func TestSlowHostIsNotContained(t *testing.T) {
	s := stormed(t)
	for range 300 {
		s.pausedBy(4 * unit.Millisecond)
		s.resumed()
		s.until(s.now + 45*unit.Microsecond)
		s.wantContained(false)
	}
	for range 300 {
		s.pausedBy(4 * unit.Millisecond)
		s.resumed()
		s.until(s.now + 10*unit.Microsecond)
	}
	s.wantContained(true)
}

// By a plain account of every instant: what a host has paused beyond its share.
func TestStormAgainstReference(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	contained := 0
	for range 40 {
		s := stormed(t)
		const step = 100 * unit.Microsecond
		used := unit.Time(0)
		hold := r.IntN(130)
		for range 400 {
			if s.ports[0].acted.contained.Has(3) {
				break
			}
			if r.IntN(100) < hold {
				s.receive(0, pauseOf(3, 1000, 0))
				s.until(s.now + step)
				if used += step; used > stormBudget+step && !s.ports[0].acted.contained.Has(3) {
					t.Fatalf("seed %d: over the budget by %d us, and not contained", seed, (used-stormBudget)/unit.Microsecond)
				}
			} else {
				s.resumed()
				s.until(s.now + step)
				used = max(0, used-stormShare*step)
			}
		}
		if s.ports[0].acted.contained.Has(3) {
			contained++
			if used < stormBudget-step {
				t.Fatalf("seed %d: contained after %d us of %d", seed, used/unit.Microsecond, stormBudget/unit.Microsecond)
			}
		}
	}
	if contained == 0 || contained == 40 {
		t.Errorf("seed %d: contained in %d of 40 runs: this proves little", seed, contained)
	}
}

// Without a budget a storm lasts as long as the host likes, and a switch that pauses is never
// contained.
func TestNoStormBudget(t *testing.T) {
	s := newTestSwitch(t, 3, func(c *Config) { c.Ports[0].FacesHost = true })
	s.pausedBy(100 * stormBudget)
	s.wantContained(false)
	s = newTestSwitch(t, 3, func(c *Config) { c.StormBudget = stormBudget })
	s.pausedBy(100 * stormBudget)
	s.wantContained(false)
}

// A budget that changes is that of now: without one a host that is contained is heeded again, and with
// one again it is contained when that is used up.
func TestStormBudgetChanges(t *testing.T) {
	s := stormed(t)
	s.pausedBy(2 * stormBudget)
	s.wantContained(true)
	s.SetStormBudget(s.now, 0)
	s.wantContained(false)
	s.pausedBy(10 * stormBudget)
	s.wantContained(false)
	if !s.QueuePaused(0, 3) {
		t.Error("without a budget the host is not heeded")
	}
	s.SetStormBudget(s.now, stormBudget)
	s.pausedBy(2 * stormBudget)
	s.wantContained(true)
}

// A budget is full after any time in which the host was quiet, of years too.
func TestStormBudgetRefills(t *testing.T) {
	for _, idle := range []unit.Time{stormBudget, unit.Second, 100_000_000 * unit.Second} {
		b := storm{used: stormBudget}
		if b.begins(idle); b.used != 0 {
			t.Errorf("after %d s: %d ns used", idle/unit.Second, b.used)
		}
	}
	b := storm{used: stormBudget}
	if b.begins(stormBudget / stormShare / 2); b.used < stormBudget*2/5 || b.used > stormBudget*3/5 {
		t.Errorf("after half of the time that it takes: %d of %d ns used", b.used, stormBudget)
	}
}
