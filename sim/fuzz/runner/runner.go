package runner

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"softswitch/detect/catalog"
	"softswitch/internal/progress"
	"softswitch/sim/fuzz"
	"softswitch/sim/fuzz/naming"
	"softswitch/sim/fuzz/response"
)

// Run is a set of cases to play, and what to do with those that fail.
type Run struct {
	N        int
	Seed     uint64
	Mode     fuzz.Mode
	Detector catalog.Detector
	Workers  int    // cases played in parallel
	Out      string // folder for failures, created if there are any
	Shrink   int    // failures of each kind to make smaller
	Progress io.Writer
}

// Check says what of a run is out of range, by the flags of "softswitch sim fuzz".
func (r *Run) Check() error {
	switch {
	case r.N < 1 || r.N > 10_000_000:
		return fmt.Errorf("--n: %d; valid: 1 to 10000000", r.N)
	case r.Workers < 1 || r.Workers > 1024:
		return fmt.Errorf("--workers: %d; valid: 1 to 1024", r.Workers)
	case r.Shrink < 0:
		return fmt.Errorf("--shrink: %d; valid: 0 or above", r.Shrink)
	case !slices.Contains(fuzz.Modes, r.Mode) && r.Mode != fuzz.Jumbo && r.Mode != fuzz.RDMA && !r.NamesCauses() && !r.Responds():
		return fmt.Errorf("--mode: %q; valid: %s", r.Mode, Modes())
	}
	return nil
}

// Modes are the names of all modes.
func Modes() string {
	var names []string
	for _, m := range fuzz.Modes {
		names = append(names, string(m))
	}
	return strings.Join(append(names, string(fuzz.Jumbo), string(fuzz.RDMA), naming.ModeCause, naming.ModeRandom, response.Mode), ", ")
}

// shrinkTries is how often a failure is played, at most, to make it smaller.
const shrinkTries = 400

// Play plays all cases, then writes those that failed.
func (r *Run) Play(ctx context.Context) (*fuzz.Report, error) {
	report := &fuzz.Report{Seed: r.Seed, Mode: r.Mode, Detector: r.Detector.Name, Failures: []string{}}
	outcomes := make([]fuzz.Outcome, r.N)
	err := progress.Each(ctx, r.Progress, "cases", r.N, r.Workers, func(i int) error {
		outcomes[i] = r.newCase(i).Play(r.Detector.Name, r.Detector.New)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range outcomes {
		report.Add(&outcomes[i])
		r.tellInvalid(i, outcomes[i].Invalid)
	}
	report.Finish()
	report.Failures, err = r.write(ctx, outcomes)
	return report, err
}

// tellInvalid says why case i says nothing, if it does not.
func (r *Run) tellInvalid(i int, why string) {
	if why != "" {
		fmt.Fprintf(r.Progress, "case %d is invalid: %s\n", i, why)
	}
}

func (r *Run) newCase(i int) *fuzz.Case { return fuzz.New(r.Seed, i, r.Mode) }

// write writes every failure to its file, the first ones of each kind made smaller, and
// returns the names of the files.
func (r *Run) write(ctx context.Context, outcomes []fuzz.Outcome) ([]string, error) {
	files, cases := []string{}, []int{}
	var small []bool // by file: make it smaller
	count := map[fuzz.Failure]int{}
	for i := range outcomes {
		kind := outcomes[i].Failure()
		if kind == "" {
			continue
		}
		count[kind]++
		small = append(small, count[kind] <= r.Shrink)
		cases = append(cases, i)
		files = append(files, filepath.Join(r.Out, fmt.Sprintf("%s-%s.yaml", r.newCase(i).Name(), kind)))
	}
	if len(files) == 0 {
		return files, nil
	}
	if err := os.MkdirAll(r.Out, 0o755); err != nil {
		return nil, err
	}
	return files, progress.Each(ctx, r.Progress, "failures made smaller", len(files), r.Workers, func(n int) error {
		o := &outcomes[cases[n]]
		c := r.newCase(cases[n])
		if small[n] {
			c, o = r.smaller(ctx, c, o)
		}
		return os.WriteFile(files[n], c.Text(r.Detector.Name, c.Comment(r.Detector.Name, o, small[n])), 0o644)
	})
}

// smaller returns a smaller case that fails in the same way, with its outcome.
func (r *Run) smaller(ctx context.Context, c *fuzz.Case, o *fuzz.Outcome) (*fuzz.Case, *fuzz.Outcome) {
	kind := o.Failure()
	c = fuzz.Shrink(c, shrinkTries, func(c *fuzz.Case) bool {
		if ctx.Err() != nil {
			return false
		}
		o := c.Play(r.Detector.Name, r.Detector.New)
		return o.Failure() == kind
	})
	now := c.Play(r.Detector.Name, r.Detector.New)
	return c, &now
}
