package simcmd

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/study/compare"
	"softswitch/study/fuzz"
	"softswitch/study/shard"
	"softswitch/study/sweep"
)

// shardFlag is the flag of commands that can play a part of their items, called what.
func shardFlag(c *cobra.Command, p *shard.Part, what string) {
	c.Flags().Var(p, "shard", "play one of N parts of the "+what+" and print what \"softswitch merge\" takes")
	c.RegisterFlagCompletionFunc("shard", cobra.NoFileCompletions)
}

// mergeOptions are how to print what shards come to.
type mergeOptions struct {
	json           bool
	html, markdown string
}

// merges are what prints the whole run, by the command that played its shards.
var merges = map[string]func(*shard.Whole, *mergeOptions) error{
	fuzz.Command: func(w *shard.Whole, opt *mergeOptions) error {
		r, err := fuzz.Merge(w)
		if err != nil {
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

func mergeCommand() *cobra.Command {
	var opt mergeOptions
	c := &cobra.Command{
		Use:   "merge FILE...",
		Short: "Put the shards of a run together",
		Long: `Put together what all parts of a run printed, and print what the whole run would have
printed, byte for byte. Parts are played with --shard I/N of "sim fuzz", "sweep" and
"compare".

It takes all N shards, in any order, of one program with the same inputs; it says which
are missing, there twice, not whole or of another run.

Exit status: that of the whole run; 2 if the shards are not all of one run.`,
		Example: `  for i in 1 2 3; do softswitch sim fuzz --n 3000 --shard $i/3 > $i.json; done
  softswitch merge *.json`,
		Args: cli.Arguments(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, files []string) error { return merge(files, &opt) },
	}
	mergeFlags(c, &opt)
	return c
}

func mergeFlags(c *cobra.Command, opt *mergeOptions) {
	c.Flags().BoolVar(&opt.json, "json", false, "print JSON; of a sweep, what its shards were told to")
	comparisonFlags(c, opt)
}

// merge prints what the shards in files come to.
func merge(files []string, opt *mergeOptions) error {
	w, err := shard.Join(files)
	if err != nil {
		return fmt.Errorf("merge: %w", err)
	}
	print := merges[w.Command]
	if print == nil {
		return fmt.Errorf("merge: %s: command %q; valid: %s", files[0], w.Command, strings.Join(slices.Sorted(maps.Keys(merges)), ", "))
	}
	for _, f := range []struct{ flag, file string }{{"html", opt.html}, {"markdown", opt.markdown}} {
		if f.file != "" && w.Command != compare.Command {
			return fmt.Errorf("merge: --%s %s: the shards are of %q; valid with those of %q", f.flag, f.file, w.Command, compare.Command)
		}
	}
	return print(w, opt)
}
