package fuzz

import (
	"context"
	"fmt"
	"strings"

	"softswitch/internal/lists"
	"softswitch/study/shard"
)

// kind is what is done with the cases of a mode.
type kind interface {
	// play plays the cases of r's part. result is what a shard's file has of them, report sums them
	// up.
	play(ctx context.Context, r *Run) (result any, report Report, err error)
	// merge is the report of the cases of all shards.
	merge(r *Run, w *shard.Whole) (Report, error)
}

// modeKind is a mode with what is done with its cases.
type modeKind struct {
	mode Mode
	kind kind
	// several: the mode compares several detectors. responses: it compares responses. rows: it has
	// a row of each case.
	several, responses, rows bool
}

// modes are all of them, in the order in which they are named to users. A new one is a line here
// and a file.
var modes = []modeKind{
	{mode: Usual, kind: detection{}, several: true, rows: true},
	{mode: Loss, kind: detection{}, several: true, rows: true},
	{mode: Expiry, kind: detection{}, several: true, rows: true},
	{mode: Jumbo, kind: detection{}, several: true, rows: true},
	{mode: RDMA, kind: detection{}, several: true, rows: true},
	{mode: Long, kind: detection{}, several: true, rows: true},
	{mode: Built, kind: detection{}, several: true, rows: true},
	{mode: Cause, kind: records[CausesOutcome, *CausesReport]{playPlanted, newCausesReport, writeNamed}, several: true},
	{mode: RandomCause, kind: records[CausesOutcome, *CausesReport]{playRandomCause, newCausesReport, nil}, several: true},
	{mode: Response, kind: records[ResponsesOutcome, *ResponsesReport]{playResponses, newResponsesReport, nil}, responses: true, rows: true},
	{mode: Clocks, kind: records[ClocksOutcome, *ClocksReport]{playClocks, newClocksReport, nil}},
	{mode: Attack, kind: records[AttackOutcome, *AttackReport]{playAttack, newAttackReport, writeAttacks}},
	{mode: Lossless, kind: records[LosslessOutcome, *LosslessReport]{playLossless, newLosslessReport, nil}},
	{mode: TruthStatic, kind: truthMode},
	{mode: TruthOffset, kind: truthMode},
	{mode: TruthJumbo, kind: truthMode},
	{mode: TruthDynamic, kind: truthMode},
	{mode: TruthFailures, kind: truthMode},
	{mode: TruthSONiC, kind: truthMode},
	{mode: TruthCells, kind: truthMode},
	{mode: TruthBuilt, kind: truthMode},
}

// ModeNames are the names of all modes.
func ModeNames() string { return namesOf(modes) }

func namesOf(of []modeKind) string {
	return strings.Join(lists.Map(of, func(m modeKind) string { return string(m.mode) }), ", ")
}

// records is a mode whose shards have a record of each case.
type records[R outcome, S sum[R]] struct {
	// one plays case i of r's part. It is called for several cases at a time.
	one func(r *Run, i int) R
	// report is the report of no case of r.
	report func(r *Run) S
	// write writes those cases of r's part that failed to files, which it may note in the records;
	// nil if nobody looks at them.
	write func(ctx context.Context, r *Run, all []R) error
}

// outcome is the result of a case.
type outcome interface {
	why() string // why the case is invalid, "" if it is not
}

// sum is a report that outcomes are added to.
type sum[R any] interface {
	Report
	// Add counts the outcome of case number i.
	Add(i int, o *R)
}

func (m records[R, S]) play(ctx context.Context, r *Run) (any, Report, error) {
	all := make([]R, r.count())
	err := r.each(ctx, func(i int) error {
		all[i] = m.one(r, i)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	for i := range all {
		r.tellInvalid(i, all[i].why())
	}
	if m.write != nil {
		if err := m.write(ctx, r, all); err != nil {
			return nil, nil, err
		}
	}
	return all, m.sum(r, all), nil
}

func (m records[R, S]) merge(r *Run, w *shard.Whole) (Report, error) {
	all, err := shard.Records[R](w)
	if err != nil {
		return nil, err
	}
	return m.sum(r, all), nil
}

// sum is the report of all cases of r's part.
func (m records[R, S]) sum(r *Run, all []R) Report {
	report := m.report(r)
	for i := range all {
		report.Add(r.Part.Item(i), &all[i])
	}
	return report
}

// count adds one to n if it is so.
func count(n *int, is bool) {
	if is {
		*n++
	}
}

// recovered makes the outcome of a case that panics, to which why belongs, an invalid one.
func recovered[R any](o *R, why *string) {
	if p := recover(); p != nil {
		var none R
		*o = none
		*why = fmt.Sprintf("panic: %v", p)
	}
}

// noPanic is recovered of what has an error.
func noPanic(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v", p)
	}
}
