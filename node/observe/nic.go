package observe

import (
	"softswitch/dataplane"
	"softswitch/host"
	"softswitch/host/nic"
	"softswitch/link"
	"softswitch/unit"
)

// NIC is the NIC of a host, for programs that use the kernel's stack, at one instant:
// the fields of a Host, and more.
type NIC struct {
	Host
	// Drain is the rate at which the stack takes frames, in bit/s; 0: at once.
	Drain      unit.Rate                    `json:"drain_bps"`
	Priorities [unit.Priorities]NICPriority `json:"priorities"`
	// InHost are frames lost inside the host: before they reached the wire, or after
	// the NIC had received them.
	InHost HostLoss `json:"lost_in_host"`
	// OnArrival are frames that the fabric delivered and the NIC lost.
	OnArrival ArrivalLoss `json:"lost_on_arrival"`
	// WireDrops are frames that came by the wire and were dropped, by reason, StackDrops those
	// of programs.
	WireDrops  map[string]uint64 `json:"wire_drops,omitempty"`
	StackDrops map[string]uint64 `json:"stack_drops,omitempty"`
	// Stack is the statistics of the interface for programs.
	Stack link.Stats `json:"stack"`
}

// NICPriority is a priority of a NIC.
type NICPriority struct {
	Sent      uint64 `json:"sent"`     // frames, to the wire
	Received  uint64 `json:"received"` // frames, to the stack
	Paused    bool   `json:"paused"`
	Pause     Pause  `json:"pause"` // of the send queue
	Send      Queue  `json:"send_queue"`
	Receive   Group  `json:"receive_buffer"` // of lossless priorities
	PauseSent uint64 `json:"pause_sent"`     // without refreshes
}

// HostLoss is frames lost in a host, by place.
type HostLoss struct {
	// SendQueue: the queue of the frame's priority was full, because programs do not wait
	// while it is paused.
	SendQueue uint64 `json:"send_queue"`
	// Device: the kernel's queue to the NIC was full.
	Device uint64 `json:"device_queue"`
	// Sockets: the receiving socket's buffer was full.
	Sockets uint64 `json:"sockets"`
	Other   uint64 `json:"other"`
}

// Sum is the total.
func (l HostLoss) Sum() uint64 { return l.SendQueue + l.Device + l.Sockets + l.Other }

// ArrivalLoss is frames lost at the NIC's end of the wire. Lossy frames are lost when
// they come faster than the stack takes them.
type ArrivalLoss struct {
	Lossless uint64 `json:"lossless"` // the buffer was full, or a link was down
	Lossy    uint64 `json:"lossy"`
	Ring     uint64 `json:"ring"` // the process read them too late
}

// TakeNIC takes a snapshot of n. links are the statistics of its two links, sockets is
// how many datagrams were lost at sockets.
func TakeNIC(n *nic.NIC, links []link.Stats, sockets uint64) NIC {
	c, wire, stack := n.Config(), n.Counters(nic.Wire), n.Counters(nic.Stack)
	out := NIC{
		Host:  Host{Name: c.Name, ID: uint16(c.ID), Sent: []host.Sent{}, Received: []host.Received{}, Counters: n.HostCounters(), Link: links[nic.Wire]},
		Drain: n.Drain(), Stack: links[nic.Stack],
	}
	for priority := range unit.Priority(unit.Priorities) {
		k := &out.Priorities[priority]
		k.Sent, k.Received = wire.TxFrames[priority], stack.TxFrames[priority]
		k.Paused, k.Pause = n.QueuePaused(nic.Wire, priority), takePause(n.Switch, nic.Wire, priority)
		k.PauseSent = wire.TxPause[priority]
		q := n.Queue(nic.Wire, priority)
		k.Send = Queue{Bytes: q.Bytes(), Watermark: q.Watermark()}
		k.Receive.Bytes, k.Receive.Headroom = n.MMU().Bytes(nic.Wire, priority)
		k.Receive.Watermark, k.Receive.HeadroomWatermark = n.MMU().Watermark(nic.Wire, priority)
	}
	full := stack.Drops[dataplane.DropStack] + stack.Drops[dataplane.DropLossyQueue]
	out.InHost = HostLoss{SendQueue: full, Device: out.Stack.Drops, Sockets: sockets, Other: out.Stack.Truncated}
	for r := dataplane.NoReason; !r.Odd(); r++ {
		out.InHost.Other += stack.Drops[r]
	}
	out.InHost.Other -= full
	out.Loss, out.LosslessLost = lossOf(wire), wire.LosslessLost+stack.LosslessLost
	for r, n := range stack.LostBy {
		out.add(dataplane.Reason(r).String(), n)
	}
	for priority, n := range stack.LostOf {
		out.LostOf[priority] += n
	}
	port := c.Ports[nic.Wire]
	out.NICs = []HostNIC{{
		Name: port.Name, Lossless: c.Buffer.Lossless.List(), PFC: pfcOf(port.PFCTxOff, port.PFCRxOff, port.PFCRxAll), Loss: out.Loss,
		NICState: host.NICState{
			Up: n.LinkUp(nic.Wire), Counters: out.Counters, Drain: n.Drain(),
			Carried: host.Carried{TxFrames: total(wire.TxFrames), TxBytes: total(wire.TxBytes), RxFrames: total(stack.TxFrames), RxBytes: total(stack.TxBytes)},
		},
		LLDP: takeLLDP(dataplane.LLDPOf(n.Switch, nic.Wire)), Link: out.Link,
	}}
	out.WireDrops, out.StackDrops = drops(wire, false), drops(stack, false)
	out.OnArrival = ArrivalLoss{Lossless: wire.LosslessLost, Lossy: wire.Drops[dataplane.DropLossyQueue], Ring: out.Link.Drops + out.Link.Truncated}
	return out
}
