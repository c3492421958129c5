package nodecmd

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"softswitch/cmd/softswitch/cli"
	"softswitch/internal/control"
	netnslab "softswitch/netns-lab"
	"softswitch/node/observe"
	"softswitch/view/show"
)

// Show returns the command "show" with its subcommands, which show the state of nodes.
func Show() *cobra.Command {
	c := &cobra.Command{
		Use:   "show",
		Short: "Show what a running switch counts, holds and knows",
		Long: `Show counters, buffers and tables of running switches, with the terms and columns of
SONiC: of all switches of a lab, of the named switches, or of the one behind a control
socket (run --control).`,
		Example: `  sudo softswitch show pfc counters
  sudo softswitch show priority-group watermark headroom core0 --watch
  sudo softswitch show deadlock --name mylab --check-deadlock
  sudo softswitch show queue counters --socket /run/s1.sock --json`,
	}
	s := &shower{}
	s.flags(c, c.PersistentFlags(), "switch", "switch")
	cli.Group(
		c, s.pfc(),
		below("pfcwd", "The PFC watchdog: configuration and storms", s.pfcwdConfig(), s.pfcwdStats()),
		s.priorityGroup(), s.queue(),
		below("buffer", "The buffer's configuration", leaf(s, "configuration", "Pools and profiles, in bytes", "", show.BufferConfiguration())),
		s.deadlock(),
		leaf(s, "causes", "Causes of declared deadlocks, as the detectors diagnosed them", `Causes of declared deadlocks that the detectors have named, the most likely first: the
kind of cause, the egress port that shows it (for a host, the port that faces it), the
ingress port of its flows, whether that port is on the loop, the flows by their hashes,
and how often such an answer was right in simulations.`, show.Causes()),
		s.actions("actions"),
		below("itsy", "The deadlock detector", leaf(s, "labels", "Current labels of pause frames, in and out", `The label of the latest pause frame of every queue that is paused (in) and of
every priority group that is XOFF (out). A label that returns to the switch that
created it has gone round a loop.`, show.Labels())),
		s.lldp(),
		leaf(s, "auth", "Authenticated links, and the frames refused on them", "", show.Authentication()), s.interfaces(),
		leaf(s, "route", "Routes, their ports in use, and their backups", "", show.Routes()),
		leaf(s, "mac", "Stations and the ports by which they are reached", "", show.Stations()),
		leaf(s, "arp", "Neighbours and their addresses", "", show.Neighbours()), s.nics(), s.connections(),
	)
	cli.Formerly(c, s.actions("measures"))
	giveExamples(c, "--json")
	return c
}

// giveExamples adds an example to each command below c that has none; with is its arguments.
func giveExamples(c *cobra.Command, with string) {
	for _, sub := range c.Commands() {
		giveExamples(sub, with)
		if !sub.HasSubCommands() && sub.Example == "" {
			sub.Example = "  sudo softswitch " + sub.CommandPath() + "\n  sudo softswitch " + sub.CommandPath() + " " + with
		}
	}
}

// shower holds the flags of a command that shows something.
type shower struct {
	target cli.Target
	json   bool
	watch  time.Duration
}

// flags adds the flags to f, a flag set of c; one is the kind of node behind a socket, node the kind
// of node that answers.
func (s *shower) flags(c *cobra.Command, f *pflag.FlagSet, one, node string) {
	s.target.Flags(c, f, one)
	s.printFlags(f, node)
}

func (s *shower) printFlags(f *pflag.FlagSet, node string) {
	f.BoolVar(&s.json, "json", false, "print JSON: an object by "+node)
	f.DurationVar(&s.watch, "watch", 0, "repeat at this interval (--watch alone: 2s)")
	f.Lookup("watch").NoOptDefVal = "2s"
}

// below returns a command that only contains subcommands.
func below(use, short string, commands ...*cobra.Command) *cobra.Command {
	return cli.Group(&cobra.Command{Use: use, Short: short}, commands...)
}

// leaf returns the command that shows v of switches.
func leaf[T any](s *shower, use, short, long string, v show.View[T]) *cobra.Command {
	return leafOf(s, use+" [SWITCH...]", short, long, v, cli.SwitchNames, s.target.Switches)
}

// leafOf returns the command that shows v of the nodes that find finds; of lists the names to complete.
func leafOf[T any](s *shower, use, short, long string, v show.View[T], of func(*netnslab.State, []string) []string, find func([]string) ([]control.Endpoint, error)) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: long,
		ValidArgsFunction: s.target.Complete(of),
		RunE: func(cmd *cobra.Command, names []string) error {
			ends, err := find(names)
			if err != nil {
				return err
			}
			return s.repeat(cmd.Context(), func(w io.Writer) error { return v.Show(cmd.Context(), w, ends, s.format()) })
		},
	}
}

// repeat calls once one time or, with --watch, repeatedly until ctx ends or once fails.
func (s *shower) repeat(ctx context.Context, once func(io.Writer) error) error {
	return show.Repeat(ctx, os.Stdout, s.watch, s.format(), cli.ErrUnmet, once)
}

// format returns the output format: with --watch and --json, one line per repetition.
func (s *shower) format() show.Format { return show.Format{JSON: s.json, Line: s.watch != 0} }

func (s *shower) pfc() *cobra.Command {
	history := false
	counters := leaf(s, "counters", "PFC frames received and sent, by port and priority", `PFC frames received and sent, by port and priority, including resumes and repeated
pauses, since the switch started or "softswitch clear pfc counters".

--history shows the effect of received pauses on each egress queue: how often it was
paused, for how long in total, and how long the latest pause lasted or has lasted.`, show.PFC(&history))
	counters.Flags().BoolVar(&history, "history", false, "show the effect of received pauses on the queues")
	priority := leaf(s, "priority", "Lossless priorities by interface", `Lossless priorities by interface. Where one does not both send and honour pauses, PFC
says what each does: tx sends them only, rx honours them only. Where one takes the
priority of what comes in from the 802.1Q tag, Trust is dscp or pcp.`, show.LosslessPriorities())
	return below("pfc", "PFC counters and priorities", counters, priority)
}

func (s *shower) lldp() *cobra.Command {
	neighbors := leaf(s, "neighbors", "Who is at the far ends of links", `Who is at the far ends of links, as they say by LLDP: the system, its port, what it is, and
the description of its port. A switch speaks LLDP if its file has the key lldp.`, show.LLDPNeighbours())
	neighbors.Aliases = []string{"table"} // what SONiC calls a table with these columns
	dcbx := leaf(s, "dcbx", "Lossless priorities and ETS of both ends of links", `What the two ends of links say of their priorities by LLDP: those that are lossless, whether
the far end is willing to take those of this end, and by ETS the share of a link that a
priority has, or strict. MISMATCH says of what they say different things.`, show.LLDPDCBX())
	return below("lldp", "Neighbors and their priorities, by LLDP and DCBX", neighbors, dcbx)
}

func (s *shower) pfcwdConfig() *cobra.Command {
	return leaf(s, "config", "Configuration of the PFC watchdog, by port", `Configuration of the PFC watchdog, by port; times in milliseconds. Switches without a
watchdog have no lines.`, show.WatchdogConfig())
}

func (s *shower) pfcwdStats() *cobra.Command {
	empty, check := false, false
	v := show.WatchdogStats(&empty)
	v.Check = func(all []*observe.Watchdog) error {
		if check && show.Stormed(all) {
			return cli.ErrUnmet
		}
		return nil
	}
	c := leaf(s, "stats", "Storms that the PFC watchdog saw, by queue", "", v)
	c.Flags().BoolVarP(&empty, "empty", "e", false, "also show queues without a storm")
	c.Flags().BoolVar(&check, "check-storm", false, "exit status 1 if a storm lasts")
	return c
}

func (s *shower) priorityGroup() *cobra.Command {
	headroom := leaf(s, "headroom", "Maximum headroom used, by port and priority group", "", show.HeadroomWatermarks())
	shared := leaf(s, "shared", "Maximum bytes held, by port and priority group", `Maximum bytes that a priority group held since the watermark was cleared: in its reserved
minimum, the shared pool and its headroom.`, show.SharedWatermarks())
	return below("priority-group", "Ingress priority groups", below("watermark", "Maximum occupancy of priority groups, in bytes", headroom, shared))
}

func (s *shower) queue() *cobra.Command {
	all := false
	counters := leaf(s, "counters", "Frames and bytes sent, by port and queue", `Frames and bytes sent, by port and queue, since the switch started or "softswitch clear
queue counters", of queues that sent or dropped any. Dropped counts frames dropped in the queue on purpose, by a watchdog or
to break a deadlock; other drops are counted at the ingress port: see "softswitch show
interfaces counters".`, show.QueueCounters(&all))
	counters.Flags().BoolVar(&all, "all", false, "also queues whose counters are zero")
	counters.Flags().Bool("nonzero", true, "") // the default, which SONiC has as a flag
	counters.Flags().MarkHidden("nonzero")
	watermark := leaf(s, "watermark", "Maximum bytes queued, by port and queue", "", show.QueueWatermarks())
	scheduler := leaf(s, "scheduler", "Type and weight of each queue, and how long it waits for others", `How the queues of each port share it: strict ones first, the higher queue before the
lower, then the DWRR ones by weight. A queue waits while it has frames, is not paused, and
does not send because others do: for how long it has done so by now, and the longest time
for which it did.`, show.QueueSchedulers())
	return below("queue", "Egress queues", counters, watermark, scheduler)
}

func (s *shower) interfaces() *cobra.Command {
	status := leaf(s, "status", "Speed, state and far end of each interface", "", show.InterfaceStatus())
	counters := leaf(s, "counters", "Frames and bytes of each interface, and why frames were dropped", `Data frames and their bytes, without FCS, since the switch started or "softswitch clear
interfaces counters". RX_DRP counts frames received on the interface and dropped, with
the reasons; TX_DRP frames dropped on egress on purpose, or because the link failed;
RX_OVR frames that the kernel lost because the switch was too slow. RX_ODD lists
anomalies of frames that were forwarded all the same; offloaded are those whose checksum the
sender had left to a NIC, or that the port cut to frames of a wire.`, show.InterfaceCounters())
	channels := leaf(s, "portchannel", "PortChannels, their members, and what each member carried", `PortChannels (IEEE 802.1AX: link aggregation groups), with a line for each member: (S),
selected, carries frames; (D), deselected, is down. Frames and bytes are those of
"softswitch show interfaces counters", shares are of the bytes of all members, and Paused
lists the priorities that the far end pauses on that link now.`, show.PortChannels())
	return below("interfaces", "Interfaces: state and counters", status, counters, channels)
}

func (s *shower) deadlock() *cobra.Command {
	var check bool
	v := show.Deadlocks()
	v.Check = func(all []show.Declared) error {
		if check && show.Lasts(all) {
			return cli.ErrUnmet
		}
		return nil
	}
	c := leaf(s, "deadlock", "Deadlocks that the detectors have declared", `Deadlocks that the detectors have declared: the place (the paused egress queue and the
ingress priority group that waits for it), the label, and the initial trigger if the
detector reports it. A deadlock lasts until that queue or group makes progress.

With --check-deadlock the exit status is 1 if a deadlock lasts, otherwise 0.`, v)
	c.Flags().BoolVar(&check, "check-deadlock", false, "exit with 1 if a deadlock lasts")
	return c
}

// actions returns the command that shows actions, also under its former name, measures.
func (s *shower) actions(name string) *cobra.Command {
	return leaf(s, name, "Actions in effect", `Actions of responses and of the switch itself that are in effect: the start, the priority
group, queue and flow, the purpose, and what ends each.`, show.Actions())
}

func (s *shower) nics() *cobra.Command {
	return leafOf(s, "nics [HOST...]", "NICs of hosts: what each carried, paused and was paused for", `The NICs of the hosts of a lab, of those with several one by one: the flows that leave by it
now, how many of them are reliable connections that are open, done or have given up, the frames
of flows that it sent and received, lossless frames that it dropped, and packets to port 4791
that no connection takes. Takes is the rate at which a slow NIC takes frames.

By lossless priority: whether it is paused now, the pause frames that it heeded and for how long
they held it, those that it sent and repeated, whether it storms, and the bytes in its receive
buffer. "softswitch nic show" is for the NICs of programs.`, show.NICsOfHosts(), cli.SenderNames, s.target.Senders)
}

func (s *shower) connections() *cobra.Command {
	return leafOf(s, "connections [HOST...]", "Reliable connections of hosts and the state of their messages", `Flows of "transport: rc" of the hosts of a lab: fully acknowledged messages, their
completion times, the rate that congestion control allows now, retransmitted packets
with the reason, and congestion notifications received. A connection is open, done (all
its messages are acknowledged), or has given up.`, show.HostConnections(), cli.SenderNames, s.target.Senders)
}
