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
