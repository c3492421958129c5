package dataplane

import (
	"softswitch/detect"
	"softswitch/event"
	"softswitch/unit"
)

// The rules of the strong edge. A bucket that is XOFF waits for a queue that is paused
// and holds more than XON of its bytes: an edge of the graph in which a deadlock is a
// cycle. Whatever changes one of the three logs what becomes of the edge; the oracle
// reads nothing else.

// eachHeld calls fn for every paused queue in which b holds bytes.
func (s *Switch) eachHeld(b detect.Bucket, fn func(q detect.Queue, held int)) {
	// By port and class, lowest first: the same log in every run.
	for out := range s.ports {
		for set := s.ports[out].paused; set != 0; set &= set - 1 {
			q := detect.Queue{Port: unit.Port(out), Class: set.First()}
			if held := s.mmu.Held(b.Port, b.Class, q.Port, q.Class); held > 0 {
				fn(q, held)
			}
		}
	}
}

// eachWaiting calls fn for every bucket that holds bytes in q and is XOFF, or any if all.
func (s *Switch) eachWaiting(q detect.Queue, all bool, fn func(b detect.Bucket, held int)) {
	for in := range s.ports {
		for set := s.lossless; set != 0; set &= set - 1 {
			b := detect.Bucket{Port: unit.Port(in), Class: set.First()}
			if on, _ := s.mmu.XOFF(b.Port, b.Class); !on && !all {
				continue
			}
			if held := s.mmu.Held(b.Port, b.Class, q.Port, q.Class); held > 0 {
				fn(b, held)
			}
		}
	}
}

// eventHeld logs that a bucket that is XOFF now holds bytes in a paused queue
// where it held before before, and that the edge became strong by it. Before is 0 where the edge
// begins with the bytes that are there (pauseBucket, startPause). Where groups share a pool, XON
// changes with what others hold: there the log has facts only, and the oracle computes the
// edges.
func (s *Switch) eventHeld(b detect.Bucket, q detect.Queue, held, before int) {
	xon := s.mmu.XON(b.Port, b.Class)
	e := event.Event{Port: b.Port, Class: b.Class, Out: q.Port, OutClass: q.Class, Bytes: int32(held), Limit: int32(xon)}
	e.Type = event.Held
	s.event(e)
	if held > xon && before <= xon && !s.mmu.Shares() {
		e.Type = event.StrongCreated
		s.event(e)
	}
}

// eventWeak logs that the edge from b to q, if it was strong, is no more.
func (s *Switch) eventWeak(b detect.Bucket, q detect.Queue, held int) {
	if xon := s.mmu.XON(b.Port, b.Class); held > xon && !s.mmu.Shares() {
		s.event(event.Event{Type: event.StrongRemoved, Port: b.Port, Class: b.Class, Out: q.Port, OutClass: q.Class, Bytes: int32(held), Limit: int32(xon)})
	}
}

// heldRose logs that bytes of b were queued in q, which is paused.
func (s *Switch) heldRose(b detect.Bucket, q detect.Queue, held, before int) {
	if on, _ := s.mmu.XOFF(b.Port, b.Class); on || s.mmu.Shares() {
		s.eventHeld(b, q, held, before)
	}
}

// heldFell logs that bytes of b left q, which is paused.
func (s *Switch) heldFell(b detect.Bucket, q detect.Queue, held, before int) {
	on, _ := s.mmu.XOFF(b.Port, b.Class)
	// Weak first, while the log has the bytes that made it strong.
	if on && held <= s.mmu.XON(b.Port, b.Class) {
		s.eventWeak(b, q, before)
	}
	if on || s.mmu.Shares() {
		s.eventHeld(b, q, held, before)
	}
}

// eventHeadrooms logs what changed in the headrooms of buckets, if they share a pool. It is
// called at the end of whatever changes the accounts: an entry for each bucket that moved.
func (s *Switch) eventHeadrooms() {
	if s.mmu.Shares() {
		s.logHeadrooms()
	}
}

func (s *Switch) logHeadrooms() {
	for {
		in, class, outside, headroom, ok := s.mmu.Moved()
		if !ok {
			return
		}
		s.event(event.Event{Type: event.Headroom, Port: in, Class: class, Bytes: int32(headroom), Limit: int32(outside)})
	}
}

// eventThreshold logs that the XON threshold of b, which holds bytes in the paused queue
// q, was another; resumes says that b ceases to be XOFF by it.
func (s *Switch) eventThreshold(b detect.Bucket, q detect.Queue, held, was int, resumes bool) {
	now := s.mmu.XON(b.Port, b.Class)
	e := event.Event{Port: b.Port, Class: b.Class, Out: q.Port, OutClass: q.Class, Bytes: int32(held), Limit: int32(now)}
	// It was strong by the old XON, and is not by the new one; a bucket that resumes has no edges
	// at all.
	if held > was && (resumes || held <= now) && !s.mmu.Shares() {
		e.Type = event.StrongRemoved
		s.event(e)
	}
	if resumes {
		return
	}
	e.Type = event.Held
	s.event(e)
	if held <= was && held > now && !s.mmu.Shares() {
		e.Type = event.StrongCreated
		s.event(e)
	}
}
