// Package compare plays every scenario against every system and puts what came of
// it side by side.
//
//	scenarios x systems --Run--> a row each --.--> JSON        the rows
//	     |                         ^          |--> WriteHTML   tables and plots, one file
//	     '-- World.Play, N times --'          |--> WriteMarkdown  the matrix and a text on each system
//	          (sim or live)                   '--> WriteText   a line a row
//
// A system is a detector, a response to what it declares, or a configuration that
// keeps deadlocks from forming: a row of the table in systems.go.
//
// Read in this order: System (systems.go), Matrix and Run (this file), Choice (choice.go),
// Row and Figures (row.go), Outcome (outcome.go), the worlds (world.go), the shipped scenarios
// (shipped.go), then what shows them: columns.go, total.go, html.go with page.html,
// chart.go, markdown.go with text.md, text.go, files.go.
//
// Invariants:
//   - no empty cell: a row has figures, or says why the system does not apply to the
//     scenario, or why playing it failed;
//   - one source: every table and plot is made of the same rows, and shows a figure
//     by the same column;
//   - the same rows whatever ran at the same time: rows stand in the order of
//     scenarios, then systems, and runs in the order of their seeds.
//
// What it does not do: it builds no lab, for which it is given a function, and it judges
// nothing: whether there was a deadlock is the oracle's word, in the verdict.
package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"

	"softswitch/oracle/verdict"
	"softswitch/scenario"
)

// Source is a scenario by name.
type Source struct {
	Name string
	// Parse reads the scenario anew at each call, for a run may change what it is given.
	Parse func() (*scenario.Scenario, error)
}

// World is where scenarios are played.
type World struct {
	Name string // "sim" or "live"
	// Parallel is how many rows may be played at once, at least 1.
	Parallel int
	// Play plays a plan once. It returns NotApplicable if this world cannot play it.
	Play func(ctx context.Context, p *scenario.Plan, seed uint64) (*verdict.Verdict, error)
}

// NotApplicable is why a system does not apply to a scenario, or a world cannot play
// it: an answer, not a fault.
type NotApplicable string

func (n NotApplicable) Error() string { return string(n) }

// Matrix is what to compare.
type Matrix struct {
	World     World
	Scenarios []Source
	Systems   []System
	Runs      int // of each pair, with the seeds 1 to Runs; at least 1
	// Progress, unless it is nil, is told of every row as it is done, in no order, but
	// never twice at once.
	Progress func(done, of int, r *Row)
}

// Comparison is what came of a Matrix.
type Comparison struct {
	World string `json:"world"`
	Rows  []Row  `json:"rows"`
}

// Run plays every pair of a scenario and a system. A pair that fails is a row that
// says so; the error is of outer alone.
func (m *Matrix) Run(outer context.Context) (*Comparison, error) {
	rows := make([]Row, len(m.Scenarios)*len(m.Systems))
	finished := make(chan int)
	g, ctx := errgroup.WithContext(outer)
	g.SetLimit(m.World.Parallel + 1) // one of them reports
	g.Go(func() error {
		for done := range rows {
			select {
			case i := <-finished:
				if m.Progress != nil {
					m.Progress(done+1, len(rows), &rows[i])
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for i := range rows {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			rows[i] = m.row(ctx, &m.Scenarios[i/len(m.Systems)], m.Systems[i%len(m.Systems)])
			select {
			case finished <- i:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}
	if err := cmp.Or(g.Wait(), outer.Err()); err != nil {
		return nil, err
	}
	return &Comparison{World: m.World.Name, Rows: rows}, nil
}

// row plays one pair.
func (m *Matrix) row(ctx context.Context, src *Source, sys System) Row {
	r := Row{Scenario: src.Name, System: sys.Name}
	s, runs, err := m.play(ctx, src, sys)
	var na NotApplicable
	switch {
	case errors.As(err, &na):
		r.NotApplicable = string(na)
	case err != nil:
		r.Failed = err.Error()
	default:
		f := aggregate(s, runs)
		r.Figures = &f
	}
	return r
}

func (m *Matrix) play(ctx context.Context, src *Source, sys System) (s *scenario.Scenario, runs []*verdict.Verdict, err error) {
	for seed := range m.Runs {
		if s, err = src.Parse(); err != nil {
			return nil, nil, err
		}
		if err := sys.put(s); err != nil {
			return nil, nil, err
		}
		plan, err := scenario.Compile(s)
		if err != nil {
			return nil, nil, err
		}
		v, err := m.World.Play(ctx, plan, uint64(seed)+1)
		if err != nil {
			return nil, nil, fmt.Errorf("run %d: %w", seed+1, err)
		}
		runs = append(runs, v)
	}
	return s, runs, nil
}

// ReportTo is a Progress that writes a line for each row.
func ReportTo(w io.Writer) func(done, of int, r *Row) {
	return func(done, of int, r *Row) {
		why := cmp.Or(r.NotApplicable, r.Failed)
		if why != "" {
			why = ": " + why
		}
		fmt.Fprintf(w, "%*d/%d  %s  %s  %s%s\n", len(fmt.Sprint(of)), done, of, r.Scenario, r.System, r.Outcome(), why)
	}
}

// Failed is the rows that could not be played though they should have been.
func (c *Comparison) Failed() (rows []*Row) {
	for i := range c.Rows {
		if c.Rows[i].Failed != "" {
			rows = append(rows, &c.Rows[i])
		}
	}
	return rows
}

// Failure is nil if everything was played.
func (c *Comparison) Failure() error {
	failed := c.Failed()
	if len(failed) == 0 {
		return nil
	}
	return fmt.Errorf("compare: %d of %d pairs could not be played; first %s with %s: %s", len(failed), len(c.Rows), failed[0].Scenario, failed[0].System, failed[0].Failed)
}

// names are the scenarios, or the systems, of the rows, each once and in order.
func (c *Comparison) names(of func(*Row) string) (names []string) {
	seen := map[string]bool{}
	for i := range c.Rows {
		if n := of(&c.Rows[i]); !seen[n] {
			seen[n] = true
			names = append(names, n)
		}
	}
	return names
}

func (c *Comparison) scenarios() []string {
	return c.names(func(r *Row) string { return r.Scenario })
}

func (c *Comparison) systems() []string {
	return c.names(func(r *Row) string { return r.System })
}

// of are the rows of one scenario, in the order of the systems.
func (c *Comparison) of(scenario string) (rows []*Row) {
	for i := range c.Rows {
		if c.Rows[i].Scenario == scenario {
			rows = append(rows, &c.Rows[i])
		}
	}
	return rows
}
