package labcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/detect/respond"
	"softswitch/lab"
	netnslab "softswitch/netns-lab"
	"softswitch/node/config"
	"softswitch/unit"
)

func labExec(name *string) *cobra.Command {
	c := &cobra.Command{
		Use:   "exec NODE [--] COMMAND [ARG...]",
		Short: "Run a command in a node",
		Long: `Run a command in a node's namespace, with the node's interfaces. Flags of exec itself,
such as --name, go before NODE; "--" may precede COMMAND. The namespace has no name
server: tcpdump needs -n.

Exit status: the command's; 2 it could not be run.`,
		Example:               "  sudo softswitch lab exec h0-0-0 ping -c 3 10.1.0.2\n  sudo softswitch lab exec core0 tcpdump -n -i to-agg0-0",
		Args:                  cli.Arguments(nodeAndCommand),
		DisableFlagsInUseLine: true,
		ValidArgsFunction: func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return cli.Offer(name, cli.NodeNames)(c, args, begun)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			st, err := lab.Load(*name)
			if err == nil {
				_, err = lab.Pick(st, args[:1], "")
			}
			if err != nil && slices.ContainsFunc(args[1:], isName) {
				return fmt.Errorf("%w; --name after NODE belongs to the command: put the lab's before NODE", err)
			}
			if err != nil {
				return err
			}
			return cli.PassOn(st.Exec(cmd.Context(), args[0], commandOf(args), cli.Stdio))
		},
	}
	c.Flags().SetInterspersed(false) // arguments after NODE belong to the command
	return c
}

func isName(arg string) bool { return arg == "--name" || strings.HasPrefix(arg, "--name=") }

// commandOf returns the command that follows the node in args.
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

// labLink returns a command that sets links down or up.
func labLink(name *string, verb, becomes string, set func(o lab.Orders, ctx context.Context, links ...netnslab.LinkState) error) *cobra.Command {
	return &cobra.Command{
		Use:   verb + " NODE NODE",
		Short: "Set links " + becomes,
		Long: "Set the links between two nodes " + becomes + `. The command returns when the switches have noticed. If there
are several links, NODE:INTERFACE names one, as "lab inspect" shows it.`,
		Example:           "  sudo softswitch lab " + verb + " core0 agg1-0\n  sudo softswitch lab " + verb + " core0:to-agg1-0 agg1-0",
		Args:              cli.Arguments(cobra.ExactArgs(2)),
		ValidArgsFunction: cli.UpTo(2, cli.Offer(name, cli.LinkEnds)),
		RunE: cli.InLab(name, func(cmd *cobra.Command, st *netnslab.State, args []string) error {
			links, err := lab.Between(st, args[0], args[1])
			if err != nil {
				return err
			}
			return set(lab.OrdersTo(st), cmd.Context(), links...)
		}),
	}
}

// labOrder makes c run do on nodes of the lab; of lists the names to complete.
func labOrder(name *string, of func(*netnslab.State, []string) []string, c *cobra.Command, do func(ctx context.Context, to lab.Orders, args []string) error) *cobra.Command {
	c.ValidArgsFunction = cli.Offer(name, of)
	c.RunE = cli.InLab(name, func(cmd *cobra.Command, st *netnslab.State, args []string) error {
		return do(cmd.Context(), lab.OrdersTo(st), args)
	})
	return c
}

func labKill(name *string) *cobra.Command {
	return labOrder(name, cli.NodeNames, &cobra.Command{
		Use:   "kill NODE...",
		Short: "Kill nodes",
		Long: `End nodes at once, as a crash does; of those that share a process, only these. Their
namespaces and links remain, and the links stay up: frames sent to a dead switch are
lost. "lab restart" starts a node again.`,
		Example: "  sudo softswitch lab kill core0",
		Args:    cli.Arguments(cobra.MinimumNArgs(1)),
	}, func(_ context.Context, to lab.Orders, nodes []string) error { return to.Kill(nodes...) })
}

func labRestart(name *string) *cobra.Command {
	return labOrder(name, cli.NodeNames, &cobra.Command{
		Use:   "restart NODE...",
		Short: "Restart nodes",
		Long: `End nodes, if they are alive, and start them again, one after the other, with empty
buffers, counters at zero and a new event log; a host sends only after "lab start". A
run in which a node is restarted is not valid.`,
		Example: "  sudo softswitch lab restart core0 agg1-0",
		Args:    cli.Arguments(cobra.MinimumNArgs(1)),
	}, func(ctx context.Context, to lab.Orders, nodes []string) error { return to.Restart(ctx, nodes...) })
}

func labImpair(name *string) *cobra.Command {
	var w config.Wire
	var clear, asJSON bool
	c := &cobra.Command{
		Use:   "impair [NODE NODE]",
		Short: "Delay or lose frames",
		Long: `Make the link between two nodes delay, lose, repeat or reorder frames from now on, in both
directions. An impairment without a flag is off; --clear ends all of them. Without nodes,
show the impairments of all links of the lab and how many frames each affected. If there
are several links between two nodes, NODE:INTERFACE names one.

A link keeps time to 1 ms. A run in which a link is impaired by hand is not valid: put the
impairments of an experiment into its scenario file (delay, jitter and so on of topology
and its overrides).`,
		Example: `  sudo softswitch lab impair core0 agg1-0 --delay 5ms --loss 1%
  sudo softswitch lab impair core0 agg1-0 --clear
  sudo softswitch lab impair`,
		Args: cli.Arguments(func(_ *cobra.Command, args []string) error {
			if len(args) != 0 && len(args) != 2 {
				return errors.New("want two nodes, or none")
			}
			return nil
		}),
		ValidArgsFunction: cli.UpTo(2, cli.Offer(name, cli.LinkEnds)),
		RunE: cli.InLab(name, func(cmd *cobra.Command, st *netnslab.State, args []string) error {
			switch given := w != (config.Wire{}); {
			case len(args) == 0 && (given || clear):
				return errors.New("lab impair: which link? give the two nodes at its ends")
			case len(args) == 0:
				all, err := lab.Wires(cmd.Context(), st)
				return errors.Join(cli.PrintFinding(all, asJSON), err)
			case given == clear:
				return errors.New("lab impair: give --clear or an impairment: --delay, --jitter, --control-loss, --loss, --duplicate, --reorder")
			case asJSON:
				return errors.New("lab impair: --json goes without nodes, where there is something to show")
			}
			links, err := lab.Between(st, args[0], args[1])
			if err != nil {
				return err
			}
			return lab.OrdersTo(st).Impair(cmd.Context(), w, links...)
		}),
	}
	f := c.Flags()
	f.StringVar(&w.Delay, "delay", "", "delay of each frame, 1ms to 10s")
	f.StringVar(&w.Jitter, "jitter", "", "maximum random extra delay, uniform from 0; frames keep their order")
	f.StringVar(&w.ControlLoss, "control-loss", "", "share of control frames (PFC, messages of detectors) that are lost, such as 0.5%")
	f.StringVar(&w.Loss, "loss", "", "share of other frames that are lost")
	f.StringVar(&w.Duplicate, "duplicate", "", "share of frames that are duplicated")
	f.StringVar(&w.Reorder, "reorder", "", "share of frames that take twice the delay, so that others overtake them")
	f.BoolVar(&clear, "clear", false, "remove all impairments: the link carries all frames at once and in order")
	f.BoolVar(&asJSON, "json", false, "print all links as JSON")
	return c
}

func labShell(name *string) *cobra.Command {
	return &cobra.Command{
		Use:   "shell NODE",
		Short: "Open a shell in a node",
		Long: `Open a shell in a node's namespace, where ip, ping and tcpdump see the node's
interfaces. The prompt shows the node; SOFTSWITCH_LAB and SOFTSWITCH_NODE hold the
names of lab and node. The shell is $SHELL, with its own start files, or sh.

Exit status: the shell's; 2 it could not be opened.`,
		Example:           "  sudo softswitch lab shell core0\n  echo 'ip -s link' | sudo softswitch lab shell core0",
		Args:              cli.Arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: cli.UpTo(1, cli.Offer(name, cli.NodeNames)),
		RunE: cli.InLab(name, func(cmd *cobra.Command, st *netnslab.State, args []string) error {
			argv, err := lab.Shell(st, args[0])
			if err != nil {
				return err
			}
			return cli.PassOn(st.Exec(cmd.Context(), args[0], argv, cli.Stdio))
		}),
	}
}

func labStart(name *string) *cobra.Command {
	return toSenders(name, lab.Orders.Start, &cobra.Command{
		Use:   "start [HOST...]",
		Short: "Start flows of hosts",
		Long: `Start the flows of the scenario file on all hosts of a lab that is up, or on the named
hosts. Times of flows, and of a host's "slow" and "storm", count from now; a flow with a
stop ends then. Failures of links and switches are not played: see "lab fail" and "lab
heal". After "lab stop" it starts over.`,
		Example: "  sudo softswitch lab start\n  sudo softswitch lab start h0-0-0 h0-0-1\n  docker exec clab-ring-h1 softswitch lab start --socket /run/control.sock",
	})
}

func labStop(name *string) *cobra.Command {
	return toSenders(name, lab.Orders.Stop, &cobra.Command{
		Use:     "stop [HOST...]",
		Short:   "Stop flows of hosts",
		Long:    "Stop the flows of hosts until \"lab start\" starts them again.",
		Example: "  sudo softswitch lab stop\n  sudo softswitch lab stop h0-0-0",
	})
}

// toSenders makes c run do on hosts with flows: the named hosts, all hosts of the lab, or the host
// behind a socket.
func toSenders(name *string, do func(o lab.Orders, ctx context.Context, hosts ...string) error, c *cobra.Command) *cobra.Command {
	var t cli.Target
	c.ValidArgsFunction = cli.Offer(name, cli.SenderNames)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		t.Lab = *name
		to, err := t.Orders(args, "host")
		if err != nil {
			return err
		}
		return do(to, cmd.Context(), args...)
	}
	t.SocketFlag(c.Flags(), "host")
	return c
}

func labStorm(name *string) *cobra.Command {
	var priority int
	var budget string
	c := labOrder(name, cli.HostNames, &cobra.Command{
		Use:   "storm HOST...",
		Short: "Start pause storms",
		Long: `Make hosts send pauses of a priority without end, whatever they receive, as broken NICs
do; "lab normal" ends it. The priority must be a lossless priority of the host. HOST is all NICs
of a host that pause the priority; HOST:INTERFACE is one NIC, as "show nics" lists them.

A switch bears the pauses of a host for the budget of its configuration, half a second if that
says nothing, and then contains the host: it ignores them. --budget changes that in all
switches of the lab, from now on: "off" lets a storm spread as far as it gets.`,
		Example: "  sudo softswitch lab storm h1\n  sudo softswitch lab storm h1 --priority 4\n  sudo softswitch lab storm h1:eth1\n  sudo softswitch lab storm h1 --budget off",
		Args:    cli.Arguments(cobra.MinimumNArgs(1)),
	}, func(ctx context.Context, to lab.Orders, args []string) error {
		if budget != "" {
			bound, err := stormBudget(budget)
			if err == nil {
				err = to.BoundStorms(ctx, bound)
			}
			if err != nil {
				return err
			}
		}
		return to.Storm(ctx, priority, args...)
	})
	c.Flags().StringVar(&budget, "budget", "", "for how long switches bear the pauses of a host: a time such as 500ms, or off")
	c.Flags().IntVar(&priority, "priority", 3, "priority to pause, 0 to 7")
	cli.FormerFlag(c, "class", "priority")
	return c
}

// stormBudget reads a flag: 0 is no bound.
func stormBudget(text string) (unit.Time, error) {
	if text == "off" {
		return 0, nil
	}
	budget, err := unit.ParseTime(text)
	if err == nil && budget <= 0 {
		err = fmt.Errorf("%q: want a time above 0, or off", text)
	}
	if err != nil {
		return 0, fmt.Errorf("--budget: %w", err)
	}
	return budget, nil
}

func labSlow(name *string) *cobra.Command {
	return labOrder(name, cli.HostNames, &cobra.Command{
		Use:   "slow HOST RATE",
		Short: "Slow a host's receiver",
		Long: `Limit the rate at which a host drains its receive buffers to RATE, such as 20Mbit/s. The
buffers fill, and the host pauses its switch. "lab normal" ends it. HOST is all NICs of a host;
HOST:INTERFACE is one NIC.`,
		Example: "  sudo softswitch lab slow h2 20Mbit/s\n  sudo softswitch lab slow h2:eth1 20Mbit/s",
		Args:    cli.Arguments(cobra.ExactArgs(2)),
	}, func(ctx context.Context, to lab.Orders, args []string) error {
		rate, err := unit.ParseRate(args[1])
		if err != nil {
			return fmt.Errorf("rate: %w", err)
		}
		return to.Slow(ctx, rate, args[0])
	})
}

func labResponse(name *string) *cobra.Command {
	return labOrder(name, func(*netnslab.State, []string) []string { return respond.Names() }, &cobra.Command{
		Use:   "response RESPONSE",
		Short: "Cure a deadlock now",
		Long: `Change the response of all running switches. Detectors keep what they know, buffers what they
hold, and a deadlock that stands is acted on at once; "none" ends what is being done. RESPONSE:

` + responses(),
		Example: "  sudo softswitch lab response cure\n  sudo softswitch lab response none",
		Args:    cli.Arguments(cobra.ExactArgs(1)),
	}, func(ctx context.Context, to lab.Orders, args []string) error {
		if _, err := respond.Parse(args[0]); err != nil {
			return err
		}
		return to.Respond(ctx, args[0])
	})
}

// responses lists all of them for a help.
func responses() string {
	var b strings.Builder
	for _, c := range respond.Choices() {
		fmt.Fprintf(&b, "  %-16s %s\n", c.Name, c.About)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func labNormal(name *string) *cobra.Command {
	return labOrder(name, cli.HostNames, &cobra.Command{
		Use:     "normal HOST...",
		Short:   "End slow and storm",
		Long:    "Return hosts to normal: end storms and slow receivers. HOST:INTERFACE is one NIC of a host.",
		Example: "  sudo softswitch lab normal h2\n  sudo softswitch lab normal h2:eth1",
		Args:    cli.Arguments(cobra.MinimumNArgs(1)),
	}, func(ctx context.Context, to lab.Orders, args []string) error { return to.Normal(ctx, args...) })
}
