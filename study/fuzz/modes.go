package fuzz

import (
	"context"
	"strings"

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

// modes are all of them, in the order in which they are named to users. A new one is a line here
// and a file.
var modes = []struct {
	mode Mode
	kind kind
	// several: the mode compares several detectors. responses: it compares responses.
	several, responses bool
}{
	{mode: Usual, kind: detection{}},
	{mode: Loss, kind: detection{}},
	{mode: Expiry, kind: detection{}},
	{mode: Jumbo, kind: detection{}},
	{mode: RDMA, kind: detection{}},
	{mode: Long, kind: detection{}},
	{mode: Cause, kind: records[named]{one: playPlanted, report: causesReport, write: writeNamed}, several: true},
	{mode: RandomCause, kind: records[named]{one: playRandomCause, report: causesReport}, several: true},
	{mode: Response, kind: records[ResponsesOutcome]{one: playResponses, report: responsesReport}, responses: true},
	{mode: Clocks, kind: records[ClocksOutcome]{one: playClocks, report: clocksReport}},
	{mode: Attack, kind: records[AttackOutcome]{one: playAttack, report: attackReport, write: writeAttacks}},
	{mode: Lossless, kind: records[LosslessOutcome]{one: playLossless, report: losslessReport}},
	{mode: TruthStatic, kind: truthMode},
	{mode: TruthOffset, kind: truthMode},
	{mode: TruthJumbo, kind: truthMode},
	{mode: TruthDynamic, kind: truthMode},
	{mode: TruthFailures, kind: truthMode},
	{mode: TruthSONiC, kind: truthMode},
	{mode: TruthCells, kind: truthMode},
}

// ModeNames are the names of all modes.
func ModeNames() string {
	var names []string
	for _, m := range modes {
		names = append(names, string(m.mode))
	}
	return strings.Join(names, ", ")
}

// records is a mode whose shards have a record of each case.
type records[R any] struct {
	// one plays case i of r's part, and says why it is invalid, if it is. It is called for several
	// cases at a time.
	one func(r *Run, i int) (record R, invalid string)
	// write writes those cases of r's part that failed to files, which it may note in the records.
	write func(ctx context.Context, r *Run, all []R) error
	// report sums up all cases of r's part.
	report func(r *Run, all []R) Report
}

func (m records[R]) play(ctx context.Context, r *Run) (any, Report, error) {
	all, invalid := make([]R, r.count()), make([]string, r.count())
	err := r.each(ctx, func(i int) error {
		all[i], invalid[i] = m.one(r, i)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	for i, why := range invalid {
		r.tellInvalid(i, why)
	}
	if m.write != nil {
		if err := m.write(ctx, r, all); err != nil {
			return nil, nil, err
		}
	}
	return all, m.report(r, all), nil
}

func (m records[R]) merge(r *Run, w *shard.Whole) (Report, error) {
	all, err := shard.Records[R](w)
	if err != nil {
		return nil, err
	}
	return m.report(r, all), nil
}
