package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/conform"
	"softswitch/conform/mutant"
	"softswitch/internal/lists"
	"softswitch/internal/strictyaml"
	"softswitch/play"
	"softswitch/unit"
)

func conformCommand() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "conform",
		Short: "Test a PFC switch: what it honours, and what it sends",
		Long: `Test a PFC switch, without a hardware tester. Frames are sent to it and counted; each case
says what has to come of them. What the tester is too slow to tell is undecided, and no
failure.

Exit status: 0 all cases passed that were played; 1 one failed; 2 one could not be played;
3 some are undecided, and none is worse.`,
	}, conformRun(), conformSelf(), conformProbe(), conformJudge(), conformList(), conformShow(), conformMutants())
}

// conformChoice is the cases that a command is about.
type conformChoice struct{ cases, groups []string }

// soakFlag adds the flag for how long N10 is played.
func soakFlag(c *cobra.Command, soak *time.Duration) {
	c.Flags().DurationVar(soak, "soak", 0, "play N10, random overload, for this long, such as 1h; default: N10 is skipped")
}

// checkSoak says what is wrong with the time of a soak.
func checkSoak(soak time.Duration) error {
	if soak != 0 && (soak < time.Second || soak > longestSoak) {
		return fmt.Errorf("--soak: %v; use %v to %v, or 0 for none", soak, time.Second, longestSoak)
	}
	return nil
}

// longestSoak bounds what is drawn before it begins: some 100,000 moments a day and stream.
const longestSoak = 7 * 24 * time.Hour

func (o *conformChoice) flags(c *cobra.Command) {
	c.Flags().StringSliceVar(&o.cases, "case", nil, `cases, "R04,T01"; default all`)
	c.Flags().StringSliceVar(&o.groups, "group", nil, `groups of cases, "R,T"`)
	c.RegisterFlagCompletionFunc("case", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return lists.Map(conform.Cases(), func(c *conform.Case) string { return c.ID }), cobra.ShellCompDirectiveNoFileComp
	})
	c.RegisterFlagCompletionFunc("group", cobra.FixedCompletions(conform.Groups(), cobra.ShellCompDirectiveNoFileComp))
}

func (o *conformChoice) chosen() ([]*conform.Case, error) {
	for _, g := range o.groups {
		if conform.GroupTitle(g) == "" {
			return nil, fmt.Errorf("--group: %q; use %v", g, conform.Groups())
		}
	}
	return conform.Select(append(o.cases, o.groups...))
}

func conformSelf() *cobra.Command {
	var choice conformChoice
	var seed uint64
	var asJSON, isLive bool
	var dir string
	var soak time.Duration
	var files conformOutputs
	var opt play.ConformLabOptions
	c := &cobra.Command{
		Use:   "self",
		Short: "Test softswitch's own switch, in virtual time or in namespaces",
		Long: `Test the switch that softswitch is, in virtual time: see what a report looks like before a
switch is there to be tested.

--live tests it in network namespaces of its own, which are removed afterwards; --dut puts
a Linux bridge there, or Open vSwitch, which are no PFC switches, and are found to be none.

Exit status: 0 all cases passed that were played; 1 one failed; 2 one could not be played;
3 some are undecided, and none is worse.`,
		Example: "  softswitch conform self\n  softswitch conform self --case R01 --json\n  sudo softswitch conform self --live\n  sudo softswitch conform self --live --dut bridge",
		Args:    cli.Arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cases, err := choice.chosen()
			if err != nil {
				return err
			}
			if err := checkSoak(soak); err != nil {
				return err
			}
			if err := errors.Join(cli.GoesWith(cmd, "dut", "--live", isLive), cli.GoesWith(cmd, "name", "--live", isLive)); err != nil {
				return err
			}
			if err := files.check(); err != nil {
				return err
			}
			if isLive {
				outputs, err := files.args()
				if err != nil {
					return err
				}
				opt.Args = []string{"--seed", strconv.FormatUint(seed, 10), "--set", "pfc.slack=" + selfSlack, "--set", "buffer.headroom=probe", "--set", "same_machine=true", "--soak", soak.String(), "--json=" + strconv.FormatBool(asJSON)}
				if dir != "" {
					opt.Args = append(opt.Args, "--dir", dir)
				}
				opt.Args = append(opt.Args, outputs...)
				for _, c := range cases {
					opt.Args = append(opt.Args, "--case", c.ID)
				}
				return cli.PassOn(play.ConformLab(cmd.Context(), opt, cli.Stdio))
			}
			r, err := play.ConformSim(cmd.Context(), play.ConformOptions{Profile: play.ConformSelf(), Cases: cases, Seed: seed, Dir: dir, Soak: unit.Time(soak), Draw: files.html != ""}, os.Stderr)
			if err != nil {
				return err
			}
			return files.reported(r, asJSON)
		},
	}
	choice.flags(c)
	c.Flags().Uint64Var(&seed, "seed", 1, "seed of what is drawn at random")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	dirFlag(c, &dir)
	soakFlag(c, &soak)
	files.flags(c)
	c.Flags().BoolVar(&isLive, "live", false, "test it in network namespaces")
	c.Flags().StringVar(&opt.Name, "name", "conform", "with --live: name of the lab, which begins those of its namespaces")
	c.Flags().StringVar(&opt.DUT, "dut", play.ConformDUTs[0], "with --live: what is tested: "+strings.Join(play.ConformDUTs, ", "))
	c.RegisterFlagCompletionFunc("dut", cobra.FixedCompletions(play.ConformDUTs, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// selfSlack is what a switch in software takes to honour a pause: it has to be woken. Its headroom has slack,
// too (docs/decisions/realtime.md): as much as the machine needs.
const selfSlack = "1ms"

func conformRun() *cobra.Command {
	var choice conformChoice
	var seed uint64
	var asJSON, commands, whileStdin bool
	var dir string
	var soak time.Duration
	var files conformOutputs
	var set []strictyaml.Setting
	c := &cobra.Command{
		Use:   "run PROFILE",
		Short: "Test the switch of a profile, through network interfaces",
		Long: `Test a switch through the interfaces that a profile names. The profile says what the switch
promises; what it does not say is found and reported.

First and last the tester finds out how precise it is. What it cannot tell for want of that is
undecided: frames that it lost itself, and silences of its own, make it try again, 5 times at
most. It takes real-time priority, and says so if that is not permitted.

Exit status: 0 all cases passed that were played; 1 one failed; 2 one could not be played;
3 some are undecided, and none is worse.`,
		Example:           "  sudo softswitch conform run rack-switch.yaml\n  sudo softswitch conform run rack-switch.yaml --case R01,T01 --json",
		Args:              cli.Arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: cobra.FixedCompletions([]string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt),
		RunE: func(cmd *cobra.Command, args []string) error {
			cases, err := choice.chosen()
			if err != nil {
				return err
			}
			if err := checkSoak(soak); err != nil {
				return err
			}
			if err := files.check(args...); err != nil {
				return err
			}
			if dir != "" {
				if err := cli.CheckDir("dir", dir); err != nil {
					return err
				}
			}
			data, err := cli.ReadFile(args[0])
			if err != nil {
				return err
			}
			p, err := conform.Load(cli.Called(args[0]), data, set...)
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			if whileStdin {
				var stop context.CancelFunc
				ctx, stop = context.WithCancel(ctx)
				go func() {
					io.Copy(io.Discard, os.Stdin)
					stop()
				}()
			}
			r, err := play.ConformLive(ctx, play.ConformOptions{Profile: p, Cases: cases, Seed: seed, Commands: commands, Dir: dir, Soak: unit.Time(soak), Draw: files.html != ""}, os.Stderr)
			if err != nil {
				return err
			}
			return files.reported(r, asJSON)
		},
	}
	choice.flags(c)
	c.Flags().Uint64Var(&seed, "seed", 1, "seed of what is drawn at random")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&whileStdin, play.ConformWhileStdin, false, "end when the standard input does")
	c.Flags().MarkHidden(play.ConformWhileStdin)
	c.Flags().BoolVar(&commands, "run-commands", false, "run the command of the profile that prints the switch's counters, as this user")
	dirFlag(c, &dir)
	soakFlag(c, &soak)
	files.flags(c)
	cli.SetFlag(c, &set)
	return c
}

// dirFlag adds the flag for the folder of records.
func dirFlag(c *cobra.Command, dir *string) {
	c.Flags().StringVar(dir, "dir", "", "folder for the records of cases that fail or are undecided, for conform judge, and for captures of them")
	c.MarkFlagDirname("dir")
}

func conformJudge() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "judge DIR",
		Short: "Judge records again, without traffic",
		Long: `Judge the records of cases that failed or are undecided again, as "conform run --dir" kept
them: with another version of softswitch, or to see all checks of a case with --json.

Exit status: 0 all cases pass; 1 one fails; 2 they cannot be read; 3 some are undecided, and
none is worse.`,
		Example: "  softswitch conform judge records --json",
		Args:    cli.Arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := play.ConformJudge(args[0])
			if err != nil {
				return err
			}
			return cli.PassOn(r.ExitCode(), cli.PrintFinding(r, asJSON))
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// conformCases are cases, to be listed.
type conformCases []*conform.Case

func (l conformCases) WriteText(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	group := ""
	for _, c := range l {
		if c.Group() != group {
			group = c.Group()
			fmt.Fprintf(tw, "%s\t\t%s\n", group, conform.GroupTitle(group))
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\n", c.ID, unit.Count(c.Ports, "port"), c.Title)
	}
	return tw.Flush()
}

func conformList() *cobra.Command {
	var choice conformChoice
	markdown := false
	c := cli.Printed(&cobra.Command{
		Use:     "list",
		Short:   "List the cases",
		Long:    "List the cases, with the number of ports that each needs. --markdown prints tables of them,\nand of the tests of others that they stand for.\nExit status: 0 they are listed; 2 there is no such case.",
		Example: "  softswitch conform list\n  softswitch conform list --group R --json",
		Args:    cli.Arguments(cobra.NoArgs),
	}, "print JSON", func(*cobra.Command, []string) (cli.Finding, error) {
		cases, err := choice.chosen()
		if markdown {
			return conformTables(cases), err
		}
		return conformCases(cases), err
	})
	choice.flags(c)
	c.Flags().BoolVar(&markdown, "markdown", false, "print Markdown")
	c.MarkFlagsMutuallyExclusive("markdown", "json")
	return c
}

func conformShow() *cobra.Command {
	return cli.Printed(&cobra.Command{
		Use:     "show CASE",
		Short:   "Show a case: what is sent, what passes, how to see it by hand",
		Long:    "Show a case: its script for softswitch's own switch, its bound, and how to see the same\nwithout this program.\nExit status: 0 it is shown; 2 there is no such case.",
		Example: "  softswitch conform show R04",
		Args:    cli.Arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return lists.Map(conform.Cases(), func(c *conform.Case) string { return c.ID }), cobra.ShellCompDirectiveNoFileComp
		},
	}, "print JSON, with the whole script", func(_ *cobra.Command, args []string) (cli.Finding, error) {
		cases, err := conform.Select(args)
		if err != nil {
			return nil, err
		}
		if len(cases) > 1 {
			return nil, fmt.Errorf("%q is %d cases; use one", args[0], len(cases))
		}
		return cases[0].Describe(&conform.Task{Profile: play.ConformSelf(), Tiny: true}), nil
	})
}

func conformMutants() *cobra.Command {
	var seed uint64
	matrix := false
	c := cli.Printed(&cobra.Command{
		Use:   "mutants",
		Short: "Plant defects into a switch, and see that they are found",
		Long: `Put defects on the frames of softswitch's own switch, in virtual time, and play the cases
that are there to find them. It tests the tester. Defects inside the switch are planted by
the tests of softswitch's source.

--matrix plays nothing: it shows what became of every case with every defect, those inside
the switch too, when this version of softswitch was tested. It says what a pass is worth.

Exit status: 0 all are caught, or the matrix is shown; 1 one is not; 2 they could not be
played.`,
		Example: "  softswitch conform mutants\n  softswitch conform mutants --matrix",
		Args:    cli.Arguments(cobra.NoArgs),
	}, "print JSON", func(cmd *cobra.Command, _ []string) (cli.Finding, error) {
		if matrix {
			return mutant.Read()
		}
		all, err := play.ConformMutants(cmd.Context(), seed, os.Stderr)
		if err != nil {
			return nil, err
		}
		return cli.Judged(all, all.Caught())
	})
	c.Flags().Uint64Var(&seed, "seed", 1, "seed of what is drawn at random")
	c.Flags().BoolVar(&matrix, "matrix", false, "show what became of every case with every defect, without playing them")
	c.MarkFlagsMutuallyExclusive("seed", "matrix")
	return c
}
