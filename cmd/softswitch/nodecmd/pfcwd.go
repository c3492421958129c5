package nodecmd

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/internal/control"
	"softswitch/node/client"
)

// PFCWD is the command with those about the PFC watchdog.
func PFCWD() *cobra.Command {
	s := &shower{}
	var chosen []string
	c := &cobra.Command{
		Use:   "pfcwd",
		Short: "The PFC watchdog of running switches: start, stop, show",
		Long: `The PFC watchdog of SONiC, on running switches: of all switches of a lab, of those
that --switch names, or of the one behind a control socket. A switch has one detector:
a watchdog can be started on a switch that runs none, or another watchdog.`,
	}
	s.target.Flags(c, c.PersistentFlags(), "switch")
	shown := below("show", "Show configuration and storms", s.pfcwdConfig(), s.pfcwdStats())
	s.printFlags(shown.PersistentFlags(), "switch")
	order := func(cmd *cobra.Command, do func(control.Endpoint) error) error {
		return s.target.Order(cmd, chosen, do)
	}
	start, stop := pfcwdStart(order), pfcwdStop(order)
	for _, sub := range []*cobra.Command{start, stop} {
		sub.Flags().StringSliceVar(&chosen, "switch", nil, "switches of the lab (default: all)")
		sub.RegisterFlagCompletionFunc("switch", s.target.Complete(cli.SwitchNames))
	}
	cli.Group(c, start, stop, shown)
	giveExamples(c, "--json")
	return c
}

// pfcwdOrder has the switches do something about their watchdogs.
type pfcwdOrder func(cmd *cobra.Command, do func(control.Endpoint) error) error

func pfcwdStart(order pfcwdOrder) *cobra.Command {
	var action string
	var restoration int
	c := &cobra.Command{
		Use:   "start PORT... DETECTION_MS",
		Short: "Start the watchdog on ports, in place of what was started before",
		Long: `Start the watchdog on ports ("all" is every port), in place of what was started
before. DETECTION_MS is how long a queue is paused and stands still until that is
called a storm. The restoration time, how long no pause has come when a storm is over,
is twice that unless it is given.`,
		Example: "  sudo softswitch pfcwd start --action drop all 400 --restoration-time 400\n  sudo softswitch pfcwd start --switch core0 to-agg0-0 200",
		Args:    cli.Arguments(cobra.MinimumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			last, given := len(args)-1, &restoration
			if !cmd.Flags().Changed("restoration-time") {
				given = nil
			}
			p, err := client.NewWatchdogArgs(args[:last], action, args[last], given, os.Stderr)
			if err != nil {
				return err
			}
			return order(cmd, func(e control.Endpoint) error { return client.StartWatchdog(e, p) })
		},
	}
	actions := []string{"drop", "forward", "alert"}
	c.Flags().StringVarP(&action, "action", "a", "drop", "what to do about a storm: "+strings.Join(actions, ", "))
	c.RegisterFlagCompletionFunc("action", cobra.FixedCompletions(actions, cobra.ShellCompDirectiveNoFileComp))
	c.Flags().IntVarP(&restoration, "restoration-time", "r", 0, "restoration time in ms (default: twice DETECTION_MS)")
	return c
}

func pfcwdStop(order pfcwdOrder) *cobra.Command {
	return &cobra.Command{
		Use:     "stop [PORT...]",
		Short:   "Stop the watchdog, or stop to watch some ports",
		Example: "  sudo softswitch pfcwd stop\n  sudo softswitch pfcwd stop --switch core0 to-agg0-0",
		RunE: func(cmd *cobra.Command, ports []string) error {
			return order(cmd, func(e control.Endpoint) error { return client.StopWatchdog(e, ports) })
		},
	}
}
