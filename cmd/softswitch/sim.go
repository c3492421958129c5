package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"softswitch/detect/catalog"
	"softswitch/event"
	"softswitch/internal/progress"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/sim"
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
	var trace string
	var in instead
	var seed int64
	var asJSON bool
	var show pageOptions
	c := &cobra.Command{
		Use:   "run FILE",
		Short: "Play a scenario in virtual time and judge it",
		Long: `Play a scenario in virtual time and print its verdict, as "lab run" does. With --ui a
browser then plays it, at any speed, back and forth, until Ctrl-C.

Exit status: 0 the scenario's expectation is met; 1 not; 2 it could not be played.`,
		Example:           "  softswitch sim run scenarios/fattree-on-loop.yaml --seed 7 --detector itsypaper\n  softswitch sim run scenarios/itsy-fig2.yaml --detector itsy --ui",
		Args:              arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: oneYAMLFile,
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
			closeTrace, err := openTrace(trace, &opt)
			if err != nil {
				return err
			}
			play := runSim
			var page *ui.Page
			if show.show {
				stream := new(ui.Stream)
				if page, err = ui.Open(cmd.Context(), show.listen, stream, nil, os.Stderr); err != nil {
					return err
				}
				defer page.Close()
				play = func(plan *scenario.Plan, opt sim.Options) (*verdict.Verdict, error) {
					return ui.Simulate(plan, opt, stream)
				}
			}
			v, err := play(plan, opt)
			if terr := closeTrace(); err == nil && terr != nil {
				err = fmt.Errorf("trace: %w", terr)
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
	show.flags(c)
	slowFlag(c, &in.Slow)
	c.Flags().StringVar(&trace, "trace", "", "file for every event of every node, as JSON lines")
	c.Flags().BoolVar(&asJSON, "json", false, "print the verdict as JSON")
	c.MarkFlagFilename("trace")
	return c
}

func runSim(plan *scenario.Plan, opt sim.Options) (*verdict.Verdict, error) {
	w, err := sim.New(plan, opt)
	if err != nil {
		return nil, err
	}
	return w.Run()
}

// openTrace makes a simulation write every event to a file, if path is not empty.
// The function that it returns ends the file, and tells of all that went wrong
// with it.
func openTrace(path string, opt *sim.Options) (end func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	out := bufio.NewWriterSize(f, 1<<16)
	var line []byte
	opt.Events = func(n event.Node, e event.Event) {
		line = n.Append(line[:0], e)
		out.Write(line) // an error stays, and Flush tells it
	}
	return func() error { return errors.Join(out.Flush(), f.Close()) }, nil
}
