package main

import (
	"github.com/spf13/cobra"

	"softswitch/lab"
	netnslab "softswitch/netns-lab"
	"softswitch/scenario/config"
)

func labStart(name *string) *cobra.Command {
	return &cobra.Command{
		Use:   "start [HOST...]",
		Short: "Let hosts send their flows, from the beginning of the time line",
		Long: `Let the hosts of a lab that is up, or those that are named, send the flows of its
scenario file: their times, and those of a host's "slow" and "storm", count from now.
Failures of links and of switches are not played: see "lab fail" and "lab heal". After
"lab stop" it begins anew.`,
		Example:           "  sudo softswitch lab start\n  sudo softswitch lab start h0-0-0 h0-0-1",
		ValidArgsFunction: offer(name, senderNames),
		RunE: inLab(name, func(cmd *cobra.Command, st *netnslab.State, args []string) error {
			return lab.Start(cmd.Context(), st, args)
		}),
	}
}

func labStop(name *string) *cobra.Command {
	return &cobra.Command{
		Use:               "stop [HOST...]",
		Short:             "Let hosts send no more until they are started again",
		Example:           "  sudo softswitch lab stop",
		ValidArgsFunction: offer(name, senderNames),
		RunE: inLab(name, func(cmd *cobra.Command, st *netnslab.State, args []string) error {
			return lab.Stop(cmd.Context(), st, args)
		}),
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
		ValidArgsFunction: offer(name, hostNames),
		RunE: inLab(name, func(cmd *cobra.Command, st *netnslab.State, args []string) error {
			return lab.Act(cmd.Context(), st, args, config.Act{Do: "storm", Class: class})
		}),
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
		ValidArgsFunction: offer(name, hostNames),
		RunE: inLab(name, func(cmd *cobra.Command, st *netnslab.State, args []string) error {
			return lab.Act(cmd.Context(), st, args[:1], config.Act{Do: "slow", Rate: args[1]})
		}),
	}
}

func labNormal(name *string) *cobra.Command {
	return &cobra.Command{
		Use:               "normal HOST...",
		Short:             "Let hosts take what they are sent again, and end their storms",
		Example:           "  sudo softswitch lab normal h2",
		Args:              arguments(cobra.MinimumNArgs(1)),
		ValidArgsFunction: offer(name, hostNames),
		RunE: inLab(name, func(cmd *cobra.Command, st *netnslab.State, args []string) error {
			return lab.Act(cmd.Context(), st, args, config.Act{Do: "normal"})
		}),
	}
}
