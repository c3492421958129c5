package shpiner

import (
	"slices"

	"softswitch/detect"
	"softswitch/unit"
)

// send is what a suspected queue sends in every period. One without an SPUID draws one
// if its switch could resolve a loop there.
func (s *loopBreaker) send(k *perPriority[lbQueue], q detect.Queue) {
	e := &k.queues[q.Port]
	e.passed = 0
	if e.spuid == 0 && s.hasAlternative(e, q) {
		e.spuid, e.own = s.random.ID(), true
	}
	if e.spuid != 0 {
		s.sendElection(q, e.spuid)
	}
}

func (s *loopBreaker) sendElection(q detect.Queue, spuid uint32) {
	s.act.SendFrame(q.Port, AppendElection(s.frame[:0], Election{Priority: q.Priority, SPUID: spuid}))
}

// hasAlternative reports whether whatever in q came from another switch could leave by
// another port, and there is some: then the loop's flows, whose ingress is not known
// yet, are among it. What cannot is logged, once in a suspicion.
func (s *loopBreaker) hasAlternative(e *lbQueue, q detect.Queue) (some bool) {
	for in := range unit.Port(s.view.Ports()) {
		b := detect.PG{Port: in, Priority: q.Priority}
		if s.view.FacesHost(in) || s.view.Held(b, q) == 0 {
			continue
		}
		if !s.view.Reroutable(in, q) {
			if !e.refused {
				e.refused = true
				s.act.Refuse(detect.RefusedNoAlternative, b, q)
			}
			return false
		}
		some = true
	}
	return some
}

// Frame takes an SPUID that came in at in. One from a host is refused: hosts send none.
func (s *loopBreaker) Frame(now unit.Time, in unit.Port, payload []byte) (ok bool) {
	m, err := ParseElection(payload)
	if err != nil || s.view.FacesHost(in) || slices.Contains(s.over[:], m.SPUID) {
		return false
	}
	k := s.priorities[m.Priority]
	if k == nil {
		return false
	}
	for set := k.suspects; !set.Empty(); set.Pop() {
		q := detect.Queue{Port: set.First(), Priority: m.Priority}
		if e := &k.queues[q.Port]; e.own && e.spuid == m.SPUID {
			s.resolve(now, e, in, q)
			return true
		}
	}
	for set := k.suspects; !set.Empty(); set.Pop() {
		s.receive(&k.queues[set.First()], detect.Queue{Port: set.First(), Priority: m.Priority}, m.SPUID)
	}
	return true
}

// receive makes q, which is suspected, adopt or pass on an SPUID that is none of the
// switch's own. q ignores one that is greater than its own.
func (s *loopBreaker) receive(e *lbQueue, q detect.Queue, spuid uint32) {
	switch {
	case e.spuid != 0 && spuid < e.spuid:
		s.retire(e)
		e.spuid, e.own = spuid, false
	case e.spuid == 0 && (e.passed == 0 || spuid < e.passed):
		e.passed = spuid
	default:
		return
	}
	s.sendElection(q, spuid)
}

// resolve: q's own SPUID came home at in, so the switch is the master of the loop that
// goes through in and q.
func (s *loopBreaker) resolve(now unit.Time, e *lbQueue, in unit.Port, q detect.Queue) {
	b := detect.PG{Port: in, Priority: q.Priority}
	if !e.from.Has(in) {
		e.from.Add(in)
		s.act.Report(detect.Finding{PG: b, Queue: q, Label: s.label(q, e.spuid)})
		s.reroute(e, b, q)
	}
	if !e.stuck.Has(in) && now >= e.next {
		e.next = now + s.monitor.Period()
		s.push(e, b, q)
	}
}

// reroute keeps the loop's flows from q from now on. If they have no other way, nothing
// is pushed either: the loop would lock again.
func (s *loopBreaker) reroute(e *lbQueue, b detect.PG, q detect.Queue) {
	if !s.view.Reroutable(b.Port, q) {
		e.stuck.Add(b.Port)
		s.act.Refuse(detect.RefusedNoAlternative, b, q)
		return
	}
	s.act.Avoid(b.Port, q.Port, true)
}

// push sends frames of b out of q in spite of the pause, an MTU more each time. They do
// not end the suspicion of q; the last one may go over the allowance.
func (s *loopBreaker) push(e *lbQueue, b detect.PG, q detect.Queue) {
	e.steps++
	bytes := e.steps * s.view.MTU()
	s.act.Force(b, q, bytes)
	s.monitor.Discount(q, bytes+s.view.MTU())
}
