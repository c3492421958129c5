package shpiner

import (
	"slices"

	"softswitch/detect"
	"softswitch/unit"
)

// release does what the hop at m.Index has to do for frames that come in at in, and sends
// m on to the next hop. ok is false if m was seen before, or that hop is not here.
func (s *deadlockBreaker) release(now unit.Time, k *perPriority[dbQueue], in unit.Port, m Path) (ok bool) {
	if h := m.Hops[m.Index]; slices.Contains(s.seen[:], m.Nonce) || !owns(k, h) {
		return false
	}
	s.seen[s.seenNext] = m.Nonce
	s.seenNext = (s.seenNext + 1) % dbReplaysMax

	b, q := detect.PG{Port: in, Priority: m.Priority}, detect.Queue{Port: m.Hops[m.Index].Egress, Priority: m.Priority}
	if !s.makeRoom(now, k, b, q) {
		return true
	}
	if m.Index++; m.Index < len(m.Hops) {
		s.send(q.Port, m)
	}
	return true
}

// makeRoom permits only frames of b to leave q, and gives b room for one more than makes
// it resume. It reports whether the loop through b and q has its release now, by this
// call or another before.
func (s *deadlockBreaker) makeRoom(now unit.Time, k *perPriority[dbQueue], b detect.PG, q detect.Queue) bool {
	r := &s.released[q.Priority]
	switch {
	case s.isReleased(b, q):
		return true
	case r.queues.Has(q.Port), r.borrowers.Has(b.Port):
		s.act.Refuse(detect.RefusedHeld, b, q)
		return false
	}
	room := max(s.view.Charged(b)-s.view.XON(b), 0) + s.view.MTU()
	s.act.Restrict(b, q, true)
	if !s.act.Extra(b, room) {
		s.act.Restrict(b, q, false)
		s.act.Refuse(detect.RefusedNoReserve, b, q)
		return false
	}
	r.queues.Add(q.Port)
	r.borrowers.Add(b.Port)
	e := &k.queues[q.Port]
	e.ingress, e.until = b.Port, now+releaseHops*s.view.Hop()
	s.ends = min(s.ends, e.until)
	return true
}

// isReleased reports whether a release is active for frames of b in q.
func (s *deadlockBreaker) isReleased(b detect.PG, q detect.Queue) bool {
	return s.released[q.Priority].queues.Has(q.Port) && s.priorities[q.Priority].queues[q.Port].ingress == b.Port
}

// endReleases takes back the releases whose time is over.
func (s *deadlockBreaker) endReleases(now unit.Time) {
	s.ends = unit.Never
	for c, k := range s.priorities.lossless() {
		r := &s.released[c]
		for set := r.queues; !set.Empty(); set.Pop() {
			q := detect.Queue{Port: set.First(), Priority: c}
			if e := &k.queues[q.Port]; e.until <= now {
				r.queues.Remove(q.Port)
				r.borrowers.Remove(e.ingress)
				s.act.Restrict(detect.PG{Port: e.ingress, Priority: q.Priority}, q, false)
				s.act.Extra(detect.PG{Port: e.ingress, Priority: q.Priority}, 0)
			} else {
				s.ends = min(s.ends, e.until)
			}
		}
	}
}
