package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"softswitch/lab"
	"softswitch/lab/run"
	netnslab "softswitch/netns-lab"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
)

func labCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "lab",
		Short: "Build, use and remove a fabric of network namespaces",
		Long: `A lab is a fabric of network namespaces: a process for each switch and each host,
veths between them. Its namespaces are visible to "ip netns" as LAB-NODE, such as
ss-core0. What a lab made is on record in /run/softswitch (or SOFTSWITCH_RUN_DIR),
so that "destroy" removes exactly that, also after a crash.`,
	}
	name := new(string)
	nameFlag(c, c.PersistentFlags(), name, netnslab.DefaultName)
	group(c, labDeploy(name), labList(), labInspect(name), labExec(name),
		labLink(name, "fail", (*netnslab.State).Fail), labLink(name, "heal", (*netnslab.State).Heal),
		labStart(name), labStop(name), labStorm(name), labSlow(name), labNormal(name),
		labShell(name), labGraph(name), labRootless(), labRun(name), labUI(name), labCapture(name),
		labEvents(name), labMetrics(name), labWorlds(name), labDestroy(name))
	return c
}

func labDeploy(name *string) *cobra.Command {
	var file, pcap string
	var in instead
	var dryRun, replace bool
	c := &cobra.Command{
		Use:   "deploy -t FILE",
		Short: "Build the topology of a scenario file and start its nodes",
		Long: `Build the topology of a scenario file and start its switches and hosts; flows are
not started (see "lab start" and "lab run"). A lab that is up already, from the same
file, is left as it is; another of the same name is removed with --replace only.`,
		Example: "  sudo softswitch lab deploy -t scenarios/fattree-on-loop.yaml\n  softswitch lab deploy -t scenarios/pause.yaml --dry-run",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			plan, err := readPlan(file, in)
			if err != nil {
				return err
			}
			if err := lab.RefuseFabric(plan.Fabric); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			desc, err := lab.DescribeHere(plan, lab.Options{Name: *name, PcapDir: pcap})
			if err != nil {
				return err
			}
			if dryRun {
				steps, err := netnslab.Plan(desc, netnslab.Dir(desc.Name))
				if err != nil {
					return err
				}
				for _, s := range steps {
					fmt.Println(s)
				}
				return nil
			}
			desc.Replace = replace
			_, err = netnslab.Up(cmd.Context(), desc, os.Stderr)
			return orReplace(err)
		},
	}
	replaceFlag(c, &replace)
	c.Flags().StringVarP(&file, "topology", "t", "", "scenario file whose topology to build")
	c.MarkFlagRequired("topology")
	c.MarkFlagFilename("topology", "yaml", "yml")
	in.flags(c)
	c.Flags().StringVar(&pcap, "pcap", "", "directory for a pcapng of each switch")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "print the steps and do nothing")
	return c
}

// replaceFlag is the flag of commands that build a lab.
func replaceFlag(c *cobra.Command, replace *bool) {
	c.Flags().BoolVar(replace, "replace", false, "remove another lab of the same name first, instead of refusing")
}

// orReplace adds to the error of a command with the flag --replace that there is one.
func orReplace(err error) error {
	var exists *netnslab.ExistsError
	if errors.As(err, &exists) {
		return fmt.Errorf("%w; or give --replace", err)
	}
	return err
}

func labInspect(name *string) *cobra.Command {
	var format string
	var asJSON bool
	c := &cobra.Command{
		Use:               "inspect [LAB]",
		Short:             "Show the nodes and links of a lab",
		Example:           "  sudo softswitch lab inspect\n  sudo softswitch lab inspect ss --json",
		Args:              arguments(cobra.MaximumNArgs(1)),
		ValidArgsFunction: upTo(1, labs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := takeName(cmd, name, args); err != nil {
				return err
			}
			if asJSON {
				format = "json"
			}
			if format != "table" && format != "json" {
				return fmt.Errorf("--format: %q; valid: table, json", format)
			}
			st, err := lab.Load(*name)
			if err != nil {
				return err
			}
			return printFinding(st.Inspect(), format == "json")
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().StringVarP(&format, "format", "f", "table", "table or json")
	return c
}

func labExec(name *string) *cobra.Command {
	c := &cobra.Command{
		Use:   "exec NODE [--] COMMAND [ARG...]",
		Short: "Run a command in a node's namespace",
		Long: `Run a command in a node's namespace, where it sees the node's interfaces. Flags of
exec itself, such as --name, stand before NODE; "--" may stand before COMMAND. The exit
status is the command's.`,
		Example:               "  sudo softswitch lab exec h0-0-0 ping -c 3 10.1.0.2\n  sudo softswitch lab exec core0 tcpdump -n -i to-agg0-0",
		Args:                  arguments(nodeAndCommand),
		DisableFlagsInUseLine: true,
		ValidArgsFunction: func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return offer(name, nodeNames)(c, args, begun)
		},
		RunE: inLab(name, func(cmd *cobra.Command, st *netnslab.State, args []string) error {
			if _, err := lab.Pick(st, args[:1], ""); err != nil {
				return err
			}
			return passOn(st.Exec(cmd.Context(), args[0], commandOf(args), stdio))
		}),
	}
	c.Flags().SetInterspersed(false) // what follows NODE is the command's
	return c
}

// commandOf is the command after the node that it is for.
func commandOf(args []string) []string {
	if len(args) > 1 && args[1] == "--" {
		return args[2:]
	}
	return args[min(1, len(args)):]
}

func nodeAndCommand(_ *cobra.Command, args []string) error {
	if len(commandOf(args)) == 0 {
		return errors.New("want a node and a command")
	}
	return nil
}

// labLink makes the commands that set a link down or up.
func labLink(name *string, verb string, set func(*netnslab.State, netnslab.LinkState) error) *cobra.Command {
	return &cobra.Command{
		Use:               verb + " NODE NODE",
		Short:             map[string]string{"fail": "Set the link between two nodes down", "heal": "Set the link between two nodes up"}[verb],
		Example:           "  sudo softswitch lab " + verb + " core0 agg1-0",
		Args:              arguments(cobra.ExactArgs(2)),
		ValidArgsFunction: upTo(2, offer(name, linkEnds)),
		RunE: inLab(name, func(_ *cobra.Command, st *netnslab.State, args []string) error {
			links, err := lab.Between(st, args[0], args[1])
			if err != nil {
				return err
			}
			for _, l := range links {
				if err := set(st, l); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}

func labDestroy(name *string) *cobra.Command {
	var all, lost bool
	c := &cobra.Command{
		Use:   "destroy [LAB...]",
		Short: "Remove labs: processes, links, namespaces, settings",
		Long: `Remove labs: exactly what they made, which is on record. A lab that is not up is
nothing to do.

A lab whose record is gone or cannot be read is refused, with what is left of it. With
--lost that is removed: namespaces whose lo bears the mark of the lab's directory, and
processes that were started there with the token of a lab. What bears no mark is named
and left alone.`,
		Example:           "  sudo softswitch lab destroy\n  sudo softswitch lab destroy one two\n  sudo softswitch lab destroy --all",
		ValidArgsFunction: labs,
		RunE: func(cmd *cobra.Command, names []string) error {
			names, err := toDestroy(cmd, *name, names, all)
			if err != nil {
				return err
			}
			down := netnslab.Down
			if lost {
				down = netnslab.DownLost
			}
			var errs []error
			for _, n := range names {
				errs = append(errs, down(n, os.Stderr))
			}
			return errors.Join(errs...)
		},
	}
	c.Flags().BoolVarP(&all, "all", "a", false, "every lab of this machine")
	c.Flags().BoolVar(&lost, "lost", false, "also where the record is lost: find the lab by its marks")
	return c
}

// toDestroy are the labs that the arguments, --all or --name tell.
func toDestroy(cmd *cobra.Command, name string, args []string, all bool) ([]string, error) {
	named := cmd.Flags().Changed("name")
	switch {
	case all && (named || len(args) > 0):
		return nil, errors.New("lab destroy: --all goes with no name")
	case all:
		return netnslab.Labs()
	case len(args) == 0:
		return []string{name}, nil
	case named:
		return nil, fmt.Errorf("lab destroy: both --name %s and %q: name labs in one way", name, args)
	}
	for _, n := range args {
		if err := netnslab.CheckName(n); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// playOptions are how a scenario is to be played on a lab.
type playOptions struct {
	instead
	run.Options
	json, rootless bool
	repeat         int
}

func labRun(name *string) *cobra.Command {
	var opt playOptions
	c := &cobra.Command{
		Use:   "run FILE",
		Short: "Build a lab, play a scenario on it, judge it, remove the lab",
		Long: `Build a lab from a scenario file, play the scenario, and print its verdict: what
the logs of all switches prove (was there a deadlock, since when), and what the
detector declared. The lab is then removed. A lab of the same name that is up already
is removed with --replace only; what a run that died left is removed in any case.

Scenarios whose links are faster than processes can keep up with are played slower:
"--slow 400" makes 100 Mbit/s of 40 Gbit/s and 2 s of 5 ms. A scenario that a live
lab cannot play is refused with the reason.

Exit status: 0 the scenario's expectation is met and the run can be trusted; 1 not;
2 the scenario could not be played.`,
		Example:           "  sudo softswitch lab run scenarios/fattree-on-loop.yaml\n  sudo softswitch lab run scenarios/pause.yaml --pcap /tmp/pcap --json\n  sudo softswitch lab run scenarios/hu-fig4.yaml --slow 400",
		Args:              arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: upTo(1, yamlFiles),
		RunE: func(cmd *cobra.Command, args []string) error {
			opt.Name = *name
			return opt.play(cmd.Context(), func() (*scenario.Plan, error) { return readPlan(args[0], opt.instead) })
		},
	}
	opt.flags(c)
	slowFlag(c, &opt.Slow)
	c.Flags().BoolVar(&opt.Keep, "keep", false, "leave the lab up afterwards")
	c.Flags().IntVar(&opt.repeat, "repeat", 1, "play it so many times, each in a new lab, and sum up")
	return c
}

func (opt *playOptions) flags(c *cobra.Command) {
	opt.repeat = 1
	opt.instead.flags(c)
	pageFlags(c, &opt.Page, &opt.Listen)
	c.Flags().StringVar(&opt.Pcap, "pcap", "", "directory for a pcapng of each switch, with a comment on each ITSY frame")
	c.Flags().BoolVar(&opt.json, "json", false, "print the verdict as JSON")
	replaceFlag(c, &opt.Replace)
	rootlessFlag(c, &opt.rootless)
}

// play plays what plan makes, and prints what came of it.
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
	v, err := run.Play(ctx, p, opt.Options, os.Stderr)
	if err != nil {
		return orRootless(orReplace(err))
	}
	return printVerdict(v, opt.json)
}

func (opt *playOptions) playOften(ctx context.Context, p *scenario.Plan) error {
	if opt.Keep || opt.Pcap != "" || opt.Page {
		return errors.New("lab run: --repeat goes with none of --keep, --pcap, --ui")
	}
	sum, err := run.Repeat(ctx, p, opt.Options, opt.repeat, os.Stderr)
	if err != nil {
		return orReplace(err)
	}
	if err := printFinding(sum, opt.json); err != nil {
		return err
	}
	if !sum.AllMet() {
		return errUnmet
	}
	return nil
}

func printVerdict(v *verdict.Verdict, asJSON bool) error {
	if err := printFinding(v, asJSON); err != nil {
		return err
	}
	if v.ExitCode() != 0 {
		return errUnmet
	}
	return nil
}
