package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"softswitch/internal/control"
	"softswitch/live/node"
)

func clearCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "clear",
		Short: "Start counters and watermarks of running switches anew",
		Long: `Start counters and watermarks of running switches anew, for everybody who looks
at them: the switch keeps a copy of its counters, and "softswitch show" shows the
difference. Metrics are not affected.`,
		Example: "  sudo softswitch clear pfc counters\n  sudo softswitch clear watermarks core0 core1",
	}
	t := &target{}
	t.flags(c, c.PersistentFlags(), "switch")
	return group(
		c,
		below("pfc", "PFC counters", clearLeaf(t, "counters", "PFC counters and their history", node.ClearPFC)),
		below("queue", "Egress queues", clearLeaf(t, "counters", "Queue counters", node.ClearQueue), clearLeaf(t, "watermark", "Queue watermarks", node.ClearQueueMarks)),
		below("priority-group", "Ingress priority groups", clearLeaf(t, "watermark", "Watermarks of priority groups, headroom and shared", node.ClearGroupMarks)),
		below("interfaces", "Interfaces", clearLeaf(t, "counters", "Interface counters", node.ClearInterfaces)),
		clearLeaf(t, "watermarks", "Watermarks of queues and priority groups", node.ClearQueueMarks, node.ClearGroupMarks),
	)
}

// clearLeaf is the command that clears things, whose names are those of requests.
func clearLeaf(t *target, use, short string, things ...string) *cobra.Command {
	return &cobra.Command{
		Use: use + " [SWITCH...]", Short: short,
		ValidArgsFunction: t.complete(switchNames),
		RunE: func(cmd *cobra.Command, names []string) error {
			return t.order(cmd, names, func(e control.Endpoint) error {
				for _, thing := range things {
					if err := e.Call("clear", node.CounterArgs{What: thing}, nil); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

// order has every switch of these names do something, and says how many did.
func (t *target) order(cmd *cobra.Command, names []string, do func(control.Endpoint) error) error {
	ends, err := t.switches(names)
	if err != nil {
		return err
	}
	there, _, err := control.AskAll(cmd.Context(), ends, func(e control.Endpoint) (struct{}, error) { return struct{}{}, do(e) })
	if t.socket == "" && len(there) > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "done on %d of %d switches\n", len(there), len(ends))
	}
	return err
}
