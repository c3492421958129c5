package sim

import (
	"testing"

	"softswitch/oracle"
	"softswitch/unit"
)

// TestSettled: it is told of every instant once, in order, with what was true at its
// end; and a run that it ends is over then.
func TestSettled(t *testing.T) {
	p := plan(t, ring)
	type instant struct {
		at    unit.Time
		stuck *oracle.Stuck
	}
	play := func(end func(*oracle.Stuck) bool) ([]instant, *oracle.Result) {
		var seen []instant
		w, err := New(p, Options{Seed: 1, Detectors: detectors, Settled: func(at unit.Time, s *oracle.Stuck) bool {
			seen = append(seen, instant{at, s})
			return !end(s)
		}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := w.Play()
		if err != nil {
			t.Fatal(err)
		}
		return seen, r
	}
	all, r := play(func(*oracle.Stuck) bool { return false })
	last := unit.Time(-1)
	for _, i := range all {
		if i.at <= last {
			t.Fatalf("%d ns after %d ns", i.at, last)
		}
		last = i.at
		if now := r.History.At(i.at); len(now.Queues) != len(i.stuck.Queues) {
			t.Errorf("at %d ns %v are stuck, it was told of %v", i.at, now.Queues, i.stuck.Queues)
		}
	}
	onset := r.Intervals[0].From
	few, r := play(func(s *oracle.Stuck) bool { return !s.Empty() })
	if got := few[len(few)-1].at; got != onset || r.End != onset {
		t.Errorf("it ended at %d ns, the result is as of %d ns, want %d ns", got, r.End, onset)
	}
}
