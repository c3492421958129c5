package fuzz

import (
	"cmp"
	"context"
	"slices"

	"softswitch/study/shard"
)

// shrinkTries is how often a failure is played, at most, to make it smaller.
const shrinkTries = 400

// cases is the result of cases in which the oracle judged a detector.
type cases struct {
	Tally    Tally    `json:"tally"`
	Failures []failed `json:"failures"`
}

// detection is the modes in which the oracle judges a detector. A shard has the sum of its
// cases and the files of those that failed, not a record of each: there may be a billion. With several
// detectors, or rows, it has a record of each (paired.go).
type detection struct{}

func (d detection) play(ctx context.Context, r *Run) (any, Report, error) {
	if r.Paired() {
		return playPaired(ctx, r)
	}
	outcomes := make([]Outcome, r.count())
	err := r.each(ctx, func(i int) error {
		outcomes[i] = r.newCase(i).Play(r.detector().Name, r.detector().New)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	var c cases
	for i := range outcomes {
		c.Tally.Add(&outcomes[i])
		r.tellInvalid(i, outcomes[i].Invalid)
	}
	if c.Failures, err = d.write(ctx, r, outcomes); err != nil {
		return nil, nil, err
	}
	return &c, r.detection(&c), nil
}

func (detection) merge(r *Run, w *shard.Whole) (Report, error) {
	if r.Paired() {
		return mergePaired(r, w)
	}
	parts, err := shard.Results[cases](w)
	if err != nil {
		return nil, err
	}
	var sum cases
	for i := range parts {
		sum.Tally.Plus(&parts[i].Tally)
		sum.Failures = append(sum.Failures, parts[i].Failures...)
	}
	slices.SortStableFunc(sum.Failures, func(a, b failed) int { return cmp.Compare(a.Case, b.Case) })
	return r.detection(&sum), nil
}

// detection is the report of all cases.
func (r *Run) detection(c *cases) *DetectionReport {
	files := []string{}
	for _, f := range c.Failures {
		files = append(files, f.File)
	}
	return c.Tally.Report(r.Seed, r.Mode, r.detector().Name, files)
}

func (r *Run) newCase(i int) *Case { return New(r.Seed, r.Part.Item(i), r.Mode) }

// write writes every failure to its file, the first ones of each kind made smaller, and
// returns the files.
func (detection) write(ctx context.Context, r *Run, outcomes []Outcome) ([]failed, error) {
	all := r.failures(len(outcomes), func(i int) (string, bool) {
		kind := outcomes[i].Failure()
		return "-" + string(kind), kind != ""
	})
	files := []failed{}
	for _, f := range all {
		files = append(files, f.failed)
	}
	return files, r.write(ctx, all, func(f failure) (*Case, string) {
		c, o := r.newCase(f.i), &outcomes[f.i]
		if f.small {
			c, o = r.smaller(ctx, c, o)
		}
		return c, c.Comment(r.detector().Name, o, f.small)
	})
}

// smaller returns a smaller case that fails in the same way, with its outcome.
func (r *Run) smaller(ctx context.Context, c *Case, o *Outcome) (*Case, *Outcome) {
	kind := o.Failure()
	c = Shrink(ctx, c, shrinkTries, func(c *Case) bool {
		o := c.Play(r.detector().Name, r.detector().New)
		return o.Failure() == kind
	})
	now := c.Play(r.detector().Name, r.detector().New)
	return c, &now
}
