package dataplane

import (
	"softswitch/detect"
	"softswitch/event"
	"softswitch/unit"
)

// The rules of the strong edge. A priority group that is XOFF waits for a queue that is paused
// and holds more than XON of its bytes: an edge of the graph in which a deadlock is a
// cycle. Whatever changes one of the three logs what becomes of the edge; the oracle
// reads nothing else.

// eachHeld calls fn for every paused queue in which b holds bytes.
func (s *Switch) eachHeld(b detect.PG, fn func(q detect.Queue, held int)) {
	// By port and priority, lowest first: the same log in every run.
	for out := range s.ports {
		for set := s.ports[out].paused; set != 0; set &= set - 1 {
			q := detect.Queue{Port: unit.Port(out), Priority: set.First()}
			if held := s.mmu.Held(b.Port, b.Priority, q.Port, q.Priority); held > 0 {
				fn(q, held)
			}
		}
	}
}

// eachWaiting calls fn for every priority group that holds bytes in q and is XOFF, or any if all.
func (s *Switch) eachWaiting(q detect.Queue, all bool, fn func(b detect.PG, held int)) {
	for in := range s.ports {
		for set := s.lossless; set != 0; set &= set - 1 {
			b := detect.PG{Port: unit.Port(in), Priority: set.First()}
			if on, _ := s.mmu.XOFF(b.Port, b.Priority); !on && !all {
				continue
			}
			if held := s.mmu.Held(b.Port, b.Priority, q.Port, q.Priority); held > 0 {
				fn(b, held)
			}
		}
	}
}

// edge logs what became of the edge from b, which is XOFF, to q, which is paused: b held before bytes
// there and holds held now, and resumed at was bytes or fewer. gone says that one of them is XOFF or
// paused no more, and there is no edge. before is 0 where the edge begins with the bytes that are
// there (pausePG, startPause). Where groups share a pool, XON changes with what others hold:
// there the log has facts only, and the oracle computes the edges.
func (s *Switch) edge(b detect.PG, q detect.Queue, before, held, was int, gone bool) {
	xon := s.mmu.XON(b.Port, b.Priority)
	strong, stays := before > was && !s.mmu.Shares(), held > xon && !gone && !s.mmu.Shares()
	e := event.Event{Port: b.Port, Priority: b.Priority, Out: q.Port, OutPriority: q.Priority, Bytes: int32(before), Limit: int32(xon)}
	// Weak first, with the bytes that made it strong.
	if strong && !stays {
		e.Type = event.StrongRemoved
		s.event(e)
	}
	if gone {
		return
	}
	e.Type, e.Bytes = event.Held, int32(held)
	s.event(e)
	if stays && !strong {
		e.Type = event.StrongCreated
		s.event(e)
	}
}

// edgeBegins is edge for one that begins with the bytes that are there.
func (s *Switch) edgeBegins(b detect.PG, q detect.Queue, held int) {
	s.edge(b, q, 0, held, s.mmu.XON(b.Port, b.Priority), false)
}

// edgeEnds is edge for one that ends.
func (s *Switch) edgeEnds(b detect.PG, q detect.Queue, held int) {
	s.edge(b, q, held, held, s.mmu.XON(b.Port, b.Priority), true)
}

// heldMoved logs that bytes of b were queued in q, which is paused, or left it.
func (s *Switch) heldMoved(b detect.PG, q detect.Queue, before, held int) {
	if on, _ := s.mmu.XOFF(b.Port, b.Priority); on || s.mmu.Shares() {
		s.edge(b, q, before, held, s.mmu.XON(b.Port, b.Priority), false)
	}
}

// eventHeadrooms logs what changed in the headrooms of priority groups, if they share a pool. It is
// called at the end of whatever changes the accounts: an entry for each priority group that moved.
func (s *Switch) eventHeadrooms() {
	if s.mmu.HasMoved() {
		s.logHeadrooms()
	}
}

func (s *Switch) logHeadrooms() {
	for {
		in, priority, outside, headroom, ok := s.mmu.Moved()
		if !ok {
			return
		}
		s.event(event.Event{Type: event.Headroom, Port: in, Priority: priority, Bytes: int32(headroom), Limit: int32(outside)})
	}
}
