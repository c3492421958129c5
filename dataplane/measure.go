package dataplane

import (
	"cmp"
	"slices"

	"softswitch/buffer"
	"softswitch/detect"
	"softswitch/event"
	"softswitch/unit"
)

// This file is what a system may do to its switch besides detecting (detect.Control),
// and the facts that it needs for it.

// measured is what measures have changed of a port.
type measured struct {
	ignore, discard, lossy unit.ClassSet
	restrict, force        unit.ClassSet
	only                   [unit.Priorities]detect.Bucket // of a restricted queue
	forced                 [unit.Priorities]detect.Bucket // of a forced queue
	credit                 [unit.Priorities]int           // bytes of a forced queue, above 0
	avoid                  unit.PortSet                   // by which what comes in here is not to leave
}

// deaf are the classes in which pauses are not honoured.
func (m *measured) deaf() unit.ClassSet { return m.ignore | m.discard | m.lossy }

// linkDown ends the measures that are about frames that wait here.
func (m *measured) linkDown() { m.restrict, m.force = 0, 0 }

// spend takes a frame that left off the credit of a forced queue, if it left in spite
// of a pause.
func (m *measured) spend(c unit.Priority, paused unit.ClassSet, n int) {
	if !(m.force & paused).Has(c) {
		return
	}
	if m.credit[c] -= n; m.credit[c] <= 0 {
		m.force &^= 1 << c
	}
}

// of is whose frames alone may leave the queue of class c, if some is true.
func (p *port) of(c unit.Priority) (b detect.Bucket, some bool) {
	m := &p.measured
	switch {
	case (m.force & p.paused).Has(c):
		return m.forced[c], true
	case m.restrict.Has(c):
		return m.only[c], true
	}
	return b, false
}

// sendable are the classes of which a frame may leave.
func (p *port) sendable() unit.ClassSet {
	m := &p.measured
	set := p.backlog &^ (p.paused &^ m.force)
	for odd := set & (m.restrict | m.force); odd != 0; odd &= odd - 1 {
		if c := first(odd); p.next(c) == nil {
			set &^= 1 << c
		}
	}
	return set
}

// next is the frame of class c that leaves next, nil if none may.
func (p *port) next(c unit.Priority) *buffer.Frame {
	f := p.queues[c].Head()
	if b, some := p.of(c); some {
		for f != nil && (f.In != b.Port || f.InClass != b.Class) {
			f = f.Next()
		}
	}
	return f
}

// withoutDiscarding are the ports of outs where frames of class c are not discarded.
func (s *Switch) withoutDiscarding(outs unit.PortSet, c unit.Priority) unit.PortSet {
	for rest := outs; rest != 0; rest &= rest - 1 {
		if p := rest.First(); s.ports[p].measured.discard.Has(c) {
			s.ports[p].count.TxDropped[c]++
			outs.Remove(p)
		}
	}
	return outs
}

// heldFell logs that bytes of b left q although it is paused.
func (s *Switch) heldFell(b detect.Bucket, q detect.Queue, held, before int) {
	if on, _ := s.mmu.XOFF(b.Port, b.Class); !on {
		return
	}
	if held <= s.mmu.XON(b.Port, b.Class) {
		s.eventWeak(b, q, before)
	}
	s.eventHeld(b, q, held, before)
}

// note logs a measure; a bucket or a queue with unit.NoPort is none.
func (s *Switch) note(m detect.Measure, b detect.Bucket, q detect.Queue, n int) {
	s.event(event.Event{Type: event.Measured, Measure: m, Port: b.Port, Class: b.Class, Out: q.Port, OutClass: q.Class, Bytes: int32(n)})
}

var (
	noBucket = detect.Bucket{Port: unit.NoPort}
	noQueue  = detect.Queue{Port: unit.NoPort}
)

// Refuse logs that a measure was not taken.
func (s *Switch) Refuse(why detect.Refusal, b detect.Bucket, q detect.Queue) {
	s.event(event.Event{Type: event.Refused, Refusal: why, Port: b.Port, Class: b.Class, Out: q.Port, OutClass: q.Class})
}

// Drop drops frames of b that wait in q until b resumes.
func (s *Switch) Drop(b detect.Bucket, q detect.Queue) (bytes int) {
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
		s.note(detect.MeasureDrop, b, q, bytes)
		s.ready.Add(q.Port)
	}
	return bytes
}

// Force lets frames of b leave q in spite of its pause.
func (s *Switch) Force(b detect.Bucket, q detect.Queue, bytes int) {
	m := &s.ports[q.Port].measured
	if bytes <= 0 || !s.ports[q.Port].paused.Has(q.Class) {
		m.force &^= 1 << q.Class
		return
	}
	m.force.Add(q.Class)
	m.forced[q.Class], m.credit[q.Class] = b, bytes
	s.ready.Add(q.Port)
	s.note(detect.MeasureForce, b, q, bytes)
}

// Ignore lets q send in spite of pauses.
func (s *Switch) Ignore(q detect.Queue, on bool) {
	s.deafen(&s.ports[q.Port].measured.ignore, q, on, detect.MeasureIgnore)
}

// Lossy makes q lossy.
func (s *Switch) Lossy(q detect.Queue, on bool) {
	s.deafen(&s.ports[q.Port].measured.lossy, q, on, detect.MeasureLossy)
}

func (s *Switch) deafen(set *unit.ClassSet, q detect.Queue, on bool, m detect.Measure) {
	if set.Has(q.Class) == on {
		return
	}
	if !on {
		*set &^= 1 << q.Class
		s.note(detect.MeasureHonour, noBucket, q, 0)
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

// Discard drops what waits in q, what would, and what comes in beside it.
func (s *Switch) Discard(q detect.Queue, on bool) {
	p := &s.ports[q.Port]
	if p.measured.discard.Has(q.Class) == on {
		return
	}
	if !on {
		p.measured.discard &^= 1 << q.Class
		s.note(detect.MeasureAdmit, noBucket, q, 0)
		return
	}
	bytes := p.queues[q.Class].Bytes()
	p.measured.discard.Add(q.Class)
	s.note(detect.MeasureDiscard, noBucket, q, bytes)
	s.unpause(q)
	for p.queues[q.Class].Head() != nil {
		s.dropQueued(q, p.queues[q.Class].Pop())
	}
}

// dropQueued drops a frame that was taken from q.
func (s *Switch) dropQueued(q detect.Queue, f *buffer.Frame) {
	s.ports[q.Port].count.TxDropped[q.Class]++
	s.drop(s.popped(q.Port, q.Class, f), DropResponse)
}

// Restrict lets frames of b alone leave q.
func (s *Switch) Restrict(b detect.Bucket, q detect.Queue, on bool) {
	m := &s.ports[q.Port].measured
	if m.restrict.Has(q.Class) == on && (!on || m.only[q.Class] == b) {
		return
	}
	if !on {
		m.restrict &^= 1 << q.Class
		s.ready.Add(q.Port)
		s.note(detect.MeasureFree, noBucket, q, 0)
		return
	}
	m.restrict.Add(q.Class)
	m.only[q.Class] = b
	s.ready.Add(q.Port)
	s.note(detect.MeasureRestrict, b, q, 0)
}

// Loan raises b's thresholds.
func (s *Switch) Loan(b detect.Bucket, bytes int) bool {
	if s.mmu.Lent(b.Port, b.Class) == bytes {
		return true
	}
	on, _ := s.mmu.XOFF(b.Port, b.Class)
	was := s.mmu.XON(b.Port, b.Class)
	resumes, ok := s.mmu.Lend(b.Port, b.Class, bytes)
	if !ok {
		return false
	}
	m := detect.MeasureLend
	if bytes == 0 {
		m = detect.MeasureReturn
	}
	s.note(m, b, noQueue, bytes)
	if on {
		s.eachHeld(b, func(q detect.Queue, held int) { s.eventLimit(b, q, held, was, resumes) })
	}
	if resumes {
		s.resumeBucket(b.Port, b.Class)
	}
	return true
}

// eventLimit logs that the XON threshold of b, which holds bytes in the paused queue
// q, was another; resumes says that b ceases to be XOFF by it.
func (s *Switch) eventLimit(b detect.Bucket, q detect.Queue, held, was int, resumes bool) {
	now := s.mmu.XON(b.Port, b.Class)
	e := event.Event{Port: b.Port, Class: b.Class, Out: q.Port, OutClass: q.Class, Bytes: int32(held), Limit: int32(now)}
	if held > was && (resumes || held <= now) {
		e.Type = event.StrongRemoved
		s.event(e)
	}
	if resumes {
		return
	}
	e.Type = event.Held
	s.event(e)
	if held <= was && held > now {
		e.Type = event.StrongCreated
		s.event(e)
	}
}

// Avoid keeps what comes in at in from leaving by out.
func (s *Switch) Avoid(in, out unit.Port, on bool) {
	avoid := &s.ports[in].measured.avoid
	if avoid.Has(out) == on {
		return
	}
	m := detect.MeasureAvoid
	if on {
		avoid.Add(out)
	} else {
		avoid.Remove(out)
		m = detect.MeasureAllow
	}
	s.note(m, detect.Bucket{Port: in}, detect.Queue{Port: out}, 0)
}

// Charged is A(b) in bytes.
func (s *Switch) Charged(b detect.Bucket) int {
	n, _ := s.mmu.Bytes(b.Port, b.Class)
	return n
}

// Backlog is the bytes that wait in q.
func (s *Switch) Backlog(q detect.Queue) int { return s.ports[q.Port].queues[q.Class].Bytes() }

// Left is the bytes that have left q.
func (s *Switch) Left(q detect.Queue) uint64 { return s.ports[q.Port].count.TxBytes[q.Class] }

// PausesSeen is the number of pause frames that came for q.
func (s *Switch) PausesSeen(q detect.Queue) uint64 { return s.ports[q.Port].count.RxPause[q.Class] }

// Frames is what q's port and class have counted.
func (s *Switch) Frames(q detect.Queue) detect.Frames {
	k := &s.ports[q.Port].count
	return detect.Frames{Tx: k.TxFrames[q.Class], TxDropped: k.TxDropped[q.Class], Rx: k.RxFrames[q.Class], RxDropped: k.RxDropped[q.Class]}
}

// Rate is a port's rate.
func (s *Switch) Rate(p unit.Port) unit.Rate { return s.ports[p].cfg.Rate }

// MTU is the longest frame.
func (s *Switch) MTU() int { return s.cfg.mtu() }

// Flows appends the flows that wait in q.
func (s *Switch) Flows(dst []detect.Flow, q detect.Queue) []detect.Flow {
	from := len(dst)
	for f := s.ports[q.Port].queues[q.Class].Head(); f != nil; f = f.Next() {
		if isIPv4(f) {
			dst = append(dst, detect.Flow{ID: detect.FlowID(f.Info.Hash), In: f.In, Bytes: f.Len})
		}
	}
	flows := mergeFlows(dst[from:])
	slices.SortFunc(flows, func(a, b detect.Flow) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), compareFlows(a, b)) })
	return dst[:from+len(flows)]
}

func compareFlows(a, b detect.Flow) int {
	return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.In, b.In))
}

// mergeFlows adds up what is of the same flow, in place. It sorts, since a queue may
// hold as many flows as frames.
func mergeFlows(flows []detect.Flow) []detect.Flow {
	slices.SortFunc(flows, compareFlows)
	n := 0
	for _, f := range flows {
		if n > 0 && compareFlows(flows[n-1], f) == 0 {
			flows[n-1].Bytes += f.Bytes
			continue
		}
		flows[n] = f
		n++
	}
	return flows[:n]
}

// Reroutable reports whether all frames of in that wait in q have another way.
func (s *Switch) Reroutable(in unit.Port, q detect.Queue) bool {
	some := false
	for f := s.ports[q.Port].queues[q.Class].Head(); f != nil; f = f.Next() {
		if in != unit.NoPort && f.In != in {
			continue
		}
		e := s.fib.lookup(f.Info.DstIP)
		if !s.routed || e == nil || e.subnet >= 0 {
			return false
		}
		ways := e.active
		ways.Remove(q.Port)
		ways.Remove(f.In)
		if ways == 0 {
			return false
		}
		some = true
	}
	return some
}
