package dataplane

import (
	"softswitch/buffer"
	"softswitch/detect"
	"softswitch/event"
	"softswitch/unit"
)

// What a system may do to its switch besides detecting (detect.Control). Its policers are
// in police.go, its lossy
// turns in turns.go.

// acted is what actions have changed of a port.
type acted struct {
	ignore, lossy   unit.ClassSet
	contained       unit.ClassSet // see storm.go
	flush, discard  unit.ClassSet
	restrict, force unit.ClassSet
	only            [unit.Priorities]detect.Bucket // of a restricted queue
	forced          [unit.Priorities]detect.Bucket // of a forced queue
	credit          [unit.Priorities]int           // bytes of a forced queue, above 0
	avoid           unit.PortSet                   // by which what comes in here is not to leave
	turns           []turn                         // of what comes in here, that are lossy
}

// ignoring is the classes in which pauses are not honoured.
func (m *acted) ignoring() unit.ClassSet { return m.ignore | m.dropping() | m.unheeded() }

// unheeded is the classes whose queue is lossy: pauses are not honoured, and its frames are
// charged to nobody.
func (m *acted) unheeded() unit.ClassSet { return m.lossy | m.contained }

// dropping is the classes in which all that is for the queue is dropped.
func (m *acted) dropping() unit.ClassSet { return m.flush | m.discard }

// linkDown ends the actions that are about frames that wait here, and returns the classes whose
// queue was restricted.
func (m *acted) linkDown() (restricted unit.ClassSet) {
	restricted, m.restrict, m.force = m.restrict, 0, 0
	return restricted
}

// spend takes a frame that left off the credit of a forced queue, if it left in spite
// of a pause.
func (m *acted) spend(c unit.Priority, paused unit.ClassSet, n int) {
	if !(m.force & paused).Has(c) {
		return
	}
	if m.credit[c] -= n; m.credit[c] <= 0 {
		m.force &^= 1 << c
	}
}

var (
	noBucket = detect.Bucket{Port: unit.NoPort}
	noQueue  = detect.Queue{Port: unit.NoPort}
)

// note logs an action; a bucket or a queue with unit.NoPort is none.
func (s *Switch) note(m detect.Action, b detect.Bucket, q detect.Queue, n int) {
	s.event(event.Event{Type: event.Acted, Action: m, Port: b.Port, Class: b.Class, Out: q.Port, OutClass: q.Class, Bytes: int32(n)})
}

// Refuse logs that an action was not taken.
func (a actions) Refuse(why detect.Refusal, b detect.Bucket, q detect.Queue) {
	a.s.event(event.Event{Type: event.Refused, Refusal: why, Port: b.Port, Class: b.Class, Out: q.Port, OutClass: q.Class})
}

// Drop drops frames of b that wait in q until b resumes.
func (a actions) Drop(b detect.Bucket, q detect.Queue) (bytes int) {
	s := a.s
	for {
		if on, _ := s.mmu.XOFF(b.Port, b.Class); !on {
			break
		}
		f := s.ports[q.Port].queues[q.Class].PopOf(b.Port, b.Class)
		if f == nil {
			break
		}
		if f.Orig().Charged {
			bytes += f.Len
		}
		s.dropQueued(q, f)
	}
	if bytes > 0 {
		s.note(detect.ActionDrop, b, q, bytes)
		s.ready.Add(q.Port)
	}
	return bytes
}

// Force lets frames of b leave q in spite of its pause.
func (a actions) Force(b detect.Bucket, q detect.Queue, bytes int) {
	s := a.s
	m := &s.ports[q.Port].acted
	if bytes <= 0 || !s.ports[q.Port].paused.Has(q.Class) {
		m.force &^= 1 << q.Class
		return
	}
	m.force.Add(q.Class)
	m.forced[q.Class], m.credit[q.Class] = b, bytes
	s.ready.Add(q.Port)
	s.note(detect.ActionForce, b, q, bytes)
}

// Ignore lets q send in spite of pauses.
func (a actions) Ignore(q detect.Queue, on bool) {
	a.stopHonouring(&a.s.ports[q.Port].acted.ignore, q, on, detect.ActionIgnore)
}

// Lossy makes q lossy.
func (a actions) Lossy(q detect.Queue, on bool) {
	a.stopHonouring(&a.s.ports[q.Port].acted.lossy, q, on, detect.ActionLossy)
}

func (a actions) stopHonouring(set *unit.ClassSet, q detect.Queue, on bool, m detect.Action) {
	s := a.s
	if set.Has(q.Class) == on {
		return
	}
	if !on {
		*set &^= 1 << q.Class
		s.note(detect.ActionHonour, noBucket, q, 0)
		return
	}
	set.Add(q.Class)
	s.note(m, noBucket, q, 0)
	s.unpause(q)
}

// unpause ends the pause in force at q.
func (s *Switch) unpause(q detect.Queue) {
	if s.ports[q.Port].paused.Has(q.Class) {
		s.endPause(q.Port, q.Class, event.Resumed)
	}
}

// Flush drops what waits in q, and what would.
func (a actions) Flush(q detect.Queue, on bool) {
	a.dropAll(&a.s.ports[q.Port].acted.flush, q, on, detect.ActionFlush)
}

// Discard drops what waits in q, what would, and what comes in beside it.
func (a actions) Discard(q detect.Queue, on bool) {
	a.dropAll(&a.s.ports[q.Port].acted.discard, q, on, detect.ActionDiscard)
}

func (a actions) dropAll(set *unit.ClassSet, q detect.Queue, on bool, m detect.Action) {
	s := a.s
	if set.Has(q.Class) == on {
		return
	}
	if !on {
		*set &^= 1 << q.Class
		s.note(detect.ActionAdmit, noBucket, q, 0)
		return
	}
	queue := &s.ports[q.Port].queues[q.Class]
	set.Add(q.Class)
	s.note(m, noBucket, q, queue.Bytes())
	s.unpause(q)
	for queue.Head() != nil {
		s.dropQueued(q, queue.Pop())
	}
}

// dropQueued drops a frame that was taken from q.
func (s *Switch) dropQueued(q detect.Queue, f *buffer.Frame) {
	s.ports[q.Port].count.TxDropped[q.Class]++
	s.drop(s.popped(q.Port, q.Class, f), DropResponse)
}

// withoutDropping are the ports of outs where not all frames of class c are dropped.
func (s *Switch) withoutDropping(outs unit.PortSet, c unit.Priority) unit.PortSet {
	for rest := outs; rest != 0; rest &= rest - 1 {
		if p := rest.First(); s.ports[p].acted.dropping().Has(c) {
			s.ports[p].count.TxDropped[c]++
			outs.Remove(p)
		}
	}
	return outs
}

// Restrict lets frames of b alone leave q.
func (a actions) Restrict(b detect.Bucket, q detect.Queue, on bool) {
	s := a.s
	m := &s.ports[q.Port].acted
	if m.restrict.Has(q.Class) == on && (!on || m.only[q.Class] == b) {
		return
	}
	if !on {
		m.restrict &^= 1 << q.Class
		s.ready.Add(q.Port)
		s.note(detect.ActionFree, noBucket, q, 0)
		return
	}
	m.restrict.Add(q.Class)
	m.only[q.Class] = b
	s.ready.Add(q.Port)
	s.note(detect.ActionRestrict, b, q, 0)
}

// Extra raises b's thresholds.
func (a actions) Extra(b detect.Bucket, bytes int) bool {
	s := a.s
	if s.mmu.Extra(b.Port, b.Class) == bytes {
		return true
	}
	on, _ := s.mmu.XOFF(b.Port, b.Class)
	was := s.mmu.XON(b.Port, b.Class)
	resumes, ok := s.mmu.SetExtra(b.Port, b.Class, bytes)
	if !ok {
		return false
	}
	m := detect.ActionExtra
	if bytes == 0 {
		m = detect.ActionExtraOver
	}
	s.note(m, b, noQueue, bytes)
	if on {
		s.eachHeld(b, func(q detect.Queue, held int) { s.eventThreshold(b, q, held, was, resumes) })
	}
	if resumes {
		s.resumeBucket(b.Port, b.Class)
	}
	s.eventHeadrooms()
	return true
}

// Avoid keeps what comes in at in from leaving by out.
func (a actions) Avoid(in, out unit.Port, on bool) {
	avoid := &a.s.ports[in].acted.avoid
	if avoid.Has(out) == on {
		return
	}
	m := detect.ActionAvoid
	if on {
		avoid.Add(out)
	} else {
		avoid.Remove(out)
		m = detect.ActionAllow
	}
	a.s.note(m, detect.Bucket{Port: in}, detect.Queue{Port: out}, 0)
}
