package respond

import (
	"softswitch/detect"
	"softswitch/internal/lists"
	"softswitch/unit"
)

// Times of cures. A storm is over when the host has sent no pause for hostQuiet, as
// SONiC's watchdog has it, and at least for two of the longest pauses. Nothing tells
// that a flow that is policed would do no harm any more: it gets its rate back after
// flowQuiet. A turn is lossless again when for turnQuiet it would have held nobody up. If
// the deadlock comes again by it, the next time is twice as long, up to quietMax times.
const (
	hostQuiet   = 200 * unit.Millisecond
	longPauses  = 2
	longest     = 65535 // quanta
	flowQuiet   = 10 * unit.Second
	turnQuiet   = unit.Second
	quietMax    = 16
	freshHops   = 256 // a cure that young is the answer to this search too
	policeShare = 64  // a flow is left this part of its link
	curesMax    = 128
)

// cure is what is done about a trigger, or a turn, or was.
type cure struct {
	queue detect.Queue // the host's; of a policer the one where the flow waited; the turn's
	in    unit.Port    // of a policer or a turn; unit.NoPort if the queue was made lossy
	flow  detect.FlowID
	turn  bool // it is a lossy turn

	active bool
	since  unit.Time
	quiet  unit.Time // that it takes until it ends
	due    unit.Time
	seen   uint64 // pauses of the host, or pressure on the turn, when last looked at
}

// next is when there is something to do about the cure.
func (k *cure) next() unit.Time {
	if !k.active {
		return unit.Never
	}
	return k.due
}

// cure handles the initial trigger of a deadlock at port p of this switch. If another switch has
// told so, this one has to have seen of it itself.
func (r *responder) cure(now unit.Time, c *priority, p unit.Port, told bool) {
	switch {
	case !r.view.LinkUp(p):
		r.refuseCure(detect.RefusedPortDown, c, p)
	case r.policy.Turns && !r.view.FacesHost(p): // that is done without a search
	case told && !r.hasSeen(now, c, p):
		r.refuseCure(detect.RefusedUnfounded, c, p)
	case r.view.FacesHost(p):
		r.cureHost(now, c, p)
	default:
		r.cureFlows(now, c, p)
	}
}

// cureHost stops listening to the pauses of the host behind p, and makes its queue
// lossy.
func (r *responder) cureHost(now unit.Time, c *priority, p unit.Port) {
	q := c.queue(p)
	if r.view.PausesSeen(q) == 0 {
		r.refuseCure(detect.RefusedNoFlow, c, p)
		return
	}
	quiet := max(hostQuiet, longPauses*r.view.Rate(p).QuantaTime(longest))
	k := r.remember(now, cure{queue: q, in: unit.NoPort, quiet: quiet})
	k.seen = r.trouble(k)
	r.act.Lossy(q, true)
}

// cureFlows polices those whose frames wait where the priority group of port p has most.
func (r *responder) cureFlows(now unit.Time, c *priority, p unit.Port) {
	q, ok := r.congested(c, p)
	if !ok {
		r.refuseCure(detect.RefusedNoFlow, c, p)
		return
	}
	rate := r.view.Rate(q.Port)
	if rate == 0 {
		rate = unit.NominalRate
	}
	r.flows = r.view.Flows(r.flows[:0], q)
	if len(r.flows) == 0 {
		r.refuseCure(detect.RefusedNoFlow, c, p)
	}
	for _, f := range r.heavy() {
		if !r.act.Police(f.In, f.ID, rate/policeShare) {
			r.act.Refuse(detect.RefusedNoPolicer, detect.PG{Port: f.In, Priority: c.id}, q)
			return
		}
		r.remember(now, cure{queue: q, in: f.In, flow: f.ID, quiet: flowQuiet})
	}
}

// congested is the queue in which the priority group of port p has most; if it has nothing (the
// deadlock stops what came by p, while others move), the one by which it went XOFF last.
// ok is false if there is none.
func (r *responder) congested(c *priority, p unit.Port) (q detect.Queue, ok bool) {
	where := r.fullest(c, p, func(unit.Port) bool { return true })
	if where == unit.NoPort {
		where = c.in[p].cause
	}
	return c.queue(where), where != unit.NoPort
}

// heavy are the flows of r.flows, heaviest first, to police: those that come in from
// hosts here and have at least a quarter of a fair share. What comes from another switch
// has been paused, and is often a victim; only if there is nothing else the heaviest of
// that.
func (r *responder) heavy() []detect.Flow {
	all := 0
	for _, f := range r.flows {
		all += f.Bytes
	}
	hosts := lists.Where(r.flows, func(f detect.Flow) bool { return r.view.FacesHost(f.In) && 4*f.Bytes*len(r.flows) >= all })
	if len(hosts) == 0 {
		return r.flows[:min(1, len(r.flows))]
	}
	return hosts
}

// remember notes that k begins now. One that was there before, and ended, is doubled.
func (r *responder) remember(now unit.Time, k cure) *cure {
	at := r.recall(now, k)
	switch base := k.quiet; {
	case at.since == 0:
		*at = k
	case now-at.since > unit.Time(freshHops)*r.hop:
		at.quiet = min(2*at.quiet, quietMax*base)
	}
	at.active, at.since, at.due = true, now, now+at.quiet
	return at
}

// recall is the place of cure k: where it was before, else a new one, else that of the
// oldest that has ended, else of the oldest.
func (r *responder) recall(now unit.Time, k cure) *cure {
	oldest := -1
	for i := range r.cures {
		at := &r.cures[i]
		if at.is(&k) {
			return at
		}
		if oldest < 0 || older(at, &r.cures[oldest]) {
			oldest = i
		}
	}
	if len(r.cures) < curesMax {
		r.cures = append(r.cures, cure{})
		return &r.cures[len(r.cures)-1]
	}
	if r.cures[oldest].active {
		r.end(now, &r.cures[oldest])
	}
	r.cures[oldest] = cure{}
	return &r.cures[oldest]
}

// is reports whether two cures are one. A flow has one policer at a port, wherever it was found.
func (k *cure) is(of *cure) bool {
	policer := !k.turn && k.in != unit.NoPort
	return k.in == of.in && k.flow == of.flow && k.turn == of.turn && (policer || k.queue == of.queue)
}

// older is the order in which cures are forgotten.
func older(a, b *cure) bool {
	if a.active != b.active {
		return b.active
	}
	return a.since < b.since
}

// curesDue ends the cures whose time is up. A host that still pauses, and a turn that
// would still hold its upstream, are waited for.
func (r *responder) curesDue(now unit.Time) {
	for i := range r.cures {
		k := &r.cures[i]
		if k.next() > now {
			continue
		}
		if seen := r.trouble(k); seen != k.seen {
			k.seen, k.due = seen, now+k.quiet
			continue
		}
		r.end(now, k)
	}
}

// trouble counts what a cure is there for; 0 if nothing tells.
func (r *responder) trouble(k *cure) uint64 {
	switch {
	case k.turn:
		return r.view.Pressed(k.pg(), k.queue)
	case k.in == unit.NoPort:
		return r.view.PausesSeen(k.queue)
	}
	return 0
}

// pg is that of a turn.
func (k *cure) pg() detect.PG { return detect.PG{Port: k.in, Priority: k.queue.Priority} }

// end takes a cure back.
func (r *responder) end(now unit.Time, k *cure) {
	k.active = false
	switch {
	case k.turn:
		r.act.LossyTurn(k.pg(), k.queue, false)
		r.watch(now, r.priorities[k.queue.Priority])
	case k.in == unit.NoPort:
		r.act.Lossy(k.queue, false)
	default:
		r.act.Police(k.in, k.flow, 0)
	}
}
