package dataplane

import (
	"softswitch/detect"
	"softswitch/event"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// pausePG pauses the upstream of b, which a frame that was queued in cause made XOFF, or one that was refused
// while b waited in cause.
func (s *Switch) pausePG(b detect.PG, cause detect.Queue) {
	bytes, _ := s.mmu.Bytes(b.Port, b.Priority)
	_, period := s.mmu.XOFF(b.Port, b.Priority)
	// The order is that of facts: XOFF, then the edges that only a priority group which is XOFF has, then
	// the detector, whose label the pause frame will carry (buildPause asks for it later still).
	s.event(event.Event{Type: event.XOFF, Port: b.Port, Priority: b.Priority, Out: cause.Port, OutPriority: cause.Priority, Period: period, Bytes: int32(bytes), Limit: int32(s.mmu.XON(b.Port, b.Priority))})
	s.eachHeld(b, func(q detect.Queue, held int) { s.edgeBegins(b, q, held) })
	s.detector.XOFF(s.now, b, cause)
	s.sendPause(b.Port, b.Priority)
}

// resumePG resumes the upstream of a priority group that fell to its XON threshold.
func (s *Switch) resumePG(in unit.Port, priority unit.Priority) {
	// The priority group has no strong edge that could end here: no queue holds more of it than it has, and
	// that is no more than its XON threshold. The MMU has made it XON already: bytes are those that
	// are left, period is that of the XOFF that ends.
	bytes, _ := s.mmu.Bytes(in, priority)
	_, period := s.mmu.XOFF(in, priority)
	s.event(event.Event{Type: event.XON, Port: in, Priority: priority, Period: period, Bytes: int32(bytes), Limit: int32(s.mmu.XON(in, priority))})
	s.detector.XON(s.now, detect.PG{Port: in, Priority: priority})
	s.sendPause(in, priority)
}

// startPause starts a pause at q, or prolongs the active one. A pause of another period means that
// the resume between them was lost: it counts as a resume too. So does the first with a period
// where the active one has none, as a log tells a pause's period only where it begins. startPause
// counts in Pauses, not RxPause: the receiver of the frame has counted that, even where the pause
// is not honoured here.
func (s *Switch) startPause(q detect.Queue, until unit.Time, t itsyhdr.TLV, hasPeriod bool) {
	p := &s.ports[q.Port]
	// A host that is contained is watched for pauses all the same: see contain.
	if p.acted.contained.Has(q.Priority) {
		p.storms[q.Priority].heard = s.now
	}
	// Invariant: a queue that ignores pauses has no active one, so that no detector and no oracle
	// needs a special case for it. An action that begins to ignore ends the active pause
	// (unpause).
	if p.acted.ignoring().Has(q.Priority) {
		return
	}
	z := &p.pauses[q.Priority]
	if p.paused.Has(q.Priority) && hasPeriod && (!z.hasPeriod || z.period != t.Period) {
		s.endPause(q.Port, q.Priority, event.Resumed)
	}
	fresh := !p.paused.Has(q.Priority)
	if fresh {
		*z = pause{since: s.now, period: t.Period, hasPeriod: hasPeriod}
		p.storms[q.Priority].begins(s.now)
		p.paused.Add(q.Priority)
		p.waitEnds(s.now, q.Priority)
		p.count.Pauses[q.Priority]++
		s.event(event.Event{Type: event.Paused, Out: q.Port, OutPriority: q.Priority, Period: t.Period, HasPeriod: hasPeriod})
		// Every edge to this queue begins now. Where priority groups share a pool the log has those of
		// priority groups that are not XOFF too (event.Held).
		s.eachWaiting(q, s.mmu.Shares(), func(b detect.PG, held int) { s.edgeBegins(b, q, held) })
	} else if hasPeriod {
		s.event(event.Event{Type: event.Refreshed, Out: q.Port, OutPriority: q.Priority, Period: t.Period})
	}
	// The newest frame counts, also if its pause is the shorter one: the timer is set, not
	// prolonged.
	z.until = until
	s.ready.Add(q.Port)
	// Only a period: no label. What was said with an earlier frame is over.
	if t.Kind == itsyhdr.KindPeriod {
		t = itsyhdr.TLV{}
	}
	z.label = t
	// Lossy priorities are paused by 802.3x (receivePause8023) and where a port honours the pauses of all
	// (PFCRxAll). No detector knows of them.
	if s.lossless.Has(q.Priority) {
		s.detector.Pause(s.now, q, t, fresh)
	}
}

// endPause ends the active pause at (out, priority); how is Resumed or Expired. Preconditions: a
// pause is active there. Expired is counted by the callers whose timer ran out; a link that goes
// down logs the same event and counts none.
func (s *Switch) endPause(out unit.Port, priority unit.Priority, how event.Type) {
	p := &s.ports[out]
	q := detect.Queue{Port: out, Priority: priority}
	// Before the pause is taken away: the log ends the edges while their queue is still paused.
	s.eachWaiting(q, false, func(b detect.PG, held int) { s.edgeEnds(b, q, held) })
	p.paused &^= 1 << priority
	p.acted.force &^= 1 << priority // it was for this pause
	// PausedTime has the pauses that are over; a reader adds the active one (PausedSince).
	lasted := s.now - p.pauses[priority].since
	p.storms[priority].ends(s.now, lasted)
	p.count.PausedTime[priority] += lasted
	p.count.LastPause[priority] = LastPause{Start: p.pauses[priority].since, Time: lasted}
	s.event(event.Event{Type: how, Out: out, OutPriority: priority, Period: p.pauses[priority].period, HasPeriod: p.pauses[priority].hasPeriod})
	s.ready.Add(out)
	if s.lossless.Has(priority) {
		s.detector.Resume(s.now, q, how == event.Expired)
	}
}

// expire ends the pauses of a port that ran out, and returns when the next does.
func (s *Switch) expire(out unit.Port) (next unit.Time) {
	p := &s.ports[out]
	next = unit.Never
	for set := p.paused; set != 0; set &= set - 1 {
		c := set.First()
		if p.pauses[c].until <= s.now {
			p.count.Expired[c]++
			s.endPause(out, c, event.Expired)
			continue
		}
		next = min(next, p.pauses[c].until)
	}
	return next
}

// sendRefreshes makes the port repeat the pauses that are due.
func (s *Switch) sendRefreshes(in unit.Port) {
	p := &s.ports[in]
	// told, not XOFF: a priority group whose first pause has not left yet waits in the control queue, and
	// has nothing to repeat.
	for set := p.told; set != 0; set &= set - 1 {
		// One that waits for the wire already makes its port ready no more: a driver would come back at once.
		if c := set.First(); p.announced[c].refresh <= s.now && !p.control.pauses.Has(c) {
			s.sendPause(in, c)
		}
	}
}

// nextRefresh is when the next pause of the port is due to be repeated, apart from those
// already waiting to be sent.
func (s *Switch) nextRefresh(in unit.Port) unit.Time {
	p := &s.ports[in]
	next := unit.Never
	for set := p.told; set != 0; set &= set - 1 {
		if t := &p.announced[set.First()]; t.refresh > s.now {
			next = min(next, t.refresh)
		}
	}
	return next
}

// sendPause makes port in send a pause or resume frame for priority: which of them is decided when
// the frame leaves. So a reminder that waits is never stale, and two of them are one frame. A
// port that is down is told when it comes up (SetLink); a kernel's stack is told nothing, nor what a
// port without PFC for the priority leads to.
func (s *Switch) sendPause(in unit.Port, priority unit.Priority) {
	p := &s.ports[in]
	if !p.up || !p.sends.Has(priority) {
		return
	}
	p.control.pause(priority)
	s.urgent.Add(in)
	s.ready.Add(in)
}
