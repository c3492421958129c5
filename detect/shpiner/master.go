package shpiner

import (
	"softswitch/detect"
	"softswitch/unit"
)

// resolve: q's own SPUID came home at in, so the switch is the master of the loop that
// goes through in and q.
func (s *loopBreaker) resolve(now unit.Time, e *lbQueue, in unit.Port, q detect.Queue) {
	b := detect.Bucket{Port: in, Class: q.Class}
	if !e.from.Has(in) {
		e.from.Add(in)
		s.act.Report(detect.Finding{Bucket: b, Queue: q, Label: s.label(q, e.spuid)})
		s.reroute(e, b, q)
	}
	if !e.stuck.Has(in) && now >= e.next {
		e.next = now + s.monitor.Period()
		s.push(e, b, q)
	}
}

// reroute keeps the loop's flows from q from now on. If they have no other way, nothing
// is pushed either: the loop would lock again.
func (s *loopBreaker) reroute(e *lbQueue, b detect.Bucket, q detect.Queue) {
	if !s.view.Reroutable(b.Port, q) {
		e.stuck.Add(b.Port)
		s.act.Refuse(detect.RefusedNoAlternative, b, q)
		return
	}
	s.act.Avoid(b.Port, q.Port, true)
}

// push sends frames of b out of q in spite of the pause, an MTU more each time. They do
// not end the suspicion of q; the last one may go over the allowance.
func (s *loopBreaker) push(e *lbQueue, b detect.Bucket, q detect.Queue) {
	e.steps++
	bytes := e.steps * s.view.MTU()
	s.act.Force(b, q, bytes)
	s.monitor.Discount(q, bytes+s.view.MTU())
}
