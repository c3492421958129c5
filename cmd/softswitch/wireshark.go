package main

import (
	"os"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/link/decode"
	"softswitch/view/wireshark"
)

// wiresharkCommand returns the command, named use, that installs the dissector.
func wiresharkCommand(use string) *cobra.Command {
	var dir, scenario string
	c := &cobra.Command{
		Use:   use + " [--dir DIR] [--names FILE|NAME]",
		Short: "Install the dissector for Wireshark and tshark",
		Long: `Install the dissector, a Lua plugin built into this program. With it, Wireshark and tshark
decode the ITSY TLV in the padding of PFC frames and in messages, and Credit Loop Control
Messages. By default it goes to your personal plugin folder, as tshark reports it. Wireshark
loads it at its next start, or by Analyze > Reload Lua Plugins. Another version of the
plugin in the folder is replaced.

--names also writes the names of a scenario's ports there, for captures that have none, such
as tcpdump's, and prints how to choose them: the preference itsy.names.`,
		Example: `  softswitch decode wireshark
  softswitch decode wireshark --names fattree-on-loop
  softswitch decode wireshark --dir /usr/lib/x86_64-linux-gnu/wireshark/plugins`,
		Args: cli.Arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir == "" {
				var err error
				if dir, err = wireshark.Folder(cmd.Context()); err != nil {
					return err
				}
			}
			var names []decode.PortName
			if scenario != "" {
				var err error
				if names, err = portNames(scenario, ""); err != nil {
					return err
				}
			}
			if err := wireshark.Install(dir, os.Stdout); err != nil || names == nil {
				return err
			}
			return wireshark.WriteNames(dir, scenario, names, os.Stdout)
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "plugin folder (default: your personal one)")
	c.MarkFlagDirname("dir")
	namesFlag(c, &scenario)
	return c
}
