package simcmd

import (
	"errors"
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
	c := cli.Printed(&cobra.Command{
		Use:   "traffic",
		Short: "Play the scenarios that deadlock with RDMA traffic and congestion control",
		Long: `Repeat every scenario that deadlocks with its own traffic, with its lossless flows as
reliable connections (transport: rc): without congestion control, with DCQCN in three
profiles, with TIMELY and with phantom queues; without PFC, with go-back-N and with
selective repeat; and, without congestion control, with several responses. Print the number
of runs with a deadlock; --markdown adds its onset, pauses, slowdown, goodput and
retransmissions. The seed of a run delays the start of each flow by a
few frames.

Exit status: 0 everything was played; 2 something could not be.`,
		Example: `  softswitch compare traffic --runs 30 --markdown congestion-control.md   # about 8 min
  softswitch compare traffic --scenarios fattree-on-loop,my.yaml --json`,
		Args: cli.Arguments(cobra.NoArgs),
	}, "print every row as JSON", func(cmd *cobra.Command, _ []string) (cli.Finding, error) {
		scenarios = cli.Named(cmd, "scenarios", scenarios)
		if runs < 1 || runs > 1000 {
			return nil, fmt.Errorf("--runs: %d; valid: 1 to 1000", runs)
		}
		if from < 0 {
			return nil, fmt.Errorf("--seed-from: %d; valid: 0 or above", from)
		}
		if err := cli.CheckOutputs(scenarios, cli.Output{Flag: "markdown", File: markdown}); err != nil {
			return nil, err
		}
		done := cli.Reading("scenarios")
		sources, err := compare.Scenarios("sim", scenarios)
		done()
		if err != nil {
			return nil, err
		}
		t, err := compare.Play(cmd.Context(), sources, uint64(from), runs, os.Stderr)
		if err != nil || markdown == "" {
			return t, err
		}
		f, err := safefile.Create(markdown)
		if err != nil {
			return nil, err
		}
		return t, errors.Join(t.WriteMarkdown(f), f.Close())
	})
	c.Flags().StringSliceVar(&scenarios, "scenarios", nil, "scenarios by name, such as hu-fig4, or files, such as my.yaml (default all without a prevention)")
	c.Flags().IntVar(&runs, "runs", 5, "number of runs for each kind of traffic")
	c.Flags().Int64Var(&from, "seed-from", 1, "first seed of --runs, 0 or above")
	c.Flags().StringVar(&markdown, "markdown", "", "file for the tables, with an explanation")
	c.RegisterFlagCompletionFunc("scenarios", cli.FilesAndNames)
	c.MarkFlagFilename("markdown", "md")
	return c
}
