package play

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"softswitch/detect/catalog"
	"softswitch/internal/lists"
	"softswitch/lab"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/scenario/load"
	"softswitch/sim"
	"softswitch/unit"
)

// timedSeeds is the number of simulations with the timing of a live lab.
const timedSeeds = 16

// Table is the results of scenarios in both worlds.
type Table struct {
	Seeds int   `json:"timed_seeds"` // simulations with a live lab's timing
	Runs  int   `json:"live_runs"`   // valid runs asked for
	Rows  []Row `json:"rows"`
}

// Row is a scenario and a detector in both worlds.
type Row struct {
	Scenario string `json:"scenario"`
	Detector string `json:"detector"`
	Slow     int    `json:"slower"`            // the factor by which a live lab plays it slower
	Sim      string `json:"simulated"`         // the result in simulation
	Timed    tally  `json:"timed"`             // with a live lab's timing
	Live     tally  `json:"live"`              // live
	Refused  string `json:"refused,omitempty"` // why a live lab cannot play it
	Invalid  int    `json:"invalid"`           // live runs that do not count
}

// tally counts the results of several runs.
type tally map[string]int

// most is the most frequent result.
func (t tally) most() (what string) {
	for _, w := range slices.Sorted(maps.Keys(t)) {
		if t[w] > t[what] {
			what = w
		}
	}
	return what
}

// String is "deadlock, detected" if all runs agree, else each result with its count.
func (t tally) String() string {
	if len(t) == 1 {
		return t.most()
	}
	all := slices.Sorted(maps.Keys(t))
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(t[b], t[a]) })
	return strings.Join(lists.Map(all, func(w string) string { return fmt.Sprintf("%d x %s", t[w], w) }), "; ")
}

// Worlds configures how scenarios are played in both worlds.
type Worlds struct {
	Runs int // live runs of each scenario and detector
	// Read reads a file, Live plays a plan on a lab.
	Read     func(file string) ([]byte, error)
	Live     func(context.Context, *scenario.Plan) (*verdict.Verdict, error)
	Progress io.Writer
}

// Compare plays files in both worlds, and reports progress. It fails, naming the flag
// --runs, if Runs is below 1.
func (w *Worlds) Compare(ctx context.Context, files []string) (*Table, error) {
	if w.Runs < 1 {
		return nil, fmt.Errorf("--runs: %d; give 1 or more", w.Runs)
	}
	t := &Table{Seeds: timedSeeds, Runs: w.Runs, Rows: []Row{}}
	for _, file := range files {
		data, err := w.Read(file) // once: it may be standard input
		if err != nil {
			return nil, err
		}
		for _, detector := range []string{"itsy", "itsypaper"} {
			fmt.Fprintf(w.Progress, "%s %s\n", file, detector)
			r, err := w.play(ctx, file, data, detector)
			if err != nil {
				return nil, err
			}
			t.Rows = append(t.Rows, *r)
		}
	}
	return t, nil
}

// Same reports whether both worlds agree wherever a live lab can play.
func (t *Table) Same() bool {
	return !slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Refused == "" && r.Live.most() != r.Sim })
}

// WriteText writes the table in Markdown.
func (t *Table) WriteText(out io.Writer) error {
	fmt.Fprintf(out, "| scenario | detector | simulated | with live timing, %s | slower | live, %s | same |\n|---|---|---|---|---:|---|---|\n", unit.Count(t.Seeds, "seed"), unit.Count(t.Runs, "run"))
	for i := range t.Rows {
		if _, err := fmt.Fprintln(out, &t.Rows[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *Row) String() string {
	live, same := r.Live.String(), "no"
	switch {
	case r.Refused != "":
		live, same = "not played: "+r.Refused, "-"
	case len(r.Live) == 0:
		live, same = "no valid run", "?"
	case r.Live.most() == r.Sim:
		same = "yes"
	}
	if r.Invalid > 0 {
		live += fmt.Sprintf(" (%s not valid)", unit.Count(r.Invalid, "run"))
	}
	return fmt.Sprintf("| `%s` | %s | %s | %v | %d | %s | %s |", r.Scenario, r.Detector, r.Sim, r.Timed, r.Slow, live, same)
}

// play plays one file, which holds data, with one detector.
func (w *Worlds) play(ctx context.Context, file string, data []byte, detector string) (*Row, error) {
	fast, err := load.Scenario(file, data)
	if err != nil {
		return nil, err
	}
	fast.Detector = detector
	r := &Row{Scenario: fast.Name, Detector: detector, Slow: lab.Slowness(fast), Timed: tally{}, Live: tally{}}
	slow, err := fast.Slow(r.Slow)
	if err != nil {
		return nil, err
	}
	if r.Sim, err = outcomeSim(ctx, fast, 1); err != nil {
		return nil, err
	}
	for seed := range uint64(timedSeeds) {
		what, err := outcomeSim(ctx, lab.Timing(slow), seed+1)
		if err != nil {
			return nil, err
		}
		r.Timed[what]++
	}
	if why := slow.SimOnly(); why != "" {
		r.Refused = why
		return r, nil
	}
	if err := lab.Refuse(slow); err != nil {
		r.Refused = err.Error()
		return r, nil
	}
	return r, w.playLive(ctx, r, slow)
}

func outcomeSim(ctx context.Context, s *scenario.Scenario, seed uint64) (string, error) {
	plan, err := scenario.Compile(s)
	if err != nil {
		return "", err
	}
	v, err := sim.Play(plan, sim.Options{Seed: seed, Detectors: catalog.Factories(), Watch: func(unit.Time) error { return ctx.Err() }})
	if err != nil {
		return "", err
	}
	return outcome(s, v), nil
}

// playLive plays s live until enough runs were valid; as many again may be invalid.
func (w *Worlds) playLive(ctx context.Context, r *Row, s *scenario.Scenario) error {
	plan, err := scenario.Compile(s)
	if err != nil {
		return err
	}
	for valid := 0; valid < w.Runs && r.Invalid <= w.Runs; {
		v, err := w.Live(ctx, plan.Drawn(uint64(valid+r.Invalid)+1))
		if err != nil {
			return err
		}
		if v.Invalid != "" {
			fmt.Fprintf(w.Progress, "the run is not valid: %s\n", v.Invalid)
			r.Invalid++
			continue
		}
		r.Live[outcome(s, v)]++
		valid++
	}
	return nil
}

// outcome describes the result of a run: whether there was a deadlock, whether it was
// detected, whether any declaration was false, and the trigger if the file expects one.
func outcome(s *scenario.Scenario, v *verdict.Verdict) string {
	what := "no deadlock"
	if v.Deadlock {
		what = "deadlock"
		if v.FalseNegatives > 0 {
			what += ", missed"
		}
	}
	if i := slices.IndexFunc(v.Detections, func(d verdict.Detection) bool { return d.TruePositive }); i >= 0 {
		what += ", detected"
		if s.Wanted().Trigger != nil {
			what += ", trigger " + v.Detections[i].Trigger.Node
		}
	}
	if v.FalsePositives+v.Premature > 0 {
		what += ", false alarm"
	}
	return what
}
