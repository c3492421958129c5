package main

import (
	"io"

	"github.com/spf13/cobra"

	"softswitch/internal/control"
	"softswitch/view/show"
)

func nicShow() *cobra.Command {
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
		Example:           "  sudo softswitch nic show\n  sudo softswitch nic show h1 --watch=1s",
		ValidArgsFunction: s.target.complete(nicNames),
		RunE: func(cmd *cobra.Command, names []string) error {
			ends, err := s.target.nics(names)
			if err != nil {
				return err
			}
			switches := s.target.labSwitches()
			return s.repeat(cmd.Context(), func(w io.Writer) error {
				return show.ShowNICs(cmd.Context(), w, ends, switches, s.format())
			})
		},
	}
	s.flags(c, c.Flags(), "NIC", "host")
	return c
}

// labSwitches are the switches of the lab; none without a lab.
func (t *target) labSwitches() []control.Endpoint {
	if t.socket != "" {
		return nil
	}
	ends, err := t.switches(nil)
	if err != nil {
		return nil
	}
	return ends
}
