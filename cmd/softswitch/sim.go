package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"softswitch/event"
	"softswitch/sim"
)

func simCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "sim",
		Short: "Play scenarios in virtual time",
		Long: `Play scenarios in virtual time, with the same switches and hosts as on namespaces:
exact, repeatable by its seed, and without root.`,
	}
	c.AddCommand(simRun(), simBench(), simFuzz())
	return c
}

func simRun() *cobra.Command {
	var detector, trace string
	var seed int64
	var asJSON bool
	c := &cobra.Command{
		Use:   "run FILE",
		Short: "Play a scenario in virtual time and judge it",
		Long: `Play a scenario in virtual time and print its verdict, as "lab run" does.

Exit status: 0 the scenario's expectation is met; 1 not; 2 it could not be played.`,
		Example: "  softswitch sim run scenarios/fattree-on-loop.yaml --seed 7 --detector itsypaper",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) (err error) {
			if seed < 0 {
				return fmt.Errorf("seed: %d; valid: 0 or above", seed)
			}
			plan, err := readPlan(args[0], detector)
			if err != nil {
				return err
			}
			opt := sim.Options{Seed: uint64(seed), Detectors: detectors}
			if trace != "" {
				f, err := os.Create(trace)
				if err != nil {
					return err
				}
				defer f.Close()
				out := bufio.NewWriterSize(f, 1<<16)
				var line []byte
				opt.Events = func(n event.Node, e event.Event) {
					line = n.Append(line[:0], e)
					out.Write(line) // an error stays, and Flush tells it
				}
				defer func() {
					if ferr := out.Flush(); err == nil {
						err = ferr
					}
				}()
			}
			w, err := sim.New(plan, opt)
			if err != nil {
				return err
			}
			v, err := w.Run()
			if err != nil {
				return err
			}
			return printVerdict(v, asJSON)
		},
	}
	c.Flags().Int64Var(&seed, "seed", 1, "seed of all randomness, 0 or above")
	c.Flags().StringVar(&detector, "detector", "", fmt.Sprintf("deadlock detector instead of the file's: %s", strings.Join(detectorNames, ", ")))
	c.Flags().StringVar(&trace, "trace", "", "file for every event of every node, as JSON lines")
	c.Flags().BoolVar(&asJSON, "json", false, "print the verdict as JSON")
	c.MarkFlagFilename("trace")
	return c
}
