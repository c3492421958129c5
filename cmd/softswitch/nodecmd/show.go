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
	"softswitch/view/show"
)

// Show is the command with those that show what nodes know.
func Show() *cobra.Command {
	c := &cobra.Command{
		Use:   "show",
		Short: "Show what a running switch counts, holds and knows",
		Long: `Show what running switches count, hold and know, in the words and columns of
SONiC: of all switches of a lab, of those that are named, or of the one behind a
control socket (run --control).`,
		Example: `  sudo softswitch show pfc counters
  sudo softswitch show priority-group watermark headroom core0 --watch
  sudo softswitch show deadlock --name mylab --check-deadlock
  sudo softswitch show queue counters --socket /run/s1.sock --json`,
	}
	s := &shower{}
	s.flags(c, c.PersistentFlags(), "switch", "switch")
	cli.Group(
		c, s.pfc(), s.pfcwd(), s.priorityGroup(), s.queue(),
		below("buffer", "The buffer's configuration", leaf(s, "configuration", "Pools and profiles, in bytes", "", show.BufferConfiguration())),
		s.deadlock(), s.causes(), s.actions("actions"), s.itsy(), leaf(s, "auth", "Links that are authenticated, and what was refused on them", "", show.Authentication()), s.interfaces(),
		leaf(s, "route", "Routes, which of their ports are in use, and their backups", "", show.Routes()),
		leaf(s, "mac", "Stations and the ports by which they are reached", "", show.Stations()),
		leaf(s, "arp", "Neighbours and their addresses", "", show.Neighbours()), s.connections(),
	)
	cli.Formerly(c, s.actions("measures"))
	giveExamples(c, "--json")
	return c
}

// giveExamples gives an example to each command below c that has none; with is what stands behind it.
func giveExamples(c *cobra.Command, with string) {
	for _, sub := range c.Commands() {
		giveExamples(sub, with)
		if !sub.HasSubCommands() && sub.Example == "" {
			sub.Example = "  sudo softswitch " + sub.CommandPath() + "\n  sudo softswitch " + sub.CommandPath() + " " + with
		}
	}
}

// shower is how things are shown.
type shower struct {
	target cli.Target
	json   bool
	watch  time.Duration
}

// flags gives c the flags f; one is what is behind a socket, node what answers.
func (s *shower) flags(c *cobra.Command, f *pflag.FlagSet, one, node string) {
	s.target.Flags(c, f, one)
	s.printFlags(f, node)
}

func (s *shower) printFlags(f *pflag.FlagSet, node string) {
	f.BoolVar(&s.json, "json", false, "print JSON: an object by "+node)
	f.DurationVar(&s.watch, "watch", 0, "show it again and again, at this interval (--watch alone: 2s)")
	f.Lookup("watch").NoOptDefVal = "2s"
}

// below makes a command that holds others.
func below(use, short string, commands ...*cobra.Command) *cobra.Command {
	return cli.Group(&cobra.Command{Use: use, Short: short}, commands...)
}

// leaf is the command that shows v of switches.
func leaf[T any](s *shower, use, short, long string, v show.View[T]) *cobra.Command {
	return leafOf(s, use+" [SWITCH...]", short, long, v, cli.SwitchNames, s.target.Switches)
}

// leafOf is the command that shows v of the nodes that find finds, which of completes.
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

// repeat calls once, or with --watch again and again until ctx ends or it fails.
func (s *shower) repeat(ctx context.Context, once func(io.Writer) error) error {
	return show.Repeat(ctx, os.Stdout, s.watch, s.format(), cli.ErrUnmet, once)
}

// format is one line for each showing of many.
func (s *shower) format() show.Format { return show.Format{JSON: s.json, Line: s.watch != 0} }

func (s *shower) pfc() *cobra.Command {
	history := false
	counters := leaf(s, "counters", "PFC frames received and sent, by port and priority", `PFC frames received and sent, by port and priority, resumes and repeated pauses
among them, since the switch started or "softswitch clear pfc counters".

With --history what the received pauses did to each egress queue: how often it came
to be paused, how long in all, and how long the latest pause lasted or has lasted.`, show.PFC(&history))
	counters.Flags().BoolVar(&history, "history", false, "what the received pauses did to the queues")
	priority := leaf(s, "priority", "Lossless priorities by interface", "", show.LosslessPriorities())
	return below("pfc", "PFC counters and priorities", counters, priority)
}

func (s *shower) pfcwd() *cobra.Command {
	return below("pfcwd", "The PFC watchdog: configuration and storms", s.pfcwdConfig(), s.pfcwdStats())
}

func (s *shower) pfcwdConfig() *cobra.Command {
	return leaf(s, "config", "What the PFC watchdog goes by, by port", `What the PFC watchdog goes by, by port; times in milliseconds. Switches without
a watchdog have no lines.`, show.WatchdogConfig())
}

func (s *shower) pfcwdStats() *cobra.Command {
	empty := false
	c := leaf(s, "stats", "Storms that the PFC watchdog saw, by queue", "", show.WatchdogStats(&empty))
	c.Flags().BoolVarP(&empty, "empty", "e", false, "queues without a storm too")
	return c
}

func (s *shower) priorityGroup() *cobra.Command {
	headroom := leaf(s, "headroom", "The most headroom that was used, by port and priority group", "", show.HeadroomWatermarks())
	shared := leaf(s, "shared", "The most bytes that were held, by port and priority group", `The most bytes that a priority group held since the watermark was cleared: in
its reserved minimum, the shared pool and its headroom.`, show.SharedWatermarks())
	return below("priority-group", "Ingress priority groups", below("watermark", "The most that priority groups held, in bytes", headroom, shared))
}

func (s *shower) queue() *cobra.Command {
	nonzero := false
	counters := leaf(s, "counters", "Frames and bytes that left, by port and queue", `Frames and bytes that left, by port and queue, since the switch started or
"softswitch clear queue counters". Dropped are frames that were dropped in the queue
on purpose, by a watchdog or to break a deadlock; other drops are counted where the
frame came in: see "softswitch show interfaces counters".`, show.QueueCounters(&nonzero))
	counters.Flags().BoolVar(&nonzero, "nonzero", false, "only queues that have counted something")
	watermark := leaf(s, "watermark", "The most bytes that waited, by port and queue", "", show.QueueWatermarks())
	return below("queue", "Egress queues", counters, watermark)
}

func (s *shower) interfaces() *cobra.Command {
	status := leaf(s, "status", "Speed, state and far end of each interface", "", show.InterfaceStatus())
	counters := leaf(s, "counters", "Frames and bytes of each interface, and why frames were dropped", `Data frames and their bytes, without FCS, since the switch started or
"softswitch clear interfaces counters". RX_DRP counts frames that came in by the
interface and were dropped, with the reasons; TX_DRP those that were dropped on
purpose on their way out, or were on it when the link failed; RX_OVR those that the
kernel lost because the switch was too slow. RX_ODD is what was odd about frames that
went on.`, show.InterfaceCounters())
	return below("interfaces", "Interfaces: state and counters", status, counters)
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
	c := leaf(s, "deadlock", "Deadlocks that the detectors have declared", `Deadlocks that the detectors have declared: where (the egress queue that is
paused and the ingress priority group that waits for it), with which label, and the
initial trigger if the detector tells it. A deadlock lasts until that queue or group
goes on.

With --check-deadlock the exit status is 1 if one lasts, else 0.`, v)
	c.Flags().BoolVar(&check, "check-deadlock", false, "exit with 1 if a deadlock lasts")
	return c
}

func (s *shower) causes() *cobra.Command {
	return leaf(s, "causes", "Why declared deadlocks came to be, as the detectors diagnosed it", `The causes of declared deadlocks that the detectors have named, the likeliest first:
what kind of cause, the egress port that tells it (of a host the port that faces it),
the ingress port by which its flows come, whether that is on the loop, the flows by
their hashes, and how often such an answer was right in simulations.`, show.Causes())
}

// actions is known by an older name, measures, too.
func (s *shower) actions(name string) *cobra.Command {
	return leaf(s, name, "What responses have done and not ended yet", `Actions of responses and of the switch itself that are in effect: since when, to
which priority group, queue and flow, what for, and what ends each.`, show.Actions())
}

func (s *shower) itsy() *cobra.Command {
	labels := leaf(s, "labels", "Labels that pause frames carry now, in and out", `The label of the latest pause frame of every queue that is paused (in) and of
every priority group that is XOFF (out). A label that comes back to the switch that
made it has gone round a loop.`, show.Labels())
	return below("itsy", "The deadlock detector", labels)
}

func (s *shower) connections() *cobra.Command {
	return leafOf(s, "connections [HOST...]", "Reliable connections of hosts, and what became of their messages", `Flows of "transport: rc" of the hosts of a lab: messages that were acknowledged as a
whole, their completion times, the rate that congestion control allows now, packets that
were sent again and why, and congestion notifications that came. A connection is open,
done when all its messages are acknowledged, or has given up.`, show.HostConnections(), cli.SenderNames, s.target.Senders)
}
