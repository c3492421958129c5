package dataplane

import (
	"slices"

	"softswitch/buffer"
	"softswitch/detect"
)

// A lossy turn: the frames of one priority group that leave by one queue are charged to nobody,
// so that they keep no upstream waiting. They go the same way in the same order as
// before, honour pauses, and are dropped when too many of them wait.

// turn is a lossy turn of what comes in by a port.
type turn struct {
	pg      detect.PG
	queue   detect.Queue
	bytes   int    // of its frames that wait in the queue and are charged to nobody
	charge  int    // what these would be charged
	pressed uint64 // frames that made more of it wait than its priority group's XON threshold, or found no room
}

// turnOf is the lossy turn of b and q, nil if it is not lossy.
func (s *Switch) turnOf(b detect.PG, q detect.Queue) *turn {
	turns := s.ports[b.Port].acted.turns
	for i := range turns {
		if turns[i].pg == b && turns[i].queue == q {
			return &turns[i]
		}
	}
	return nil
}

// turnOfFrame is the lossy turn that f takes if it leaves by q.
func (s *Switch) turnOfFrame(f *buffer.Frame, q detect.Queue) *turn {
	return s.turnOf(detect.PG{Port: f.In, Priority: f.InPriority}, q)
}

// LossyTurn makes the turn of b and q lossy.
func (a actions) LossyTurn(b detect.PG, q detect.Queue, on bool) {
	s := a.s
	if (s.turnOf(b, q) != nil) == on {
		return
	}
	m := &s.ports[b.Port].acted
	if !on {
		m.turns = slices.DeleteFunc(m.turns, func(t turn) bool { return t.pg == b && t.queue == q })
		s.note(detect.ActionLosslessTurn, b, q, 0)
		return
	}
	// Frames that were charged to nobody when the turn was lossy before, or its queue was, may
	// wait still: popped will take them off.
	t := turn{pg: b, queue: q}
	for f := s.ports[q.Port].queues[q.Priority].Head(); f != nil; f = f.Next() {
		if f.In == b.Port && f.InPriority == b.Priority && !f.Orig().Charged {
			t.add(f.Len, s.mmu.Charge(f.Len))
		}
	}
	m.turns = append(m.turns, t)
	s.note(detect.ActionLossyTurn, b, q, 0)
}

// add counts one more frame of n bytes, which would be charged this much; both are negative for
// one less.
func (t *turn) add(n, charge int) { t.bytes, t.charge = t.bytes+n, t.charge+charge }

// press notes a frame of n bytes that is about to be queued, and reports whether there is
// room for it: as much may wait uncharged as in a lossy queue. It counts the frames that
// would keep the priority group XOFF if they were charged: a turn that is no longer pressed may
// become lossless again.
func (s *Switch) press(t *turn, n int) (ok bool) {
	b := t.pg
	ok = s.mmu.AdmitLossy(t.bytes, n)
	held := s.mmu.Held(b.Port, b.Priority, t.queue.Port, t.queue.Priority)
	if !ok || held+t.charge+s.mmu.Charge(n) > s.mmu.XON(b.Port, b.Priority) {
		t.pressed++
	}
	return ok
}

// isLossy reports whether a frame that came in to priority group b is charged to nobody if it
// leaves by q, which is of a lossless priority: the queue is lossy, or the turn.
func (s *Switch) isLossy(b detect.PG, q detect.Queue) bool {
	return s.ports[q.Port].acted.lossyQueues().Has(q.Priority) || s.turnOf(b, q) != nil
}
