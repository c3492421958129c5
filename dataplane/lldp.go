package dataplane

import (
	"softswitch/buffer"
	"softswitch/event"
	"softswitch/link/lldp"
	"softswitch/unit"
)

// This file is what a port tells its far end of itself by LLDP, and hears of it: package lldp has the
// protocol. A frame takes the wire like one of data, so that a pause waits no longer than for the
// longest of those. It is charged to nobody, waits in no queue, and no pause stops it.

// LLDP is whether and how a switch speaks LLDP.
type LLDP struct {
	Interval unit.Time // between two frames; 0: it does not, and drops what comes
	// Station says that it is a NIC: it neither bridges nor routes, and says nothing of how its
	// priorities share the link.
	Station bool
}

// dscpRoCE is the code point that frames of RoCEv2 usually have, as those of hosts.
const dscpRoCE = 26

// setLLDP makes the agent of port n. A port that leads to a kernel's stack has none.
func (s *Switch) setLLDP(n unit.Port) {
	p, c := &s.ports[n], &s.cfg
	if c.LLDP.Interval == 0 || p.cfg.FacesStack {
		return
	}
	says := lldp.Config{
		Interval: c.LLDP.Interval, System: c.Name, Port: p.cfg.Name, Chassis: c.Ports[0].MAC, MAC: p.cfg.MAC,
		Capabilities: lldp.Bridge, DCBX: lldp.DCBX{PFC: lldp.NewPFC(p.lossless)},
	}
	switch {
	case c.LLDP.Station:
		says.Capabilities = lldp.Station
	case s.routed:
		says.Capabilities |= lldp.Router
	}
	if !c.LLDP.Station {
		var weights [unit.Priorities]int
		for q := range unit.Priority(unit.Priorities) {
			weights[q] = p.cfg.Scheduler.Weight(q)
		}
		says.DCBX.ETS = lldp.NewETS(weights)
		// A far end that is willing is asked to send as this end does.
		says.DCBX.Recommends = says.DCBX.ETS
	}
	// Where the tag gives the priority, the map of code points says nothing of it.
	if m := s.classesAt(n); !m.TrustPCP {
		says.DCBX.RoCE = lldp.NewRoCE(m.DSCP[dscpRoCE], p.lossless)
	}
	p.lldp = lldp.New(says)
}

// nameLLDP tells the agents the addresses of the ports, which SetMAC may have changed.
func (s *Switch) nameLLDP() {
	for i := range s.ports {
		if a := s.ports[i].lldp; a != nil {
			a.SetMAC(s.own[0], s.own[i])
		}
	}
}

// LLDPOf is what port n of a switch says and hears by LLDP, nil if it does not speak it, to read
// between calls.
func LLDPOf(s *Switch, n unit.Port) *lldp.Agent { return s.ports[n].lldp }

// receiveLLDP takes a frame of LLDP. None is ever forwarded.
func (s *Switch) receiveLLDP(in unit.Port, f *buffer.Frame) {
	p := &s.ports[in]
	if p.lldp == nil {
		s.drop(f, DropReservedGroup)
		return
	}
	switch p.lldp.Receive(s.now, f.Data) {
	case nil:
		s.free(f)
	case lldp.ErrMany:
		s.drop(f, DropControlBudget)
	case lldp.ErrFull:
		s.drop(f, DropLLDPNeighbours)
	default:
		s.drop(f, DropLLDP)
	}
	s.ready.Add(in) // there may be a frame to send soon
	s.tellLLDP(in)
}

// transmitLLDP forgets who was not heard for too long, lends the frame of LLDP that is due, and says when
// there is something to do again.
func (s *Switch) transmitLLDP(out unit.Port, fs []*buffer.Frame) (n int, next unit.Time) {
	p := &s.ports[out]
	p.lldp.Tick(s.now)
	s.tellLLDP(out)
	if len(fs) > 0 && p.lldp.Due(s.now) && p.wire.Ready(s.now) {
		f := s.pool.Get()
		if f == nil {
			panic("dataplane: no slot for a frame of LLDP: the reserve is gone")
		}
		f.Control, f.Data = true, p.lldp.Append(s.now, f.Data[:0])
		f.Len = len(f.Data)
		p.wire.Send(p.cfg.Rate.FrameTime(f.Len))
		fs[0], n = f, 1
	}
	if p.lldp.Due(s.now) { // the wire is busy, or there was no room
		return n, max(s.now, unit.NextTick(p.wire.At(), s.cfg.Granularity))
	}
	return n, p.lldp.Next()
}

// tellLLDP logs what has changed of the far end of a port.
func (s *Switch) tellLLDP(n unit.Port) {
	s.ports[n].lldp.Changes(func(c lldp.Change) { s.event(event.OfLLDP(n, c)) })
}
