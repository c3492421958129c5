package show

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"softswitch/internal/control"
	"softswitch/node/client"
	"softswitch/node/observe"
)

// ShowNICs asks NICs, and switches, and shows what they answer. The error tells of those
// that do not.
func ShowNICs(ctx context.Context, w io.Writer, nics, switches []control.Endpoint, f Format) error {
	there, answers, silent := control.AskAll(ctx, nics, client.Stats[observe.NIC])
	if len(there) == 0 {
		return silent
	}
	if f.JSON {
		return cmp.Or(JSON(w, there, answers, !f.Line), silent)
	}
	some, fabric, mute := control.AskAll(ctx, switches, client.Stats[observe.Switch])
	return cmp.Or(NICs(w, answers, some, fabric), silent, mute)
}

// NICs writes the priorities of all NICs, and where frames were lost.
func NICs(w io.Writer, nics []observe.NIC, switches []control.Endpoint, answers []observe.Switch) error {
	priorities := table{
		header: []string{"NIC", "Priority", "Sent", "Received", "Paused", "Times", "Total MS", "Send queue", "Receive buffer", "Pauses sent"},
		left:   1,
	}
	host := table{title: "\nLost in the hosts", header: []string{"Host", "Send queue", "Device queue", "Sockets", "Other"}, left: 1}
	fabric := table{title: "\nLost in the fabric", header: []string{"Node", "Lossless", "Lossy", "Receive ring"}, left: 1}
	for i := range answers {
		lossless, lossy, ring := FabricLoss(&answers[i])
		fabric.add(switches[i].Name, Thousands(lossless), Thousands(lossy), Thousands(ring))
	}
	var slow []string
	for i := range nics {
		n := &nics[i]
		addNICPriorities(&priorities, n)
		own, l := n.InHost, n.OnArrival
		host.add(n.Name, Thousands(own.SendQueue), Thousands(own.Device), Thousands(own.Sockets), Thousands(own.Other))
		fabric.add(n.Name+" on arrival", Thousands(l.Lossless), Thousands(l.Lossy), Thousands(l.Ring))
		if n.Drain > 0 {
			slow = append(slow, fmt.Sprintf("The stack of %s takes frames at %s only.", n.Name, n.Drain))
		}
	}
	if len(slow) > 0 {
		host.title = "\n" + strings.Join(slow, "\n") + "\n" + host.title
	}
	for _, t := range []table{priorities, host, fabric} {
		if err := t.write(w); err != nil {
			return err
		}
	}
	return nil
}

// addNICPriorities adds the used priorities of a NIC.
func addNICPriorities(t *table, n *observe.NIC) {
	for priority := range n.Priorities {
		k := &n.Priorities[priority]
		if k.Sent+k.Received+k.Pause.Count+k.PauseSent == 0 {
			continue
		}
		t.add(n.Name, strconv.Itoa(priority), Thousands(k.Sent), Thousands(k.Received), yesNo[k.Paused], Thousands(k.Pause.Count), Milliseconds(k.Pause.Total(k.Paused, n.At)),
			Thousands(k.Send.Bytes), Thousands(k.Receive.Bytes), Thousands(k.PauseSent))
	}
}

// FabricLoss is what a switch lost of the frames it had to forward.
func FabricLoss(w *observe.Switch) (lossless, lossy, ring uint64) {
	for i := range w.Ports {
		p := &w.Ports[i]
		ring += p.Link.Drops + p.Link.Truncated
		lossy += p.Drops["lossy_queue_full"]
	}
	return w.LosslessLost, lossy, ring
}
