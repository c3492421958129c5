package oracle

import (
	"math/rand/v2"
	"slices"
	"testing"

	"softswitch/event"
	"softswitch/internal/testkit"
	"softswitch/oracle/clocks"
	"softswitch/unit"
)

// randomSteps are a random fact by a clock of which the bounds are random too.
func randomSteps(r *rand.Rand, values int) (steps, func(unit.Time) clocks.Interval) {
	var s steps
	in := map[unit.Time]clocks.Interval{}
	at, from, to := unit.Time(0), unit.Time(0), unit.Time(0)
	for range r.IntN(8) {
		at += unit.Time(r.IntN(10))
		from = max(from, at-unit.Time(r.IntN(12)))
		to = max(to, at+unit.Time(r.IntN(12)))
		s.set(at, r.IntN(values))
		in[at] = clocks.Interval{From: from, To: to}
	}
	return s, func(t unit.Time) clocks.Interval { return in[t] }
}

// may are the values that a fact may have at a time, by going through all.
func (s steps) may(t unit.Time, when func(unit.Time) clocks.Interval) (all []int) {
	for n := range len(s) + 1 {
		from, to := -unit.Never, unit.Never
		if n > 0 {
			from = when(s[n-1].at).From
		}
		if n < len(s) {
			to = when(s[n].at).To
		}
		if from <= t && t < to {
			all = append(all, s.value(n))
		}
	}
	return all
}

// atTime is what a fact is at a time.
func (s steps) atTime(t unit.Time) (is int) {
	for _, v := range s {
		if v.at <= t {
			is = v.is
		}
	}
	return is
}

// TestLeast: the least and the greatest that a fact may be, against going through all values
// that it may have.
func TestLeast(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for range 5000 {
		s, when := randomSteps(r, 5)
		least, most := s.least(when, 1), s.least(when, -1)
		for at := unit.Time(-15); at < 100; at++ {
			may := s.may(at, when)
			if least.atTime(at) != slices.Min(may) || most.atTime(at) != slices.Max(may) {
				t.Fatalf("%v at %d: %d to %d, and it may be %v", s, at, least.atTime(at), most.atTime(at), may)
			}
		}
	}
}

// TestMeet: when a queue is in the period of its priority group, against going through all periods
// in which they may be.
func TestMeet(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for range 5000 {
		q, whenQ := randomSteps(r, 4)
		b, whenB := randomSteps(r, 3)
		for i := range q { // periods 1 and 2, or any
			if q[i].is == 3 {
				q[i].is = anyPeriod
			}
		}
		surely, possibly := meet(q, b, whenQ, whenB)
		for at := unit.Time(-15); at < 100; at++ {
			all, some := 1, 0
			for _, p := range q.may(at, whenQ) {
				for _, x := range b.may(at, whenB) {
					if x != noPeriod && (p == x || p == anyPeriod) {
						some = 1
					} else {
						all = 0
					}
				}
			}
			// It is not always noticed that a queue that may be paused by any period is in the
			// only one that there is.
			if got := surely.atTime(at); got > all || got < all && len(q.may(at, whenQ)) == 1 || possibly.atTime(at) != some {
				t.Fatalf("queue %v, priority group %v at %d: surely %d, possibly %d, want %d, %d", q.may(at, whenQ), b.may(at, whenB), at, got, possibly.atTime(at), all, some)
			}
		}
	}
}

// TestTruthIsBetween: whatever the clocks of nodes did within their bounds, S* and its core
// are between those of the two histories.
func TestTruthIsBetween(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	dead, tight := 0, 0
	for range testkit.Sized(6000, 20_000) { // of which few are ever stuck
		fabric := ring4(t)
		truth, facts := NewReplay(fabric), newFacts(fabric)
		logs := randomRing(r)
		spread := 1 + r.IntN(20)
		for _, l := range logs {
			facts.clock[l.Node.ID] = randomPlace(r, l, spread)
			for k := range l.Events {
				facts.add(l.Node.ID, &l.Events[k])
			}
		}
		all, err := Merge(logs)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			if err := truth.Add(e); err != nil {
				t.Fatal(err)
			}
		}
		const end = 400
		exact := truth.Finish(end, 0).History
		s, p := facts.changes()
		surely, possibly := facts.history(s, end), facts.history(p, end)
		for at := unit.Time(0); at <= end; at++ {
			low, is, high := surely.At(at), exact.At(at), possibly.At(at)
			for _, q := range low.Queues {
				if !is.Has(q) || low.InCore(q) && !is.InCore(q) {
					t.Fatalf("at %d: %v is surely stuck, core %v; in truth %v, %v\n%v", at, q, low.InCore(q), is.Has(q), is.InCore(q), logs)
				}
			}
			for _, q := range is.Queues {
				if !high.Has(q) || is.InCore(q) && !high.InCore(q) {
					t.Fatalf("at %d: %v is stuck, core %v; possibly %v, %v\n%v", at, q, is.InCore(q), high.Has(q), high.InCore(q), logs)
				}
			}
			dead += min(1, len(is.Queues))
			tight += min(1, len(low.Queues))
		}
	}
	if tight == 0 || tight >= dead {
		t.Errorf("stuck at %d times, surely at %d of them", dead, tight)
	}
}

// randomRing are logs of the four switches of a ring that pause one another at random.
func randomRing(r *rand.Rand) (logs []event.Log) {
	for k := unit.NodeID(1); k <= 4; k++ {
		l := event.Log{Node: event.Node{ID: k}}
		at := unit.Time(20)
		for range 5 + r.IntN(25) {
			at += unit.Time(r.IntN(12))
			e := event.Event{At: at, Port: in, Priority: 3, Out: out, OutPriority: 3, Period: uint8(r.IntN(2)), HasPeriod: true, Limit: int32(100 * r.IntN(3))}
			e.Type = []event.Type{event.XOFF, event.XOFF, event.XOFF, event.XON, event.Paused, event.Paused, event.Paused, event.Resumed, event.Held, event.Held, event.Held}[r.IntN(11)]
			if e.Type == event.Held {
				e.Bytes = int32(150 * r.IntN(4))
			}
			l.Events = append(l.Events, e)
		}
		logs = append(logs, l)
	}
	return logs
}

// randomPlace are bounds on the times of a log that hold.
func randomPlace(r *rand.Rand, l event.Log, spread int) *place {
	var p place
	from, to := unit.Time(0), unit.Time(0)
	for _, e := range l.Events {
		if n := len(p.at); n > 0 && p.at[n-1] == e.At {
			continue
		}
		from, to = max(from, e.At-unit.Time(r.IntN(spread))), max(to, e.At+unit.Time(r.IntN(spread)))
		p.at, p.in = append(p.at, e.At), append(p.in, clocks.Interval{From: from, To: to})
	}
	return &p
}

// TestPairsAreNeverLate: with lost pauses and periods that wrap round, a pause that came is
// taken for the one that was sent, or an earlier one.
func TestPairsAreNeverLate(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	fabric := ring4(t)
	exact := 0
	for i := range 300 {
		lost := max(0, r.IntN(80)-20)
		sender, receiver := event.Log{Node: event.Node{ID: 2}}, event.Log{Node: event.Node{ID: 1}}
		truth := map[unit.Time]unit.Time{} // when what came at a time was sent
		period, xoff, paused, by := uint8(250), false, false, uint8(0)
		const tick = event.RefreshEvery / 8
		for at := tick; at < 3000*tick; at += 2 * tick {
			kind := event.RefreshSent
			switch {
			case !xoff:
				kind, xoff, period = event.PauseSent, true, period+1
			case r.IntN(3) == 0:
				kind, xoff = event.ResumeSent, false
			}
			sender.Events = append(sender.Events, event.Event{At: at, Type: kind, Port: in, Priority: 3, Period: period})
			if r.IntN(100) < lost {
				continue
			}
			came := func(k event.Type) {
				receiver.Events = append(receiver.Events, event.Event{At: at + 1, Type: k, Out: out, OutPriority: 3, Period: by, HasPeriod: k == event.Paused})
				truth[at+1] = at
			}
			switch {
			case kind == event.ResumeSent && paused:
				paused = false
				came(event.Resumed)
			case kind == event.ResumeSent:
			case paused && by == period:
				came(event.Refreshed)
			default:
				if paused {
					came(event.Resumed)
				}
				paused, by = true, period
				came(event.Paused)
			}
		}
		// Where repeated ones that came are left out, it is known how many. Of those that were sent, only
		// the one before is known.
		logs, thin := []event.Log{sender, receiver}, i%4
		for k := range logs {
			if thin&(1<<k) != 0 {
				logs[k].Events = new(event.Refreshes).Thin(logs[k].Events)
			}
		}
		pairs := framePairs(fabric, logs, []int{0, 1})
		if len(pairs) == 0 {
			t.Fatal("no pairs")
		}
		for _, p := range pairs {
			sent := truth[p.Received.At]
			if p.Sent.At > sent {
				t.Fatalf("what came at %d was sent at %d, and is taken for that of %d; %d %% lost, thin %d", p.Received.At, sent, p.Sent.At, lost, thin)
			}
			if lost == 0 && thin&1 == 0 && p.Sent.At != sent {
				t.Fatalf("nothing is lost: what came at %d was sent at %d, and is taken for that of %d; thin %d", p.Received.At, sent, p.Sent.At, thin)
			}
			if p.Sent.At == sent {
				exact++
			}
		}
	}
	if exact == 0 {
		t.Error("no pair is right")
	}
}
