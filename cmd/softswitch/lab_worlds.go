package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"softswitch/detect/catalog"
	"softswitch/lab"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/scenario/load"
	"softswitch/sim"
)

func labWorlds(name *string) *cobra.Command {
	var runs int
	c := &cobra.Command{
		Use:   "worlds FILE...",
		Short: "Play scenarios simulated and live, and compare what came of them",
		Long: `Play scenario files in both worlds, with itsy and with itsypaper, and print a table
in Markdown: what the simulator says, what it says with the timing of a live lab, and
what live labs say, which play the scenario as much slower as they need to.

Exit status: 0 both worlds say the same wherever a live lab can play; 1 not, or no run
of some scenario was valid; 2 a scenario could not be played.`,
		Example:           "  sudo softswitch lab worlds scenarios/*.yaml",
		Args:              arguments(cobra.MinimumNArgs(1)),
		ValidArgsFunction: yamlFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if runs < 1 {
				return fmt.Errorf("--runs: %d; give 1 or more", runs)
			}
			return compareWorlds(cmd.Context(), args, *name, runs, os.Stdout)
		},
	}
	c.Flags().IntVar(&runs, "runs", 3, "live runs of each scenario and detector")
	return c
}

// timedSeeds is the number of simulations with the timing of a live lab.
const timedSeeds = 16

// worldsRow is a scenario and a detector in both worlds.
type worldsRow struct {
	scenario, detector string
	slow               int
	sim                string     // what came of it
	timed, live        worldTally // with a live lab's timing; live
	refused            error      // why a live lab does not play it
	invalid            int        // live runs that count for nothing
}

// worldTally counts what came of several runs.
type worldTally map[string]int

// most is what came out most often.
func (t worldTally) most() (what string) {
	for _, w := range slices.Sorted(maps.Keys(t)) {
		if t[w] > t[what] {
			what = w
		}
	}
	return what
}

// String is "deadlock, detected" if all runs say so, else each with its number.
func (t worldTally) String() string {
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

// compareWorlds plays files and writes the table to w.
func compareWorlds(ctx context.Context, files []string, name string, runs int, w io.Writer) error {
	fmt.Fprintf(w, "| scenario | detector | simulated | with live timing, %d seeds | slower | live, %d runs | same |\n|---|---|---|---|---:|---|---|\n", timedSeeds, runs)
	different := false
	for _, file := range files {
		for _, detector := range []string{"itsy", "itsypaper"} {
			fmt.Fprintf(os.Stderr, "%s %s\n", file, detector)
			row, err := playWorlds(ctx, file, detector, name, runs)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintln(w, row); err != nil {
				return err
			}
			different = different || row.refused == nil && row.live.most() != row.sim
		}
	}
	if different {
		return errUnmet
	}
	return nil
}

func (r *worldsRow) String() string {
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

// playWorlds plays one file with one detector.
func playWorlds(ctx context.Context, file, detector, name string, runs int) (*worldsRow, error) {
	data, err := readFile(file)
	if err != nil {
		return nil, err
	}
	fast, err := load.Scenario(file, data)
	if err != nil {
		return nil, err
	}
	fast.Detector = detector
	r := &worldsRow{scenario: fast.Name, detector: detector, slow: lab.Slowness(fast), timed: worldTally{}, live: worldTally{}}
	slow, err := fast.Slow(r.slow)
	if err != nil {
		return nil, err
	}
	if r.sim, err = outcomeSim(fast, 1); err != nil {
		return nil, err
	}
	for seed := range uint64(timedSeeds) {
		what, err := outcomeSim(lab.Timing(slow), seed+1)
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
	return r, r.playLive(ctx, slow, name, runs)
}

func outcomeSim(s *scenario.Scenario, seed uint64) (string, error) {
	plan, err := scenario.Compile(s)
	if err != nil {
		return "", err
	}
	v, err := runSim(plan, sim.Options{Seed: seed, Detectors: catalog.Factories()})
	if err != nil {
		return "", err
	}
	return outcome(s, v), nil
}

// playLive plays s live until so many runs were valid; as many again may be not.
func (r *worldsRow) playLive(ctx context.Context, s *scenario.Scenario, name string, runs int) error {
	plan, err := scenario.Compile(s)
	if err != nil {
		return err
	}
	for valid := 0; valid < runs && r.invalid <= runs; {
		v, err := playLive(ctx, plan, name, runOptions{}, io.Discard)
		if err != nil {
			return err
		}
		if v.Invalid != "" {
			fmt.Fprintf(os.Stderr, "the run is not valid: %s\n", v.Invalid)
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
