// Package runner explains deadlocks (package cause) for a user: on many processors,
// with a progress bar.
//
//	Scenario, seed --> cause.New --> Explain, many runs at a time --> cause.Report
//
// Invariant: the report is the same for one worker and for many.
//
// What it does not do: package cause defines what a cause is.
package runner

import (
	"context"
	"io"

	"softswitch/internal/progress"
	"softswitch/scenario"
	"softswitch/study/cause"
	"softswitch/unit"
)

// Explain finds what caused the first deadlock of a scenario, with so many runs at a
// time, until ctx ends; it reports progress on show. The error is cause.ErrNoDeadlock if
// there is none.
func Explain(ctx context.Context, s *scenario.Scenario, seed uint64, workers int, show io.Writer) (*cause.Report, error) {
	c, err := untreated(ctx, s, seed, show)
	if err != nil {
		return nil, err
	}
	c.Watch = func(unit.Time) error { return ctx.Err() }
	return c.Explain(func(what string, n int, do func(int) error) error {
		return progress.Each(ctx, show, what, n, workers, do)
	})
}

func untreated(ctx context.Context, s *scenario.Scenario, seed uint64, show io.Writer) (*cause.Case, error) {
	work := progress.New(ctx, show, "simulated ns", int64(s.Duration))
	defer work.Close()
	return cause.New(s, seed, func(now unit.Time) error { return work.Set(int64(now)) })
}
