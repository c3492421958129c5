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
	c := printed(&cobra.Command{
		Use:   "bench",
		Short: "Measure the simulator: frame-hops a second",
		Long: `Measure how fast the simulator is: a fat-tree of k = 4 at 40 Gbit/s whose 16
hosts each send to a host of another pod at line rate, with the buffer manager,
PFC and the detector that a scenario has too. Several flows share links, so
there are pauses all the time.

A frame-hop is a frame that arrives at a node. The simulator uses one processor.`,
		Example: "  softswitch sim bench --json",
		Args:    arguments(cobra.NoArgs),
	}, "print JSON", func(cmd *cobra.Command, _ []string) (finding, error) {
		if _, err := catalog.Named("--detector", detector); err != nil {
			return nil, err
		}
		if runs < 1 || runs > 1000 {
			return nil, fmt.Errorf("--runs: %d; valid: 1 to 1000", runs)
		}
		if duration < 100*time.Microsecond || duration > time.Minute {
			return nil, fmt.Errorf("--duration: %v; valid: 100us to 1m", duration)
		}
		return scale.Bench(cmd.Context(), os.Stderr, detector, unit.Time(duration), runs)
	})
	detectorFlag(c, &detector, catalog.Default, "deadlock detector")
	c.Flags().DurationVar(&duration, "duration", 20*time.Millisecond, "virtual time of a run")
	c.Flags().IntVar(&runs, "runs", 5, "how often it is measured")
	return c
}

func simScale() *cobra.Command {
	var detector string
	c := printed(&cobra.Command{
		Use:   "scale",
		Short: "Detect planted deadlocks in fabrics of thousands of switches",
		Long: `Build two fabrics of 64-port switches, plant deadlocks in them, and see whether
they are detected:

  - a fat-tree of k = 64: 5120 switches, 65536 hosts;
  - 10000 switches of 62 links to others, each to those that follow it at 31
    distances, and 2 hosts.

Every switch and every host is there. A deadlock is a ring of three to twelve
switches round which flows are sent by way of a route for their destinations.
Switches have routes to those subnets alone that flows go to.

Exit status: 0 all deadlocks were detected and there was no false alarm; 1 not.`,
		Args: arguments(cobra.NoArgs),
	}, "print JSON", func(cmd *cobra.Command, _ []string) (finding, error) {
		if _, err := catalog.Named("--detector", detector); err != nil {
			return nil, err
		}
		r, err := scale.Measure(cmd.Context(), detector, os.Stderr)
		if err != nil {
			return nil, err
		}
		return judged(r, r.Clean())
	})
	detectorFlag(c, &detector, catalog.Default, "deadlock detector")
	return c
}
