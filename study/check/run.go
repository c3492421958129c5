// CheckAll checks a scenario for cyclic buffer dependencies on all processors; Answer says what was found, and
// Witnesses and Cures play witnesses of it.
//
//	scenario.Plan --CheckAll--> a Checker for each worker --> results by case --> Report --Answer--> shapes
//	                                                                                   |
//	scenario files that deadlock  <-- sim ----------- flows that close it <---- cycles +
//	routes to change, preventions <-- checked again - what breaks them    <---- cycles '
//
// Read in this order: this file, suppose.go (links that are down in every case), rests.go (what the answer rests
// on), shapes.go with roles.go (cycles that are alike), text.go and page.go (what people read),
// witness.go, cures.go.

package check

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"softswitch/internal/lists"
	"softswitch/internal/progress"
	"softswitch/scenario"
	"softswitch/unit"
)

// maxCases limits the cases of a check.
var maxCases = 5_000_000

// Options are the settings of a check.
type Options struct {
	Failures int   // of links at once, in addition to the file's: 0, 1 or 2
	Workers  int   // cases checked at a time, 1 or more
	Down     []int // links of the fabric that are down in every case
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

// options are those with which the plan was checked.
func (k *Checked) options() Options {
	return Options{Failures: k.Report.Failures, Workers: k.workers, Down: k.checker.supposed}
}

// CheckAll checks all cases of a plan. It draws a progress bar on out, and says how long the cases take if
// that is long, by some of each kind.
func CheckAll(ctx context.Context, plan *scenario.Plan, opt Options, out io.Writer) (*Checked, error) {
	begun := progress.New(ctx, out, "subnets", int64(len(plan.Fabric.Subnets)))
	c, err := New(plan, func() error { return begun.Add(1) })
	begun.Close()
	if err != nil {
		return nil, err
	}
	c.Suppose(opt.Down)
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
	results := make([]*Result, n)
	results[0] = c.Check(0)
	for _, w := range workers {
		w.Know(results[:1])
	}
	parts := c.sample(results[0], opt.Failures)
	work := progress.New(ctx, out, "cases", left(parts))
	defer work.Close()
	if ns := left(parts) / int64(len(workers)); ns > longWork {
		fmt.Fprintf(out, "%s take about %s\n", unit.Count(n, "case"), unit.Time(ns/1e9)*unit.Second)
	}
	all := c.newMerger()
	phases := c.Phases(opt.Failures)
	for merged, from := 0, 1; merged < n; {
		if from == phases[0] && from < n {
			for _, w := range workers {
				w.Know(results[:from])
			}
			phases = phases[1:]
		}
		end := min(phases[0], from+atOnce)
		progress.AtOnce(2, func(i int) {
			if i == 0 { // meanwhile
				for _, r := range results[merged:from] {
					all.add(r)
				}
				return
			}
			err = each(workers, from, end, func(w *Checker, i int) error {
				results[i] = w.Check(i)
				return work.Add(costOf(parts, i))
			})
		})
		if err != nil {
			return nil, err
		}
		merged, from = from, end
	}
	r := c.list(all, opt.Failures)
	work.Close()
	named := progress.New(ctx, out, "cycles", int64(len(r.Cycles)))
	defer named.Close()
	if err := explain(workers, r.Cycles, func(n int) error { return named.Add(int64(n)) }); err != nil {
		return nil, err
	}
	return &Checked{Report: r, plan: plan, checker: c, workers: opt.Workers}, nil
}

// atOnce is of how many cases the cycles are kept before they are put together.
const atOnce = 10_000

// longWork is from how many nanoseconds on it is said how long the cases take.
const longWork = 10e9

// samples is how many cases of a kind are checked to know how long all take, and fewCases so few that nobody
// asks.
const (
	samples  = 20
	fewCases = 200
)

// part is the cases of a kind: from to end-1, of which each takes about cost nanoseconds.
type part struct {
	from, end int
	cost      int64
}

// sample checks some cases of each kind, of all but the first case.
func (c *Checker) sample(none *Result, failures int) (parts []part) {
	from := 1
	if n := c.Cases(failures); n <= fewCases {
		return []part{{from, n, 1}}
	}
	for _, end := range []int{c.singleOf(len(c.links)), c.Singles(), c.Cases(2)} {
		end = min(end, c.Cases(failures))
		n := end - from
		if n <= 0 {
			continue
		}
		var some []int
		for j := range min(n, samples) {
			some = append(some, from+(2*j+1)*n/(2*min(n, samples)))
		}
		if from == c.Singles() {
			c.known.pairs = c.pairsOf(none, some)
		}
		ns := progress.Nanoseconds(func() {
			for _, i := range some {
				c.Check(i)
			}
		})
		c.known.pairs = nil
		parts = append(parts, part{from, end, max(1, ns/int64(len(some)))})
		from = end
	}
	return parts
}

// pairsOf prepares some pairs of links, by their cases.
func (c *Checker) pairsOf(none *Result, cases []int) *pairs {
	results := make([]*Result, c.Singles())
	results[0] = none
	for _, i := range cases {
		for _, l := range c.failing(i).Links {
			i := c.singleOf(c.indexOf[l])
			results[i] = c.Check(i)
		}
	}
	return c.newPairs(results)
}

// left is how many nanoseconds all cases of parts take.
func left(parts []part) int64 {
	return lists.Sum(parts, func(s part) int64 { return int64(s.end-s.from) * s.cost })
}

// costOf is how many nanoseconds case i takes.
func costOf(parts []part, i int) int64 {
	return parts[slices.IndexFunc(parts, func(s part) bool { return i < s.end })].cost
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
