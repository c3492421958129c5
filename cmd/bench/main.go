package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
)

func main() { cli.Main(root()) }

func root() *cobra.Command {
	return cli.Group(cli.Program(&cobra.Command{
		Use:   "bench",
		Short: "Measure speed beside other forwarders",
		Long: `Measure this machine: how many frames a switch forwards beside other forwarders,
and how long a frame takes round a ring of bare relays. Needs root. Namespaces
and processes that it makes end with it; no setting of the machine is changed.
For whoever works on softswitch, in the repository.`,
	}), forwardCommand(), floorCommand(), relayCommand(), lapCommand())
}

func forwardCommand() *cobra.Command {
	opt := ForwardOptions{Progress: os.Stderr}
	var seconds float64
	c := cli.Printed(&cobra.Command{
		Use:   "forward",
		Short: "Measure forwarding beside Open vSwitch, a bare relay and DPDK's testpmd",
		Long: `Measure how many frames a second a device forwards from one veth to another, with
one processor for it and another for the sender: the softswitch, Open vSwitch with its
userspace datapath, a relay that only reads and writes, and DPDK's testpmd over
packet sockets. They take turns in every round; ratios are taken within a round.
Peers that are not installed are named as absent. Progress goes to standard error.`,
		Args: cli.Arguments(cobra.NoArgs),
	}, "print JSON", func(cmd *cobra.Command, _ []string) (cli.Finding, error) {
		opt.Duration = time.Duration(seconds * float64(time.Second))
		return Forward(cmd.Context(), opt)
	})
	c.Flags().StringVar(&opt.Program, "softswitch", "bin/softswitch", "the softswitch to measure")
	c.MarkFlagFilename("softswitch")
	c.Flags().IntSliceVar(&opt.Frames, "frames", []int{64, 1500}, fmt.Sprintf("lengths of frames in bytes, without FCS, %d to %d", MinFrame, MaxFrame))
	c.Flags().IntVar(&opt.Rounds, "rounds", 5, "turns of each device at each length")
	c.Flags().Float64Var(&seconds, "seconds", 2, "length of a turn")
	return c
}

func floorCommand() *cobra.Command {
	opt := FloorOptions{Progress: os.Stderr}
	c := cli.Printed(&cobra.Command{
		Use:   "floor",
		Short: "Measure a frame's way round a ring of four bare relays",
		Long: `Measure how long a 60-byte frame takes round a ring of four processes in four
namespaces, each of which only reads and writes: the least time in which a label
gets from a switch back to itself. Once with idle time between the laps, and once
lap after lap.`,
		Args: cli.Arguments(cobra.NoArgs),
	}, "print JSON", func(cmd *cobra.Command, _ []string) (cli.Finding, error) {
		return Floor(cmd.Context(), opt)
	})
	c.Flags().IntVar(&opt.Laps, "laps", 2000, "laps of each kind")
	return c
}

// relayCommand is a process of a benchmark.
func relayCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "relay IN OUT",
		Short:  "Pass frames from one interface to another",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return RunRelay(cmd.Context(), args[0], args[1], os.Stdout)
		},
	}
}

// lapCommand is a process of a benchmark.
func lapCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "lap IN OUT LAPS EVERY",
		Short:  "Send frames round a ring and print their times",
		Hidden: true,
		Args:   cobra.ExactArgs(4),
		RunE: func(cmd *cobra.Command, args []string) error {
			return RunLaps(cmd.Context(), args, os.Stdout)
		},
	}
}
