// Package compare plays every scenario against every system and puts the results
// side by side.
//
//	scenarios --World.Truth, once a seed--> who is innocent
//	     |                                     v
//	scenarios x systems --Run----------> a row each --.--> JSON        the rows
//	     |                                     ^      |--> WriteHTML   tables and plots, one file
//	     |-- World.Play, once a seed ----------'      |--> WriteMarkdown  the matrix and a text on each system
//	     |    (sim or live)                           '--> WriteText   a line a row
//	     '-- Show, first seed --> a page for each pair, to which the matrix of WriteHTML leads
//
// A system is a detector, a response to what it declares, a configuration that
// keeps deadlocks from forming, or a fabric without PFC: a row of the table in systems.go.
//
// Read in this order: System (systems.go), Matrix and Run (this file), Truth (truth.go),
// Choice (choice.go), Row and Figures (row.go), Outcome (outcome.go), the worlds (world.go), replays
// (replay.go), the shipped scenarios (shipped.go), shards (shard.go), then what shows them: columns.go, total.go, result.go, html.go with page.html,
// chart.go, markdown.go with text.md, text.go, files.go. Beside it traffic.go compares congestion
// controls.
//
// Invariants:
//   - no empty cell: a row has figures, or says why the system does not apply to the
//     scenario, or why playing it failed;
//   - one source: every table and plot is made of the same rows, and shows a figure
//     by the same column;
//   - who is innocent is the same for all systems: it is known before any is played;
//   - the same rows whatever ran at the same time: rows stand in the order of
//     scenarios, then systems, and runs in the order of their seeds.
//
// What it does not do: it builds no lab and no page of a run, for which it is given
// functions, and it judges nothing: whether there was a deadlock is the oracle's word, in the verdict.
package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"

	"softswitch/detect/catalog"
	"softswitch/internal/lists"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
)

// Source is a scenario by name.
type Source struct {
	Name   string
	SHA256 string // of the file
	// Parse reads the scenario again at each call, for a run may change what it is given.
	Parse func() (*scenario.Scenario, error)
}

// World is where scenarios are played.
type World struct {
	Name string // "sim" or "live"
	// Parallel is how many rows may be played at once, at least 1.
	Parallel int
	// Play plays a plan once. It returns NotApplicable if this world cannot play it.
	Play func(ctx context.Context, p *scenario.Plan, seed uint64) (*Played, error)
	// Truth is what holds of a scenario, however it is changed by systems. It returns
	// NotApplicable if this world cannot say.
	Truth func(ctx context.Context, s *scenario.Scenario, seed uint64) (*Truth, error)
}

// Played is the result of playing a plan.
type Played struct {
	*verdict.Verdict
	// Drops is by flow; nil if this world does not know.
	Drops []Drops
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
	Runs      int    // of each pair, at least 1
	First     uint64 // seed of the first run; that of each other is one more
	// Progress, unless it is nil, is told of every truth and then of every row as it is
	// done, in no order, but never twice at once.
	Progress func(done, of int, what string)
}

// Comparison is the result of a Matrix.
type Comparison struct {
	World string `json:"world"`
	Rows  []Row  `json:"rows"`
	// replays are by row; nil if none were asked for.
	replays []replay
}

// Run plays every pair of a scenario and a system. A pair that fails is a row that
// says so; the error is of outer alone.
func (m *Matrix) Run(outer context.Context) (*Comparison, error) {
	truths := make([]found, len(m.Scenarios)*m.Runs)
	rows := make([]Row, len(m.Scenarios)*len(m.Systems))
	all := len(truths) + len(rows)
	err := m.each(outer, len(truths), 0, all, func(ctx context.Context, i int) (string, error) {
		src, seed := &m.Scenarios[i/m.Runs], m.First+uint64(i%m.Runs)
		truths[i] = m.truth(ctx, src, seed)
		return fmt.Sprintf("%s  seed %d  %s", src.Name, seed, truths[i]), nil
	})
	if err != nil {
		return nil, err
	}
	err = m.each(outer, len(rows), len(truths), all, func(ctx context.Context, i int) (string, error) {
		at := i / len(m.Systems)
		rows[i] = m.row(ctx, &m.Scenarios[at], m.Systems[i%len(m.Systems)], truths[at*m.Runs:][:m.Runs])
		return rows[i].progress(), nil
	})
	if err != nil {
		return nil, err
	}
	return &Comparison{World: m.World.Name, Rows: rows}, nil
}

// each calls do for 0 to n-1, as many at once as the world allows, until one fails, and
// reports what each returns; before is how many were done before, of all.
func (m *Matrix) each(outer context.Context, n, before, all int, do func(ctx context.Context, i int) (string, error)) error {
	var reporting sync.Mutex // before is guarded by it
	g, ctx := errgroup.WithContext(outer)
	g.SetLimit(m.World.Parallel)
	for i := range n {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			what, err := do(ctx, i)
			if err != nil {
				return err
			}
			reporting.Lock()
			defer reporting.Unlock()
			if before++; m.Progress != nil {
				m.Progress(before, all, what)
			}
			return nil
		})
	}
	return cmp.Or(g.Wait(), outer.Err())
}

// row plays one pair. truths are by seed.
func (m *Matrix) row(ctx context.Context, src *Source, sys System, truths []found) Row {
	r := Row{Scenario: src.Name, System: sys.Name}
	s, runs, err := m.play(ctx, src, sys)
	for _, t := range truths {
		err = cmp.Or(err, t.err)
	}
	var na NotApplicable
	switch {
	case errors.As(err, &na):
		r.NotApplicable = string(na)
	case err != nil:
		r.Failed = err.Error()
	default:
		f := aggregate(s, runs, truths)
		r.Figures = &f
	}
	return r
}

func (m *Matrix) play(ctx context.Context, src *Source, sys System) (s *scenario.Scenario, runs []*Played, err error) {
	for i := range m.Runs {
		plan, err := planOf(src, sys)
		if err != nil {
			return nil, nil, err
		}
		s = plan.Scenario
		v, err := m.World.Play(ctx, plan, m.First+uint64(i))
		if err != nil {
			return nil, nil, fmt.Errorf("run %d: %w", i+1, err)
		}
		runs = append(runs, v)
	}
	return s, runs, nil
}

// planOf is the plan of a scenario with a system.
func planOf(src *Source, sys System) (*scenario.Plan, error) {
	s, err := src.Parse()
	if err != nil {
		return nil, err
	}
	if err := sys.put(s); err != nil {
		return nil, err
	}
	if err := s.DetectorFits(catalog.Fits); err != nil {
		return nil, NotApplicable(err.Error())
	}
	return scenario.Compile(s)
}

// progress is a row in a few words.
func (r *Row) progress() string {
	why := r.reason()
	if why != "" {
		why = ": " + why
	}
	return fmt.Sprintf("%s  %s  %s%s", r.Scenario, r.System, r.Outcome(), why)
}

// ReportTo is a Progress that writes a line each time.
func ReportTo(w io.Writer) func(done, of int, what string) {
	return func(done, of int, what string) {
		fmt.Fprintf(w, "%*d/%d  %s\n", len(fmt.Sprint(of)), done, of, what)
	}
}

// Failed is the rows that could not be played though they should have been.
func (c *Comparison) Failed() []*Row { return c.where(func(r *Row) bool { return r.Failed != "" }) }

// Failure is nil if everything was played.
func (c *Comparison) Failure() error {
	failed := c.Failed()
	if len(failed) == 0 {
		return nil
	}
	return fmt.Errorf("compare: %d of %d pairs could not be played; first %s with %s: %s", len(failed), len(c.Rows), failed[0].Scenario, failed[0].System, failed[0].Failed)
}

// names are the scenarios, or the systems, of the rows, each once and in order.
func (c *Comparison) names(of func(*Row) string) []string {
	return lists.Once(c.Rows, func(r Row) []string { return []string{of(&r)} })
}

func (c *Comparison) scenarios() []string { return c.names(func(r *Row) string { return r.Scenario }) }

func (c *Comparison) systems() []string { return c.names(func(r *Row) string { return r.System }) }

// where are the rows that is is true of, in their order.
func (c *Comparison) where(is func(*Row) bool) (rows []*Row) {
	for i := range c.Rows {
		if is(&c.Rows[i]) {
			rows = append(rows, &c.Rows[i])
		}
	}
	return rows
}

// of are the rows of one scenario, in the order of the systems.
func (c *Comparison) of(scenario string) []*Row {
	return c.where(func(r *Row) bool { return r.Scenario == scenario })
}

// played are the rows of one system that have figures, in the order of the scenarios.
func (c *Comparison) played(system string) []*Row {
	return c.where(func(r *Row) bool { return r.System == system && r.Figures != nil })
}
