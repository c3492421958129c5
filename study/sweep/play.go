package sweep

import (
	"context"
	"fmt"
	"io"

	"softswitch/detect/catalog"
	"softswitch/internal/progress"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/unit"
)

// MaxRuns is how many runs there may be, and maxWorkers how many of them at a time.
const (
	MaxRuns    = 100_000
	maxWorkers = 1024
)

// Seeds are with which seeds a plan is played, and how.
type Seeds struct {
	From    uint64 // the first; the others follow it
	Times   int    // how many
	Workers int    // runs played at a time
}

// Check says what is out of range, by the flags of the commands.
func (s *Seeds) Check() error {
	switch {
	case s.Times < 1 || s.Times > MaxRuns:
		return fmt.Errorf("--repeat: %d; valid: 1 to %d", s.Times, MaxRuns)
	case s.Workers < 1 || s.Workers > maxWorkers:
		return fmt.Errorf("--workers: %d; valid: 1 to %d", s.Workers, maxWorkers)
	}
	return nil
}

// Repeat plays a scenario of this length with every seed, and sums up; one that draws nothing it plays
// with the first alone. It shows its progress on show. plan makes a new plan of the scenario each time, for
// a run may change it.
func Repeat(ctx context.Context, length unit.Time, seeds Seeds, show io.Writer, plan func() (*scenario.Plan, error)) (*verdict.Summary, error) {
	if err := seeds.Check(); err != nil {
		return nil, err
	}
	first, err := plan()
	if err != nil {
		return nil, err
	}
	equal := seeds.Times > 1 && !first.Scenario.Draws()
	if equal {
		seeds.Times = 1
	}
	verdicts := make([]*verdict.Verdict, seeds.Times)
	all := runs{
		n: seeds.Times, workers: seeds.Workers, length: steps(length) * int64(seeds.Times),
		run: func(i int) (*scenario.Plan, uint64, error) {
			p, err := plan()
			return p, seeds.From + uint64(i), err
		},
	}
	if err := all.play(ctx, show, func(i int, v *verdict.Verdict) error {
		verdicts[i] = v
		return nil
	}); err != nil {
		return nil, err
	}
	sum := verdict.Summarize(verdicts)
	sum.Equal = sum.Equal || equal
	return &sum, nil
}

// runs are simulations.
type runs struct {
	n, workers int
	length     int64 // of all together, in steps
	// run returns the plan of run i, which nobody else has, and its seed.
	run func(i int) (*scenario.Plan, uint64, error)
}

// play plays all runs, and calls done with each verdict as it comes, from many goroutines.
// The first error, or the end of ctx, ends all of them.
func (r *runs) play(ctx context.Context, show io.Writer, done func(i int, v *verdict.Verdict) error) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	work := progress.New(ctx, show, "simulated us", r.length)
	defer work.Close()
	return progress.Each(ctx, io.Discard, "runs", r.n, r.workers, func(i int) error {
		v, err := r.simulate(i, work)
		if err == nil {
			err = done(i, v)
		}
		if err != nil {
			end(err)
		}
		return err
	})
}

// simulate plays run i, and adds the time that it simulates to work.
func (r *runs) simulate(i int, work *progress.Work) (*verdict.Verdict, error) {
	plan, seed, err := r.run(i)
	if err != nil {
		return nil, err
	}
	shown := int64(0)
	reach := func(now unit.Time) error {
		before := shown
		shown = steps(now)
		return work.Add(shown - before)
	}
	v, err := sim.Play(plan, sim.Options{Seed: seed, Detectors: catalog.Factories(), Watch: reach})
	if err == nil {
		reach(plan.Scenario.Duration) // it is played to its end, whatever ended meanwhile
	}
	return v, err
}

// steps is a time in steps of progress.
func steps(t unit.Time) int64 { return int64(t / unit.Microsecond) }
