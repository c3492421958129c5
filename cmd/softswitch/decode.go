package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"softswitch/internal/decode"
)

func decodeCommand() *cobra.Command {
	var opt decode.Options
	c := &cobra.Command{
		Use:   "decode FILE|-",
		Short: "Print the PFC and ITSY frames of a pcap or pcapng",
		Long: `Print the PFC, 802.3x PAUSE and ITSY message frames of a capture, a line each,
and count the others. "-" reads standard input, also while it grows.`,
		Example: `  softswitch decode core0.pcapng
  sudo ip netns exec ss-core0 tcpdump -U -i to-agg0-0 -w - | softswitch decode -`,
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			var in io.Reader = os.Stdin
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return err
				}
				defer f.Close()
				in = f
			}
			if err := decode.Decode(in, os.Stdout, opt); err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&opt.JSON, "json", false, "print JSON lines")
	return c
}
