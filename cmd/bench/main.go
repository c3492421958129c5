package main

import (
	"context"
	"fmt"
	"io"
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
		Long: `Measure the forwarding rate of a switch and of other forwarders on this machine, and the
time of a frame round a ring of bare relays. Needs root. The namespaces and processes that
it creates end with it; no setting of the machine is changed. A tool for developers of
softswitch, in the repository.`,
	}), forwardCommand(), floorCommand(),
		processCommand("relay IN OUT", "Pass frames from one interface to another", 2, RunRelay),
		processCommand("lap IN OUT LAPS EVERY", "Send frames round a ring and print their times", 4, RunLaps))
}

func forwardCommand() *cobra.Command {
	opt := ForwardOptions{Progress: os.Stderr}
	var seconds float64
	c := cli.Printed(&cobra.Command{
		Use:   "forward",
		Short: "Measure forwarding beside Open vSwitch, a bare relay and DPDK's testpmd",
		Long: `Measure how many frames a second a device forwards from one veth to another, with one
processor for the device and another for the sender. Devices are the softswitch, Open
vSwitch with its userspace datapath, a relay that only reads and writes, and DPDK's testpmd
over packet sockets. They take turns in every round; ratios are taken within a round.
Devices that are not installed are listed as absent. Progress goes to standard error.`,
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
		Short: "Measure the time of a frame round a ring of four bare relays",
		Long: `Measure how long a 60-byte frame takes round a ring of four processes in four namespaces,
each of which only reads and writes. This is the minimum time in which a label returns to
its switch. Laps are measured with idle time between them, and back to back.`,
		Args: cli.Arguments(cobra.NoArgs),
	}, "print JSON", func(cmd *cobra.Command, _ []string) (cli.Finding, error) {
		return Floor(cmd.Context(), opt)
	})
	c.Flags().IntVar(&opt.Laps, "laps", 2000, "number of laps of each kind")
	return c
}

// processCommand returns the hidden command that runs a process of a benchmark.
func processCommand(use, short string, n int, run func(ctx context.Context, args []string, out io.Writer) error) *cobra.Command {
	return &cobra.Command{
		Use:    use,
		Short:  short,
		Hidden: true,
		Args:   cobra.ExactArgs(n),
		RunE:   func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), args, os.Stdout) },
	}
}
