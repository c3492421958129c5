package nodecmd

import (
	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/internal/control"
	"softswitch/node/client"
)

// Clear returns the command "clear" with its subcommands, which reset counters.
func Clear() *cobra.Command {
	c := &cobra.Command{
		Use:   "clear",
		Short: "Reset a switch's counters and watermarks, for every viewer",
		Long: `Reset counters and watermarks of running switches, for every viewer. The switch stores a
copy of its counters, and "softswitch show" shows the difference. Metrics are not affected.`,
		Example: "  sudo softswitch clear pfc counters\n  sudo softswitch clear watermarks core0 core1",
	}
	t := &cli.Target{}
	t.Flags(c, c.PersistentFlags(), "switch")
	cli.Group(
		c,
		below("pfc", "PFC counters", clearLeaf(t, "counters", "PFC counters and their history", client.ClearPFC)),
		below("queue", "Egress queues", clearLeaf(t, "counters", "Queue counters", client.ClearQueue), clearLeaf(t, "watermark", "Queue watermarks", client.ClearQueueMarks)),
		below("priority-group", "Ingress priority groups", clearLeaf(t, "watermark", "Watermarks of priority groups, headroom and shared", client.ClearGroupMarks)),
		below("interfaces", "Interfaces", clearLeaf(t, "counters", "Interface counters", client.ClearInterfaces)),
		clearLeaf(t, "watermarks", "Watermarks of queues and priority groups", client.ClearQueueMarks, client.ClearGroupMarks),
	)
	giveExamples(c, "core0 core1")
	return c
}

// clearLeaf returns the command that clears things, named as in the requests to a switch.
func clearLeaf(t *cli.Target, use, short string, things ...string) *cobra.Command {
	return &cobra.Command{
		Use: use + " [SWITCH...]", Short: short,
		ValidArgsFunction: t.Complete(cli.SwitchNames),
		RunE: func(cmd *cobra.Command, names []string) error {
			return t.Order(cmd, names, func(e control.Endpoint) error {
				for _, thing := range things {
					if err := client.Clear(e, thing); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}
