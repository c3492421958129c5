package cause

import (
	"context"
	"io"

	"softswitch/internal/progress"
	"softswitch/scenario"
	"softswitch/unit"
)

// ExplainScenario finds what caused the first deadlock of a scenario, with at most workers runs
// at a time, until ctx ends; it reports progress on show. The error is cause.ErrNoDeadlock if
// there is none.
func ExplainScenario(ctx context.Context, s *scenario.Scenario, seed uint64, workers int, show io.Writer) (*Report, error) {
	c, err := untreated(ctx, s, seed, show)
	if err != nil {
		return nil, err
	}
	c.Watch = func(unit.Time) error { return ctx.Err() }
	return c.Explain(func(what string, n int, do func(int) error) error {
		return progress.Each(ctx, show, what, n, workers, do)
	})
}

func untreated(ctx context.Context, s *scenario.Scenario, seed uint64, show io.Writer) (*Case, error) {
	work := progress.New(ctx, show, "simulated ns", int64(s.Duration))
	defer work.Close()
	return New(s, seed, func(now unit.Time) error { return work.Set(int64(now)) })
}
