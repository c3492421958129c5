// Several detectors are compared on the same cases, in the modes in which the oracle judges one:
//
//	New --> case --each detector, the same seed of the wires--> Outcome --> PairedRun --.
//	                                                                                  v
//	           a row of a CSV file (paired_rows.go) <-- PairedOutcome --> PairedReport (paired_report.go)
//
// Words: a run is *right* if every deadlock that had to be declared was, and nothing was declared
// falsely or prematurely. The *latency* of a case is that of its first deadlock that had to be declared.
//
// Invariants:
//   - a run with several detectors is what a run with each alone is: they never meet;
//   - the report is made of the rows, and of nothing else.

package fuzz

import (
	"context"

	"softswitch/internal/lists"
	"softswitch/study/shard"
	"softswitch/unit"
)

// PairedOutcome is a case with each detector.
type PairedOutcome struct {
	Shape string
	Runs  []PairedRun // by detector
}

// PairedRun is a case with a detector.
type PairedRun struct {
	// Invalid is why the run says nothing; then only Frames is set too.
	Invalid string `json:",omitempty"`
	Frames  uint64 // frame-hops
	// Deadlocks that had to be declared, and those of them that were.
	Deadlocks, Found int
	// Declarations by their outcome.
	FalsePositives, Premature, Late int
	Control, State                  int // as in Outcome
	// First is the first of Deadlocks, nil if there is none.
	First *FirstDeadlock `json:",omitempty"`
}

// FirstDeadlock is the first deadlock of a case.
type FirstDeadlock struct {
	Kind     string // strong, split, flooding
	Queues   int    // that were ever in it
	Onset    unit.Time
	Declared unit.Time // 0 if nobody declared it
	Laps     int64     // latency in thousandths of a lap
}

// latency is from the onset to the first declaration; ok is false if there was none.
func (r *PairedRun) latency() (l unit.Time, ok bool) {
	if r.First == nil || r.First.Declared == 0 {
		return 0, false
	}
	return r.First.Declared - r.First.Onset, true
}

// Verdicts of a run.
const (
	verdictInvalid   = "invalid"
	verdictFalse     = "false"     // a deadlock was declared that never formed
	verdictPremature = "premature" // none of these, but one that formed later
	verdictMissed    = "missed"    // neither, and a deadlock was not declared
	verdictFound     = "found"     // all deadlocks were declared, and nothing else
	verdictLate      = "late"      // no deadlock had to be declared; one was that had just ended
	verdictNothing   = "nothing"   // no deadlock had to be declared, and none was
)

// verdict is what the run shows of the detector, the worst first.
func (r *PairedRun) verdict() string {
	switch {
	case r.Invalid != "":
		return verdictInvalid
	case r.FalsePositives > 0:
		return verdictFalse
	case r.Premature > 0:
		return verdictPremature
	case r.Found < r.Deadlocks:
		return verdictMissed
	case r.Deadlocks > 0:
		return verdictFound
	case r.Late > 0:
		return verdictLate
	}
	return verdictNothing
}

// right reports whether all deadlocks that had to be declared were, and nothing falsely or prematurely.
func (r *PairedRun) right() bool {
	return r.Invalid == "" && r.FalsePositives+r.Premature == 0 && r.Found == r.Deadlocks
}

// pairedRun is what is compared of an outcome.
func pairedRun(o *Outcome) PairedRun {
	r := PairedRun{
		Invalid: o.Invalid, Frames: o.Frames, FalsePositives: o.FalsePositives, Premature: o.Premature, Late: o.Late,
		Control: o.Control, State: o.State,
	}
	for _, k := range lists.Where(o.Knots, func(k Knot) bool { return !k.Young }) {
		r.Deadlocks++
		count(&r.Found, !k.Missed)
		if r.First == nil {
			r.First = &FirstDeadlock{Kind: k.kind(), Queues: k.Queues, Onset: k.Onset, Declared: k.Declared, Laps: k.Latency}
		}
	}
	return r
}

// playPaired plays the cases of r's part with every detector.
func playPaired(ctx context.Context, r *Run) (any, Report, error) {
	all := make([]PairedOutcome, r.count())
	err := r.each(ctx, func(i int) error {
		all[i].Shape = r.newCase(i).Shape
		for _, d := range r.Detectors {
			o := r.newCase(i).Play(d.Name, d.New)
			all[i].Runs = append(all[i].Runs, pairedRun(&o))
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	for i := range all {
		for k, run := range all[i].Runs {
			if run.Invalid != "" {
				r.tellInvalid(i, "with "+r.Detectors[k].Name+", "+run.Invalid)
			}
		}
	}
	return all, r.pairedReport(all), nil
}

// mergePaired is the report of the cases of all shards.
func mergePaired(r *Run, w *shard.Whole) (Report, error) {
	all, err := shard.Records[PairedOutcome](w)
	if err != nil {
		return nil, err
	}
	return r.pairedReport(all), nil
}
