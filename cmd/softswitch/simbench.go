package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"softswitch/detect/catalog"
	"softswitch/sim/scale"
	"softswitch/unit"
)

func simBench() *cobra.Command {
	var detector string
	var duration time.Duration
	var runs int
	var asJSON bool
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure the simulator: frame-hops a second",
		Long: `Measure how fast the simulator is: a fat-tree of k = 4 at 40 Gbit/s whose 16
hosts each send to a host of another pod at line rate, with the buffer manager,
PFC and the detector that a scenario has too. Several flows share links, so
there are pauses all the time.

A frame-hop is a frame that arrives at a node. The simulator uses one processor.`,
		Example: "  softswitch sim bench --json",
		Args:    arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := catalog.Named("--detector", detector); err != nil {
				return err
			}
			if runs < 1 || runs > 1000 {
				return fmt.Errorf("--runs: %d; valid: 1 to 1000", runs)
			}
			if duration < 100*time.Microsecond || duration > time.Minute {
				return fmt.Errorf("--duration: %v; valid: 100us to 1m", duration)
			}
			res, err := scale.Bench(cmd.Context(), os.Stderr, detector, unit.Time(duration), runs)
			if err != nil {
				return err
			}
			return printResult(res, asJSON)
		},
	}
	detectorFlag(c, &detector, catalog.Default, "deadlock detector")
	c.Flags().DurationVar(&duration, "duration", 20*time.Millisecond, "virtual time of a run")
	c.Flags().IntVar(&runs, "runs", 5, "how often it is measured")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
