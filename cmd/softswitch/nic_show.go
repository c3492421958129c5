package main

import (
	"io"

	"github.com/spf13/cobra"

	"softswitch/internal/control"
	"softswitch/view/show"
)

func nicShow() *cobra.Command {
	t := &nicTarget{}
	s := &shower{}
	c := &cobra.Command{
		Use:   "show [HOST...]",
		Short: "Show what NICs sent, received and paused, and where frames were lost",
		Long: `Show what NICs sent and received by class, what they were paused and paused in turn,
and where frames were lost: in the hosts, apart from that in the fabric.

  Send queue    the queue of the class was full: programs do not wait while it is paused
  Device queue  the kernel's queue to the NIC was full
  Sockets       the buffer of the socket that a datagram was for was full
  On arrival    the NIC lost what the fabric had delivered`,
		Example: "  sudo softswitch nic show\n  sudo softswitch nic show h1 --watch=1s",
		RunE: func(cmd *cobra.Command, names []string) error {
			ends, err := t.nics(names)
			if err != nil {
				return err
			}
			switches := t.labSwitches()
			return s.repeat(cmd.Context(), func(w io.Writer) error {
				there, nics, silent := control.AskAll(cmd.Context(), ends, show.TakeNIC)
				if len(there) == 0 {
					return silent
				}
				if s.json {
					if err := show.JSON(w, there, nics, s.watch == 0); err != nil {
						return err
					}
					return silent
				}
				some, answers, mute := control.AskAll(cmd.Context(), switches, show.TakeSwitch)
				if err := show.NICs(w, nics, some, answers); err != nil {
					return err
				}
				if silent == nil {
					silent = mute
				}
				return silent
			})
		},
	}
	t.flags(c)
	c.Flags().BoolVar(&s.json, "json", false, "print JSON: an object by host")
	c.Flags().DurationVar(&s.watch, "watch", 0, "show it again and again, at this interval (--watch alone: 2s)")
	c.Flags().Lookup("watch").NoOptDefVal = "2s"
	return c
}

// labSwitches are the switches of the lab; none without a lab.
func (t *nicTarget) labSwitches() []control.Endpoint {
	if t.socket != "" {
		return nil
	}
	ends, err := t.switches(nil)
	if err != nil {
		return nil
	}
	return ends
}
