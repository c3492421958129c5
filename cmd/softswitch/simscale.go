package main

import (
	"os"

	"github.com/spf13/cobra"

	"softswitch/detect/catalog"
	"softswitch/sim/scale"
)

func simScale() *cobra.Command {
	var detector string
	var asJSON bool
	c := &cobra.Command{
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
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := catalog.Named("--detector", detector); err != nil {
				return err
			}
			res, err := scale.Measure(cmd.Context(), detector, os.Stderr)
			if err != nil {
				return err
			}
			return printJudged(res, res.Clean(), asJSON)
		},
	}
	detectorFlag(c, &detector, catalog.Default, "deadlock detector")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
