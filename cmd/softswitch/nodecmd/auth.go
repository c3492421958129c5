package nodecmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/lab"
	netnslab "softswitch/netns-lab"
	"softswitch/node/client"
)

// Auth is the command with those about keys.
func Auth() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "auth",
		Short: "Change the keys of authenticated links",
		Long: `Change the keys by which switches tell that pauses, labels and messages are their
neighbour's own (scenario key auth, or a switch's file: ports[].auth and live.keys).
"softswitch show auth" shows the links, and what was refused on them.`,
	}, authReloadCommand(), authRotateCommand())
}

func authReloadCommand() *cobra.Command {
	t := &cli.Target{}
	c := &cobra.Command{
		Use:   "reload [SWITCH...]",
		Short: "Have switches read their files of keys again",
		Long: `Have switches read their files of keys again. To change a key without a frame that
is refused, give both ends the new one behind the old one and reload, then put it
first and reload, then take the old one away and reload: "softswitch auth rotate"
does that for all links of a lab.

Exit status: 0 done; 2 not, on one switch at least, which keeps the keys it had.`,
		Example:           "  sudo softswitch auth reload core0 agg0-0\n  sudo softswitch auth reload --socket /run/s1.sock",
		ValidArgsFunction: t.Complete(cli.SwitchNames),
		RunE: func(cmd *cobra.Command, names []string) error {
			return t.Order(cmd, names, client.Keys)
		},
	}
	t.Flags(c, c.Flags(), "switch")
	return c
}

func authRotateCommand() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "rotate [LAB]",
		Short: "Give all authenticated links of a lab new keys, while it runs",
		Long: `Give all authenticated links of a lab new keys, while it runs: all switches believe
the new key too, then all sign with it, then all believe it alone. No frame is
refused meanwhile.

Exit status: 0 done; 2 not: the links go on with the keys that they have.`,
		Example: "  sudo softswitch auth rotate",
		Args:    cli.Arguments(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.TakeName(cmd, &name, args); err != nil {
				return err
			}
			return cli.InLab(&name, func(cmd *cobra.Command, st *netnslab.State, _ []string) error {
				n, err := lab.RotateKeys(cmd.Context(), st)
				if err != nil {
					return fmt.Errorf("auth rotate: %w", err)
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "%d links have new keys\n", n)
				return nil
			})(cmd, args)
		},
	}
	cli.NameFlag(c, c.Flags(), &name, netnslab.DefaultName)
	return c
}
