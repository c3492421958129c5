package dataplane

import (
	"softswitch/buffer"
	"softswitch/detect"
	"softswitch/event"
	"softswitch/unit"
)

// What a system may do to its switch in addition to detecting (detect.Control, which says what
// each action promises). Its policers are in police.go, its lossy turns in turns.go. The frames
// that are dropped here count as dropped on purpose (DropResponse), not as lost.

// acted is what actions have changed at a port. The sets are of its queues, by priority: ignore
// honours no pauses; lossy and contained also charge frames to nobody; flush and discard drop
// what is there and what comes; restrict and force permit only frames of one priority group to leave,
// force in spite of a pause. discard also applies to what comes in by the port; avoid and turns
// apply only to that.
type acted struct {
	ignore, lossy   unit.PrioritySet
	contained       unit.PrioritySet // see storm.go
	flush, discard  unit.PrioritySet
	restrict, force unit.PrioritySet
	only            [unit.Priorities]detect.PG // of a restricted queue
	forced          [unit.Priorities]detect.PG // of a forced queue
	credit          [unit.Priorities]int       // bytes of a forced queue, above 0
	avoid           unit.PortSet               // ports by which what comes in here must not leave
	turns           []turn                     // of what comes in here, that are lossy
}

// ignoring is the priorities in which pauses are not honoured. What drops a queue's frames or makes
// it lossy implies it (detect.Control).
func (m *acted) ignoring() unit.PrioritySet { return m.ignore | m.dropping() | m.lossyQueues() }

// lossyQueues is the priorities whose queue is lossy: pauses are not honoured, and its frames are
// charged to nobody.
func (m *acted) lossyQueues() unit.PrioritySet { return m.lossy | m.contained }

// dropping is the priorities in which all that is for the queue is dropped.
func (m *acted) dropping() unit.PrioritySet { return m.flush | m.discard }

// linkDown ends the actions that are about frames that wait here, and returns the priorities whose
// queue was restricted. Nothing waits here any more, so a restriction and an allowance are about
// nothing. All other actions last until they are taken back.
func (m *acted) linkDown() (restricted unit.PrioritySet) {
	restricted, m.restrict, m.force = m.restrict, 0, 0
	return restricted
}

// spend takes a frame that left off the credit of a forced queue, if it left in spite
// of a pause. n is what the frame is charged, the unit of the credit. The last frame leaves
// whole, and may overdraw it.
func (m *acted) spend(c unit.Priority, paused unit.PrioritySet, n int) {
	if !(m.force & paused).Has(c) {
		return
	}
	if m.credit[c] -= n; m.credit[c] <= 0 {
		m.force &^= 1 << c
	}
}

var (
	noPG    = detect.PG{Port: unit.NoPort}
	noQueue = detect.Queue{Port: unit.NoPort}
)

// note logs an action; a priority group or a queue with unit.NoPort is none.
func (s *Switch) note(m detect.Action, b detect.PG, q detect.Queue, n int) {
	s.event(event.Event{Type: event.Acted, Action: m, Port: b.Port, Priority: b.Priority, Out: q.Port, OutPriority: q.Priority, Bytes: int32(n)})
}

// Refuse logs that an action was not taken.
func (a actions) Refuse(why detect.Refusal, b detect.PG, q detect.Queue) {
	a.s.event(event.Event{Type: event.Refused, Refusal: why, Port: b.Port, Priority: b.Priority, Out: q.Port, OutPriority: q.Priority})
}

// Drop drops frames of b that wait in q until b resumes.
func (a actions) Drop(b detect.PG, q detect.Queue) (bytes int) {
	s := a.s
	for {
		// Asked after each frame: its release may have been the one that resumes b. Frames of a
		// lossy turn release nothing: where no others are left, none is dropped.
		if on, _ := s.mmu.XOFF(b.Port, b.Priority); !on || s.mmu.Held(b.Port, b.Priority, q.Port, q.Priority) == 0 {
			break
		}
		f := s.ports[q.Port].queues[q.Priority].PopOf(b.Port, b.Priority)
		// Those that are in between go too, since order is by age, and are not in bytes.
		if f.Orig().Charged {
			bytes += s.mmu.Charge(f.Len)
		}
		s.dropQueued(q, f)
	}
	if bytes > 0 {
		s.note(detect.ActionDrop, b, q, bytes)
		s.ready.Add(q.Port)
	}
	return bytes
}

// Force permits frames of b to leave q in spite of its pause.
func (a actions) Force(b detect.PG, q detect.Queue, bytes int) {
	s := a.s
	m := &s.ports[q.Port].acted
	// An allowance is for the active pause: without one, frames leave anyway, and it is not kept
	// for the next.
	if bytes <= 0 || !s.ports[q.Port].paused.Has(q.Priority) {
		// Not logged where the allowance is spent or the pause has ended: that ended it.
		if m.force.Has(q.Priority) {
			m.force &^= 1 << q.Priority
			s.note(detect.ActionUnforce, m.forced[q.Priority], q, 0)
		}
		return
	}
	m.force.Add(q.Priority)
	m.forced[q.Priority], m.credit[q.Priority] = b, bytes
	s.ready.Add(q.Port)
	s.note(detect.ActionForce, b, q, bytes)
}

// Ignore permits q to send in spite of pauses.
func (a actions) Ignore(q detect.Queue, on bool) {
	a.toggle(&a.s.ports[q.Port].acted.ignore, q, on, detect.ActionIgnore, detect.ActionHonour, 0)
}

// Lossy makes q lossy.
func (a actions) Lossy(q detect.Queue, on bool) {
	a.toggle(&a.s.ports[q.Port].acted.lossy, q, on, detect.ActionLossy, detect.ActionHonour, 0)
}

// toggle puts the priority of q into set, a part of acted.ignoring, or takes it out. It reports whether it
// is in it by this call; n goes with the action that begins.
func (a actions) toggle(set *unit.PrioritySet, q detect.Queue, on bool, begin, end detect.Action, n int) (began bool) {
	s := a.s
	switch {
	case set.Has(q.Priority) == on:
		return false
	case !on:
		*set &^= 1 << q.Priority
		s.note(end, noPG, q, 0)
		return false
	}
	// The action is logged before the pause ends by it, so that the log has the reason first.
	set.Add(q.Priority)
	s.note(begin, noPG, q, n)
	s.unpause(q)
	return true
}

// unpause ends the active pause at q.
func (s *Switch) unpause(q detect.Queue) {
	if s.ports[q.Port].paused.Has(q.Priority) {
		s.endPause(q.Port, q.Priority, event.Resumed)
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

func (a actions) dropAll(set *unit.PrioritySet, q detect.Queue, on bool, m detect.Action) {
	queue := &a.s.ports[q.Port].queues[q.Priority]
	// First the priority, so that nothing is queued again by what follows. Then the pause, so that
	// popped logs no edges of a queue that is no longer paused. The event has the bytes that are
	// about to go.
	if !a.toggle(set, q, on, m, detect.ActionAdmit, queue.Bytes()) {
		return
	}
	for queue.Head() != nil {
		a.s.dropQueued(q, queue.Pop())
	}
}

// dropQueued drops a frame that was taken from q. First out of M, then out of the priority group: no
// priority group holds less than what waits of it.
func (s *Switch) dropQueued(q detect.Queue, f *buffer.Frame) {
	s.ports[q.Port].count.TxDropped[q.Priority]++
	s.drop(s.popped(q.Port, q.Priority, f), DropResponse)
}

// withoutDropping are the ports of outs where f, about to be flooded, is not dropped. The copies for
// the others are not made, and each counts like a frame that is dropped on its way to a queue.
func (s *Switch) withoutDropping(f *buffer.Frame, outs unit.PortSet) unit.PortSet {
	for rest := outs; !rest.Empty(); rest.Pop() {
		if p := rest.First(); s.ports[p].acted.dropping().Has(f.OutPriority) {
			s.ports[p].count.TxDropped[f.OutPriority]++
			s.countDrop(f, DropResponse)
			outs.Remove(p)
		}
	}
	return outs
}

// Restrict permits only frames of b to leave q.
func (a actions) Restrict(b detect.PG, q detect.Queue, on bool) {
	s := a.s
	m := &s.ports[q.Port].acted
	// Another priority group is a change, and is logged.
	if m.restrict.Has(q.Priority) == on && (!on || m.only[q.Priority] == b) {
		return
	}
	if !on {
		m.restrict &^= 1 << q.Priority
		s.ready.Add(q.Port)
		s.note(detect.ActionFree, noPG, q, 0)
		return
	}
	m.restrict.Add(q.Priority)
	m.only[q.Priority] = b
	s.ready.Add(q.Port)
	s.note(detect.ActionRestrict, b, q, 0)
}

// Extra raises b's thresholds.
func (a actions) Extra(b detect.PG, bytes int) bool {
	s := a.s
	if s.mmu.Extra(b.Port, b.Priority) == bytes {
		return true
	}
	// Read before the thresholds move: edges are judged by the old XON and the new one.
	on, _ := s.mmu.XOFF(b.Port, b.Priority)
	was := s.mmu.XON(b.Port, b.Priority)
	resumes, ok := s.mmu.SetExtra(b.Port, b.Priority, bytes)
	if !ok {
		return false
	}
	m := detect.ActionExtra
	if bytes == 0 {
		m = detect.ActionExtraOver
	}
	s.note(m, b, noQueue, bytes)
	// A priority group that is not XOFF has no edges. One that resumes by this ends them here, where the
	// old XON is known; resumePG knows only the new one.
	if on {
		s.eachHeld(b, func(q detect.Queue, held int) { s.edge(b, q, held, held, was, resumes) })
	}
	if resumes {
		s.resumePG(b.Port, b.Priority)
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
	a.s.note(m, detect.PG{Port: in}, detect.Queue{Port: out}, 0)
}
