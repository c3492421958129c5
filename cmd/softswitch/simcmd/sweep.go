package simcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/internal/safefile"
	"softswitch/oracle/verdict"
	"softswitch/study/shard"
	"softswitch/study/sweep"
)

// sweepOptions are the options of a sweep and of its output.
type sweepOptions struct {
	sweep.Sweep
	from      int64
	csv, json bool
	out       string
	part      shard.Part
}

// Sweep returns the command that plays a scenario with several values of its keys.
func Sweep() *cobra.Command {
	opt := sweepOptions{Sweep: sweep.Sweep{Seeds: sweep.Seeds{Workers: runtime.GOMAXPROCS(0)}, Show: os.Stderr}}
	c := &cobra.Command{
		Use:   "sweep FILE|NAME",
		Short: "Play a scenario with many values of keys, a row each",
		Long: fmt.Sprintf(`Play a scenario in virtual time with every combination of values of some of its keys,
and print a row for each run, as CSV or as JSON lines.

--set KEY=VALUE,VALUE,... gives a key, written as in "sim run", and its values in turn: YAML,
separated by commas. A comma within quotes or brackets is part of a value; an empty value
removes the key from the file. Several --set are combined in all combinations; --repeat N
plays each combination with the seeds S to S+N-1 of --seed-from S, and one that draws
nothing with S alone.

All combinations are checked first: if one of them cannot be played, none is. Runs use all
processors. Rows are in the order of the combinations, in which the last --set changes
fastest, and of the seeds; the output does not depend on the number of processors. Ctrl-C
ends the sweep at once; the rows of completed runs are written.

Columns after the keys of --set; a column is empty, or null, if it does not apply:

%s
Then throughput_bps.FLOW and final_bps.FLOW for each flow.

Exit status: 0 everything was played; 2 something could not be.`, columnsText()),
		Example: `  softswitch sweep scenarios/hu-fig4.yaml --set flows[2].rate=2Gbit/s,3Gbit/s,line --repeat 10 > rows.csv
  softswitch sweep my.yaml --set detector=itsy,watchdog --set buffer.xon_offset=8192,16384,32768 --json --out rows.jsonl
  softswitch sweep my.yaml --set topology='{fattree: {k: 4}, rate: 10Gbit/s},{ring: {switches: 4, hosts_per_switch: 4}, rate: 10Gbit/s}'`,
		Args:              cli.Arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: cli.UpTo(1, cli.FilesAndNames),
		RunE:              func(cmd *cobra.Command, args []string) error { return opt.play(cmd.Context(), args[0]) },
	}
	c.Flags().Var((*axes)(&opt.Axes), "set", "a key and its values in turn, such as buffer.xoff=20000,40000; repeatable")
	c.RegisterFlagCompletionFunc("set", completeAxis)
	repeatFlags(c, &opt.Seeds, &opt.from)
	shardFlag(c, &opt.part, "runs")
	c.Flags().BoolVar(&opt.csv, "csv", false, "print CSV (the default)")
	c.Flags().BoolVar(&opt.json, "json", false, "print JSON lines")
	c.Flags().StringVar(&opt.out, "out", "", "file for the rows instead of standard output")
	c.MarkFlagsMutuallyExclusive("csv", "json")
	c.MarkFlagFilename("out")
	return c
}

func columnsText() string {
	var b strings.Builder
	for _, f := range verdict.Figures {
		fmt.Fprintf(&b, "  %-25s  %s\n", f.Key, f.Text)
	}
	return b.String()
}

// play plays the sweep of a scenario file.
func (opt *sweepOptions) play(ctx context.Context, file string) (err error) {
	if opt.from < 0 {
		return fmt.Errorf("--seed-from: %d; valid: 0 or above", opt.from)
	}
	if err := cli.CheckOutputs([]string{file}, cli.Output{Flag: "out", File: opt.out}); err != nil {
		return err
	}
	opt.Seeds.From = uint64(opt.from)
	if opt.Data, err = cli.ReadScenario(file); err != nil {
		return err
	}
	opt.File = cli.Called(file)
	done := cli.Reading(opt.File)
	checked, err := opt.Check(ctx)
	done()
	if err != nil {
		return err
	}
	for _, w := range checked.Warnings {
		fmt.Fprintln(os.Stderr, "warning:", w)
	}
	format := sweep.CSV
	if opt.json {
		format = sweep.JSONLines
	}
	play := func(out io.Writer) error { return checked.Play(ctx, out, format) }
	if !opt.part.Whole() {
		play = func(out io.Writer) error {
			part, err := checked.PlayPart(ctx, opt.part, format)
			if err != nil {
				return err
			}
			return part.WriteText(out)
		}
	}
	if opt.out == "" {
		return play(os.Stdout)
	}
	f, err := safefile.Create(opt.out)
	if err != nil {
		return err
	}
	return errors.Join(play(f), f.Close())
}

// axes is the value of --set, which may be repeated.
type axes []sweep.Axis

func (a *axes) String() string { return "" }
func (a *axes) Type() string   { return "key=value,..." }

func (a *axes) Set(text string) error {
	one, err := sweep.ParseAxis(text)
	if err == nil {
		*a = append(*a, one)
	}
	return err
}

// completeAxis completes a key of a scenario file, and the last of its values.
func completeAxis(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	path, values, _ := strings.Cut(begun, "=")
	i := strings.LastIndexByte(values, ',')
	if i < 0 {
		return cli.CompleteSetting(c, args, begun)
	}
	all, directive := cli.CompleteSetting(c, args, path+"="+values[i+1:])
	for k := range all {
		all[k] = path + "=" + values[:i+1] + strings.TrimPrefix(all[k], path+"=")
	}
	return all, directive
}
