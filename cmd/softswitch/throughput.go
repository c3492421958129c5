package main

import (
	"github.com/spf13/cobra"

	"softswitch/sim/figures"
)

func plotCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "plot VERDICT.json... --out FILE.svg",
		Short: "Draw the throughput of flows over time, from verdicts",
		Long: `Draw the throughput of each flow over time, in one panel for each verdict: what
"lab run --json" and "sim run --json" print. Throughputs are normalised: 1 is the
most that the flow has in any of the verdicts.`,
		Example: `  softswitch sim run scenarios/itsy-fig5.yaml --response drop --json > drop.json
  softswitch sim run scenarios/itsy-fig5.yaml --response drop+trigger --json > trigger.json
  softswitch plot drop.json trigger.json --out fig5.svg`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return figures.Throughput(out, args)
		},
	}
	c.Flags().StringVar(&out, "out", "", "file for the picture (SVG)")
	c.MarkFlagRequired("out")
	c.MarkFlagFilename("out", "svg")
	return c
}
