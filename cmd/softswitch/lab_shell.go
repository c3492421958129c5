package main

import (
	"github.com/spf13/cobra"

	"softswitch/lab"
	netnslab "softswitch/netns-lab"
)

func labShell(name *string) *cobra.Command {
	return &cobra.Command{
		Use:   "shell NODE",
		Short: "Open a shell in a node's namespace",
		Long: `Open a shell in a node's namespace, where ip, ping and tcpdump see the node's
interfaces. The prompt says which node it is; in the shell, SOFTSWITCH_LAB and
SOFTSWITCH_NODE do. It is the shell of $SHELL, with its own start files, or sh. The
exit status is the shell's.`,
		Example:           "  sudo softswitch lab shell core0\n  echo 'ip -s link' | sudo softswitch lab shell core0",
		Args:              arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: upTo(1, offer(name, nodeNames)),
		RunE: inLab(name, func(cmd *cobra.Command, st *netnslab.State, args []string) error {
			nodes, err := lab.Pick(st, args, "")
			if err != nil {
				return err
			}
			argv, err := lab.Shell(st, nodes[0])
			if err != nil {
				return err
			}
			return passOn(st.Exec(cmd.Context(), nodes[0].Name, argv, stdio))
		}),
	}
}
