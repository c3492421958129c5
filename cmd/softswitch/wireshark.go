package main

import (
	"os"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/view/wireshark"
)

// wiresharkCommand installs the dissector, and is called use.
func wiresharkCommand(use string) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   use + " [--dir DIR]",
		Short: "Install the dissector for Wireshark and tshark",
		Long: `Install the dissector, a Lua plugin that is built into this program, by which Wireshark and
tshark show what deadlock detection puts on the wire: the ITSY TLV in the padding of PFC
frames and in messages, and Credit Loop Control Messages. It goes into your personal plugin folder, which tshark is asked for. Wireshark loads it at its next start, or by
Analyze > Reload Lua Plugins. Another version of it that is there is replaced.`,
		Example: `  softswitch decode wireshark
  softswitch decode wireshark --dir /usr/lib/x86_64-linux-gnu/wireshark/plugins`,
		Args: cli.Arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return wireshark.Install(cmd.Context(), dir, os.Stdout)
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "plugin folder (default: your personal one)")
	c.MarkFlagDirname("dir")
	return c
}
