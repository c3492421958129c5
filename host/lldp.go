package host

import (
	"softswitch/buffer"
	"softswitch/event"
	"softswitch/link/lldp"
	"softswitch/unit"
)

// usualRoCE is the priority of the code point that frames of RoCEv2 usually have, 26: see DSCP.
const usualRoCE = 3

// newLLDP makes the agent of a host's NIC, nil without LLDP. It says which priorities are lossless, and
// nothing of how they share the link: its flows take turns.
func newLLDP(c *Config, n *NIC) *lldp.Agent {
	if c.LLDP == 0 {
		return nil
	}
	return lldp.New(lldp.Config{
		Interval: c.LLDP, System: c.Name, Port: n.Name, Chassis: c.MAC, MAC: n.MAC,
		Capabilities: lldp.Station, DCBX: lldp.DCBX{PFC: lldp.NewPFC(n.Lossless), RoCE: lldp.NewRoCE(usualRoCE, n.Lossless)},
	})
}

// LLDP is what a NIC of the host says and hears by LLDP, nil if it does not speak it, to read between calls.
func (h *Host) LLDP(p unit.Port) *lldp.Agent { return h.nics[p].lldp }

// linkLLDP tells the agent of the link's state.
func (h *Host) linkLLDP(n *nic) {
	if n.up {
		n.lldp.Up(h.now)
		return
	}
	n.lldp.Down()
	h.tellLLDP(n)
}

// receiveLLDP takes a frame of LLDP.
func (h *Host) receiveLLDP(n *nic, frame []byte) {
	if n.lldp.Receive(h.now, frame) != nil {
		n.count.Bad++
	}
	h.wake(n) // there may be a frame to send soon
	h.tellLLDP(n)
}

// transmitLLDP forgets who was not heard for too long, lends the frame that is due, and returns
// when there is something to do again.
func (h *Host) transmitLLDP(n *nic, fs []*buffer.Frame) (k int, next unit.Time) {
	n.lldp.Tick(h.now)
	h.tellLLDP(n)
	if len(fs) > 0 && n.lldp.Due(h.now) && n.wire.Ready(h.now) {
		if f := h.pool.Get(); f != nil {
			f.Control, f.Data = true, n.lldp.Append(h.now, f.Data[:0])
			f.Len = len(f.Data)
			n.wire.Send(n.Rate.FrameTime(f.Len))
			fs[0] = f
			k = 1
		}
	}
	next = n.lldp.Next()
	if next <= h.now {
		next = max(h.now+1, n.wire.At())
	}
	if next == unit.Never {
		return k, next
	}
	return k, unit.NextTick(next, h.cfg.Granularity)
}

// tellLLDP logs what has changed of the far end.
func (h *Host) tellLLDP(n *nic) {
	n.lldp.Changes(func(c lldp.Change) { h.event(event.OfLLDP(n.n, c)) })
}
