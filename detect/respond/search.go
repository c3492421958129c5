package respond

import (
	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// searches remembers the searches for a trigger that went by lately, and the ports by
// which they came; the oldest is forgotten first.
type searches struct {
	seen [searchesMax]struct {
		id   claimID
		from unit.Port // unit.NoPort: this switch began it
	}
	n int
}

// searchesMax is how many searches may be under way at a switch at once.
const searchesMax = 32

func (s *searches) add(id claimID, from unit.Port) {
	at := &s.seen[s.n%searchesMax]
	at.id, at.from = id, from
	s.n++
}

func (s *searches) find(id claimID) (from unit.Port, ok bool) {
	for i := range min(s.n, searchesMax) {
		if s.seen[i].id == id {
			return s.seen[i].from, true
		}
	}
	return unit.NoPort, false
}

// seek has the trigger of what bucket i has declared handled: here, or by the switch
// that has it. It is called again when nobody has answered.
func (r *responder) seek(now unit.Time, c *class, i unit.Port) {
	a := &c.in[i].attempt
	trigger := a.finding.Trigger
	switch {
	case trigger.Node == r.self:
		r.cure(now, c, trigger.Port)
		r.breakIt(now, c, i)
		return
	case a.tries == triesMax:
		r.refuse(detect.RefusedUnreachable, c, i)
		r.breakIt(now, c, i)
		return
	}
	a.tries++
	a.due = r.hops(now, seekHops)
	id := r.ownID(i, r.newSeq())
	r.searches.add(id, unit.NoPort)
	r.flood(unit.NoPort, itsyhdr.TLV{Kind: itsyhdr.KindTrigger, Class: c.id, Initiator: id.owner, Seq: id.seq, Trigger: trigger})
}

// flood sends t out of every port that leads to a switch but from.
func (r *responder) flood(from unit.Port, t itsyhdr.TLV) {
	t.Hops++
	for p := range unit.Port(r.view.Ports()) {
		if p != from && !r.view.FacesHost(p) && r.view.LinkUp(p) {
			r.act.Send(p, t)
		}
	}
}

// search takes a search that came in by p, once.
func (r *responder) search(now unit.Time, c *class, p unit.Port, t itsyhdr.TLV) {
	id := claimOf(t)
	if _, ok := r.searches.find(id); ok || id.owner.Node == r.self {
		return
	}
	r.searches.add(id, p)
	switch {
	case t.Trigger.Node == r.self:
		r.cure(now, c, t.Trigger.Port)
		r.send(c, p, itsyhdr.KindFound, id, 0, 0)
	case t.Hops < hopsMax:
		r.flood(p, t)
	}
}

// found: the trigger of a search is being handled. The word goes back by the way that
// the search came.
func (r *responder) found(now unit.Time, c *class, t itsyhdr.TLV) {
	id := claimOf(t)
	from, ok := r.searches.find(id)
	switch {
	case !ok:
	case from != unit.NoPort:
		r.send(c, from, itsyhdr.KindFound, id, 0, 0)
	case int(id.owner.Port) < len(c.in) && c.in[id.owner.Port].attempt.phase == seeking:
		r.breakIt(now, c, id.owner.Port)
	}
}

// refuseCure logs why nothing is done about the trigger at port p.
func (r *responder) refuseCure(why detect.Refusal, c *class, p unit.Port) {
	r.act.Refuse(why, c.bucket(p), c.queue(p))
}
