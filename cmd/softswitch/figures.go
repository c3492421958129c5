package main

import (
	"os"

	"github.com/spf13/cobra"

	"softswitch/sim/figures"
)

func simFigures() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "figures",
		Short: "Draw the figures of the documentation",
		Long: `Simulate the cases of the papers and draw what came of them: buffer occupancy and
pauses over time, throughput when a deadlock is broken and when its trigger is
handled too, and the boundary of routing loops. The same program gives the same
files, byte for byte.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return figures.DrawAll(cmd.Context(), out, os.Stderr)
		},
	}
	c.Flags().StringVar(&out, "out", "docs/figures", "folder for the files")
	c.MarkFlagDirname("out")
	return c
}

func simBoundary() *cobra.Command {
	return printed(&cobra.Command{
		Use:   "boundary",
		Short: "Find the rate at which routing loops turn into deadlocks",
		Long: `Simulate routing loops of 2 to 5 switches at 40 Gbit/s and find the rate of one flow
at which they turn into a deadlock, beside the boundary n B / TTL of Hu et al.,
"Deadlocks in Datacenter Networks", Eq. 3.`,
		Args: cobra.NoArgs,
	}, "print JSON", func(cmd *cobra.Command, _ []string) (finding, error) {
		return figures.MeasureBoundary(cmd.Context(), os.Stderr)
	})
}
