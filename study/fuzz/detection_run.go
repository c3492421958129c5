package fuzz

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"softswitch/internal/safefile"
	"softswitch/study/shard"
)

// shrinkTries is how often a failure is played, at most, to make it smaller.
const shrinkTries = 400

// cases is the result of cases in which the oracle judged a detector.
type cases struct {
	Tally    Tally    `json:"tally"`
	Failures []failed `json:"failures"`
}

// failed is a case that failed, and the file that it was written to.
type failed struct {
	Case int    `json:"case"`
	File string `json:"file"`
}

// detection is the modes in which the oracle judges a detector. A shard has the sum of its
// cases and the files of those that failed, not a record of each: there may be a billion.
type detection struct{}

func (detection) play(ctx context.Context, r *Run) (any, Report, error) {
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
	if c.Failures, err = r.write(ctx, outcomes); err != nil {
		return nil, nil, err
	}
	return &c, r.detection(&c), nil
}

func (detection) merge(r *Run, w *shard.Whole) (Report, error) {
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
func (r *Run) write(ctx context.Context, outcomes []Outcome) ([]failed, error) {
	files, numbers := []failed{}, []int{}
	var small []bool // by file: make it smaller
	count := map[Failure]int{}
	for i := range outcomes {
		kind := outcomes[i].Failure()
		if kind == "" {
			continue
		}
		count[kind]++
		small = append(small, count[kind] <= r.Shrink)
		numbers = append(numbers, i)
		files = append(files, failed{r.Part.Item(i), filepath.Join(r.Out, fmt.Sprintf("%s-%s.yaml", r.newCase(i).Name(), kind))})
	}
	return files, r.eachFailure(ctx, len(files), func(n int) error {
		o := &outcomes[numbers[n]]
		c := r.newCase(numbers[n])
		if small[n] {
			c, o = r.smaller(ctx, c, o)
		}
		return safefile.WriteFile(files[n].File, c.Text(r.detector().Name, c.Comment(r.detector().Name, o, small[n])), 0o644)
	})
}

// smaller returns a smaller case that fails in the same way, with its outcome.
func (r *Run) smaller(ctx context.Context, c *Case, o *Outcome) (*Case, *Outcome) {
	kind := o.Failure()
	c = Shrink(c, shrinkTries, func(c *Case) bool {
		if ctx.Err() != nil {
			return false
		}
		o := c.Play(r.detector().Name, r.detector().New)
		return o.Failure() == kind
	})
	now := c.Play(r.detector().Name, r.detector().New)
	return c, &now
}
