package oracle

import (
	"cmp"
	"slices"

	"softswitch/detect"
	"softswitch/internal/lists"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// Outcome is the judgement of a finding: whether the queue that it names is in the core of S* at the
// time of the finding, and if not, when it is. What else the detector said is not judged here.
type Outcome uint8

// Outcomes.
const (
	// FalsePositive says that the declared queue was not in the core, and never was later in the run.
	FalsePositive Outcome = iota
	// Premature says that the queue was not in the core, but was later in the run.
	Premature
	// Late says that the queue had left the core so shortly before that the detector could not know yet.
	Late
	// TruePositive says that the queue was in the core when it was declared.
	TruePositive
	// Undecided says that logs of several clocks do not prove which of these it is.
	Undecided
)

func (o Outcome) String() string {
	return [...]string{"false", "premature", "late", "true", "undecided"}[o]
}

// Finding is a deadlock that a switch declared, and how it was judged.
type Finding struct {
	// What the detector said: Priority group waits for Queue, and the chain of waiting leads
	// back to PG.
	At      unit.Time
	PG      PG
	Queue   Queue
	Label   itsyhdr.TLV
	Trigger unit.NodePort
	OnLoop  bool

	// What Judge adds.
	Outcome Outcome
	// Deadlock is the index of the deadlock that it names, -1 unless TruePositive.
	Deadlock int
	// Latency is from the onset of that deadlock to At; 0 unless TruePositive.
	Latency unit.Time
	// AtMost and LatencyMost are, where logs of several clocks were judged, the latest time
	// and the longest latency that are possible; At and Latency are the earliest and the
	// shortest then. With one clock they are equal. LatencyMost is unit.Never where there is
	// no bound.
	AtMost, LatencyMost unit.Time
	// Loop is a cycle in the order of waiting, the declared queue first. For a true
	// positive it is a shortest one of the core; otherwise the path of the label, as
	// far as the logs show it, or nil.
	Loop []Queue

	told unit.Time // when the time line tells of it; steps of labels and diagnoses have such times too
}

// Judge fills in the outcome of each finding, with the loop of the true ones, and
// returns the deadlocks of the history with their declarers, by onset.
//
// An instant at which S* changes belongs to both sides: a finding of that very time is
// true if the queue is in the core before or after. late is how long a deadlock may be
// over before a declaration counts as false: a detector cannot hear of its end sooner.
// 32 hops are a fair value; 0 means that no declaration is late.
//
// Findings are taken in their order, so Declarers are in order of time. One that is late declares no
// deadlock: if it is the only one, the deadlock was missed.
func (h *History) Judge(findings []Finding, late unit.Time) []Deadlock {
	l := h.lives()
	for i := range findings {
		f := &findings[i]
		f.Deadlock, f.AtMost = -1, f.At
		if at := h.inCore(f.Queue, f.At); at >= 0 {
			// Of components that merged from the onset of the oldest: the detector could have declared that one.
			f.Latency = f.At - h.nameDeadlock(f, at, l).From
			f.LatencyMost = f.Latency
			continue
		}
		f.Outcome = h.judgeUntrue(f, late)
	}
	return l.all
}

// inCore is the index of a change that is valid at the time at and has q in its core,
// -1 if none. At the time of a change that is the change itself or the one before: a detector that
// declares in the instant in which its loop closes or opens may have seen either side, and a tie goes
// in its favour. Within the instant there is no more than these two.
func (h *History) inCore(q Queue, at unit.Time) int {
	i := h.index(at)
	if i >= 0 && h.changes[i].stuck.InCore(q) {
		return i
	}
	if i > 0 && h.changes[i].at == at && h.changes[i-1].stuck.InCore(q) {
		return i - 1
	}
	return -1
}

// nameDeadlock is the deadlock that f means, in whose core its queue is by a change.
func (h *History) nameDeadlock(f *Finding, change int, l lives) *Deadlock {
	stuck := h.changes[change].stuck
	f.Outcome, f.Deadlock, f.Loop = TruePositive, l.of[change][stuck.component(f.Queue)], stuck.Cycle(f.Queue)
	d := &l.all[f.Deadlock]
	if !slices.Contains(d.Declarers, f.PG) {
		d.Declarers = append(d.Declarers, f.PG)
	}
	return d
}

// judgeUntrue is the outcome of a finding whose queue is not in the core. Late goes before Premature: of
// a queue that was in the core a moment ago and will be again, it is the end that the detector could
// not know of.
func (h *History) judgeUntrue(f *Finding, late unit.Time) Outcome {
	outcome := FalsePositive
	for _, in := range h.coreTimes(f.Queue) {
		switch {
		case in.To < f.At && f.At-in.To < late:
			return Late
		case in.From > f.At:
			outcome = Premature
		}
	}
	return outcome
}

// Result is the truth about a run and what was declared in it.
type Result struct {
	Fabric  *Fabric
	History *History
	// Intervals in which S* was not empty; the first begins at the onset.
	Intervals []Interval
	// Openings are intervals with a wait that opens by itself (Stuck.Opening): no deadlock.
	Openings  []Interval
	Deadlocks []Deadlock
	Findings  []Finding
	// EndUndecided: with several clocks, no deadlock is surely there at the end, and one possibly is.
	EndUndecided bool
	// Undecided are deadlocks that there may have been, with several clocks, of which it
	// cannot be said that they were, or whether they were missed.
	Undecided []Deadlock
	// Diagnoses are what detectors said of the causes of what they declared, by time.
	Diagnoses []Diagnosis
	// HostPauses are the pauses that hosts imposed, and Storms the times in which at
	// least one was active and S* was empty: a watchdog may act on them, a deadlock
	// detector must not.
	HostPauses []HostPause
	Storms     []Interval
	// Actions are the actions that systems took on their switches, and Refusals those
	// they wanted to take and could not, in order of time.
	Actions  []Taken
	Refusals []Refused
	// Frames are the PFC frames in the logs.
	Frames   Frames
	Timeline []Moment
	End      unit.Time
	// Clocks says how well the clocks of the logs were known, nil if there was only one.
	Clocks *ClocksKnown
}

// Taken is an action that a system took on PG, Queue or both; a Port of
// unit.NoPort means that it has no such part. Amount is the number that goes with the
// action.
type Taken struct {
	At     unit.Time
	Action detect.Action
	PG     PG
	Queue  Queue
	Amount int
	Flow   detect.FlowID // 0 for none
}

// Refused is an action that was not taken.
type Refused struct {
	At    unit.Time
	Why   detect.Refusal
	PG    PG
	Queue Queue
}

// HostPause is a pause of a queue that leads to a host.
type HostPause struct {
	Queue Queue
	Interval
}

// Frames counts PFC frames sent, per priority.
type Frames struct{ XOFF, XON, Refresh int }

// Count is how many findings have this outcome.
func (r *Result) Count(o Outcome) (n int) {
	for _, f := range r.Findings {
		if f.Outcome == o {
			n++
		}
	}
	return n
}

// Missed are the deadlocks that were a knot and that nobody declared while they
// lived: the false negatives. With several clocks those of which that is proved.
func (r *Result) Missed() []Deadlock {
	return lists.Where(r.Deadlocks, func(d Deadlock) bool { return d.Knot && len(d.Declarers) == 0 && !d.Undecided })
}

// storms are the times covered by pauses but not by deadlocks. While there is a deadlock a detector may
// speak whatever hosts do, so that time counts as none of theirs.
func storms(pauses []HostPause, deadlocks []Interval) []Interval {
	covered := lists.Map(pauses, func(p HostPause) Interval { return p.Interval })
	return subtract(union(covered), deadlocks)
}

// union merges intervals that touch; it sorts its argument. One that is merged is open if any that lasts to
// its end is.
func union(all []Interval) (merged []Interval) {
	slices.SortFunc(all, func(a, b Interval) int { return cmp.Compare(a.From, b.From) })
	for _, in := range all {
		if n := len(merged); n > 0 && in.From <= merged[n-1].To {
			if in.To >= merged[n-1].To {
				merged[n-1].To, merged[n-1].Open = in.To, in.Open || merged[n-1].Open && in.To == merged[n-1].To
			}
			continue
		}
		merged = append(merged, in)
	}
	return merged
}

// subtract removes the intervals of b from those of a; both are sorted and each is
// disjoint. What is left touches what was removed, as intervals have both their ends; of an interval
// that is all removed nothing is left, not even an instant.
func subtract(a, b []Interval) (rest []Interval) {
	for _, in := range a {
		for _, out := range b {
			if out.To <= in.From || out.From >= in.To {
				continue
			}
			if out.From > in.From {
				rest = append(rest, Interval{in.From, out.From, false})
			}
			in.From = min(out.To, in.To)
		}
		if in.From < in.To {
			rest = append(rest, in)
		}
	}
	return rest
}
