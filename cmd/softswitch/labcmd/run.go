package labcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/lab"
	netnslab "softswitch/netns-lab"
	"softswitch/play"
	"softswitch/scenario"
	"softswitch/scenario/load"
	"softswitch/scenarios"
)

// playOptions are the options for playing a scenario on a lab.
type playOptions struct {
	load.Instead
	play.LabOptions
	json, rootless bool
	repeat         int
	attach         string // a list of nodes
}

func labRun(name *string) *cobra.Command {
	var opt playOptions
	c := &cobra.Command{
		Use:   "run {FILE|NAME | --attach FILE}",
		Short: "Play and judge a scenario",
		Long: `Build a lab from a scenario file, play the scenario, and print its verdict: what the
logs of all switches prove (whether and since when there was a deadlock), and what the
detector declared. Then remove the lab. A lab of the same name that is already up is
removed only with --replace; the remains of a run that died are always removed.

The command first measures for 0.2 s how late processes of this machine wake up, and adds
slack to the headroom of every priority group, so that late wake-ups lose no frames. The
verdict reports the slack; "buffer: {slack: 0}" in the file turns it off.

If links are faster than processes can forward, slow the scenario down: "--slow 400" turns
40 Gbit/s into 100 Mbit/s and 5 ms into 2 s. A scenario that a live lab cannot play is
refused with the reason.

Starts, rates and delays with a spread (start: 500ms±1ms), and the impairments of links,
are drawn by --seed, as "sim run --seed" draws them; --repeat takes the seeds that follow.
The verdict says what was drawn.

With --attach the scenario is played on nodes that another tool built and has just
started; FILE lists them, as for "lab attach". The nodes are left running.

Exit status: 0 the scenario's expectation is met and the run can be trusted; 1 not;
2 the scenario could not be played.`,
		Example:           "  sudo softswitch lab run scenarios/fattree-on-loop.yaml\n  sudo softswitch lab run scenarios/pause.yaml --pcap captures --json\n  sudo softswitch lab run scenarios/hu-fig4.yaml --slow 400\n  softswitch lab run --attach clab/nodes.yaml",
		Args:              cli.Arguments(cobra.MaximumNArgs(1)),
		ValidArgsFunction: cli.UpTo(1, cli.FilesAndNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			opt.Name = *name
			if err := cli.GoesWith(cmd, "listen", "--ui", opt.Page); err != nil {
				return err
			}
			if err := cli.CheckOutputs(slices.Concat(args, []string{opt.attach}), cli.Output{Flag: "html", File: opt.HTML}); err != nil {
				return err
			}
			if opt.Seed < 1 {
				return fmt.Errorf("--seed: %d; valid: 1 to %d", opt.Seed, math.MaxUint32)
			}
			if opt.attach != "" {
				return opt.playAttached(cmd, args)
			}
			if len(args) == 0 {
				return errors.New("lab run: want a scenario file, or --attach and a list of nodes")
			}
			return opt.play(cmd.Context(), func() (*scenario.Plan, error) { return cli.ReadPlan(args[0], opt.Instead) })
		},
	}
	opt.flags(c)
	cli.SlowFlag(c, &opt.Slow)
	cli.SetFlag(c, &opt.Set)
	c.Flags().StringVar(&opt.attach, "attach", "", "list of the nodes to play on, instead of building a lab")
	c.MarkFlagFilename("attach", "yaml", "yml")
	c.Flags().BoolVar(&opt.Keep, "keep", false, "leave the lab up afterwards")
	c.Flags().IntVar(&opt.repeat, "repeat", 1, "number of times to play it, each in a new lab, with a summary at the end")
	c.Flags().Uint32Var(&opt.Seed, "seed", 1, "seed of what the run draws, of the first one with --repeat, 1 or above")
	return c
}

func (opt *playOptions) flags(c *cobra.Command) {
	opt.repeat = 1
	cli.InsteadFlags(c, &opt.Instead)
	cli.PageFlags(c, &opt.Page, &opt.Listen)
	c.Flags().StringVar(&opt.Capture, "capture", "", "file for one pcapng of all nodes, in the order of time, as lab capture writes it")
	c.MarkFlagFilename("capture", "pcapng")
	c.Flags().StringVar(&opt.Pcap, "pcap", "", "directory for a pcapng of each switch, with a comment on each ITSY frame")
	c.Flags().BoolVar(&opt.json, "json", false, "print the verdict as JSON")
	c.Flags().StringVar(&opt.HTML, "html", "", "write a self-contained page that plays the run in a browser to this file")
	c.MarkFlagFilename("html")
	replaceFlag(c, &opt.Replace)
	shareFlags(c, &opt.Sharing)
	logLimitFlag(c, &opt.Set)
	c.Flags().BoolVar(&opt.rootless, "rootless", false, "run in a user namespace, without root")
}

// play plays the scenario that plan returns, and prints the verdict.
func (opt *playOptions) play(ctx context.Context, plan func() (*scenario.Plan, error)) error {
	if opt.rootless && (opt.Keep || opt.Page) {
		return errStays
	}
	if opt.rootless {
		return again(ctx)
	}
	p, err := plan()
	if err != nil {
		return err
	}
	if opt.repeat < 1 {
		return fmt.Errorf("--repeat: %d; give 1 or more", opt.repeat)
	}
	if opt.repeat > 1 {
		return opt.playOften(ctx, p)
	}
	v, err := play.Lab(ctx, p, opt.LabOptions, os.Stderr)
	if err != nil {
		return orRootless(orReplace(err))
	}
	return cli.PrintJudged(v, v.ExitCode() == 0, opt.json)
}

// playAttached plays the scenario of a list of nodes on these nodes.
func (opt *playOptions) playAttached(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("lab run: both %s and --attach %s, whose scenario is played", args[0], opt.attach)
	}
	for _, flag := range []string{"detector", "response", "slow", "set", "log-limit", "repeat", "seed", "pcap", "capture", "rootless", "nodes-per-process", "poll"} {
		if cmd.Flags().Changed(flag) {
			return fmt.Errorf("lab run: --%s is for a lab that is built for the run, not for --attach", flag)
		}
	}
	nodes, plan, err := readNodes(cmd, opt.attach)
	if err != nil {
		return err
	}
	opt.Nodes, opt.Name = nodes, nodes.Name
	return opt.play(cmd.Context(), func() (*scenario.Plan, error) { return plan, nil })
}

func (opt *playOptions) playOften(ctx context.Context, p *scenario.Plan) error {
	if opt.Keep || opt.Pcap != "" || opt.Capture != "" || opt.Page || opt.HTML != "" {
		return errors.New("lab run: --repeat goes with none of --keep, --pcap, --capture, --html, --ui")
	}
	sum, err := play.RepeatLab(ctx, p, opt.LabOptions, opt.repeat, os.Stderr)
	if err != nil {
		return orReplace(err)
	}
	return cli.PrintJudged(sum, sum.AllMet(), opt.json)
}

// Demo returns the command that shows a deadlock.
func Demo() *cobra.Command {
	var opt playOptions
	var show bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Make a PFC deadlock on a k=4 fat-tree and detect it",
		Long: `Build a k=4 fat-tree of network namespaces, fail two links so that detours close a ring
of pauses, and show how the deadlock forms and is detected; then remove everything. The
scenario is fattree-on-loop, which is built in. A lab of the same name that is already up
is removed only with --replace.

--show plays it three times, without a response, with "drop" and with "cure", and
presents the runs as acts on a page: the space bar continues, P enlarges the page for an
audience, B shows the first and the last run side by side, Home returns to the start.

Exit status: 0 the deadlock formed and was detected; 1 not, or the machine was too
busy to tell; 2 it could not be played.`,
		Example: "  sudo softswitch demo\n  sudo softswitch demo --json 2>/dev/null\n  sudo softswitch demo --ui\n  sudo softswitch demo --show\n  softswitch demo --rootless",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cli.GoesWith(cmd, "listen", "--ui and --show", opt.Page || show); err != nil {
				return err
			}
			if show {
				return opt.show(cmd)
			}
			return opt.play(cmd.Context(), func() (*scenario.Plan, error) {
				data, err := scenarios.FS.ReadFile("fattree-on-loop.yaml")
				if err != nil {
					return nil, err
				}
				return cli.MakePlan("scenarios/fattree-on-loop.yaml", data, opt.Instead)
			})
		},
	}
	opt.flags(c)
	c.Flags().BoolVar(&show, "show", false, "present it as a show in acts, in a browser")
	cli.NameFlag(c, c.Flags(), &opt.Name, netnslab.DefaultName)
	return c
}

// show records the runs of a show and serves the page, or writes it to a file.
func (opt *playOptions) show(cmd *cobra.Command) error {
	if slices.ContainsFunc([]string{"ui", "json", "pcap", "response"}, cmd.Flags().Changed) {
		return errors.New("demo: --show goes with none of --json, --pcap, --response, --ui")
	}
	if opt.rootless {
		return errStays
	}
	var plans [3]*scenario.Plan
	for i, response := range play.Responses {
		instead := opt.Instead
		instead.Response = response
		var err error
		if plans[i], err = cli.MakePlan("show.yaml", play.ShowFile, instead); err != nil {
			return err
		}
	}
	return orReplace(play.Show(cmd.Context(), plans, opt.LabOptions, os.Stderr))
}

func labWorlds(name *string) *cobra.Command {
	var runs int
	c := cli.Printed(&cobra.Command{
		Use:   "worlds FILE|NAME...",
		Short: "Compare live, simulated",
		Long: `Play scenario files in simulation and on live labs, with itsy and with itsypaper, and
print a Markdown table with the results of the simulator, of the simulator with the timing
of a live lab, and of live labs, which slow the scenario down as far as necessary.

Exit status: 0 the results agree wherever a live lab can play; 1 not, or no run of some
scenario was valid; 2 a scenario could not be played.`,
		Example:           "  sudo softswitch lab worlds scenarios/*.yaml   # about 15 min",
		Args:              cli.Arguments(cobra.MinimumNArgs(1)),
		ValidArgsFunction: cli.FilesAndNames,
	}, "print JSON", func(cmd *cobra.Command, args []string) (cli.Finding, error) {
		w := play.Worlds{Runs: runs, Progress: os.Stderr, Read: cli.ReadScenario, Live: play.QuietLab(*name)}
		t, err := w.Compare(cmd.Context(), args)
		if err != nil {
			return nil, err
		}
		return cli.Judged(t, t.Same())
	})
	c.Flags().IntVar(&runs, "runs", 3, "live runs of each scenario and detector")
	return c
}

// rootlessInit is the name of the command that runs as the first process in the namespaces of a
// rootless lab.
const rootlessInit = "rootless-init"

func labRootless() *cobra.Command {
	c := &cobra.Command{
		Use:   "rootless [COMMAND [ARG...]]",
		Short: "Open a shell for labs",
		Long: `Run a command, by default a shell, as root of a user namespace. Every softswitch command
can use labs there without privileges on the machine. These labs are separate from the
machine's and end with the command. "lab run --rootless" does this for one scenario, this
command for a whole session.

Nodes have no real-time priority in it, and bursts meet the kernel's default backlog, so
on a busy machine a run is more often "not valid". "softswitch doctor" says whether the
machine lets users create user namespaces, and what to do if not.`,
		Example:               "  softswitch lab rootless\n  softswitch lab rootless sh -c 'softswitch lab deploy -t scenarios/pause.yaml && softswitch lab exec h1 ping -c 3 10.100.1.2'",
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{cmp.Or(os.Getenv("SHELL"), "/bin/sh")}
			}
			return runRootless(cmd.Context(), args)
		},
	}
	c.Flags().SetInterspersed(false) // flags after the command belong to it
	cli.NoNameFlag(c)
	return c
}

// orRootless suggests --rootless in a permission error.
func orRootless(err error) error {
	if errors.Is(err, fs.ErrPermission) && os.Geteuid() != 0 {
		return fmt.Errorf("%w; run with sudo, or without root: --rootless", err)
	}
	return err
}

// again runs this command again, without --rootless, in a user namespace.
func again(ctx context.Context) (err error) {
	args := slices.DeleteFunc(slices.Clone(os.Args), func(a string) bool { return a == "--rootless" || a == "--rootless=true" })
	if args[0], err = os.Executable(); err != nil {
		return err
	}
	return runRootless(ctx, args)
}

func runRootless(ctx context.Context, argv []string) error {
	return cli.PassOn(netnslab.Rootless(ctx, []string{rootlessInit}, argv, cli.Stdio))
}

// errStays is the error of options that need a lab which outlives the command.
var errStays = errors.New("--rootless goes with none of --keep, --show, --ui: its lab ends with the command and cannot be reached from outside; for a session: softswitch lab rootless")

// latenessCommand returns a hidden command that only [lab.ScaleHeadroom] calls.
func latenessCommand() *cobra.Command {
	return &cobra.Command{
		Use:    lab.LatenessCommand,
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(*cobra.Command, []string) error { return lab.TellLateness(os.Stdout) },
	}
}

// rootlessInitCommand returns a hidden command that only [netnslab.Rootless] calls.
func rootlessInitCommand() *cobra.Command {
	return &cobra.Command{
		Use:                rootlessInit,
		Hidden:             true,
		DisableFlagParsing: true,
		RunE:               func(_ *cobra.Command, args []string) error { return cli.PassOn(netnslab.RootlessInit(args)) },
	}
}
