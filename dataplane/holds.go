package dataplane

import (
	"softswitch/detect"
	"softswitch/unit"
)

// Holds is bytes of a priority group in frames that wait in exactly these paused queues.
type Holds struct {
	Ports    unit.PortSet
	Priority unit.Priority
	Bytes    int
	Flooded  bool // the frames were flooded: copies of them may wait or have left elsewhere
}

// HasFlooded reports whether flooded frames of a lossless priority wait anywhere in
// the switch. If not, M(b, q) of the paused queues tells all that Holds tells.
func (s *Switch) HasFlooded() bool { return s.flooded > 0 }

// AppendHolds appends to hs the bytes of b that wait in paused queues, each frame
// once: M(b, q) counts a flooded frame in every queue that it waits in. It walks
// the paused queues. A flooded frame counts at the lowest port of the paused queues that it waits
// in: copies share the priority in which they leave, so all of them are queues of one priority.
func (s *Switch) AppendHolds(hs []Holds, b detect.PG) []Holds {
	from := len(hs)
	for c := range unit.Priority(unit.Priorities) {
		paused := s.pausedPorts(c)
		for rest := paused; !rest.Empty(); rest.Pop() {
			out := rest.First()
			for f := s.ports[out].queues[c].Head(); f != nil; f = f.Next() {
				if f.In != b.Port || f.InPriority != b.Priority || !f.Orig().Charged {
					continue
				}
				in := out.Set()
				if f.Flooded {
					// Without the queues that send: there the frame is on its way.
					in = f.Orig().Waiting.And(paused)
				}
				if in.First() == out { // else it was met at a lower port
					hs = addHold(hs, from, Holds{in, c, s.mmu.Charge(f.Len), f.Flooded})
				}
			}
		}
	}
	return hs
}

// pausedPorts are the ports whose queue of lossless priority c is paused.
func (s *Switch) pausedPorts(c unit.Priority) (ports unit.PortSet) {
	for out := range s.ports {
		if s.lossless.Has(c) && s.ports[out].paused.Has(c) {
			ports.Add(unit.Port(out))
		}
	}
	return ports
}

// addHold adds h to the one of hs[from:] that is like it, or appends it.
func addHold(hs []Holds, from int, h Holds) []Holds {
	for i := range hs[from:] {
		k := &hs[from+i]
		if k.Ports == h.Ports && k.Priority == h.Priority && k.Flooded == h.Flooded {
			k.Bytes += h.Bytes
			return hs
		}
	}
	return append(hs, h)
}
