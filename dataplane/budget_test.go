package dataplane

import (
	"testing"

	"softswitch/internal/ether"
	"softswitch/link/auth"
	"softswitch/unit"
)

// flooded is a switch of ports of 100 Mbit/s whose port 2 leads to a host.
func flooded(t *testing.T) *testSwitch {
	t.Helper()
	return newTestSwitch(t, 3, func(c *Config) {
		for p := range c.Ports {
			c.Ports[p].Rate = 100_000_000
		}
		c.Ports[2].FacesHost = true
		c.Subnets = nil
	})
}

// A host's control frames of any kind are heeded up to its budget: a burst, and a sixteenth of
// the line. What is over it is counted and dropped, and costs nobody else.
func TestHostFloodsControlFrames(t *testing.T) {
	request := arp(ether.ARPRequest, unit.Broadcast, stationMAC(2), "10.0.0.2", 0, "10.0.0.9")
	for name, frame := range map[string][]byte{"pauses": resumeOf(3, 0), "messages": message(label(1)), "ARP": request} {
		t.Run(name, func(t *testing.T) {
			s := flooded(t)
			heeded := func() int { return 5000 - int(s.Counters(2).Drops[DropControlBudget]) }
			for range 5000 {
				s.receive(2, frame)
				s.drain(0)
				s.drain(1)
			}
			if n := heeded(); n < hostBurst || n > hostBurst+20 {
				t.Errorf("%d of 5000 at once are heeded, want %d", n, hostBurst)
			}
			before := s.Counters(2).Drops[DropControlBudget]
			each := unit.Rate(100_000_000).FrameTime(ether.MinLen)
			for range 16_000 { // the line is full of them
				s.advance(each)
				s.receive(2, frame)
				s.drain(0)
				s.drain(1)
			}
			dropped := s.Counters(2).Drops[DropControlBudget] - before
			if got := 16_000 - int(dropped); got < 990 || got > 1010 {
				t.Errorf("%d of 16000 that fill the line are heeded, want a sixteenth", got)
			}
			// Data, and the control frames of others, go on.
			s.advance(unit.Millisecond)
			s.receive(2, between(2, 0, 3, 1))
			s.wantData(0, between(2, 0, 3, 1))
			s.receive(1, pauseOf(3, 1000, 1))
			if !s.QueuePaused(1, 3) {
				t.Error("a pause of another port is not heeded")
			}
			s.counts[2].Drops = s.Counters(2).Drops
			s.wantNoDrops()
		})
	}
}

// A neighbour may say a priority paused and resumed again for each frame, in all priorities, for ever.
func TestHonestNeighbourIsWithinItsBudget(t *testing.T) {
	s := flooded(t)
	each := unit.Rate(100_000_000).FrameTime(1000)
	for i := range 20_000 {
		s.advance(each)
		c := unit.Priority(3 + i%2)
		s.receive(1, pauseOf(c, 1000, uint8(i)), resumeOf(c, uint8(i)))
	}
	s.wantNoDrops()
}

// A far end that has the key and asks for ever is answered within its budget.
func TestFloodOfChallenges(t *testing.T) {
	c := newCable(t, auth.Strict, auth.Strict)
	const n = 50_000
	for range n {
		c.b.send(end, controlItem{isHello: true, hello: auth.Hello{Value: 7}})
		c.a.receive(end, c.b.drain(end)...)
		c.a.drain(end)
	}
	tx, d := c.a.Counters(end).TxMessages, c.a.Counters(end).Drops[DropControlBudget]
	if d < n-switchBurst-16 || tx > switchBurst+16 {
		t.Errorf("%d challenges: %d over the budget, %d messages sent", n, d, tx)
	}
}

// A notice that the counter was behind, which comes over the budget, is not forgotten: when the budget has
// room again it is told, and said anew what the far end has refused.
func TestNoticeOverTheBudget(t *testing.T) {
	c := newCable(t, auth.Strict, auth.Strict)
	c.b.fillPG()
	c.settle()
	c.a.wantPaused(true)
	c.advance(c.a.cfg.Refresh / challengesPerRefresh) // it has asked longer ago
	c.b = newAuthSwitch(t, 2, auth.Strict, linkKey, 5)
	c.b.now = c.a.now
	c.a.receive(end, c.b.drain(end)...) // its challenge, which is refused
	notice := c.a.drain(end)
	for c.b.ports[end].budget.take(c.b.now) {
	}
	c.b.receive(end, notice...)
	c.b.wantDrop(end, DropControlBudget)
	c.b.wantTold()
	c.lose() // the challenge anew
	c.a.wantPaused(true)
	c.b.wantNothing(end)
	if c.b.next >= c.b.now+c.b.cfg.Refresh/challengesPerRefresh {
		t.Errorf("asks again in %d ns, want when the budget has room", c.b.next-c.b.now)
	}
	c.b.now = c.b.next
	c.a.now = c.b.now
	c.settle()
	c.a.wantPaused(false)
	c.b.wantTold("auth_behind 2")
	if n := c.b.Auth(end).Behind; n != 1 {
		t.Errorf("counted as behind %d times, want once", n)
	}
}

// A stranger on an authenticated link does not use up what the far end may say.
func TestStrangersFloodAnAuthenticatedLink(t *testing.T) {
	c := newCable(t, auth.Strict, auth.Strict)
	for range 5000 {
		c.b.receive(end, pauseOf(3, 1000, 1))
	}
	if d := c.b.Counters(end).Drops; d[DropUntagged] != 5000 || d[DropControlBudget] != 0 {
		t.Errorf("%d frames refused, %d over the budget; want 5000 and 0", d[DropUntagged], d[DropControlBudget])
	}
	c.a.fillPG()
	c.settle()
	c.b.wantPaused(true)
}
