package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"softswitch/detect/catalog"
	"softswitch/internal/progress"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/sim/trace"
	"softswitch/unit"
	"softswitch/view/ui"
)

func simCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "sim",
		Short: "Play scenarios in virtual time",
		Long: `Play scenarios in virtual time, with the same switches and hosts as on namespaces:
exact, repeatable by its seed, and without root.`,
	}
	c.AddCommand(simRun(), simBench(), simScale(), simFuzz(), simBoundary(), simFigures())
	return c
}

func simRun() *cobra.Command {
	var file string
	var in instead
	var seed int64
	var asJSON bool
	var show bool
	var listen string
	c := &cobra.Command{
		Use:   "run FILE",
		Short: "Play a scenario in virtual time and judge it",
		Long: `Play a scenario in virtual time and print its verdict, as "lab run" does. With --ui a
browser then plays it, at any speed, back and forth, until Ctrl-C.

Exit status: 0 the scenario's expectation is met; 1 not; 2 it could not be played.`,
		Example:           "  softswitch sim run scenarios/fattree-on-loop.yaml --seed 7 --detector itsypaper\n  softswitch sim run scenarios/itsy-fig2.yaml --detector itsy --ui",
		Args:              arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: upTo(1, yamlFiles),
		RunE: func(cmd *cobra.Command, args []string) error {
			if seed < 0 {
				return fmt.Errorf("seed: %d; valid: 0 or above", seed)
			}
			plan, err := readPlan(args[0], in)
			if err != nil {
				return err
			}
			work := progress.New(cmd.Context(), os.Stderr, "simulated ns", int64(plan.Scenario.Duration))
			defer work.Close()
			opt := sim.Options{
				Seed: uint64(seed), Detectors: catalog.Factories(),
				Watch: func(now unit.Time) error { return work.Set(int64(now)) },
			}
			closeTrace, err := trace.To(file, &opt)
			if err != nil {
				return err
			}
			var page *ui.Page
			var stream *ui.Stream
			if show {
				stream = new(ui.Stream)
				if page, err = ui.Open(cmd.Context(), listen, stream, nil, os.Stderr); err != nil {
					return err
				}
				defer page.Close()
			}
			v, err := simulate(plan, opt, stream)
			if terr := closeTrace(); err == nil {
				err = terr
			}
			if err != nil {
				return err
			}
			err = printVerdict(v, asJSON)
			page.AwaitEnd(cmd.Context(), os.Stderr)
			return err
		},
	}
	c.Flags().Int64Var(&seed, "seed", 1, "seed of all randomness, 0 or above")
	in.flags(c)
	pageFlags(c, &show, &listen)
	slowFlag(c, &in.Slow)
	c.Flags().StringVar(&file, "trace", "", "file for every event of every node, as JSON lines")
	c.Flags().BoolVar(&asJSON, "json", false, "print the verdict as JSON")
	c.MarkFlagFilename("trace")
	return c
}

// simulate plays a plan, and shows it on stream unless that is nil.
func simulate(plan *scenario.Plan, opt sim.Options, stream *ui.Stream) (*verdict.Verdict, error) {
	if stream != nil {
		return ui.Simulate(plan, opt, stream)
	}
	w, err := sim.New(plan, opt)
	if err != nil {
		return nil, err
	}
	return w.Run()
}
