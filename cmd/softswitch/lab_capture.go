package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"softswitch/internal/progress"
	"softswitch/lab/capture"
)

func labCapture(name *string) *cobra.Command {
	var nodes []string
	var file string
	c := &cobra.Command{
		Use:   "capture [--node NODE]... [-w FILE|-]",
		Short: "Capture what all nodes send and receive, as one pcapng in the order of time",
		Long: `Capture what all nodes of a lab, or some, send and receive, as one pcapng: every port is
an interface, called NODE:PORT; pauses, labels and messages have comments. Frames come in
the order of time, about a tenth of a second late; a frame on a link is seen twice, as it
is sent and as it is received. The file can be read while it grows.

Captures begin when the command is given, also in a lab that is busy. No node waits
for a capture: what it is too slow for is missed, and counted. What a node's kernel sends
by itself, such as a host's ping, is seen where it is received only.

It ends by Ctrl-C, when whoever reads its output reads no more, or with the lab.

Exit status: 0 it ended so; 1 a node died meanwhile, and its last frames are missing;
2 nothing could be captured or the file could not be written.`,
		Example: `  sudo softswitch lab capture -w lab.pcapng
  sudo softswitch lab capture --node core0 --node core1 | softswitch decode -
  sudo softswitch lab capture | wireshark -k -i -`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "-" && progress.IsTerminal(os.Stdout) {
				return errors.New("lab capture: a capture is no text for a terminal; give a file with -w FILE, or a pipe: lab capture | wireshark -k -i -")
			}
			c := capture.Capture{Name: *name, Nodes: nodes, File: file, Log: os.Stderr}
			whole, err := c.Run(cmd.Context())
			if err == nil && !whole {
				err = errUnmet
			}
			return err
		},
	}
	c.Flags().StringArrayVar(&nodes, "node", nil, "node to capture on; give it again for more (default all)")
	c.Flags().StringVarP(&file, "write", "w", "-", `file for the capture; "-" is standard output`)
	c.MarkFlagFilename("write", "pcapng")
	c.RegisterFlagCompletionFunc("node", offer(name, nodeNames))
	return c
}
