package main

import (
	"os"

	"github.com/spf13/cobra"

	"softswitch/lab/nicdemo"
)

func nicDemo() *cobra.Command {
	var name string
	c := printed(&cobra.Command{
		Use:   "demo",
		Short: "Run iperf3 and ping through two switches to a slow receiver, and show that the fabric loses nothing",
		Long: `Build a lab of two switches and two hosts with NICs, slow the receiver's down to half of
what iperf3 sends it (UDP in lossless class 3, DSCP 26), run ping beside it in class 0,
and show who was paused and where frames were lost; then remove all of it.

Exit status: 0 the pauses reached the sender's NIC and no frame was lost in the fabric; 1
not so, or the machine was too busy to tell; 2 it could not be played.`,
		Example: "  sudo softswitch nic demo\n  sudo softswitch nic demo --json 2>/dev/null",
		Args:    arguments(cobra.NoArgs),
	}, "print the result as JSON", func(cmd *cobra.Command, _ []string) (finding, error) {
		d, err := nicdemo.Play(cmd.Context(), name, os.Stderr)
		if err != nil {
			return nil, err
		}
		return judged(d, d.Result.OK)
	})
	nameFlag(c, c.Flags(), &name, "nic")
	return c
}
