// CheckAll checks a scenario for cyclic buffer dependencies on all processors; Witnesses and Cures
// play witnesses of what was found.
//
//	scenario.Plan --CheckAll--> a Checker for each worker --> results by case --> Report
//	                                                                                   |
//	scenario files that deadlock  <-- sim ----------- flows that close it <---- cycles +
//	routes to change, preventions <-- checked again - what breaks them    <---- cycles '
//
// Read in this order: this file, witness.go, cures.go.

package check

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"sync/atomic"

	"softswitch/internal/progress"
	"softswitch/scenario"
)

// maxCases limits the cases of a check.
var maxCases = 5_000_000

// Options are the settings of a check.
type Options struct {
	Failures int // of links at once, in addition to the file's: 0, 1 or 2
	Workers  int // cases checked at a time, 1 or more
}

// Valid says which option is out of range, and names it by its flag of "softswitch check".
func (opt *Options) Valid() error {
	if opt.Failures < 0 || opt.Failures > 2 {
		return fmt.Errorf("--failures: %d; valid: 0, 1 or 2", opt.Failures)
	}
	return nil
}

// Checked is a plan that has been checked.
type Checked struct {
	Report *Report

	plan    *scenario.Plan
	checker *Checker
	workers int
}

// CheckAll checks all cases of a plan. It draws a progress bar on out.
func CheckAll(ctx context.Context, plan *scenario.Plan, opt Options, out io.Writer) (*Checked, error) {
	begun := progress.New(ctx, out, "subnets", int64(len(plan.Fabric.Subnets)))
	c, err := New(plan, func() error { return begun.Add(1) })
	begun.Close()
	if err != nil {
		return nil, err
	}
	n := c.Cases(opt.Failures)
	if n > maxCases {
		return nil, fmt.Errorf("%d cases of up to %d failures; at most %d can be checked: use --failures %d", n, opt.Failures, maxCases, opt.Failures-1)
	}
	workers := []*Checker{c}
	for len(workers) < min(opt.Workers, n) {
		w, err := c.Clone()
		if err != nil {
			return nil, err
		}
		workers = append(workers, w)
	}
	work := progress.New(ctx, out, "cases", int64(n))
	defer work.Close()
	results := make([]*Result, n)
	from := 0
	for _, end := range c.Phases(opt.Failures) {
		if from > 0 {
			for _, w := range workers {
				w.Know(results[:from])
			}
		}
		if err := each(workers, from, end, func(w *Checker, i int) error {
			results[i] = w.Check(i)
			return work.Add(1)
		}); err != nil {
			return nil, err
		}
		from = end
	}
	r := c.list(results, opt.Failures)
	work.Close()
	named := progress.New(ctx, out, "cycles", int64(len(r.Cycles)))
	defer named.Close()
	if err := explain(workers, r.Cycles, func(n int) error { return named.Add(int64(n)) }); err != nil {
		return nil, err
	}
	return &Checked{Report: r, plan: plan, checker: c, workers: opt.Workers}, nil
}

// each calls do for from to end-1, with one call at a time for each worker, and returns
// its first error.
func each(workers []*Checker, from, end int, do func(w *Checker, i int) error) error {
	var next atomic.Int64
	next.Store(int64(from))
	errs := make([]error, len(workers))
	progress.AtOnce(len(workers), func(n int) {
		for errs[n] == nil {
			i := int(next.Add(1)) - 1
			if i >= end {
				return
			}
			errs[n] = do(workers[n], i)
		}
	})
	return cmp.Or(errs...)
}
