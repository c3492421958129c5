package respond

import (
	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// New wraps the detectors that inner makes so that what they declare is acted on as p
// says. The wrapped detector has the name and the state of its own; it is a
// detect.Peer if the inner one is. The zero policy wraps nothing.
func New(inner detect.Factory, p Policy) detect.Factory {
	if p == (Policy{}) {
		return inner
	}
	return NewChangeable(inner, p)
}

// NewChangeable is New for switches whose policy Change may replace while they run: it wraps the
// detectors under the zero policy too.
func NewChangeable(inner detect.Factory, p Policy) detect.Factory {
	return func(v detect.View, a detect.Actions) detect.Detector {
		r := newResponder(v, a, p)
		r.Detector = inner(v, reporter{a, r})
		if peer, ok := r.Detector.(detect.Peer); ok {
			return peerResponder{r, peer}
		}
		return r
	}
}

// reporter is the switch as the inner detector may act on it.
type reporter struct {
	detect.Actions
	r *responder
}

func (a reporter) Report(f detect.Finding) {
	a.Actions.Report(f)
	a.r.report(f)
}

// peerResponder is a responder whose detector has messages of its own format.
type peerResponder struct {
	*responder
	detect.Peer
}

// responder is the responder of one switch, and from outside the detector of that switch.
type responder struct {
	detect.Detector // the inner one: what is not overridden below goes to it

	view    detect.View
	act     detect.Actions
	policy  Policy
	ordered *change // of the policy, not made yet; nil for none
	self    unit.NodeID
	hop     unit.Time

	deadline   unit.Time // of what is done here
	nonce      uint16
	priorities [unit.Priorities]*priority // nil for a lossy priority
	searches   searches
	cures      []cure
	flows      []detect.Flow // scratch
}

// priority is the responder's state in one lossless priority.
type priority struct {
	id      unit.Priority
	in      []pg      // by ingress port
	watched unit.Time // until when a turn that begins to hold its upstream is made lossy
	look    unit.Time // when to look at them: a priority group went XOFF, or a queue was paused
}

// pg is what goes on at one ingress priority group.
type pg struct {
	stands    bool    // what was declared here: it has not resumed since
	attempt   attempt // to break a deadlock that was declared here
	pass      pass    // the claim that passed last
	isolation isolation
	spread    unit.Time // until when this port counts as one that made the switch pause another
	cause     unit.Port // where the frame was queued by which it went XOFF last
}

func newResponder(v detect.View, a detect.Actions, p Policy) *responder {
	r := &responder{view: v, act: a, policy: p, self: v.Self(), hop: v.Hop(), deadline: unit.Never, searches: make(searches, v.Ports()+1)}
	for set := v.Lossless(); set != 0; set &= set - 1 {
		id := set.First()
		r.priorities[id] = &priority{id: id, look: unit.Never, in: make([]pg, v.Ports())}
		for i := range r.priorities[id].in {
			r.priorities[id].in[i].cause = unit.NoPort
		}
	}
	return r
}

func (c *priority) pg(i unit.Port) detect.PG       { return detect.PG{Port: i, Priority: c.id} }
func (c *priority) queue(p unit.Port) detect.Queue { return detect.Queue{Port: p, Priority: c.id} }

// report notes a finding. The switch asks for the deadline after the event in which the
// detector declared it, and calls Tick at once.
func (r *responder) report(f detect.Finding) {
	c := r.priorities[f.PG.Priority]
	if c == nil || int(f.PG.Port) >= len(c.in) || int(f.Queue.Port) >= len(c.in) {
		return // it names no loop
	}
	b := &c.in[f.PG.Port]
	b.attempt.finding, b.stands = f, true
	if !r.off() {
		b.attempt.declared, r.deadline = true, 0
	}
}

// XOFF remembers where it came from.
func (r *responder) XOFF(now unit.Time, b detect.PG, cause detect.Queue) {
	c := r.priorities[b.Priority]
	c.in[b.Port].cause = cause.Port
	r.sees(now, b)
	r.lookAt(now, c)
	r.Detector.XOFF(now, b, cause)
}

// Pause looks whether something begins to wait for the queue.
func (r *responder) Pause(now unit.Time, q detect.Queue, t itsyhdr.TLV, fresh bool) {
	r.lookAt(now, r.priorities[q.Priority])
	r.Detector.Pause(now, q, t, fresh)
}

// XON ends the claim that passed the priority group: the loop is open here. An attempt that aimed
// at this goes on.
func (r *responder) XON(now unit.Time, b detect.PG) {
	in := &r.priorities[b.Priority].in[b.Port]
	in.pass.open, in.stands = true, false
	r.sees(now, b)
	if in.attempt.phase == asking {
		in.attempt.due, r.deadline = now, now
	}
	r.Detector.XON(now, b)
}

// Message takes the messages of responders; others, and all under the zero policy, are the detector's.
func (r *responder) Message(now unit.Time, p unit.Port, t itsyhdr.TLV) {
	if r.off() || t.Kind < itsyhdr.KindClaim || t.Kind > itsyhdr.KindFound {
		r.Detector.Message(now, p, t)
		return
	}
	c := r.priorities[t.Priority]
	if c == nil || r.view.FacesHost(p) || t.Initiator.Node == 0 || t.Hops > hopsMax && t.Kind != itsyhdr.KindReserve {
		return
	}
	back := t.Flags&flagBack != 0
	switch t.Kind {
	case itsyhdr.KindClaim:
		if back {
			r.claimBack(now, c, p, t)
		} else {
			r.claim(now, c, p, t)
		}
	case itsyhdr.KindSeal:
		r.passSeal(now, c, p, t)
	case itsyhdr.KindBubble:
		if back {
			r.bubbleBack(now, c, p, claimOf(t))
		} else {
			r.bubble(now, c, p, t)
		}
	case itsyhdr.KindReserve:
		if back {
			r.reserved(now, c, p, t)
		} else {
			r.reserve(now, c, p, t)
		}
	case itsyhdr.KindTrigger:
		r.search(now, c, p, t)
	case itsyhdr.KindFound:
		r.found(now, c, t)
	}
	r.schedule()
}

// Deadline is the earlier of the detector's and the responder's.
func (r *responder) Deadline() unit.Time { return min(r.Detector.Deadline(), r.deadline) }

// Tick calls the detector, and does what is due here.
func (r *responder) Tick(now unit.Time) {
	if r.Detector.Deadline() <= now {
		r.Detector.Tick(now)
	}
	if r.deadline > now {
		return
	}
	if r.ordered != nil {
		r.obey(now, *r.ordered)
	}
	for _, c := range r.priorities {
		if c == nil {
			continue
		}
		r.cut(now, c)
		for i := range c.in {
			r.isolationDue(now, c, unit.Port(i))
			r.attemptDue(now, c, unit.Port(i))
		}
	}
	r.curesDue(now)
	r.schedule()
}

// schedule finds what is due next.
func (r *responder) schedule() {
	r.deadline = unit.Never
	if r.ordered != nil {
		r.deadline = 0
	}
	for _, c := range r.priorities {
		if c == nil {
			continue
		}
		r.deadline = min(r.deadline, c.look)
		for i := range c.in {
			b := &c.in[i]
			r.deadline = min(r.deadline, b.attempt.next(), b.isolation.next())
		}
	}
	for i := range r.cures {
		r.deadline = min(r.deadline, r.cures[i].next())
	}
}

// hops is n hops from now.
func (r *responder) hops(now unit.Time, n int) unit.Time { return now + unit.Time(n)*r.hop }

// Flags of messages.
const (
	flagBack  = 1 // of a claim or a bubble that comes back, and of an answer
	flagSpare = 2 // of a bubble: the loop moves, so a hop without reserve gives nothing
)

// send sends a message of kind about id out of p.
func (r *responder) send(c *priority, p unit.Port, kind itsyhdr.Kind, id claimID, flags uint8) {
	r.act.Send(p, itsyhdr.TLV{Kind: kind, Priority: c.id, Initiator: id.owner, Seq: id.seq, Flags: flags})
}

// newSeq numbers the claims and searches of this switch.
func (r *responder) newSeq() uint16 {
	r.nonce++
	return r.nonce
}
