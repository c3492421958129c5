package main

import (
	"os"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/view/wireshark"
)

// wiresharkCommand returns the command, named use, that installs the dissector.
func wiresharkCommand(use string) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   use + " [--dir DIR]",
		Short: "Install the dissector for Wireshark and tshark",
		Long: `Install the dissector, a Lua plugin built into this program. With it, Wireshark and tshark
decode the ITSY TLV in the padding of PFC frames and in messages, and Credit Loop Control
Messages. By default it goes to your personal plugin folder, as tshark reports it. Wireshark
loads it at its next start, or by Analyze > Reload Lua Plugins. Another version of the
plugin in the folder is replaced.`,
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
