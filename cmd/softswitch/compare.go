package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"softswitch/compare"
	"softswitch/lab/run"
	"softswitch/sim/shard"
)

// compareOptions are what to compare and what to make of it.
type compareOptions struct {
	compare.Choice
	mergeOptions
	part shard.Part
}

func compareCommand() *cobra.Command {
	var opt compareOptions
	c := &cobra.Command{
		Use:   "compare",
		Short: "Play every scenario against every system and put them side by side",
		Long: `Play every scenario against every system, that is a detector, a response or a
prevention, and print an outcome for each pair and a sum for each system. What stands
for "all" scenarios is every scenario file that comes with softswitch and has no
prevention of its own; live, those on the fat-tree. --scenarios takes your own files too.

A pair is played with the seeds 1 to N. Before that each scenario is played without a
system, and the cause of its deadlock is sought, to know which flows are innocent of it. Simulations run on all processors; live labs
run one after another and need root.

` + compare.WatchdogNote + `

Exit status: 0 everything was played; 2 something could not be.`,
		Example: `  softswitch compare --html comparison.html
  softswitch compare --scenarios hu-fig4,shpiner-fig4 --systems none,itsy+drop,watchdog --runs 10
  softswitch compare --scenarios my.yaml --systems itsy,itsy+cure
  sudo softswitch compare --world live --systems itsy+bubble+trigger --json`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := opt.Matrix(run.Quiet("compare"))
			if err != nil {
				return err
			}
			m.Progress = compare.ReportTo(os.Stderr)
			if !opt.part.Whole() {
				if opt.html != "" || opt.markdown != "" {
					return errors.New("compare: --shard goes with neither --html nor --markdown, which \"softswitch merge\" takes")
				}
				part, err := m.RunPart(cmd.Context(), opt.part)
				if err != nil {
					return err
				}
				return printFinding(part, false)
			}
			result, err := m.Run(cmd.Context())
			if err != nil {
				return err
			}
			return printComparison(result, &opt.mergeOptions)
		},
	}
	c.Flags().StringVar(&opt.World, "world", "sim", "where to play: sim or live")
	c.Flags().StringSliceVar(&opt.Scenarios, "scenarios", nil, "scenarios by name, such as hu-fig4, or files, such as my.yaml (default all)")
	c.Flags().StringSliceVar(&opt.Systems, "systems", nil, "systems by name, such as itsy+drop: a detector, one with a response, or a prevention (default all but variants)")
	c.Flags().IntVar(&opt.Runs, "runs", 1, "runs of each pair")
	c.Flags().BoolVar(&opt.json, "json", false, "print every row as JSON")
	comparisonFlags(c, &opt.mergeOptions)
	shardFlag(c, &opt.part, "scenarios")
	c.RegisterFlagCompletionFunc("scenarios", filesAndNames)
	c.AddCommand(compareTrafficCommand())
	return c
}

// comparisonFlags are the files that a comparison can be written to.
func comparisonFlags(c *cobra.Command, opt *mergeOptions) {
	c.Flags().StringVar(&opt.html, "html", "", "file for the tables and plots, as one page that needs nothing else")
	c.Flags().StringVar(&opt.markdown, "markdown", "", "file for the matrix and a text on each system")
	c.MarkFlagFilename("html", "html")
	c.MarkFlagFilename("markdown", "md")
}

// printComparison writes the files of a comparison and prints it. The error says what of it
// could not be played.
func printComparison(c *compare.Comparison, opt *mergeOptions) error {
	if err := c.WriteFiles(opt.html, opt.markdown); err != nil {
		return err
	}
	if err := printFinding(c, opt.json); err != nil {
		return err
	}
	return c.Failure()
}
