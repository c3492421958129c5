package fuzz

import (
	"fmt"
	"slices"

	"softswitch/event"
	"softswitch/internal/lists"
	"softswitch/oracle"
	"softswitch/oracle/clocks"
	"softswitch/unit"
)

// key is what a finding is known by, whatever the clock.
type key struct {
	pg    oracle.PG
	queue oracle.Queue
	nth   int // of this priority group and queue
}

// keys are those of the findings of a result.
func keys(r *oracle.Result) []key {
	all, nth := make([]key, len(r.Findings)), map[key]int{}
	for i, f := range r.Findings {
		k := key{f.PG, f.Queue, 0}
		all[i] = key{f.PG, f.Queue, nth[k]}
		nth[k]++
	}
	return all
}

// findings are those of a result, by key.
func findings(r *oracle.Result) map[key]*oracle.Finding {
	all := map[key]*oracle.Finding{}
	for i, k := range keys(r) {
		all[k] = &r.Findings[i]
	}
	return all
}

func (o *ClocksOutcome) wrong(format string, args ...any) {
	if o.Why == "" {
		o.Why = fmt.Sprintf(format, args...)
	}
}

// compare counts where several clocks say other than one.
func (o *ClocksOutcome) compare(truth, got *oracle.Result) {
	theirs := findings(got)
	if len(theirs) != len(truth.Findings) {
		o.Wrong++
		o.wrong("%d findings, in truth %d", len(theirs), len(truth.Findings))
		return
	}
	for i, k := range keys(truth) {
		f, g := &truth.Findings[i], theirs[k]
		near := g != nil && g.AtMost-g.At < o.Hop
		count(&o.Near, near)
		switch {
		case g == nil:
			o.Wrong++
			o.wrong("no finding of %v", f.PG)
		case g.Outcome == oracle.Undecided:
			o.Undecided++
			count(&o.NearUndecided, near)
		case g.Outcome != f.Outcome:
			o.Wrong++
			o.wrong("what %v declares at %d is %v, in truth %v", f.PG, f.At, g.Outcome, f.Outcome)
		case f.Outcome == oracle.TruePositive && (f.Latency < g.Latency-drift(got, f) || f.Latency > g.LatencyMost+drift(got, f)):
			o.Wrong++
			o.wrong("what %v declares has a latency of %d to %d, in truth %d", f.PG, g.Latency, g.LatencyMost, f.Latency)
		}
	}
	missed, found := truth.Missed(), got.Missed()
	o.Deadlocks = len(lists.Where(truth.Deadlocks, func(d oracle.Deadlock) bool { return d.Knot }))
	o.Missed, o.UndecidedDeadlocks = len(missed), len(got.Undecided)
	for _, d := range found {
		if slices.ContainsFunc(missed, func(m oracle.Deadlock) bool { return meet(m.Queues, d.Queues) }) {
			o.MissedFound++
		} else {
			o.WrongMissed++
			o.wrong("the deadlock of %v is missed, in truth it is not", d.Queues)
		}
	}
	for _, d := range missed {
		said := func(m oracle.Deadlock) bool { return meet(m.Queues, d.Queues) }
		if !slices.ContainsFunc(found, said) && !slices.ContainsFunc(got.Undecided, said) {
			o.WrongMissed++
			o.wrong("the deadlock of %v, from %d to %d, is missed in truth", d.Queues, d.From, d.To)
		}
	}
}

// meet reports whether a queue is one of both.
func meet(a, b []oracle.Queue) bool {
	return slices.ContainsFunc(a, func(q oracle.Queue) bool { return slices.Contains(b, q) })
}

// drift is what may be wrong with a latency that only one clock tells: it is by that clock.
func drift(r *oracle.Result, f *oracle.Finding) unit.Time {
	if r.Clocks != nil {
		return 0
	}
	return clocks.Drift(f.Latency)
}

// differ is how many findings and missed deadlocks one result has other than the truth.
func differ(truth, got *oracle.Result) (n int) {
	theirs := findings(got)
	for i, k := range keys(truth) {
		g := theirs[k]
		count(&n, g == nil || g.Outcome != truth.Findings[i].Outcome)
	}
	return n + max(len(truth.Missed())-len(got.Missed()), len(got.Missed())-len(truth.Missed()))
}

// naive judges logs that are merged by constant offsets: between two clocks the middle of
// what the fastest frames of either direction say.
func naive(f *oracle.Fabric, logs []event.Log, by []int, n int, end, late unit.Time) (*oracle.Result, error) {
	offset, known := oracle.LeastOffsets(f, logs, by, n)
	first := unit.Never
	merged := moved(logs, func(i int, at unit.Time) unit.Time {
		if known[by[i]] {
			at -= offset[by[i]]
		}
		first = min(first, at)
		return at
	})
	return oracle.Judge(f, moved(merged, func(_ int, at unit.Time) unit.Time { return at - first }), 0, late)
}
