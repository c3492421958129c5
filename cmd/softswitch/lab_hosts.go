package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"softswitch/internal/control"
	"softswitch/internal/timer"
	"softswitch/lab"
	netnslab "softswitch/netns-lab"
	"softswitch/scenario/config"
	"softswitch/unit"
)

// startLead is the time between the order to start and the first frame, by which all
// hosts have heard of it.
const startLead = 200 * unit.Millisecond

func labStart(name *string) *cobra.Command {
	return &cobra.Command{
		Use:   "start [HOST...]",
		Short: "Let hosts send their flows, from the beginning of the time line",
		Long: `Let the hosts of a lab that is up, or those that are named, send the flows of its
scenario file: their times, and those of a host's "slow" and "storm", count from now.
Failures of links and of switches are not played: see "lab fail" and "lab heal". After
"lab stop" it begins anew.`,
		Example:           "  sudo softswitch lab start\n  sudo softswitch lab start h0-0-0 h0-0-1",
		ValidArgsFunction: senders(name),
		RunE: func(cmd *cobra.Command, args []string) error {
			at := struct {
				At unit.Time `json:"at"`
			}{timer.Now() + startLead}
			return askSenders(cmd, *name, args, "start", at)
		},
	}
}

func labStop(name *string) *cobra.Command {
	return &cobra.Command{
		Use:               "stop [HOST...]",
		Short:             "Let hosts send no more until they are started again",
		Example:           "  sudo softswitch lab stop",
		ValidArgsFunction: senders(name),
		RunE: func(cmd *cobra.Command, args []string) error {
			return askSenders(cmd, *name, args, "stop", nil)
		},
	}
}

func labStorm(name *string) *cobra.Command {
	var class int
	c := &cobra.Command{
		Use:   "storm HOST...",
		Short: "Let hosts pause their switch without end, as broken NICs do",
		Long: `Let hosts send pauses of a class without end, whatever they receive, as broken NICs
do; "lab normal" ends it. The class has to be one of the host's lossless ones.`,
		Example:           "  sudo softswitch lab storm h1\n  sudo softswitch lab storm h1 --class 4",
		Args:              arguments(cobra.MinimumNArgs(1)),
		ValidArgsFunction: labHostNames(name),
		RunE: func(cmd *cobra.Command, args []string) error {
			return askHosts(cmd, *name, args, "act", config.Act{Do: "storm", Class: class})
		},
	}
	c.Flags().IntVar(&class, "class", 3, "priority to pause, 0 to 7")
	return c
}

func labSlow(name *string) *cobra.Command {
	return &cobra.Command{
		Use:   "slow HOST RATE",
		Short: "Let a host take no more than so much of what it is sent",
		Long: `Let a host take no more than RATE, such as 20Mbit/s, out of its receive buffers: they
fill, and it pauses its switch; "lab normal" ends it.`,
		Example:           "  sudo softswitch lab slow h2 20Mbit/s",
		Args:              arguments(cobra.ExactArgs(2)),
		ValidArgsFunction: labHostNames(name),
		RunE: func(cmd *cobra.Command, args []string) error {
			return askHosts(cmd, *name, args[:1], "act", config.Act{Do: "slow", Rate: args[1]})
		},
	}
}

func labNormal(name *string) *cobra.Command {
	return &cobra.Command{
		Use:               "normal HOST...",
		Short:             "Let hosts take what they are sent again, and end their storms",
		Example:           "  sudo softswitch lab normal h2",
		Args:              arguments(cobra.MinimumNArgs(1)),
		ValidArgsFunction: labHostNames(name),
		RunE: func(cmd *cobra.Command, args []string) error {
			return askHosts(cmd, *name, args, "act", config.Act{Do: "normal"})
		},
	}
}

// askSenders asks the hosts of these names that make their own frames, all if there are
// no names.
func askSenders(cmd *cobra.Command, name string, hosts []string, do string, args any) error {
	st, err := lab.Load(name)
	if err != nil {
		return err
	}
	all := senderNames(st)
	for _, h := range hosts {
		if slices.Contains(lab.NICs(st), h) {
			return fmt.Errorf("lab %s: programs send on %s, which start and stop by themselves; hosts with flows: %s", name, h, strings.Join(all, ", "))
		}
	}
	if len(hosts) == 0 {
		hosts = all
	}
	if len(hosts) == 0 {
		return fmt.Errorf("lab %s has no host with flows", name)
	}
	return askHosts(cmd, name, hosts, do, args)
}

// askHosts asks the hosts of these names to do something. The error names those that
// would not.
func askHosts(cmd *cobra.Command, name string, hosts []string, do string, args any) error {
	st, err := lab.Load(name)
	if err != nil {
		return err
	}
	nodes, err := lab.Pick(st, hosts, "host")
	if err != nil {
		return err
	}
	_, _, err = control.AskAll(cmd.Context(), lab.Endpoints(nodes), func(e control.Endpoint) (struct{}, error) {
		return struct{}{}, e.Call(do, args, nil)
	})
	return err
}

func senderNames(st *netnslab.State) []string {
	nics := lab.NICs(st)
	return slices.DeleteFunc(lab.Names(st, "host"), func(h string) bool { return slices.Contains(nics, h) })
}

// senders completes hosts with flows.
func senders(name *string) completion { return completeHosts(name, senderNames) }

// labHostNames completes hosts.
func labHostNames(name *string) completion {
	return completeHosts(name, func(st *netnslab.State) []string { return lab.Names(st, "host") })
}

func completeHosts(name *string, of func(*netnslab.State) []string) completion {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		st, err := netnslab.Load(*name)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return slices.DeleteFunc(of(st), func(h string) bool { return slices.Contains(args, h) }), cobra.ShellCompDirectiveNoFileComp
	}
}
