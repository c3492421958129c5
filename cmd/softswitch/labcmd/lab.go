package labcmd

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/internal/strictyaml"
	"softswitch/lab"
	"softswitch/lab/export"
	"softswitch/live/hosting"
	netnslab "softswitch/netns-lab"
	"softswitch/node/config"
	"softswitch/scenario"
	"softswitch/scenario/load"
)

// Internal returns the hidden commands that softswitch itself runs.
func Internal() []*cobra.Command { return []*cobra.Command{rootlessInitCommand(), latenessCommand()} }

// Lab returns the command "lab" with its subcommands.
func Lab() *cobra.Command {
	c := &cobra.Command{
		Use:   "lab",
		Short: "Build, use and remove a fabric of network namespaces",
		Long: `A lab is a fabric of network namespaces, named LAB-NODE, joined by veths. One
process runs all nodes, or several do (--nodes-per-process). A state file in
/run/softswitch (or SOFTSWITCH_RUN_DIR) records what was created: "destroy"
removes exactly that, also after a crash.`,
	}
	name := new(string)
	cli.NameFlag(c, c.PersistentFlags(), name, netnslab.DefaultName)
	cli.Grouped(c, "build", "Build", labDeploy(name), labAttach(), labExport(), labGraph(name), labList(), labInspect(name), labRootless(), labDestroy(name))
	cli.Grouped(c, "play", "Play", labRun(name), labWorlds(name))
	cli.Grouped(c, "traffic", "Traffic", labStart(name), labStop(name), labStorm(name), labSlow(name), labNormal(name), labResponse(name))
	cli.Grouped(c, "failures", "Failures", labLink(name, "fail", "down", lab.Orders.Fail), labLink(name, "heal", "up", lab.Orders.Heal), labImpair(name), labKill(name), labRestart(name), labAttack(name))
	cli.Grouped(c, "look", "Look", labUI(name), labEvents(name), labCapture(name), labExec(name), labShell(name), labVM(name), labMetrics(name))
	return cli.Group(c, labRelay(), labAgent(), labNodes())
}

func labDeploy(name *string) *cobra.Command {
	var file, pcap string
	var in load.Instead
	var dryRun, replace bool
	var share lab.Sharing
	c := &cobra.Command{
		Use:   "deploy FILE|NAME",
		Short: "Build a scenario's lab",
		Long: `Build the topology of a scenario file and start its switches and hosts; flows are
not started (see "lab start" and "lab run"). A lab that is already up from the same
file is left as it is; another lab of the same name is removed only with --replace.

-t FILE, as in containerlab, is the same as FILE.`,
		Example:           "  sudo softswitch lab deploy scenarios/fattree-on-loop.yaml\n  softswitch lab deploy pause --dry-run",
		Args:              cli.Arguments(cobra.MaximumNArgs(1)),
		ValidArgsFunction: cli.UpTo(1, cli.FilesAndNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 0 && file != "":
				return fmt.Errorf("lab deploy: both %s and -t %s: give one scenario", args[0], file)
			case len(args) > 0:
				file = args[0]
			case file == "":
				return errors.New("lab deploy: want a scenario: a file, a name or \"-\"")
			}
			plan, err := cli.ReadPlan(file, in)
			if err != nil {
				return err
			}
			if err := lab.RefuseFabric(plan.Fabric); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			if share, err = share.Of(plan); err != nil {
				return err
			}
			desc, err := lab.DescribeHere(lab.GiveSlack(plan), lab.Options{Name: *name, PcapDir: pcap, Sharing: share})
			if err != nil {
				return err
			}
			if dryRun {
				return netnslab.WritePlan(os.Stdout, desc)
			}
			desc.Replace = replace
			_, err = netnslab.Up(cmd.Context(), desc, os.Stderr)
			return orReplace(err)
		},
	}
	replaceFlag(c, &replace)
	shareFlags(c, &share)
	c.Flags().StringVarP(&file, "topology", "t", "", "scenario file whose topology to build")
	c.RegisterFlagCompletionFunc("topology", cli.FilesAndNames)
	cli.InsteadFlags(c, &in)
	cli.SetFlag(c, &in.Set)
	logLimitFlag(c, &in.Set)
	c.Flags().StringVar(&pcap, "pcap", "", "directory for a pcapng of each switch")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "print the steps and do nothing")
	return c
}

func labExport() *cobra.Command {
	var dir, machines, name string
	var opt export.Options
	var in load.Instead
	c := &cobra.Command{
		Use:   "export FILE|NAME --containerlab DIR",
		Short: "Write containerlab files",
		Long: `Write the lab of a scenario file as a folder of files for containerlab: a container
for each switch and host, with its configuration, and the links between them. README.md
in the folder says how to build the lab and how to play the scenario on it.

With --machines the lab is divided among several machines, with a folder for each: a host
stays with its switch, and few links are cut. Cut links become VXLAN links, which carry
pauses; the network between the machines needs an MTU 50 bytes above the scenario's, or
70 bytes over IPv6.

Exit status: 0 the folder is written; 2 not, and nothing of it is left.`,
		Example:           "  softswitch lab export scenarios/fattree-on-loop.yaml --containerlab clab\n  softswitch lab export scenarios/fattree-on-loop.yaml --containerlab clab --machines a=192.0.2.1,b=192.0.2.2 --underlay-mtu 1600",
		Args:              cli.Arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: cli.UpTo(1, cli.FilesAndNames),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := cli.GoesWith(cmd, "underlay-mtu", "--machines", machines != ""); err != nil {
				return err
			}
			if opt.Scenario, err = cli.ReadScenario(args[0]); err != nil {
				return err
			}
			plan, err := cli.MakePlan(cli.Called(args[0]), opt.Scenario, in)
			if err != nil {
				return err
			}
			opt.Instead = in
			if err := lab.RefuseFabric(plan.Fabric); err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if opt.Machines, err = export.Machines(machines); err != nil {
				return err
			}
			desc := lab.Describe(plan, lab.Options{Name: plan.Scenario.Name, Program: "/bin/softswitch", Dir: export.Dir, KeysPath: export.Keys})
			if cmd.Flags().Changed("name") {
				desc.Name = name
			}
			return export.Write(dir, desc, opt)
		},
	}
	cli.OwnNameFlag(c, &name)
	c.Flags().StringVar(&dir, "containerlab", "", "folder to create")
	c.MarkFlagRequired("containerlab")
	c.MarkFlagDirname("containerlab")
	c.Flags().StringVar(&machines, "machines", "", "machines among which to divide the lab, NAME=ADDRESS,...")
	c.Flags().IntVar(&opt.UnderlayMTU, "underlay-mtu", 1500, "MTU of the network between the machines")
	c.Flags().StringVar(&opt.Image, "image", "softswitch:latest", "image of softswitch, as \"make image\" builds it")
	cli.InsteadFlags(c, &in)
	cli.SlowFlag(c, &in.Slow)
	return c
}

// logLimitFlag adds the flag --log-limit, which sets a key of the scenario.
func logLimitFlag(c *cobra.Command, all *[]strictyaml.Setting) {
	given := false
	c.Flags().Func("log-limit", "maximum size of each node's event log in `MiB`, instead of the file's", func(text string) error {
		if n, err := strconv.Atoi(text); err != nil || n < 1 || n > config.LogLimitMax {
			return fmt.Errorf("valid: 1 to %d", config.LogLimitMax)
		}
		if given {
			return errors.New("given twice")
		}
		given = true
		*all = append(*all, strictyaml.Setting{Path: scenario.LogLimitKey, Text: text})
		return nil
	})
}

// replaceFlag adds the flag --replace to a command that builds a lab.
func replaceFlag(c *cobra.Command, replace *bool) {
	c.Flags().BoolVar(replace, "replace", false, "first remove another lab of the same name instead of refusing")
}

// shareFlags adds the flags by which nodes of a lab share processes.
func shareFlags(c *cobra.Command, s *lab.Sharing) {
	c.Flags().IntVar(&s.PerProcess, "nodes-per-process", 0, "number of nodes that share a process (default: all; 1 for a process each)")
	c.Flags().BoolVar(&s.Poll, "poll", false, "make shared processes poll for frames instead of waiting to be woken: faster, but each uses a whole processor")
}

// labNodes returns a hidden command that only [netnslab.Up] calls.
func labNodes() *cobra.Command {
	var poll bool
	c := hidden("nodes FILE", 1, func(cmd *cobra.Command, args []string) error {
		return hosting.Run(cmd.Context(), args[0], poll)
	})
	c.Flags().BoolVar(&poll, "poll", false, "")
	return c
}

// hidden returns a command with this many arguments that only softswitch itself runs.
func hidden(use string, arguments int, run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Hidden: true, Args: cli.Arguments(cobra.ExactArgs(arguments)), RunE: run}
}

// orReplace suggests --replace in the error that a lab already exists.
func orReplace(err error) error {
	if _, exists := errors.AsType[*netnslab.ExistsError](err); exists {
		return fmt.Errorf("%w; or give --replace", err)
	}
	return err
}

func labInspect(name *string) *cobra.Command {
	var format string
	var asJSON bool
	c := &cobra.Command{
		Use:               "inspect [LAB]",
		Short:             "Show nodes and links",
		Long:              "Show the nodes and links of a lab, with the state of each process and link.",
		Example:           "  sudo softswitch lab inspect\n  sudo softswitch lab inspect ss --json",
		Args:              cli.Arguments(cobra.MaximumNArgs(1)),
		ValidArgsFunction: cli.UpTo(1, cli.LabNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.TakeName(cmd, name, args); err != nil {
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
			return cli.PrintFinding(st.Inspect(), format == "json")
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().StringVarP(&format, "format", "f", "table", "table or json")
	return c
}

func labDestroy(name *string) *cobra.Command {
	var all, lost bool
	c := &cobra.Command{
		Use:   "destroy [LAB...]",
		Short: "Remove labs",
		Long: `Remove labs: exactly the namespaces, links and processes that their state files record.
If a lab is not up, there is nothing to do.

If the state file is missing or unreadable, the command lists what is left of the lab and
refuses. --lost removes it: namespaces whose lo carries the mark of the lab's directory, and
processes started in them with the token of a lab. Anything without a mark is named and
left alone.`,
		Example:           "  sudo softswitch lab destroy\n  sudo softswitch lab destroy one two\n  sudo softswitch lab destroy --all",
		ValidArgsFunction: cli.LabNames,
		RunE: func(cmd *cobra.Command, names []string) error {
			names, err := toDestroy(cmd, *name, names, all)
			if err != nil {
				return err
			}
			return netnslab.DownAll(names, lost, os.Stderr)
		},
	}
	c.Flags().BoolVarP(&all, "all", "a", false, "all labs of this machine")
	c.Flags().BoolVar(&lost, "lost", false, "also remove a lab whose state file is missing: find its namespaces by their marks")
	return c
}

// toDestroy returns the labs that the arguments, --all or --name select.
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

func labList() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List labs",
		Long: `List the labs that have a state file: labs that are up; "broken" labs, of which a part is
gone ("lab inspect" says which); "unknown" labs, which another user than root may not
examine; and labs whose state file is unreadable.`,
		Example: "  softswitch lab list\n  softswitch lab list --json",
		Args:    cli.Arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			all, err := netnslab.List()
			if err == nil && len(all) == 0 && !asJSON {
				fmt.Fprintln(os.Stderr, "no lab is up; see softswitch lab deploy --help")
				return nil
			}
			if err != nil {
				return err
			}
			return cli.PrintFinding(all, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cli.NoNameFlag(c)
	return c
}
