package nodecmd

import (
	"fmt"
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
	orders := []*cobra.Command{
		pfcwdStart(s, &chosen), pfcwdStartDefault(s, &chosen), pfcwdStop(s, &chosen), pfcwdInterval(s, &chosen),
		pfcwdSwitch(s, &chosen, "counter_poll", "Let the watchdog look at its queues, or at none", `Let the watchdog look at its queues (enable), or at none (disable): then no storm begins or ends.`,
			func(on bool) client.WatchdogSettings { return client.WatchdogSettings{Polling: &on} }),
		pfcwdSwitch(s, &chosen, "big_red_switch", "Drop in all lossless queues of the watched ports, or end that", `Drop in all lossless queues of the watched ports, whether they are paused or not (enable), or
end that (disable). Meanwhile the watchdog detects nothing.`,
			func(on bool) client.WatchdogSettings { return client.WatchdogSettings{BigRed: &on} }),
	}
	for _, sub := range orders {
		sub.Flags().StringSliceVar(&chosen, "switch", nil, "switches of the lab (default: all)")
		sub.RegisterFlagCompletionFunc("switch", s.target.Complete(cli.SwitchNames))
	}
	cli.Group(c, append(orders, shown)...)
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

func pfcwdStartDefault(s *shower, chosen *[]string) *cobra.Command {
	return &cobra.Command{
		Use:   "start_default",
		Short: "Start the default watchdog on all ports",
		Long: `Start the default watchdog on all ports: action drop, and 200 ms for the detection, the
restoration and the polling interval; of switches with more than 32 ports as often as 32 goes
into their number, rounded up, and the polling interval at most 1000 ms.`,
		Example: "  sudo softswitch pfcwd start_default",
		Args:    cli.Arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.target.Order(cmd, *chosen, func(e control.Endpoint) error {
				return client.StartWatchdog(e, client.WatchdogArgs{Default: true})
			})
		},
	}
}

func pfcwdInterval(s *shower, chosen *[]string) *cobra.Command {
	return &cobra.Command{
		Use:   "interval POLL_MS",
		Short: "Set how often the watchdog looks at its queues",
		Long: `Set how often the watchdog looks at its queues: 100 to 1000 ms, at most the detection and
the restoration time. It holds for watchdogs that are started later too.`,
		Example: "  sudo softswitch pfcwd interval 100",
		Args:    cli.Arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := client.NewPollInterval(args[0])
			if err != nil {
				return err
			}
			return s.target.Order(cmd, *chosen, func(e control.Endpoint) error { return client.SetWatchdog(e, set) })
		},
	}
}

// pfcwdSwitch is a command that enables or disables what of of the watchdog.
func pfcwdSwitch(s *shower, chosen *[]string, name, short, long string, of func(on bool) client.WatchdogSettings) *cobra.Command {
	return &cobra.Command{
		Use:               name + " {enable|disable}",
		Short:             short,
		Long:              long,
		Example:           "  sudo softswitch pfcwd " + name + " enable\n  sudo softswitch pfcwd " + name + " disable --switch core0",
		Args:              cli.Arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: cobra.FixedCompletions([]string{"enable", "disable"}, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] != "enable" && args[0] != "disable" {
				return fmt.Errorf("%s: %q; valid: enable, disable", name, args[0])
			}
			return s.target.Order(cmd, *chosen, func(e control.Endpoint) error { return client.SetWatchdog(e, of(args[0] == "enable")) })
		},
	}
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
