package respond

import (
	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// claimID names a claim: the priority group that sent it, and its number there.
type claimID struct {
	owner unit.NodePort
	seq   uint16
}

func claimOf(t itsyhdr.TLV) claimID { return claimID{t.Initiator, t.Seq} }

// less is the order of claims: by owner, and of one owner by age.
func (c claimID) less(d claimID) bool {
	switch {
	case c.owner.Node != d.owner.Node:
		return c.owner.Node < d.owner.Node
	case c.owner.Port != d.owner.Port:
		return c.owner.Port < d.owner.Port
	}
	return int16(c.seq-d.seq) < 0
}

// pass is the claim that passed a priority group: a step of a search through all waits, depth
// first. The bubble goes the same way.
type pass struct {
	id    claimID
	open  bool // the priority group has gone XON since: the claim is over
	vain  bool // it found no way home from here, and is in nobody's way
	until unit.Time
	via   unit.Port     // the queue by which it left last
	tried unit.PortSet  // the queues by which it has left
	hops  int           // that it had come
	from  unit.NodePort // the priority group that sent it here
	need  uint8         // what the priority group that has most above XON has there, in frames
	own   uint8         // what this priority group had there when the claim came
	had   int           // its extra threshold then, in bytes
}

// isKnown reports whether the claim has been here, and isLive whether it may still come home
// by this priority group.
func (s *pass) isKnown(now unit.Time) bool { return s.until > now && !s.open }
func (s *pass) isLive(now unit.Time) bool  { return s.isKnown(now) && !s.vain }

// isWayOf reports whether the claim of id went this way lately.
func (s *pass) isWayOf(id claimID, now unit.Time) bool { return s.until > now && s.id == id && !s.vain }

func (r *responder) ownID(i unit.Port, seq uint16) claimID {
	return claimID{unit.NodePort{Node: r.self, Port: i}, seq}
}

// startClaim sends the claim of priority group i, as soon as no greater one of another owner
// counts there.
func (r *responder) startClaim(now unit.Time, c *priority, i unit.Port) {
	a := &c.in[i].attempt
	if s := &c.in[i].pass; s.isLive(now) && r.ownID(i, 0).owner != s.id.owner && r.ownID(i, a.seq).less(s.id) {
		a.phase, a.due = retrying, s.until
		return
	}
	a.tries++
	a.seq = r.newSeq()
	a.phase, a.due = claiming, r.hops(now, lapHops)
	own := r.excessFrames(c, i)
	c.in[i].pass = pass{id: r.ownID(i, a.seq), until: r.hops(now, passHops), need: own, own: own, had: c.in[i].isolation.bytes}
	if on, _ := r.view.XOFF(c.pg(i)); !on || !r.goOn(c, i) {
		r.claimFailed(now, c, i)
	}
}

// withdraw leaves what priority group i has declared, for now, to the owner of another claim, and
// looks again after the hold-down.
func (r *responder) withdraw(now unit.Time, c *priority, i unit.Port) {
	a := &c.in[i].attempt
	r.refuse(detect.RefusedHeld, c, i)
	a.declared, a.refused = true, true
	r.hold(now, c, i)
}

// claimFailed: the claim of priority group i found no way home, or did not come home in time.
func (r *responder) claimFailed(now unit.Time, c *priority, i unit.Port) {
	a := &c.in[i].attempt
	c.in[i].pass.until = 0
	switch {
	case a.tries < triesMax:
		a.phase, a.due = retrying, r.hops(now, pauseHops)
		return
	case a.rounds == 0:
		r.refuse(detect.RefusedUnconfirmed, c, i)
	}
	r.hold(now, c, i)
}

// goOn sends the claim that is at priority group i on by the next queue, and reports whether
// there is one.
func (r *responder) goOn(c *priority, i unit.Port) bool {
	s := &c.in[i].pass
	if s.hops >= hopsMax {
		return false
	}
	for {
		p := r.nextWay(c, i)
		if p == unit.NoPort {
			return false
		}
		s.tried.Add(p)
		s.via = p
		if r.sendOn(c, i, itsyhdr.KindClaim, s.hops, 0) {
			return true
		}
	}
}

// nextWay is the queue by which the claim at priority group i goes on: the one that was
// declared, else the one in which the priority group holds most, of those not tried yet.
// unit.NoPort if there is none.
func (r *responder) nextWay(c *priority, i unit.Port) unit.Port {
	b := &c.in[i]
	if q := b.attempt.finding.Queue.Port; b.attempt.phase == claiming && b.pass.tried.Empty() && r.isWay(c, i, q) {
		return q
	}
	return r.fullest(c, i, func(p unit.Port) bool { return !b.pass.tried.Has(p) && r.isWay(c, i, p) })
}

// fullest is the queue in which priority group i holds most, of those that is is true of; unit.NoPort if it
// holds nothing in any.
func (r *responder) fullest(c *priority, i unit.Port, is func(p unit.Port) bool) unit.Port {
	most, where := 0, unit.NoPort
	for p := range unit.Port(r.view.Ports()) {
		if held := r.view.Held(c.pg(i), c.queue(p)); held > most && is(p) {
			most, where = held, p
		}
	}
	return where
}

// isWay reports whether priority group i waits in the queue of p for another switch.
func (r *responder) isWay(c *priority, i, p unit.Port) bool {
	q := c.queue(p)
	return !r.view.FacesHost(p) && r.view.Paused(q) && r.view.Held(c.pg(i), q) > 0
}

// claim takes a claim that reached priority group i from upstream.
func (r *responder) claim(now unit.Time, c *priority, i unit.Port, t itsyhdr.TLV) {
	id, s := claimOf(t), &c.in[i].pass
	a := &c.in[i].attempt
	if id.owner == r.ownID(i, 0).owner {
		if a.phase == claiming && a.seq == id.seq {
			s.need = max(s.need, t.Period)
			r.home(now, c, i)
		}
		return
	}
	switch {
	case a.phase > claiming:
		return // this switch acts
	case s.isKnown(now) && s.id == id:
		if s.from != t.Trigger { // who sent it does so once by each queue: the wire has made two of one
			r.sendBack(c, i, id, t.Trigger)
		}
		return
	case s.isLive(now) && id.less(s.id):
		return // the greater one decides
	case a.phase == claiming || a.phase == retrying:
		if id.less(r.ownID(i, a.seq)) {
			return
		}
		r.withdraw(now, c, i)
	}
	on, _ := r.view.XOFF(c.pg(i))
	own := r.excessFrames(c, i)
	*s = pass{id: id, until: r.hops(now, passHops), hops: int(t.Hops), from: t.Trigger, need: max(t.Period, own), own: own, had: c.in[i].isolation.bytes}
	if !on || !r.goOn(c, i) {
		s.vain = true
		r.sendBack(c, i, id, t.Trigger)
	}
}

// sendBack tells the priority group that sent a claim to priority group i that there is no way home here.
func (r *responder) sendBack(c *priority, i unit.Port, id claimID, to unit.NodePort) {
	r.act.Send(i, itsyhdr.TLV{Kind: itsyhdr.KindClaim, Priority: c.id, Initiator: id.owner, Seq: id.seq, Trigger: to, Flags: flagBack})
}

// claimBack: the claim that priority group i, as t says, sent out of p found no way home.
func (r *responder) claimBack(now unit.Time, c *priority, p unit.Port, t itsyhdr.TLV) {
	id, i := claimOf(t), t.Trigger.Port
	if t.Trigger.Node != r.self || int(i) >= len(c.in) {
		return
	}
	s := &c.in[i].pass
	switch {
	case !s.isLive(now) || s.id != id || s.via != p:
	case r.goOn(c, i):
	case id.owner != r.ownID(i, 0).owner:
		s.vain = true
		r.sendBack(c, i, id, s.from)
	case c.in[i].attempt.phase == claiming:
		r.claimFailed(now, c, i)
	}
}

// home: the claim of priority group i came back to it.
func (r *responder) home(now unit.Time, c *priority, i unit.Port) {
	if r.waits(now, c, i) {
		r.confirmed(now, c, i)
	} else {
		r.claimFailed(now, c, i)
	}
}
