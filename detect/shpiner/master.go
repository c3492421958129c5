package shpiner

import (
	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// resolve: q's own SPUID came home at in, so the switch is the master of the loop that
// goes through in and q.
func (s *loopBreaker) resolve(now unit.Time, e *lbQueue, in unit.Port, q detect.Queue) {
	b := detect.Bucket{Port: in, Class: q.Class}
	if !e.from.Has(in) {
		e.from.Add(in)
		s.act.Report(detect.Finding{Bucket: b, Queue: q, Label: s.label(e, q)})
		s.reroute(e, b, q)
	}
	if !e.stuck.Has(in) && now >= e.next {
		e.next = now + s.monitor.Period()
		s.push(e, b, q)
	}
}

// label is the master and its SPUID in the form in which findings are reported. The
// switch and its port name the queue; there is room only for the lower half of the SPUID.
func (s *loopBreaker) label(e *lbQueue, q detect.Queue) itsyhdr.TLV {
	return itsyhdr.TLV{
		Kind: itsyhdr.KindLabel, Class: q.Class,
		Initiator: unit.NodePort{Node: s.view.Self(), Port: q.Port}, Seq: uint16(e.spuid),
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
