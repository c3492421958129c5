package main

import (
	"os"

	"github.com/spf13/cobra"

	"softswitch/sim/figures"
)

func simBoundary() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "boundary",
		Short: "Find the rate at which routing loops turn into deadlocks",
		Long: `Simulate routing loops of 2 to 5 switches at 40 Gbit/s and find the rate of one flow
at which they turn into a deadlock, beside the boundary n B / TTL of Hu et al.,
"Deadlocks in Datacenter Networks", Eq. 3.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			t, err := figures.MeasureBoundary(cmd.Context(), os.Stderr)
			if err != nil {
				return err
			}
			return printResult(t, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
