package worlds

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"softswitch/detect/catalog"
	"softswitch/lab"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/scenario/load"
	"softswitch/sim"
	"softswitch/unit"
)

// timedSeeds is the number of simulations with the timing of a live lab.
const timedSeeds = 16

// row is a scenario and a detector in both worlds.
type row struct {
	scenario, detector string
	slow               int
	sim                string // what came of it
	timed, live        tally  // with a live lab's timing; live
	refused            error  // why a live lab does not play it
	invalid            int    // live runs that count for nothing
}

// tally counts what came of several runs.
type tally map[string]int

// most is what came out most often.
func (t tally) most() (what string) {
	for _, w := range slices.Sorted(maps.Keys(t)) {
		if t[w] > t[what] {
			what = w
		}
	}
	return what
}

// String is "deadlock, detected" if all runs say so, else each with its number.
func (t tally) String() string {
	if len(t) == 1 {
		return t.most()
	}
	all := slices.Sorted(maps.Keys(t))
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(t[b], t[a]) })
	for i, w := range all {
		all[i] = fmt.Sprintf("%d x %s", t[w], w)
	}
	return strings.Join(all, "; ")
}

// Worlds is how scenarios are played in both worlds.
type Worlds struct {
	Runs int // live, of each scenario and detector
	// Read reads a file, Live plays a plan on a lab.
	Read     func(file string) ([]byte, error)
	Live     func(context.Context, *scenario.Plan) (*verdict.Verdict, error)
	Progress io.Writer
}

// Compare plays files and writes the table to out. It reports whether both worlds say the
// same wherever a live lab can play.
func (w *Worlds) Compare(ctx context.Context, files []string, out io.Writer) (same bool, err error) {
	fmt.Fprintf(out, "| scenario | detector | simulated | with live timing, %d seeds | slower | live, %d runs | same |\n|---|---|---|---|---:|---|---|\n", timedSeeds, w.Runs)
	same = true
	for _, file := range files {
		for _, detector := range []string{"itsy", "itsypaper"} {
			fmt.Fprintf(w.Progress, "%s %s\n", file, detector)
			r, err := w.play(ctx, file, detector)
			if err != nil {
				return false, err
			}
			if _, err := fmt.Fprintln(out, r); err != nil {
				return false, err
			}
			same = same && (r.refused != nil || r.live.most() == r.sim)
		}
	}
	return same, nil
}

func (r *row) String() string {
	live, same := r.live.String(), "no"
	switch {
	case r.refused != nil:
		live, same = "not played: "+r.refused.Error(), "-"
	case len(r.live) == 0:
		live, same = "no valid run", "?"
	case r.live.most() == r.sim:
		same = "yes"
	}
	if r.invalid > 0 {
		live += fmt.Sprintf(" (%d runs not valid)", r.invalid)
	}
	return fmt.Sprintf("| `%s` | %s | %s | %v | %d | %s | %s |", r.scenario, r.detector, r.sim, r.timed, r.slow, live, same)
}

// play plays one file with one detector.
func (w *Worlds) play(ctx context.Context, file, detector string) (*row, error) {
	data, err := w.Read(file)
	if err != nil {
		return nil, err
	}
	fast, err := load.Scenario(file, data)
	if err != nil {
		return nil, err
	}
	fast.Detector = detector
	r := &row{scenario: fast.Name, detector: detector, slow: lab.Slowness(fast), timed: tally{}, live: tally{}}
	slow, err := fast.Slow(r.slow)
	if err != nil {
		return nil, err
	}
	if r.sim, err = outcomeSim(ctx, fast, 1); err != nil {
		return nil, err
	}
	for seed := range uint64(timedSeeds) {
		what, err := outcomeSim(ctx, lab.Timing(slow), seed+1)
		if err != nil {
			return nil, err
		}
		r.timed[what]++
	}
	if why := slow.SimOnly(); why != "" {
		r.refused = errors.New(why)
		return r, nil
	}
	if r.refused = lab.Refuse(slow); r.refused != nil {
		return r, nil
	}
	return r, w.playLive(ctx, r, slow)
}

func outcomeSim(ctx context.Context, s *scenario.Scenario, seed uint64) (string, error) {
	plan, err := scenario.Compile(s)
	if err != nil {
		return "", err
	}
	w, err := sim.New(plan, sim.Options{Seed: seed, Detectors: catalog.Factories(), Watch: func(unit.Time) error { return ctx.Err() }})
	if err != nil {
		return "", err
	}
	v, err := w.Run()
	if err != nil {
		return "", err
	}
	return outcome(s, v), nil
}

// playLive plays s live until so many runs were valid; as many again may be not.
func (w *Worlds) playLive(ctx context.Context, r *row, s *scenario.Scenario) error {
	plan, err := scenario.Compile(s)
	if err != nil {
		return err
	}
	for valid := 0; valid < w.Runs && r.invalid <= w.Runs; {
		v, err := w.Live(ctx, plan)
		if err != nil {
			return err
		}
		if v.Invalid != "" {
			fmt.Fprintf(w.Progress, "the run is not valid: %s\n", v.Invalid)
			r.invalid++
			continue
		}
		r.live[outcome(s, v)]++
		valid++
	}
	return nil
}

// outcome is what came of a run, in words: was there a deadlock, was it detected, was
// anything declared that was not true, and the trigger if the file expects one.
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
