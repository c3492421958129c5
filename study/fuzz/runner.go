package fuzz

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/internal/lists"
	"softswitch/internal/progress"
	"softswitch/internal/safefile"
	"softswitch/study/shard"
	"softswitch/unit"
)

// Run is a set of cases to play, and what to do with those that fail.
type Run struct {
	N    int
	Seed uint64
	Mode Mode
	// Detectors is one, or several where a mode compares them.
	Detectors []catalog.Detector
	Responses []respond.Choice // that mode response compares
	Rows      bool             // the report has a row of each case and what was compared
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

// MaxRows is how many rows a run has at most, in all parts: whoever merges them holds all, of half
// a kilobyte each.
const MaxRows = 2_000_000

// Check says which setting of a run is out of range, and names it by its flag of "softswitch sim fuzz".
func (r *Run) Check() error {
	i := r.mode()
	switch {
	case r.N < 1 || r.N > MaxCases:
		return fmt.Errorf("--n: %d; valid: 1 to %d", r.N, MaxCases)
	case r.count() > MaxAtOnce:
		return fmt.Errorf("--n: %d; valid: 1 to %d at once, and more with --shard", r.N, MaxAtOnce)
	case r.Workers < 1 || r.Workers > 1024:
		return fmt.Errorf("--workers: %d; valid: 1 to 1024", r.Workers)
	case r.Shrink < 0:
		return fmt.Errorf("--shrink: %d; valid: 0 or above", r.Shrink)
	case i < 0:
		return fmt.Errorf("--mode: %q; valid: %s", r.Mode, ModeNames())
	case len(r.Detectors) != 1 && !modes[i].several:
		return fmt.Errorf("--detector: %d; valid in mode %s: one", len(r.Detectors), r.Mode)
	case r.Rows && !modes[i].rows:
		with := lists.Where(modes, func(m modeKind) bool { return m.rows })
		return fmt.Errorf("--rows: mode %s has none; valid in modes %s", r.Mode, namesOf(with))
	}
	return r.checkRows()
}

// checkRows says whether there are too many rows, or a detector would be paired with itself.
func (r *Run) checkRows() error {
	if each := r.rowsOfCase(); each*r.N > MaxRows {
		return fmt.Errorf("--n: %d, with %s a case; valid: 1 to %d, for %d rows", r.N, unit.Count(each, "row"), MaxRows/each, MaxRows)
	}
	for i, name := range r.detectors() {
		if r.Paired() && slices.Contains(r.detectors()[:i], name) {
			return fmt.Errorf("--detector: %s is named twice; valid: each once", name)
		}
	}
	return nil
}

// rowsOfCase is how many rows a case has, 0 if the run has no rows.
func (r *Run) rowsOfCase() int {
	switch m := modes[r.mode()]; {
	case m.responses && r.Rows:
		return 2 * len(r.Responses)
	case r.Paired():
		return len(r.Detectors)
	}
	return 0
}

// Paired reports whether detectors are compared case by case.
func (r *Run) Paired() bool {
	m := modes[r.mode()]
	return m.rows && !m.responses && (r.Rows || len(r.Detectors) > 1)
}

// mode is the index of the run's mode in modes, -1 if there is no such mode.
func (r *Run) mode() int {
	return slices.IndexFunc(modes, func(m modeKind) bool { return m.mode == r.Mode })
}

// Report is what a run prints: the same for the same cases, however many were played in parallel, and in
// however many parts.
type Report interface {
	WriteText(io.Writer) error
	Clean() bool // nothing went wrong: exit status 0
}

// Play plays all cases of the part and writes those that failed. It returns the report of
// the mode or, of a part, its shard. Check has to have passed.
func (r *Run) Play(ctx context.Context) (Report, error) {
	result, report, err := modes[r.mode()].kind.play(ctx, r)
	if err != nil {
		return nil, err
	}
	return r.result(result, report), nil
}

// detector is the one of modes that have one.
func (r *Run) detector() catalog.Detector { return r.Detectors[0] }

// detectors are the names of all.
func (r *Run) detectors() []string {
	return lists.Map(r.Detectors, func(d catalog.Detector) string { return d.Name })
}

// count is how many cases are played. Those are numbered from 0; fuzz knows them by
// r.Part.Item.
func (r *Run) count() int { return r.Part.Count(r.N) }

// each calls do for every case that is played, many at a time.
func (r *Run) each(ctx context.Context, do func(i int) error) error {
	return progress.Each(ctx, r.Progress, "cases", r.count(), r.Workers, do)
}

// failed is a case that failed, and the file that it is written to.
type failed struct {
	Case int    `json:"case"`
	File string `json:"file"`
}

// failure is a failure that is written to a file.
type failure struct {
	failed
	i     int  // it is that of case i of r's part or, with several detectors, of the pair i of a case and a detector
	small bool // it is made smaller: it is one of the first of its kind
}

// failures are those of n, which how says whether they failed, and in which way: a suffix of the file's name.
func (r *Run) failures(n int, how func(i int) (kind string, is bool)) (all []failure) {
	nth := map[string]int{}
	for i := range n {
		if kind, is := how(i); is {
			nth[kind]++
			number := r.Part.Item(i / len(r.Detectors))
			all = append(all, failure{failed{number, r.fileOf(number, kind)}, i, nth[kind] <= r.Shrink})
		}
	}
	return all
}

// fileOf is the file of case i of all, which failed in a way.
func (r *Run) fileOf(i int, kind string) string {
	c := Case{Seed: r.Seed, Index: i, Mode: r.Mode}
	return filepath.Join(r.Out, c.Name()+kind+".yaml")
}

// write writes failures to their files, many at a time, each as what is made of it and a comment.
func (r *Run) write(ctx context.Context, all []failure, made func(f failure) (c *Case, comment string)) error {
	if len(all) == 0 {
		return nil
	}
	if err := safefile.MkdirAll(r.Out, 0o755); err != nil {
		return err
	}
	return progress.Each(ctx, r.Progress, "failures made smaller", len(all), r.Workers, func(n int) error {
		f := all[n]
		c, comment := made(f)
		return safefile.WriteFile(f.File, c.Text(r.Detectors[f.i%len(r.Detectors)].Name, comment), 0o644)
	})
}

// tellInvalid says why a case says nothing, if it does not.
func (r *Run) tellInvalid(i int, why string) {
	if why != "" {
		fmt.Fprintf(r.Progress, "case %d is invalid: %s\n", r.Part.Item(i), why)
	}
}
