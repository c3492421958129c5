package simcmd

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/internal/lists"
	"softswitch/oracle/verdict"
	"softswitch/play"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/study/compare"
	"softswitch/study/shard"
	"softswitch/view/ui"
)

// compareOptions are the options of a comparison and of its output.
type compareOptions struct {
	compare.Choice
	mergeOptions
	part    shard.Part
	replays bool
}

// Compare returns the command that plays scenarios against systems.
func Compare() *cobra.Command {
	var opt compareOptions
	c := &cobra.Command{
		Use:   "compare",
		Short: "Play scenarios against systems, side by side",
		Long: `Play every scenario against every system (a detector, a response, a prevention, or no
PFC), and print an outcome for each pair and a sum for each system. By default this plays every
scenario file that comes with softswitch and has no prevention of its own; live, only those
on the fat-tree. --scenarios also takes your own files.

A pair is played with the seeds S to S+N-1 of --seed-from S and --runs N; if a scenario
draws nothing at random, its equal runs count as one. First each scenario is played without
a system, and the cause of its deadlock is determined, to know which flows are innocent of
it. Simulations run on all processors; live labs run one after another and need root.

--replays links each outcome on the page of --html to a replay of that run, as "sim run
--html" writes it: a file of 50 to 300 kB for each pair, in a folder beside the page
(comparison.html: comparison-replays) that replaces an older one. For this the first run
is played twice more. A fabric too large for such a page has no replay, and the page says
so. Only simulations are replayed.

` + compare.WatchdogNote + `

Exit status: 0 everything was played; 2 something could not be.`,
		Example: `  softswitch compare --html comparison.html             # about 20 s
  softswitch compare --html comparison.html --replays   # about 30 s
  softswitch compare --scenarios hu-fig4,shpiner-fig4 --systems none,itsy+drop,watchdog --runs 10
  softswitch compare --scenarios my.yaml --systems itsy,itsy+cure
  softswitch compare --scenarios my.yaml --systems rc,no-pfc-gbn,no-pfc-selective   # what PFC costs, and what it saves
  sudo softswitch compare --world live --systems itsy+bubble+trigger --json   # about 1 min`,
		Args: cli.Arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			opt.Scenarios, opt.Systems = cli.Named(cmd, "scenarios", opt.Scenarios), cli.Named(cmd, "systems", opt.Systems)
			if err := opt.keepApart(opt.Scenarios); err != nil {
				return err
			}
			done := cli.Reading("scenarios")
			m, err := opt.Matrix(play.QuietLab("compare"))
			done()
			if err != nil {
				return err
			}
			m.Progress = compare.ReportTo(os.Stderr)
			if !opt.part.Whole() {
				if opt.replays {
					return errors.New("compare: --shard does not go with --replays, which plays all pairs on this machine")
				}
				if opt.html != "" || opt.markdown != "" {
					return errors.New("compare: --shard goes with neither --html nor --markdown: give these to \"campaign merge\"")
				}
				part, err := m.RunPart(cmd.Context(), opt.part)
				if err != nil {
					return err
				}
				return cli.PrintFinding(part, false)
			}
			play := m.Run
			if opt.replays {
				play = func(ctx context.Context) (*compare.Comparison, error) {
					return m.RunAndShow(ctx, opt.html, showRun)
				}
			}
			result, err := play(cmd.Context())
			if err != nil {
				return err
			}
			return printComparison(result, &opt.mergeOptions)
		},
	}
	c.Flags().StringVar(&opt.World, "world", "sim", "where to play: sim or live")
	c.Flags().StringSliceVar(&opt.Scenarios, "scenarios", nil, "scenarios by name, such as hu-fig4, or files, such as my.yaml (default all)")
	c.Flags().StringSliceVar(&opt.Systems, "systems", nil, "systems by name, such as itsy+drop: a detector, one with a response, a prevention, or no-pfc-selective (default all but variants)")
	c.Flags().IntVar(&opt.Runs, "runs", 1, "runs of each pair")
	c.Flags().Int64Var(&opt.From, "seed-from", 1, "first seed of --runs, 0 or above")
	c.Flags().BoolVar(&opt.json, "json", false, "print every row as JSON")
	comparisonFlags(c, &opt.mergeOptions)
	c.Flags().BoolVar(&opt.replays, "replays", false, "also write a replay of each pair, linked from the page of --html")
	shardFlag(c, &opt.part, "scenarios")
	c.RegisterFlagCompletionFunc("scenarios", cli.FilesAndNames)
	c.RegisterFlagCompletionFunc("systems", systemNames)
	c.AddCommand(compareTrafficCommand())
	return c
}

// systemNames completes the names of systems.
func systemNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return lists.Map(compare.Systems(), func(s compare.System) string { return s.Name }), cobra.ShellCompDirectiveNoFileComp
}

// showRun plays a plan in virtual time and writes a page that plays it in a browser.
func showRun(plan *scenario.Plan, opt sim.Options, page io.Writer) (*verdict.Verdict, error) {
	var stream ui.Stream
	v, err := ui.Simulate(plan, opt, &stream)
	if err != nil {
		return nil, err
	}
	return v, stream.WriteHTML(page)
}

// comparisonFlags adds the flags that name output files of a comparison.
func comparisonFlags(c *cobra.Command, opt *mergeOptions) {
	c.Flags().StringVar(&opt.html, "html", "", "file for the tables and plots, as one self-contained page")
	c.Flags().StringVar(&opt.markdown, "markdown", "", "file for the matrix and a text on each system")
	c.MarkFlagFilename("html", "html")
	c.MarkFlagFilename("markdown", "md")
}

// keepApart refuses output files that would overwrite an input.
func (opt *mergeOptions) keepApart(read []string) error {
	return cli.CheckOutputs(read, cli.Output{Flag: "html", File: opt.html, MakesDir: true}, cli.Output{Flag: "markdown", File: opt.markdown, MakesDir: true}, cli.Output{Flag: "rows", File: opt.rows})
}

// printComparison writes the files of a comparison and prints it. The error lists the pairs that
// could not be played.
func printComparison(c *compare.Comparison, opt *mergeOptions) error {
	if err := c.WriteFiles(opt.html, opt.markdown); err != nil {
		return err
	}
	if err := cli.PrintFinding(c, opt.json); err != nil {
		return err
	}
	return c.Failure()
}
