package shpiner

import (
	"slices"

	"softswitch/detect"
	"softswitch/unit"
)

// begin sends a path that begins with q.
func (s *deadlockBreaker) begin(k *perPriority[dbQueue], q detect.Queue) {
	s.hops[0] = Hop{SPUID: k.queues[q.Port].spuid, Egress: q.Port}
	s.send(q.Port, Path{Phase: Detection, Priority: q.Priority, Nonce: s.random.ID(), Index: 1, Hops: s.hops[:1]})
}

func (s *deadlockBreaker) send(out unit.Port, m Path) {
	s.act.SendFrame(out, AppendPath(s.frame[:0], m))
}

// Frame takes a path that came in at in. One from a host is refused: hosts send none.
func (s *deadlockBreaker) Frame(now unit.Time, in unit.Port, payload []byte) (ok bool) {
	m, err := ParsePath(payload, s.hops[:0])
	if err != nil || s.view.FacesHost(in) {
		return false
	}
	k := s.priorities[m.Priority]
	switch {
	case k == nil:
		return false
	case m.Phase == Release:
		return s.release(now, k, in, m)
	}
	if at := slices.IndexFunc(m.Hops, func(h Hop) bool { return owns(k, h) }); at >= 0 {
		return s.found(now, k, in, m, at)
	}
	s.extend(k, in, m)
	return true
}

// owns reports whether h is a queue of the switch in priority k, by the SPUID of its last suspicion.
func owns(k *perPriority[dbQueue], h Hop) bool {
	return int(h.Egress) < len(k.queues) && k.queues[h.Egress].spuid == h.SPUID
}

// extend adds one of the suspected queues that hold frames of the port by which the
// path came, and sends it on. If there is none, the path ends.
func (s *deadlockBreaker) extend(k *perPriority[dbQueue], in unit.Port, m Path) {
	b := detect.PG{Port: in, Priority: m.Priority}
	ways := k.suspects
	for set := ways; !set.Empty(); set.Pop() {
		if p := set.First(); s.view.Held(b, detect.Queue{Port: p, Priority: m.Priority}) == 0 {
			ways.Remove(p)
		}
	}
	if ways.Empty() {
		return
	}
	out := ways.Nth(s.random.Below(ways.Len()))
	if len(m.Hops) == MaxHops {
		s.act.Refuse(detect.RefusedPathFull, b, detect.Queue{Port: out, Priority: m.Priority})
		return
	}
	m.Hops = append(m.Hops, Hop{SPUID: k.queues[out].spuid, Egress: out})
	m.Index = len(m.Hops)
	s.send(out, m)
}

// found: the path came back to its hop at, a queue of this switch. If the loop is
// closed here too, which needs frames of in in that queue, and the queue is suspected,
// the second lap begins; unless another switch of the loop was faster, and its lap has
// been here.
func (s *deadlockBreaker) found(now unit.Time, k *perPriority[dbQueue], in unit.Port, m Path, at int) (ok bool) {
	b, q := detect.PG{Port: in, Priority: m.Priority}, detect.Queue{Port: m.Hops[at].Egress, Priority: m.Priority}
	if !k.suspects.Has(q.Port) || s.view.Held(b, q) == 0 || s.isReleased(b, q) {
		return true
	}
	if e := &k.queues[q.Port]; !e.reported {
		e.reported = true
		s.act.Report(detect.Finding{PG: b, Queue: q, Label: s.label(q, e.spuid)})
	}
	m.Phase, m.Index = Release, at
	return s.release(now, k, in, m)
}
