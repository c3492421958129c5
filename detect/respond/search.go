package respond

import (
	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// searches remembers the searches for a trigger that may still be under way, by the ports
// by which they came; after them those that this switch began. A port has
// places for searchesMax. What comes when they are taken is not passed on: a search that was
// forgotten would come back from the fabric as a new one, and multiply.
type searches [][]search

type search struct {
	id    claimID
	until unit.Time
}

// searchesMax is how many searches of a port may be under way at once, and searchHops how
// long one may be: there, and its answer back.
const (
	searchesMax = 32
	searchHops  = 2 * hopsMax
)

// add remembers a search that came by from, unit.NoPort if this switch begins it. It reports
// false if there is no place.
func (s searches) add(now unit.Time, id claimID, from unit.Port, until unit.Time) bool {
	at := min(int(from), len(s)-1)
	of := s[at]
	for i := range of {
		if of[i].until <= now {
			of[i] = search{id, until}
			return true
		}
	}
	if len(of) == searchesMax {
		return false
	}
	s[at] = append(of, search{id, until})
	return true
}

// find is the port by which a search came that may still be under way, unit.NoPort if this
// switch began it.
func (s searches) find(now unit.Time, id claimID) (from unit.Port, ok bool) {
	for p, of := range s {
		for i := range of {
			if of[i].id == id && of[i].until > now {
				if p == len(s)-1 {
					return unit.NoPort, true
				}
				return unit.Port(p), true
			}
		}
	}
	return unit.NoPort, false
}

// seek has the trigger of what priority group i has declared handled: here, or by the switch
// that has it. It is called again when nobody has answered.
func (r *responder) seek(now unit.Time, c *priority, i unit.Port) {
	a := &c.in[i].attempt
	trigger := a.finding.Trigger
	switch {
	case trigger.Node == r.self && int(trigger.Port) >= len(c.in):
		r.refuse(detect.RefusedUnreachable, c, i)
		r.breakIt(now, c, i)
		return
	case trigger.Node == r.self:
		r.cure(now, c, trigger.Port, false)
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
	if !r.searches.add(now, id, unit.NoPort, r.hops(now, searchHops)) {
		r.refuse(detect.RefusedTooMany, c, i)
		return
	}
	r.flood(unit.NoPort, itsyhdr.TLV{Kind: itsyhdr.KindTrigger, Priority: c.id, Initiator: id.owner, Seq: id.seq, Trigger: trigger})
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
func (r *responder) search(now unit.Time, c *priority, p unit.Port, t itsyhdr.TLV) {
	id := claimOf(t)
	if _, ok := r.searches.find(now, id); ok || id.owner.Node == r.self {
		return
	}
	if !r.searches.add(now, id, p, r.hops(now, searchHops)) {
		r.refuseCure(detect.RefusedTooMany, c, p)
		return
	}
	switch at := t.Trigger.Port; {
	case t.Trigger.Node == r.self:
		if int(at) < len(c.in) {
			r.cure(now, c, at, true)
		} else {
			r.refuseCure(detect.RefusedUnreachable, c, p)
		}
		r.send(c, p, itsyhdr.KindFound, id, 0)
	case t.Hops < hopsMax:
		r.flood(p, t)
	}
}

// found: the switch of a trigger has the search, and has done what it does. The word goes back by the way that
// the search came.
func (r *responder) found(now unit.Time, c *priority, t itsyhdr.TLV) {
	id := claimOf(t)
	from, ok := r.searches.find(now, id)
	switch {
	case !ok:
	case from != unit.NoPort:
		r.send(c, from, itsyhdr.KindFound, id, 0)
	case int(id.owner.Port) < len(c.in) && c.in[id.owner.Port].attempt.phase == seeking:
		r.breakIt(now, c, id.owner.Port)
	}
}

// hasSeen reports whether this switch itself has seen of the trigger at port p what makes it
// one: it pauses, or has lately paused, another switch for what waits there. Of a host that is
// a priority group of a switch that holds frames for it, of a congested queue the priority group of p.
func (r *responder) hasSeen(now unit.Time, c *priority, p unit.Port) bool {
	if c.in[p].spread > now {
		return true
	}
	for n := range c.in {
		i := unit.Port(n)
		if r.view.FacesHost(i) || !r.view.FacesHost(p) && i != p {
			continue
		}
		if on, _ := r.view.XOFF(c.pg(i)); on && (i == p || r.view.Held(c.pg(i), c.queue(p)) > 0) {
			return true
		}
	}
	return false
}

// sees notes what hasSeen asks for: priority group b of a switch is going XOFF, or has resumed.
func (r *responder) sees(now unit.Time, b detect.PG) {
	if !r.policy.Trigger || r.view.FacesHost(b.Port) {
		return
	}
	c := r.priorities[b.Priority]
	for n := range c.in {
		p := unit.Port(n)
		if p == b.Port || r.view.FacesHost(p) && (p == c.in[b.Port].cause || r.view.Held(b, c.queue(p)) > 0) {
			c.in[n].spread = r.hops(now, seenHops)
		}
	}
}

// seenHops is how long a switch remembers that it paused another one.
const seenHops = 8 * 64

// refuseCure logs why nothing is done about the trigger at port p.
func (r *responder) refuseCure(why detect.Refusal, c *priority, p unit.Port) {
	r.act.Refuse(why, c.pg(p), c.queue(p))
}
