package simcmd

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/study/campaign"
	"softswitch/study/compare"
	"softswitch/study/fuzz"
	"softswitch/study/shard"
	"softswitch/study/sweep"
)

// shardFlag adds the flag --shard to a command that can play a part of its items, called what.
func shardFlag(c *cobra.Command, p *shard.Part, what string) {
	c.Flags().Var(p, "shard", "play one of N parts of the "+what+" and print the input of \"campaign merge\"")
	c.RegisterFlagCompletionFunc("shard", cobra.NoFileCompletions)
}

// mergeOptions are the options for printing merged shards.
type mergeOptions struct {
	json                 bool
	html, markdown, rows string
}

// merges maps a command that plays shards to the function that merges them and prints the whole run.
var merges = map[string]func(*shard.Whole, *mergeOptions) error{
	fuzz.Command: func(w *shard.Whole, opt *mergeOptions) error {
		r, err := fuzz.Merge(w)
		if err != nil {
			return err
		}
		if err := writeRows(r, opt.rows); err != nil {
			return err
		}
		return cli.PrintJudged(r, r.Clean(), opt.json)
	},
	sweep.Command: func(w *shard.Whole, _ *mergeOptions) error { return sweep.Merge(w, os.Stdout) },
	compare.Command: func(w *shard.Whole, opt *mergeOptions) error {
		c, err := compare.Merge(w)
		if err != nil {
			return err
		}
		return printComparison(c, opt)
	},
}

// Merge returns "campaign merge", which also has its former name, for files.
func Merge() *cobra.Command {
	var opt mergeOptions
	c := &cobra.Command{
		Use:   "merge DIR|FILE...",
		Short: "Merge the shards of a run",
		Long: `Merge the output of all shards of a run, and print the output of the whole run, byte for
byte. The shards are those of a campaign, or files with the output of "sim fuzz", "sweep"
or "compare" with --shard I/N.

It needs all N shards, in any order, of one program with the same inputs, and reports
shards that are missing, duplicate, truncated or of another run.

Exit status: that of the whole run; 2 if a shard is missing or damaged, or they are not
all of one run.`,
		Example: `  softswitch campaign merge big
  for i in 1 2 3; do softswitch sim fuzz --n 3000 --shard $i/3 > $i.json; done   # about 20 s
  softswitch campaign merge *.json`,
		Args: cli.Arguments(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, files []string) error {
			if info, err := os.Stat(files[0]); err == nil && info.IsDir() && len(files) == 1 {
				if files, err = shardsOf(files[0]); err != nil {
					return err
				}
			}
			return merge(files, &opt)
		},
	}
	c.Flags().BoolVar(&opt.json, "json", false, "print JSON; a sweep is printed in the format of its shards")
	comparisonFlags(c, &opt)
	rowsFlag(c, &opt.rows)
	return c
}

// shardsOf returns the shard files of a campaign, which must be complete.
func shardsOf(dir string) ([]string, error) {
	c, err := campaign.Open(dir)
	if err != nil {
		return nil, err
	}
	s, err := c.Status()
	if err != nil {
		return nil, err
	}
	if !s.Complete() {
		return nil, fmt.Errorf("campaign: %d of %d shards are there, missing or damaged: %s; `softswitch campaign run %s` plays them",
			s.Done, s.Shards, shard.Ranges(slices.Sorted(slices.Values(append(s.Missing, s.Damaged...)))), dir)
	}
	return c.Files(), nil
}

// merge merges the shards in files and prints the whole run.
func merge(files []string, opt *mergeOptions) error {
	if err := opt.keepApart(files); err != nil {
		return err
	}
	done := cli.Reading(files[0])
	w, err := shard.Join(files)
	done()
	if err != nil {
		return fmt.Errorf("merge: %w", err)
	}
	print := merges[w.Command]
	if print == nil {
		return fmt.Errorf("merge: %s: command %q; valid: %s", files[0], w.Command, strings.Join(slices.Sorted(maps.Keys(merges)), ", "))
	}
	for _, f := range []struct{ flag, file, with string }{{"html", opt.html, compare.Command}, {"markdown", opt.markdown, compare.Command}, {"rows", opt.rows, fuzz.Command}} {
		if f.file != "" && w.Command != f.with {
			return fmt.Errorf("merge: --%s %s: the shards are of %q; valid with those of %q", f.flag, f.file, w.Command, f.with)
		}
	}
	return print(w, opt)
}
