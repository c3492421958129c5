package host

import (
	"softswitch/buffer"
	"softswitch/event"
	"softswitch/link/lldp"
	"softswitch/unit"
)

// LLDP is whether and how a host tells the switch of itself.
type LLDP struct {
	Interval unit.Time // between two frames; 0: it does not, and counts what comes as Other
	Port     string    // the name of its interface
}

// newLLDP makes a host's agent, nil without LLDP. It says which priorities are lossless, and
// nothing of how they share the link: its flows take turns.
func newLLDP(c *Config) *lldp.Agent {
	if c.LLDP.Interval == 0 {
		return nil
	}
	return lldp.New(lldp.Config{
		Interval: c.LLDP.Interval, System: c.Name, Port: c.LLDP.Port, Chassis: c.MAC, MAC: c.MAC,
		Capabilities: lldp.Station, DCBX: lldp.DCBX{PFC: lldp.NewPFC(c.Lossless)},
	})
}

// LLDP is what the host says and hears by LLDP, nil if it does not speak it, to read between calls.
func (h *Host) LLDP() *lldp.Agent { return h.lldp }

// linkLLDP tells the agent of the link's state.
func (h *Host) linkLLDP() {
	if h.up {
		h.lldp.Up(h.now)
		return
	}
	h.lldp.Down()
	h.tellLLDP()
}

// receiveLLDP takes a frame of LLDP.
func (h *Host) receiveLLDP(frame []byte) {
	if h.lldp.Receive(h.now, frame) != nil {
		h.count.Bad++
	}
	h.ready = true // there may be a frame to send soon
	h.tellLLDP()
}

// transmitLLDP forgets who was not heard for too long, lends the frame that is due, and returns
// when there is something to do again.
func (h *Host) transmitLLDP(fs []*buffer.Frame) (n int, next unit.Time) {
	h.lldp.Tick(h.now)
	h.tellLLDP()
	if len(fs) > 0 && h.lldp.Due(h.now) && h.wire.Ready(h.now) {
		if f := h.pool.Get(); f != nil {
			f.Control, f.Data = true, h.lldp.Append(h.now, f.Data[:0])
			f.Len = len(f.Data)
			h.wire.Send(h.cfg.Rate.FrameTime(f.Len))
			fs[0] = f
			n = 1
		}
	}
	next = h.lldp.Next()
	if next <= h.now {
		next = max(h.now+1, h.wire.At())
	}
	if next == unit.Never {
		return n, next
	}
	return n, unit.NextTick(next, h.cfg.Granularity)
}

// tellLLDP logs what has changed of the far end.
func (h *Host) tellLLDP() {
	h.lldp.Changes(func(c lldp.Change) { h.event(event.OfLLDP(0, c)) })
}
