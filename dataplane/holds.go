package dataplane

import (
	"softswitch/buffer"
	"softswitch/detect"
	"softswitch/internal/unit"
)

// Holds is bytes of a bucket in frames that wait in exactly these paused queues.
type Holds struct {
	Ports   unit.PortSet
	Class   unit.Priority
	Bytes   int
	Flooded bool // the frames were flooded: copies of them may wait or have left elsewhere
}

// HasFlooded reports whether flooded frames of a lossless class wait anywhere in
// the switch. If not, M(b, q) of the paused queues tells all that Holds tells.
func (s *Switch) HasFlooded() bool { return s.flooded > 0 }

// AppendHolds appends to hs the bytes of b that wait in paused queues, each frame
// once: M(b, q) counts a flooded frame in every queue that it waits in. It walks
// the paused queues.
func (s *Switch) AppendHolds(hs []Holds, b detect.Bucket) []Holds {
	var copies []copySet
	known := make(map[*buffer.Frame]int) // index in copies, by the frame that carries the bytes
	from := len(hs)
	for out := range s.ports {
		p := &s.ports[out]
		for set := p.paused & p.backlog & s.lossless; set != 0; set &= set - 1 {
			c, only := first(set), unit.PortSet(1)<<out
			for f := p.queues[c].Head(); f != nil; f = f.Next() {
				switch i, again := known[f.Orig()]; {
				case f.In != b.Port || f.InClass != b.Class:
				case !f.Flooded:
					hs = addHold(hs, from, Holds{only, c, f.Len, false})
				case again:
					copies[i].ports |= only
				default:
					known[f.Orig()] = len(copies)
					copies = append(copies, copySet{only, c, f.Len})
				}
			}
		}
	}
	for _, f := range copies {
		hs = addHold(hs, from, Holds{f.ports, f.class, f.bytes, true})
	}
	return hs
}

// copySet is a flooded frame and the paused queues that its copies wait in.
type copySet struct {
	ports unit.PortSet
	class unit.Priority
	bytes int
}

// addHold adds h to the one of hs[from:] that is like it, or appends it.
func addHold(hs []Holds, from int, h Holds) []Holds {
	for i := range hs[from:] {
		k := &hs[from+i]
		if k.Ports == h.Ports && k.Class == h.Class && k.Flooded == h.Flooded {
			k.Bytes += h.Bytes
			return hs
		}
	}
	return append(hs, h)
}
