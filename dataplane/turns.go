package dataplane

import (
	"slices"

	"softswitch/buffer"
	"softswitch/detect"
)

// A lossy turn: the frames of one bucket that leave by one queue are charged to nobody,
// so that they keep no upstream waiting. They go the same way in the same order as
// before, honour pauses, and are dropped when too many of them wait.

// turn is a lossy turn of what comes in by a port.
type turn struct {
	bucket  detect.Bucket
	queue   detect.Queue
	bytes   int    // of its frames that wait in the queue and are charged to nobody
	charge  int    // what these would be charged
	pressed uint64 // frames that made more of it wait than its bucket's XON threshold, or found no room
}

// turnOf is the lossy turn of b and q, nil if it is not lossy.
func (s *Switch) turnOf(b detect.Bucket, q detect.Queue) *turn {
	turns := s.ports[b.Port].acted.turns
	for i := range turns {
		if turns[i].bucket == b && turns[i].queue == q {
			return &turns[i]
		}
	}
	return nil
}

// turnOfFrame is the lossy turn that f takes if it leaves by q.
func (s *Switch) turnOfFrame(f *buffer.Frame, q detect.Queue) *turn {
	return s.turnOf(detect.Bucket{Port: f.In, Class: f.InClass}, q)
}

// LossyTurn makes the turn of b and q lossy.
func (a actions) LossyTurn(b detect.Bucket, q detect.Queue, on bool) {
	s := a.s
	if (s.turnOf(b, q) != nil) == on {
		return
	}
	m := &s.ports[b.Port].acted
	if !on {
		m.turns = slices.DeleteFunc(m.turns, func(t turn) bool { return t.bucket == b && t.queue == q })
		s.note(detect.ActionLosslessTurn, b, q, 0)
		return
	}
	// Frames that were charged to nobody when the turn was lossy before, or its queue was, may
	// wait still: popped will take them off.
	t := turn{bucket: b, queue: q}
	for f := s.ports[q.Port].queues[q.Class].Head(); f != nil; f = f.Next() {
		if f.In == b.Port && f.InClass == b.Class && !f.Orig().Charged {
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
// would keep the bucket XOFF if they were charged: a turn that is no longer pressed may
// become lossless again.
func (s *Switch) press(t *turn, n int) (ok bool) {
	b := t.bucket
	ok = s.mmu.AdmitLossy(t.bytes, n)
	held := s.mmu.Held(b.Port, b.Class, t.queue.Port, t.queue.Class)
	if !ok || held+t.charge+s.mmu.Charge(n) > s.mmu.XON(b.Port, b.Class) {
		t.pressed++
	}
	return ok
}

// isLossy reports whether a frame that came in to bucket b is charged to nobody if it
// leaves by q, which is of a lossless class: the queue is lossy, or the turn.
func (s *Switch) isLossy(b detect.Bucket, q detect.Queue) bool {
	return s.ports[q.Port].acted.unheeded().Has(q.Class) || s.turnOf(b, q) != nil
}
