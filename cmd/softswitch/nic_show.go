package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"softswitch/internal/control"
	"softswitch/scenario/config"
	"softswitch/view/observe"
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
				there, nics, silent := control.AskAll(cmd.Context(), ends, takeNIC)
				if len(there) == 0 {
					return silent
				}
				if s.json {
					if err := writeJSON(w, s, view[observe.NIC]{}, there, nics); err != nil {
						return err
					}
					return silent
				}
				some, answers, mute := control.AskAll(cmd.Context(), switches, takeStats)
				if err := writeNICs(w, nics, some, answers); err != nil {
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

func takeNIC(e control.Endpoint) (observe.NIC, error) {
	return control.Get[observe.NIC](e, "stats", nil)
}

func takeStats(e control.Endpoint) (observe.Switch, error) {
	return control.Get[observe.Switch](e, "stats", nil)
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

// writeNICs writes the classes of all NICs, and where frames were lost.
func writeNICs(w io.Writer, nics []observe.NIC, switches []control.Endpoint, answers []observe.Switch) error {
	classes := table{
		header: []string{"NIC", "Class", "Sent", "Received", "Paused", "Times", "Total MS", "Send queue", "Receive buffer", "Pauses sent"},
		left:   1,
	}
	host := table{title: "\nLost in the hosts", header: []string{"Host", "Send queue", "Device queue", "Sockets", "Other"}, left: 1}
	fabric := table{title: "\nLost in the fabric", header: []string{"Node", "Lossless", "Lossy", "Receive ring"}, left: 1}
	for i := range nics {
		n := &nics[i]
		addNICClasses(&classes, n)
		l := n.InHost
		host.add(n.Name, thousands(l.SendQueue), thousands(l.Device), thousands(l.Sockets), thousands(l.Other))
	}
	for i := range answers {
		lossless, lossy, ring := fabricLoss(&answers[i])
		fabric.add(switches[i].Name, thousands(lossless), thousands(lossy), thousands(ring))
	}
	for i := range nics {
		l := nics[i].OnArrival
		fabric.add(nics[i].Name+" on arrival", thousands(l.Lossless), thousands(l.Lossy), thousands(l.Ring))
	}
	var slow []string
	for i := range nics {
		if r := nics[i].Drain; r > 0 {
			slow = append(slow, fmt.Sprintf("The stack of %s takes frames at %s only.", nics[i].Name, config.FormatRate(r)))
		}
	}
	if len(slow) > 0 {
		host.title = "\n" + strings.Join(slow, "\n") + "\n" + host.title
	}
	for _, t := range []table{classes, host, fabric} {
		if err := t.write(w); err != nil {
			return err
		}
	}
	return nil
}

// addNICClasses adds the classes of a NIC that it has used.
func addNICClasses(t *table, n *observe.NIC) {
	for class := range n.Classes {
		k := &n.Classes[class]
		if k.Sent+k.Received+k.Pause.Count+k.PauseSent == 0 {
			continue
		}
		paused := "no"
		if k.Paused {
			paused = "yes"
		}
		t.add(n.Name, strconv.Itoa(class), thousands(k.Sent), thousands(k.Received), paused, thousands(k.Pause.Count), milliseconds(k.Pause.Total(k.Paused, n.At)),
			thousands(k.Send.Bytes), thousands(k.Receive.Bytes), thousands(k.PauseSent))
	}
}

// fabricLoss is what a switch lost of what it had to forward.
func fabricLoss(w *observe.Switch) (lossless, lossy, ring uint64) {
	for i := range w.Ports {
		p := &w.Ports[i]
		ring += p.Link.Drops + p.Link.Truncated
		lossy += p.Drops["lossy_queue_full"]
	}
	return w.LosslessLost, lossy, ring
}
