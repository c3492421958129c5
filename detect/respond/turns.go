package respond

import (
	"slices"

	"softswitch/unit"
)

// A turn is what comes in by one port and leaves by another. The one that was declared is
// made lossy when the deadlock is broken. The routes that locked once are there still, and
// so are other loops through the same switches: these watch their turns between switches,
// for a time, and make lossy each that begins to hold its upstream, before a loop can
// close. What nobody presses on stays lossless. docs/systems.md has what this is worth.

// cureTurn makes the turn from priority group i to the queue of p lossy.
func (r *responder) cureTurn(now unit.Time, c *priority, i, p unit.Port) {
	k := r.remember(now, cure{queue: c.queue(p), in: i, turn: true, quiet: turnQuiet})
	r.act.LossyTurn(c.pg(i), c.queue(p), true)
	k.seen = r.trouble(k)
}

// watch watches the turns of priority c from now on, which may be nil: for as long as what was
// lent is kept, and while one of them is lossy.
func (r *responder) watch(now unit.Time, c *priority) {
	if !r.policy.Turns || c == nil {
		return
	}
	c.watched = max(c.watched, now+flowQuiet)
	r.lookAt(now, c)
}

// isWatched reports whether turns of priority c are watched.
func (r *responder) isWatched(now unit.Time, c *priority) bool {
	return now < c.watched || slices.ContainsFunc(r.cures, func(k cure) bool { return k.turn && k.active && k.queue.Priority == c.id })
}

// isCured reports whether the turn from priority group i to the queue of p is lossy.
func (r *responder) isCured(c *priority, i, p unit.Port) bool {
	return slices.ContainsFunc(r.cures, func(k cure) bool { return k.turn && k.active && k.in == i && k.queue == c.queue(p) })
}

// lookAt has the turns of priority c looked at in the next Tick, which is at once.
func (r *responder) lookAt(now unit.Time, c *priority) {
	if r.policy.Turns && c != nil && r.isWatched(now, c) {
		c.look, r.deadline = now, now
	}
}

// cut makes lossy the turns of priority c by which a priority group of a switch waits for switches, if
// that is enough to keep it XOFF, and makes it resume. A loop that is being broken is left
// alone.
func (r *responder) cut(now unit.Time, c *priority) {
	if c.look > now {
		return
	}
	c.look = unit.Never
	for n := range c.in {
		i := unit.Port(n)
		if r.view.FacesHost(i) || c.in[i].isolation.isolated {
			continue
		}
		ways, fullest := r.waysOf(c, i)
		if ways.Empty() {
			continue
		}
		for ; !ways.Empty(); ways.Pop() {
			if p := ways.First(); !r.isCured(c, i, p) {
				r.cureTurn(now, c, i, p)
			}
		}
		r.drop(c, i, fullest)
	}
}

// waysOf are the queues to other switches for which priority group i waits, and the one of them in
// which it has most; none if it does not wait for them: it is not XOFF, or would resume
// without what waits there.
func (r *responder) waysOf(c *priority, i unit.Port) (ways unit.PortSet, fullest unit.Port) {
	b := c.pg(i)
	if on, _ := r.view.XOFF(b); !on {
		return unit.PortSet{}, unit.NoPort
	}
	for p := range unit.Port(r.view.Ports()) {
		if r.isWay(c, i, p) {
			ways.Add(p)
		}
	}
	if r.view.HeldIn(b, ways) <= r.view.XON(b) {
		return unit.PortSet{}, unit.NoPort
	}
	return ways, r.fullest(c, i, ways.Has)
}
