package nodecmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/lab"
	netnslab "softswitch/netns-lab"
	"softswitch/node/client"
	"softswitch/unit"
)

// Auth returns the command "auth" with its subcommands.
func Auth() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "auth",
		Short: "Change the keys of authenticated links",
		Long: `Change the keys with which switches authenticate the pauses, labels and messages of their
neighbours (scenario key auth, or in a switch's file ports[].auth and live.keys).
"softswitch show auth" shows the links and the frames refused on them.`,
	}, authReloadCommand(), authRotateCommand())
}

func authReloadCommand() *cobra.Command {
	t := &cli.Target{}
	c := &cobra.Command{
		Use:   "reload [SWITCH...]",
		Short: "Make switches reload their key files",
		Long: `Make switches reload their key files. To change a key without refusing a frame, add the
new key after the old one at both ends and reload, then put it first and reload, then
remove the old one and reload. "softswitch auth rotate" does this for all links of a lab.

Exit status: 0 done; 2 not done on at least one switch, which keeps its old keys.`,
		Example:           "  sudo softswitch auth reload core0 agg0-0\n  sudo softswitch auth reload --socket /run/s1.sock",
		ValidArgsFunction: t.Complete(cli.SwitchNames),
		RunE:              func(cmd *cobra.Command, names []string) error { return t.Order(cmd, names, client.Keys) },
	}
	t.Flags(c, c.Flags(), "switch")
	return c
}

func authRotateCommand() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "rotate [LAB]",
		Short: "Replace the keys of all authenticated links of a running lab",
		Long: `Replace the keys of all authenticated links of a running lab: first all switches accept
the new key as well, then all sign with it, then all accept only the new key. No frame is
refused during the change.

Exit status: 0 done; 2 not done: the links keep their present keys.`,
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
				fmt.Fprintf(cmd.ErrOrStderr(), "new keys on %s\n", unit.Count(n, "link"))
				return nil
			})(cmd, args)
		},
	}
	cli.NameFlag(c, c.Flags(), &name, netnslab.DefaultName)
	return c
}
