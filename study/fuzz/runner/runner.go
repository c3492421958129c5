package runner

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/internal/progress"
	"softswitch/internal/safefile"
	"softswitch/study/fuzz"
	"softswitch/study/fuzz/clocked"
	"softswitch/study/fuzz/naming"
	"softswitch/study/fuzz/response"
	"softswitch/study/shard"
)

// Run is a set of cases to play, and what to do with those that fail.
type Run struct {
	N    int
	Seed uint64
	Mode fuzz.Mode
	// Detectors is one, or several that name causes.
	Detectors []catalog.Detector
	Responses []respond.Choice // that mode response compares
	Part      shard.Part       // the cases to play, of all N
	Workers   int              // cases played in parallel
	Out       string           // folder for failures, created if there are any
	Shrink    int              // failures of each kind to make smaller
	Progress  io.Writer
}

// MaxCases is how many cases a run has at most, and MaxAtOnce how many of them are played
// by one program.
const (
	MaxCases  = 1_000_000_000
	MaxAtOnce = 10_000_000
)

// Check says what of a run is out of range, by the flags of "softswitch sim fuzz".
func (r *Run) Check() error {
	switch {
	case r.N < 1 || r.N > MaxCases:
		return fmt.Errorf("--n: %d; valid: 1 to %d", r.N, MaxCases)
	case r.count() > MaxAtOnce:
		return fmt.Errorf("--n: %d; valid: 1 to %d at once, and more with --shard", r.N, MaxAtOnce)
	case r.Workers < 1 || r.Workers > 1024:
		return fmt.Errorf("--workers: %d; valid: 1 to 1024", r.Workers)
	case r.Shrink < 0:
		return fmt.Errorf("--shrink: %d; valid: 0 or above", r.Shrink)
	case !slices.Contains(fuzz.Modes, r.Mode) && r.Mode != fuzz.Jumbo && r.Mode != fuzz.RDMA && !r.namesCauses() && !r.responds() && !r.byClocks() && !r.attacks():
		return fmt.Errorf("--mode: %q; valid: %s", r.Mode, Modes())
	case len(r.Detectors) != 1 && !r.namesCauses():
		return fmt.Errorf("--detector: %d; valid in mode %s: one", len(r.Detectors), r.Mode)
	}
	return nil
}

// Modes are the names of all modes.
func Modes() string {
	var names []string
	for _, m := range fuzz.Modes {
		names = append(names, string(m))
	}
	return strings.Join(append(names, string(fuzz.Jumbo), string(fuzz.RDMA), naming.ModeCause, naming.ModeRandom, response.Mode, clocked.Mode, string(fuzz.Attack)), ", ")
}

// shrinkTries is how often a failure is played, at most, to make it smaller.
const shrinkTries = 400

// Report is what a run prints.
type Report interface {
	WriteText(io.Writer) error
	Clean() bool // nothing went wrong: exit status 0
}

// Play plays all cases of the part and writes those that failed. It returns the report of
// the mode or, of a part, its shard.
func (r *Run) Play(ctx context.Context) (Report, error) {
	switch {
	case r.namesCauses():
		named, err := r.playCauses(ctx)
		if err != nil {
			return nil, err
		}
		return r.result(named, r.causes(named)), nil
	case r.responds():
		outcomes, err := r.playResponses(ctx)
		if err != nil {
			return nil, err
		}
		return r.result(outcomes, r.responses(outcomes)), nil
	case r.byClocks():
		outcomes, err := r.playClocks(ctx)
		if err != nil {
			return nil, err
		}
		return r.result(outcomes, r.clocks(outcomes)), nil
	case r.attacks():
		outcomes, err := r.playAttacks(ctx)
		if err != nil {
			return nil, err
		}
		return r.result(outcomes, r.attackReport(outcomes)), nil
	}
	c, err := r.playCases(ctx)
	if err != nil {
		return nil, err
	}
	return r.result(c, r.detection(c)), nil
}

// cases is what came of cases of which a detector was held against the oracle.
type cases struct {
	Tally    fuzz.Tally `json:"tally"`
	Failures []failed   `json:"failures"`
}

// failed is a case that failed, and the file that it was written to.
type failed struct {
	Case int    `json:"case"`
	File string `json:"file"`
}

func (r *Run) playCases(ctx context.Context) (*cases, error) {
	outcomes := make([]fuzz.Outcome, r.count())
	err := r.each(ctx, func(i int) error {
		outcomes[i] = r.newCase(i).Play(r.detector().Name, r.detector().New)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var c cases
	for i := range outcomes {
		c.Tally.Add(&outcomes[i])
		r.tellInvalid(i, outcomes[i].Invalid)
	}
	c.Failures, err = r.write(ctx, outcomes)
	return &c, err
}

// detection is the report of all cases.
func (r *Run) detection(c *cases) *fuzz.Report {
	files := []string{}
	for _, f := range c.Failures {
		files = append(files, f.File)
	}
	return c.Tally.Report(r.Seed, r.Mode, r.detector().Name, files)
}

// detector is the one of modes that have one.
func (r *Run) detector() catalog.Detector { return r.Detectors[0] }

// count is how many cases are played. Those are numbered from 0; fuzz knows them by
// r.Part.Item.
func (r *Run) count() int { return r.Part.Count(r.N) }

// each calls do for every case that is played, many at a time.
func (r *Run) each(ctx context.Context, do func(i int) error) error {
	return progress.Each(ctx, r.Progress, "cases", r.count(), r.Workers, do)
}

// tellInvalid says why a case says nothing, if it does not.
func (r *Run) tellInvalid(i int, why string) {
	if why != "" {
		fmt.Fprintf(r.Progress, "case %d is invalid: %s\n", r.Part.Item(i), why)
	}
}

func (r *Run) newCase(i int) *fuzz.Case { return fuzz.New(r.Seed, r.Part.Item(i), r.Mode) }

// write writes every failure to its file, the first ones of each kind made smaller, and
// returns the files.
func (r *Run) write(ctx context.Context, outcomes []fuzz.Outcome) ([]failed, error) {
	files, numbers := []failed{}, []int{}
	var small []bool // by file: make it smaller
	count := map[fuzz.Failure]int{}
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
	if len(files) == 0 {
		return files, nil
	}
	if err := safefile.MkdirAll(r.Out, 0o755); err != nil {
		return nil, err
	}
	return files, progress.Each(ctx, r.Progress, "failures made smaller", len(files), r.Workers, func(n int) error {
		o := &outcomes[numbers[n]]
		c := r.newCase(numbers[n])
		if small[n] {
			c, o = r.smaller(ctx, c, o)
		}
		return safefile.WriteFile(files[n].File, c.Text(r.detector().Name, c.Comment(r.detector().Name, o, small[n])), 0o644)
	})
}

// smaller returns a smaller case that fails in the same way, with its outcome.
func (r *Run) smaller(ctx context.Context, c *fuzz.Case, o *fuzz.Outcome) (*fuzz.Case, *fuzz.Outcome) {
	kind := o.Failure()
	c = fuzz.Shrink(c, shrinkTries, func(c *fuzz.Case) bool {
		if ctx.Err() != nil {
			return false
		}
		o := c.Play(r.detector().Name, r.detector().New)
		return o.Failure() == kind
	})
	now := c.Play(r.detector().Name, r.detector().New)
	return c, &now
}
