package simcmd

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/internal/safefile"
	"softswitch/study/compare"
)

func compareTrafficCommand() *cobra.Command {
	var scenarios []string
	var markdown string
	var runs int
	var from int64
	var asJSON bool
	c := &cobra.Command{
		Use:   "traffic",
		Short: "Play the scenarios that deadlock with RDMA traffic and congestion control",
		Long: `Play every scenario that deadlocks with its own traffic again, with its lossless flows
as reliable connections (transport: rc), without congestion control, with DCQCN of
three profiles, with TIMELY and with phantom queues; and, without congestion control,
with several responses. Print in how many runs there was a deadlock; --markdown has its
onset, pauses, slowdown and what was sent again. In each run the flows begin a few
frames later, by its seed.

Exit status: 0 everything was played; 2 something could not be.`,
		Example: `  softswitch compare traffic --runs 30 --markdown congestion-control.md
  softswitch compare traffic --scenarios fattree-on-loop,my.yaml --json`,
		Args: cli.Arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			scenarios = cli.Named(cmd, "scenarios", scenarios)
			if runs < 1 || runs > 1000 {
				return fmt.Errorf("--runs: %d; valid: 1 to 1000", runs)
			}
			if from < 0 {
				return fmt.Errorf("--seed-from: %d; valid: 0 or above", from)
			}
			if err := cli.CheckOutputs(scenarios, cli.Output{Flag: "markdown", File: markdown}); err != nil {
				return err
			}
			done := cli.Reading("scenarios")
			sources, err := compare.Scenarios("sim", scenarios)
			done()
			if err != nil {
				return err
			}
			t, err := compare.Play(cmd.Context(), sources, uint64(from), runs, os.Stderr)
			if err != nil {
				return err
			}
			if markdown != "" {
				f, err := safefile.Create(markdown)
				if err != nil {
					return err
				}
				if err := t.WriteMarkdown(f); err != nil {
					f.Close()
					return err
				}
				if err := f.Close(); err != nil {
					return err
				}
			}
			return cli.PrintFinding(t, asJSON)
		},
	}
	c.Flags().StringSliceVar(&scenarios, "scenarios", nil, "scenarios by name, such as hu-fig4, or files, such as my.yaml (default all without a prevention)")
	c.Flags().IntVar(&runs, "runs", 5, "runs of each kind of traffic")
	c.Flags().Int64Var(&from, "seed-from", 1, "the first seed of --runs, 0 or above; the others follow it")
	c.Flags().BoolVar(&asJSON, "json", false, "print every row as JSON")
	c.Flags().StringVar(&markdown, "markdown", "", "file for the tables, with a text on what they say")
	c.RegisterFlagCompletionFunc("scenarios", cli.FilesAndNames)
	c.MarkFlagFilename("markdown", "md")
	return c
}
