package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"softswitch/detect"
	"softswitch/detect/catalog"
	"softswitch/sim/fuzz"
)

// fuzzRun is one run of `sim fuzz`.
type fuzzRun struct {
	n, workers int
	seed       int64
	mode       fuzz.Mode
	name       string // of the detector
	detector   detect.Factory
	out        string // directory of failures
	shrink     int
}

// shrinkTries bounds how often a failure is played while it is made smaller.
const shrinkTries = 400

func simFuzz() *cobra.Command {
	var r fuzzRun
	var mode string
	var asJSON bool
	var modes []string
	for _, m := range fuzz.Modes {
		modes = append(modes, string(m))
	}
	c := &cobra.Command{
		Use:   "fuzz",
		Short: "Hold a detector against the oracle on random fabrics",
		Long: `Play random scenarios in virtual time, most of them built so that they deadlock,
and count what the detector said against the truth. A case is determined by the
seed, its number and the mode alone.

Modes: "usual"; "loss" loses control frames; "expiry" stops switches for so long
that pauses expire.

Each case with a false positive, a premature declaration or a false negative is
written to the directory of --out as a scenario file. The first of each kind are
made smaller before.

A deadlock counts as missed if for 20 laps it waited for nothing but itself and
nobody declared it; a lap is what a full frame
and a pause need to pass every link of a loop. Latency is from the onset to the
first declaration, in laps of the declared loop. Control frames are messages and
pauses repeated before their time, of all cases together.

Exit status: 0 no false positive, premature declaration, false negative or
invalid case; 1 there is one; 2 it could not be played.`,
		Example: "  softswitch sim fuzz --n 10000 --seed 1 --detector itsypaper",
		Args:    arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			r.mode = fuzz.Mode(mode)
			if err := r.check(modes); err != nil {
				return err
			}
			report, err := r.run(cmd.Context())
			if err != nil {
				return err
			}
			return printReport(report, asJSON)
		},
	}
	c.Flags().IntVar(&r.n, "n", 1000, "number of cases")
	c.Flags().Int64Var(&r.seed, "seed", 1, "seed of all randomness, 0 or above")
	detectorFlag(c, &r.name, "itsypaper", "deadlock detector")
	c.Flags().StringVar(&mode, "mode", string(fuzz.Usual), "what happens to control frames: "+strings.Join(modes, ", "))
	c.Flags().StringVar(&r.out, "out", filepath.Join("build", "fuzz"), "directory for failures")
	c.Flags().IntVar(&r.workers, "workers", runtime.GOMAXPROCS(0), "cases played at a time")
	c.Flags().IntVar(&r.shrink, "shrink", 5, "how many failures of each kind to make smaller")
	c.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	c.MarkFlagDirname("out")
	return c
}

func (r *fuzzRun) check(modes []string) error {
	d, err := catalog.Named("--detector", r.name)
	if err != nil {
		return err
	}
	r.detector = d.New
	switch {
	case r.n < 1 || r.n > 10_000_000:
		return fmt.Errorf("--n: %d; valid: 1 to 10000000", r.n)
	case r.seed < 0:
		return fmt.Errorf("--seed: %d; valid: 0 or above", r.seed)
	case r.workers < 1 || r.workers > 1024:
		return fmt.Errorf("--workers: %d; valid: 1 to 1024", r.workers)
	case r.shrink < 0:
		return fmt.Errorf("--shrink: %d; valid: 0 or above", r.shrink)
	case !slices.Contains(modes, string(r.mode)):
		return fmt.Errorf("--mode: %q; valid: %s", r.mode, strings.Join(modes, ", "))
	}
	return nil
}

// run plays all cases, then writes those that failed.
func (r *fuzzRun) run(ctx context.Context) (*fuzz.Report, error) {
	report := &fuzz.Report{Seed: uint64(r.seed), Mode: r.mode, Detector: r.name, Failures: []string{}}
	outcomes := make([]fuzz.Outcome, r.n)
	err := r.each(ctx, "case", r.n, func(i int) error {
		outcomes[i] = r.newCase(i).Play(r.name, r.detector)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range outcomes {
		report.Add(&outcomes[i])
		if why := outcomes[i].Invalid; why != "" {
			fmt.Fprintf(os.Stderr, "case %d is invalid: %s\n", i, why)
		}
	}
	report.Finish()
	report.Failures, err = r.write(ctx, outcomes)
	return report, err
}

func (r *fuzzRun) newCase(i int) *fuzz.Case { return fuzz.New(uint64(r.seed), i, r.mode) }

// each calls do for 0 to n-1, in parallel, and tells on stderr how far it is.
func (r *fuzzRun) each(ctx context.Context, what string, n int, do func(i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next, done atomic.Int64
	var group sync.WaitGroup
	for range min(r.workers, n) {
		group.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := do(i); err != nil {
					cancel(err)
				}
				done.Add(1)
			}
		})
	}
	finished := make(chan struct{})
	go func() {
		group.Wait()
		close(finished)
	}()
	start := time.Now()
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-finished:
			return context.Cause(ctx)
		case <-tick.C:
			fmt.Fprintf(os.Stderr, "%s %d of %d, %.0f s\n", what, done.Load(), n, time.Since(start).Seconds())
		}
	}
}

// write writes every failure to its file, the first ones of each kind made smaller,
// and returns the names of the files.
func (r *fuzzRun) write(ctx context.Context, outcomes []fuzz.Outcome) ([]string, error) {
	files, cases := []string{}, []int{}
	var small []bool // by file: is to be made smaller
	count := map[fuzz.Failure]int{}
	for i := range outcomes {
		kind := outcomes[i].Failure()
		if kind == "" {
			continue
		}
		count[kind]++
		small = append(small, count[kind] <= r.shrink)
		cases = append(cases, i)
		files = append(files, filepath.Join(r.out, fmt.Sprintf("%s-%s.yaml", r.newCase(i).Name(), kind)))
	}
	if len(files) == 0 {
		return files, nil
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return nil, err
	}
	return files, r.each(ctx, "failure", len(files), func(n int) error {
		o := &outcomes[cases[n]]
		c := r.newCase(cases[n])
		if small[n] {
			c, o = r.smaller(ctx, c, o)
		}
		return os.WriteFile(files[n], c.Text(r.name, c.Comment(r.name, o, small[n])), 0o644)
	})
}

// smaller is a smaller case that fails in the same way, with its outcome.
func (r *fuzzRun) smaller(ctx context.Context, c *fuzz.Case, o *fuzz.Outcome) (*fuzz.Case, *fuzz.Outcome) {
	kind := o.Failure()
	c = fuzz.Shrink(c, shrinkTries, func(c *fuzz.Case) bool {
		if ctx.Err() != nil {
			return false
		}
		o := c.Play(r.name, r.detector)
		return o.Failure() == kind
	})
	now := c.Play(r.name, r.detector)
	return c, &now
}

func printReport(report *fuzz.Report, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(os.Stdout)
		enc.SetIndent("", "  ")
		if err := enc.Encode(report); err != nil {
			return err
		}
	} else if err := report.WriteTable(os.Stdout); err != nil {
		return err
	}
	if !report.Clean() {
		return errUnmet
	}
	return nil
}
