package oracle

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"softswitch/event"
	"softswitch/internal/testkit"
	"softswitch/unit"
)

// badClock shows what no clock should: it drifts by more than is assumed, or steps again and again.
type badClock struct {
	offset, ppm unit.Time
	steps       []clockStep
}

// clockStep is by how much a clock is ahead from a true time on.
type clockStep struct{ from, by unit.Time }

func randomBadClock(r *rand.Rand, end unit.Time) badClock {
	c := badClock{offset: unit.Second + unit.Time(r.Int64N(int64(3600*unit.Second)))}
	if r.IntN(2) == 0 {
		c.ppm = unit.Time(r.IntN(2001)) - 1000
	}
	for range r.IntN(6) {
		c.steps = append(c.steps, clockStep{unit.Time(r.Int64N(int64(end))), unit.Time(r.Int64N(int64(end / 2)))})
	}
	return c
}

func (c *badClock) at(t unit.Time) unit.Time {
	local := c.offset + t + t*c.ppm/1e6
	for _, s := range c.steps {
		if t >= s.from {
			local += s.by
		}
	}
	return local
}

// pausingRing are logs of a ring whose switches pause one another at random, with all frames in them,
// by one clock.
func pausingRing(r *rand.Rand, end unit.Time) []event.Log {
	logs := make([]event.Log, 4)
	log := func(k int, e event.Event) {
		logs[k].Node = event.Node{ID: unit.NodeID(k + 1)}
		logs[k].Events = append(logs[k].Events, e)
	}
	for k := range 4 {
		up, xoff, period, came := (k+3)%4, false, uint8(0), unit.Time(0)
		every := end / (1 << r.IntN(8))
		for at := unit.Time(0); at < end; {
			at += 1 + unit.Time(r.Int64N(int64(every)))
			came = max(came, at+us+unit.Time(r.IntN(int(20*us))))
			sent := event.Event{At: at, Port: in, Priority: 3, Period: period}
			got := event.Event{At: came, Out: out, OutPriority: 3, Period: period}
			switch {
			case !xoff:
				xoff, period = true, period+1
				sent.Type, sent.Period = event.PauseSent, period
				got.Type, got.Period, got.HasPeriod = event.Paused, period, true
				log(k, event.Event{At: at, Type: event.XOFF, Port: in, Priority: 3, Out: out, OutPriority: 3, Period: period, Limit: 36})
				log(k, event.Event{At: at, Type: event.Held, Port: in, Priority: 3, Out: out, OutPriority: 3, Bytes: int32(r.IntN(80)), Limit: 36})
			case r.IntN(3) > 0:
				sent.Type, got.Type = event.RefreshSent, event.Refreshed
				log(k, event.Event{At: at, Type: event.Held, Port: in, Priority: 3, Out: out, OutPriority: 3, Bytes: int32(r.IntN(80)), Limit: 36})
			default:
				xoff = false
				sent.Type, got.Type = event.ResumeSent, event.Resumed
				log(k, event.Event{At: at, Type: event.XON, Port: in, Priority: 3})
			}
			log(k, sent)
			log(up, got)
			if r.IntN(5) == 0 {
				log(k, event.Event{At: at, Type: event.Deadlock, Port: in, Priority: 3, Out: out, OutPriority: 3})
			}
		}
	}
	for k := range logs {
		slices.SortStableFunc(logs[k].Events, func(a, b event.Event) int { return int(a.At - b.At) })
	}
	return logs
}

// TestClocksThatBreakTheAssumptions: clocks that drift too much or step too often are refused where they
// are found out, with an event at which they are, and where they are not the judgement ends all the same.
func TestClocksThatBreakTheAssumptions(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	fabric, refused, judged := ring4(t), 0, 0
	for range testkit.Sized(800, 10_000) {
		end := unit.Second << r.IntN(6)
		logs := pausingRing(r, end)
		bad := []badClock{randomBadClock(r, end), randomBadClock(r, end), randomBadClock(r, end)}
		c := Clocks{By: make([]int, len(logs))}
		for i := range logs {
			c.By[i] = r.IntN(len(bad))
			for k := range logs[i].Events {
				logs[i].Events[k].At = bad[c.By[i]].at(logs[i].Events[k].At)
			}
		}
		c.Reference = Reference(fabric, logs, c.By)
		switch _, err := JudgeClocks(fabric, logs, c, bad[c.Reference].at(end), us); {
		case err == nil:
			judged++
		case !refusal.MatchString(err.Error()):
			t.Fatal(err)
		default:
			refused++
		}
	}
	if refused == 0 || judged == 0 {
		t.Errorf("%d refused, %d judged; want some of both", refused, judged)
	}
}

var refusal = regexp.MustCompile(`^s\d: event \d+ \(\w+ at \d+ ns\): by the clock of s\d it was not before \d+ ns, and not after \d+ ns: a clock drifted by more than 200 ppm, or stepped twice within 2 s$`)
