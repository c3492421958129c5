package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"softswitch/lab"
	netnslab "softswitch/netns-lab"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/view/ui"
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
			desc, err := describeLab(plan, lab.Options{Name: *name}, pcap)
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

// describeLab fills in what only this process knows: where softswitch is and where
// captures go.
func describeLab(plan *scenario.Plan, opt lab.Options, pcap string) (desc netnslab.Lab, err error) {
	if opt.Program, err = os.Executable(); err != nil {
		return desc, err
	}
	if pcap != "" {
		if opt.PcapDir, err = filepath.Abs(pcap); err != nil {
			return desc, err
		}
		if err := os.MkdirAll(opt.PcapDir, 0o755); err != nil {
			return desc, err
		}
	}
	return lab.Describe(plan, opt), nil
}

func labInspect(name *string) *cobra.Command {
	var format string
	var asJSON bool
	c := &cobra.Command{
		Use:               "inspect [LAB]",
		Short:             "Show the nodes and links of a lab",
		Example:           "  sudo softswitch lab inspect\n  sudo softswitch lab inspect ss --json",
		Args:              arguments(cobra.MaximumNArgs(1)),
		ValidArgsFunction: completeOneLab,
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
			r := st.Inspect()
			if format == "json" {
				enc := json.NewEncoder(os.Stdout)
				enc.SetIndent("", "  ")
				return enc.Encode(r)
			}
			w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "NODE\tKIND\tNAMESPACE\tPID\tPROCESS")
			for _, n := range r.Nodes {
				fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", n.Name, n.Kind, n.Namespace, n.PID, strings.TrimSpace(n.Process+" "+n.Problem))
			}
			fmt.Fprintln(w, "\nLINK\tSTATE")
			for i, l := range r.Links {
				state := "up"
				if !l.Up {
					state = "down"
				}
				fmt.Fprintf(w, "%v\t%s\n", st.Links[i], state)
			}
			return w.Flush()
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
		ValidArgsFunction:     labNodes(name, cobra.ShellCompDirectiveDefault),
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			st, err := lab.Load(*name)
			if err != nil {
				return err
			}
			if _, err := lab.Pick(st, args[:1], ""); err != nil {
				return err
			}
			code, err := st.Exec(cmd.Context(), args[0], commandOf(args), netnslab.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
			if err != nil {
				return err
			}
			if code != 0 {
				return exitCode(code)
			}
			return nil
		},
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
		ValidArgsFunction: labLinkEnds(name),
		RunE: func(_ *cobra.Command, args []string) error {
			st, err := lab.Load(*name)
			if err != nil {
				return err
			}
			if _, err := lab.Pick(st, args, ""); err != nil {
				return err
			}
			found := false
			for _, l := range st.Links {
				ends := [2]string{l.A.Node, l.B.Node}
				if ends == [2]string{args[0], args[1]} || ends == [2]string{args[1], args[0]} {
					found = true
					if err := set(st, l); err != nil {
						return err
					}
				}
			}
			if !found {
				return fmt.Errorf("lab %s: no link between %q and %q; beside %s there is: %s", *name, args[0], args[1], args[0], strings.Join(lab.Neighbours(st, args[0]), ", "))
			}
			return nil
		},
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
		ValidArgsFunction: completeLabs,
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

// runOptions are how a scenario is to be played.
type runOptions struct {
	instead
	page       pageOptions
	pcap       string
	json, keep bool
	rootless   bool
	replace    bool
	repeat     int
}

func labRun(name *string) *cobra.Command {
	var opt runOptions
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
		ValidArgsFunction: oneYAMLFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if opt.rootless && (opt.keep || opt.page.show) {
				return errStays
			}
			if opt.rootless {
				return again(cmd.Context())
			}
			plan, err := readPlan(args[0], opt.instead)
			if err != nil {
				return err
			}
			if opt.repeat < 1 {
				return fmt.Errorf("--repeat: %d; give 1 or more", opt.repeat)
			}
			if opt.repeat > 1 {
				return repeat(cmd.Context(), plan, *name, opt)
			}
			v, err := playLive(cmd.Context(), plan, *name, opt, os.Stderr)
			if err != nil {
				return orRootless(err)
			}
			return printVerdict(v, opt.json)
		},
	}
	opt.flags(c)
	slowFlag(c, &opt.Slow)
	c.Flags().BoolVar(&opt.keep, "keep", false, "leave the lab up afterwards")
	c.Flags().IntVar(&opt.repeat, "repeat", 1, "play it so many times, each in a new lab, and sum up")
	return c
}

// repeat plays a scenario several times and prints a line a run and a summary.
func repeat(ctx context.Context, plan *scenario.Plan, name string, opt runOptions) error {
	if opt.keep || opt.pcap != "" || opt.page.show {
		return errors.New("lab run: --repeat goes with none of --keep, --pcap, --ui")
	}
	var runs []*verdict.Verdict
	for i := range opt.repeat {
		fmt.Fprintf(os.Stderr, "run %d of %d\n", i+1, opt.repeat)
		v, err := playLive(ctx, plan, name, opt, io.Discard)
		if err != nil {
			return err
		}
		runs = append(runs, v)
	}
	sum := verdict.Summarize(runs)
	if opt.json {
		enc := json.NewEncoder(os.Stdout)
		enc.SetIndent("", "  ")
		if err := enc.Encode(sum); err != nil {
			return err
		}
	} else if err := sum.WriteTable(os.Stdout); err != nil {
		return err
	}
	if sum.Met < len(runs) || sum.Invalid > 0 {
		return errUnmet
	}
	return nil
}

func (opt *runOptions) flags(c *cobra.Command) {
	opt.instead.flags(c)
	opt.page.flags(c)
	c.Flags().StringVar(&opt.pcap, "pcap", "", "directory for a pcapng of each switch, with a comment on each ITSY frame")
	c.Flags().BoolVar(&opt.json, "json", false, "print the verdict as JSON")
	replaceFlag(c, &opt.replace)
	rootlessFlag(c, &opt.rootless)
}

// playLive builds a lab, plays a scenario on it and removes it.
func playLive(ctx context.Context, plan *scenario.Plan, name string, opt runOptions, progress io.Writer) (v *verdict.Verdict, err error) {
	if err := lab.Refuse(plan.Scenario); err != nil {
		return nil, err
	}
	desc, err := describeLab(plan, lab.Options{Name: name, Instance: time.Now().Format(time.RFC3339Nano)}, opt.pcap)
	if err != nil {
		return nil, err
	}
	ctx, progress = whileWatched(ctx, progress)
	var page *ui.Page
	if opt.page.show {
		if page, err = ui.OpenLab(ctx, name, opt.page.listen, progress); err != nil {
			return nil, err
		}
		defer page.Close()
	}
	fmt.Fprintf(progress, "building a lab of %d switches, %d hosts, %d links\n", len(plan.Switches), len(plan.Hosts), len(plan.Links))
	desc.Replace, desc.Passing = opt.replace, !opt.keep
	st, err := netnslab.Up(ctx, desc, progress)
	if err != nil {
		return nil, orReplace(err)
	}
	if !opt.keep {
		defer func() { err = errors.Join(err, st.Remove(progress)) }()
	}
	if err := page.AwaitViewer(ctx, progress); err != nil {
		return nil, err
	}
	run, err := lab.Play(ctx, plan, st, progress)
	if err != nil {
		return nil, err
	}
	page.AwaitEnd(ctx, progress)
	return run.Verdict()
}

func printVerdict(v *verdict.Verdict, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(os.Stdout)
		enc.SetIndent("", "  ")
		if err := enc.Encode(v); err != nil {
			return err
		}
	} else if err := v.WriteTable(os.Stdout); err != nil {
		return err
	}
	if v.ExitCode() != 0 {
		return errUnmet
	}
	return nil
}
