package sweep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"softswitch/internal/lists"
	"softswitch/internal/progress"
	"softswitch/internal/strictyaml"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/scenario/load"
	"softswitch/sim"
	"softswitch/study/shard"
	"softswitch/unit"
)

// Sweep is a scenario, the values that its keys take, and the seeds that each combination
// of them is played with.
type Sweep struct {
	File  string // name of the scenario file, for messages
	Data  []byte // its content
	Axes  []Axis
	Seeds Seeds
	Show  io.Writer // where it is shown how far it is
}

// Checked is a sweep of which every combination can be played.
type Checked struct {
	*Sweep
	Warnings []string // of all combinations, each once
	flows    []string // names of those of any combination, in the order of their first
	items    []item   // the runs, in the order of their rows
	still    int      // combinations that draw nothing, and so have one run

	mu     sync.Mutex
	firsts []*verdict.Verdict // by combination: a run of it; nil while they are not compared
	drawn  []bool             // by combination: another run differs
}

// item is a run of a sweep.
type item struct {
	combination int
	seed        uint64
	length      int64 // in steps
}

// Check reads every combination as if it stood in the file. The error says which cannot be
// played, and what is wrong with the first of them.
func (s *Sweep) Check(ctx context.Context) (*Checked, error) {
	if err := errors.Join(s.Seeds.Check(), checkAxes(s.Axes)); err != nil {
		return nil, err
	}
	n := s.Seeds.Times
	for _, a := range s.Axes {
		if n *= len(a.Values); n > MaxRuns {
			return nil, fmt.Errorf("sweep: more than %d runs: --set %s has %d values", MaxRuns, a.Path, len(a.Values))
		}
	}
	n /= s.Seeds.Times
	plans, faults := make([]outline, n), make([]error, n)
	err := progress.Each(ctx, s.Show, "combinations", n, s.Seeds.Workers, func(i int) error {
		plans[i], faults[i] = s.outline(i)
		return nil
	})
	if err == nil {
		err = s.fault(faults)
	}
	if err != nil {
		return nil, err
	}
	c := &Checked{
		Sweep: s, drawn: make([]bool, n),
		flows:    lists.Once(plans, func(p outline) []string { return p.flows }),
		Warnings: lists.Once(plans, func(p outline) []string { return p.warnings }),
	}
	for i, p := range plans {
		times := s.Seeds.Times
		if !p.draws {
			times = 1
			c.still++
		}
		for k := range times {
			c.items = append(c.items, item{i, s.Seeds.From + uint64(k), p.length})
		}
	}
	return c, nil
}

// outline is what has to be known of a combination before anything is played.
type outline struct {
	length          int64 // in steps
	draws           bool  // its runs differ by their seed
	flows, warnings []string
}

func (s *Sweep) outline(i int) (outline, error) {
	p, err := s.plan(i)
	if err == nil {
		err = sim.Refuse(p)
	}
	if err != nil {
		return outline{}, err
	}
	flows := lists.Map(p.Scenario.Flows, func(f scenario.Flow) string { return f.Name })
	return outline{steps(p.Scenario.Duration), p.Scenario.Draws(), flows, p.Warnings}, nil
}

// plan is a new plan of combination i.
func (s *Sweep) plan(i int) (*scenario.Plan, error) {
	return load.Plan(s.File, s.Data, load.Instead{Set: s.combination(i)})
}

// combination is the settings of combination i, in the order of the axes: the value of the
// last one is another in each.
func (s *Sweep) combination(i int) []strictyaml.Setting {
	settings := make([]strictyaml.Setting, len(s.Axes))
	for k, a := range slices.Backward(s.Axes) {
		settings[k] = strictyaml.Setting{Path: a.Path, Text: a.Values[i%len(a.Values)]}
		i /= len(a.Values)
	}
	return settings
}

// fault is what is wrong with the combinations, nil if nothing is.
func (s *Sweep) fault(faults []error) error {
	is := func(err error) bool { return err != nil }
	first := slices.IndexFunc(faults, is)
	switch {
	case first < 0:
		return nil
	case len(s.Axes) == 0:
		return faults[first]
	}
	bad := len(lists.Where(faults, is))
	return fmt.Errorf("sweep: %d of %d combinations cannot be played, the first with %s:\n%w", bad, len(faults), s.called(first), faults[first])
}

// called is combination i as flags.
func (s *Sweep) called(i int) string {
	flags := lists.Map(s.combination(i), func(set strictyaml.Setting) string { return fmt.Sprintf("--set %s=%s", set.Path, set.Text) })
	return strings.Join(flags, " ")
}

// Play plays everything and writes the rows to out. If it ends early the rows of all runs
// that finished have been written, unless writing is what failed.
func (c *Checked) Play(ctx context.Context, out io.Writer, format Format) error {
	show := c.Show
	if progress.IsTerminal(out) {
		show = io.Discard // the rows themselves show it
	}
	to := newRows(out, format, c.columns())
	err := to.head()
	if err == nil {
		c.firsts = make([]*verdict.Verdict, len(c.drawn))
		err = c.play(ctx, show, shard.Part{}, to)
	}
	if err == nil {
		c.tellEqual()
	}
	if rest := to.rest(); err == nil {
		err = rest
	}
	if err != nil {
		return fmt.Errorf("sweep: %d of %d rows are written: %w", to.written, len(c.items), err)
	}
	return nil
}

// play plays the runs of a part.
func (c *Checked) play(ctx context.Context, show io.Writer, part shard.Part, to *rows) error {
	of := func(i int) item { return c.items[part.Item(i)] }
	all := runs{n: part.Count(len(c.items)), workers: c.Seeds.Workers, run: func(i int) (*scenario.Plan, uint64, error) {
		p, err := c.plan(of(i).combination)
		return p, of(i).seed, err
	}}
	for i := range all.n {
		all.length += of(i).length
	}
	return all.play(ctx, show, func(i int, v *verdict.Verdict) error {
		c.compare(of(i).combination, v)
		return to.add(i, c.row(of(i).combination, to.columns, v))
	})
}

// compare takes note of whether the runs of a combination differ.
func (c *Checked) compare(combination int, v *verdict.Verdict) {
	if c.firsts == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if first := &c.firsts[combination]; *first == nil {
		*first = v
	} else if !v.Same(*first) {
		c.drawn[combination] = true
	}
}

// tellEqual says in how many combinations all runs are one, whatever their seed.
func (c *Checked) tellEqual() {
	n := len(lists.Where(c.drawn, func(drawn bool) bool { return !drawn }))
	if n > 0 && c.Seeds.Times > 1 {
		fmt.Fprintf(c.Show, "equal runs: in %d of %s all runs are the same, n = 1; those that draw nothing, %d, have one row; give flows a spread, such as start: 500ms±1ms\n",
			n, unit.Count(len(c.drawn), "combination"), c.still)
	}
}

// row is the cells of a run of a combination.
func (c *Checked) row(combination int, columns []verdict.Figure, v *verdict.Verdict) []any {
	cells := lists.Map(c.combination(combination), func(s strictyaml.Setting) any { return s.Text })
	return append(cells, lists.Map(columns[len(c.Axes):], func(col verdict.Figure) any { return col.Of(v) })...)
}
