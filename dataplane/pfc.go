package dataplane

import (
	"slices"

	"softswitch/buffer"
	"softswitch/internal/lists"
	"softswitch/unit"
)

// What a port does with PFC. A frame is lossless if its priority is lossless at the port by which it
// came in; by which port it leaves makes no difference. A pause that a port does not honour is
// counted (OddPFCPriority) and changes nothing, so neither detectors nor the oracle hear of it.
//
// A pause of a priority that is lossy at the port, which a port honours with PFCRxAll, stops the queue. The lossy
// frames in it are charged to nobody and dropped when it is full, so that they pass the waiting on to
// nobody. Lossless frames wait in it as in any other: they came in by a port where the priority is lossless.

// setPFC prepares p, of which cfg is set, for these lossless priorities.
func (p *port) setPFC(lossless unit.PrioritySet) {
	p.lossless, p.sends, p.honours = lossless, lossless, lossless
	if p.cfg.PFCTxOff || p.cfg.FacesStack {
		p.sends = 0
	}
	if p.cfg.GFC != nil {
		p.gentle = newGentle(*p.cfg.GFC, p.cfg.Rate, p.sends)
		p.sends = 0
	}
	switch {
	case p.cfg.PFCRxOff:
		p.honours = 0
	case p.cfg.PFCRxAll:
		p.honours = 1<<unit.Priorities - 1
	}
}

// isLossless reports whether f is lossless: the priority in which it came in is lossless at its port.
func (s *Switch) isLossless(f *buffer.Frame) bool {
	return s.ports[f.In].lossless.Has(f.Info.Priority)
}

// classesOf are the classes of ports, by port; nil if none has its own.
func classesOf(ports []PortConfig) []*Classes {
	if !slices.ContainsFunc(ports, func(p PortConfig) bool { return p.Classes != nil }) {
		return nil
	}
	return lists.Map(ports, func(p PortConfig) *Classes { return p.Classes })
}

// classesAt is how what comes in by a port gets its priority.
func (s *Switch) classesAt(in unit.Port) *Classes {
	if s.classes != nil && s.classes[in] != nil {
		return s.classes[in]
	}
	return &s.cfg.Classes
}
