package nodecmd

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/internal/control"
	"softswitch/node/client"
)

// PFCWD returns the command "pfcwd" with its subcommands.
func PFCWD() *cobra.Command {
	s := &shower{}
	var chosen []string
	c := &cobra.Command{
		Use:   "pfcwd",
		Short: "The PFC watchdog of running switches: start, stop, show",
		Long: `Control the PFC watchdog, as in SONiC, on running switches: on all switches of a lab, on
those named by --switch, or on the one behind a control socket. A switch has one detector:
a watchdog can be started on a switch without a detector, or with another watchdog.`,
	}
	s.target.Flags(c, c.PersistentFlags(), "switch")
	shown := below("show", "Show configuration and storms", s.pfcwdConfig(), s.pfcwdStats())
	s.printFlags(shown.PersistentFlags(), "switch")
	start, stop := pfcwdStart(s, &chosen), pfcwdStop(s, &chosen)
	for _, sub := range []*cobra.Command{start, stop} {
		sub.Flags().StringSliceVar(&chosen, "switch", nil, "switches of the lab (default: all)")
		sub.RegisterFlagCompletionFunc("switch", s.target.Complete(cli.SwitchNames))
	}
	cli.Group(c, start, stop, shown)
	giveExamples(c, "--json")
	return c
}

func pfcwdStart(s *shower, chosen *[]string) *cobra.Command {
	var action string
	var restoration int
	c := &cobra.Command{
		Use:   "start PORT... DETECTION_MS",
		Short: "Start the watchdog on ports, replacing the previous configuration",
		Long: `Start the watchdog on ports ("all" is every port), replacing the previous configuration.
A queue that is paused and sends nothing for DETECTION_MS is in a storm. The storm ends
when no pause has arrived for the restoration time, by default twice DETECTION_MS.`,
		Example: "  sudo softswitch pfcwd start --action drop all 400 --restoration-time 400\n  sudo softswitch pfcwd start --switch core0 to-agg0-0 200",
		Args:    cli.Arguments(cobra.MinimumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := s.target.Switches(*chosen); err != nil { // before what is said of the arguments
				return err
			}
			last, given := len(args)-1, &restoration
			if !cmd.Flags().Changed("restoration-time") {
				given = nil
			}
			p, err := client.NewWatchdogArgs(args[:last], action, args[last], given, os.Stderr)
			if err != nil {
				return err
			}
			return s.target.Order(cmd, *chosen, func(e control.Endpoint) error { return client.StartWatchdog(e, p) })
		},
	}
	actions := []string{"drop", "forward", "alert"}
	c.Flags().StringVarP(&action, "action", "a", "drop", "action on a storm: "+strings.Join(actions, ", "))
	c.RegisterFlagCompletionFunc("action", cobra.FixedCompletions(actions, cobra.ShellCompDirectiveNoFileComp))
	c.Flags().IntVarP(&restoration, "restoration-time", "r", 0, "restoration time in ms (default: twice DETECTION_MS)")
	return c
}

func pfcwdStop(s *shower, chosen *[]string) *cobra.Command {
	return &cobra.Command{
		Use:     "stop [PORT...]",
		Short:   "Stop the watchdog, on all ports or on some",
		Example: "  sudo softswitch pfcwd stop\n  sudo softswitch pfcwd stop --switch core0 to-agg0-0",
		RunE: func(cmd *cobra.Command, ports []string) error {
			return s.target.Order(cmd, *chosen, func(e control.Endpoint) error { return client.StopWatchdog(e, ports) })
		},
	}
}
