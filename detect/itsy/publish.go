package itsy

import (
	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// block brings up to date whether priority group i is blocked: XOFF, and it would stay so if nothing were
// left but what waits in paused queues that lead to switches. It reports whether it became so.
//
// Queues that lead to hosts do not count: a host that pauses without end is a storm, and no loop goes
// through it (ARCHITECTURE.md, "Ground truth").
func (d *detector) block(now unit.Time, c *priority, i unit.Port) (became bool) {
	if !c.xoff.Has(i) || !d.staysByAll(c, i) {
		c.unblock(i)
		return false
	}
	if c.blocked.Has(i) {
		return false
	}
	c.blocked.Add(i)
	c.in[i].tries = 0
	d.waitLong(now, c, i)
	return true
}

// mint gives priority group i, which is blocked, a new label, above every one that this
// switch has seen. p is the queue that made it, if any.
func (d *detector) mint(c *priority, i, p unit.Port) {
	n := &c.in[i]
	c.clock = later(c.clock)
	n.own = c.clock
	// The new label is above whatever was declared before, so the next wait needs none on that account.
	c.freed.Remove(i)
	c.live.Remove(i)
	// min follows own at a distance: of ranks further apart serial order would take the older for the newer.
	if n.min == 0 {
		n.min = n.own
	} else if oldest := n.own - maxAge; before(n.min, oldest) {
		n.min = later(oldest)
	}
	d.trace(detect.StepMint, c, p, i, d.ownLabel(c, i))
	d.act.Repause(c.pg(i))
}

// maxAge is how many ranks a label may be older than its priority group's newest, so that
// the order of ranks is never in doubt. Chosen: a quarter of all ranks, half of what serial numbers can
// order (see less), so that the other half is left for mints of others while a label is on its way.
const maxAge = 1 << 14

// ownLabel is priority group i's newest label. F: i is XOFF as long as its owner is, for it is the owner.
func (d *detector) ownLabel(c *priority, i unit.Port) label {
	if c.in[i].own == 0 {
		return label{}
	}
	return newLabel(c.in[i].own, d.at(i)).with(flagProof)
}

// at is the port i of this switch.
func (d *detector) at(i unit.Port) unit.NodePort { return unit.NodePort{Node: d.self, Port: i} }

// published is the label that priority group i publishes now: the greatest of its own and
// those of the paused queues in which it has bytes; its own if it is done, none if it
// is not blocked.
//
// F stays on a label that is not the priority group's own only if the priority group would be blocked
// by the queues alone that had it with F: then it stays XOFF as long as the label's
// owner does. D stays in the same way: what the priority group waits for is declared.
func (d *detector) published(c *priority, i unit.Port) label {
	if !c.blocked.Has(i) {
		return label{}
	}
	own := d.ownLabel(c, i)
	if c.live.Has(i) {
		own = label{}
	}
	if c.done.Has(i) {
		return own.with(flagDone)
	}
	b := c.pg(i)
	best := own
	for set := c.paused; !set.Empty(); set.Pop() {
		p := set.First()
		if c.live.Has(i) && c.lab[p].owner() == d.at(i) { // what it withholds comes home yet
			continue
		}
		if l := c.lab[p]; best.less(l) && d.view.Held(b, c.queue(p)) > 0 {
			best = l
		}
	}
	if best == own {
		return own
	}
	// Where it takes two queues to keep i, both have to say F. If a queue by which i waits too little could
	// pass it on, 8 declarations would be false and 18 premature (docs/detection.md, "Which rules are
	// needed").
	best = best.id()
	for _, f := range [...]uint64{flagProof, flagProof | flagDone} {
		if !d.stays(c, i, c.having(best, f)) {
			break
		}
		best = best.with(f)
	}
	return best
}

// stays reports whether priority group i would stay XOFF if nothing were left but what waits in the queues
// of its priority at the ports out. The rule is the switch's own, which resumes by it and by which the oracle
// judges (docs/decisions/truth.md): with one of its own the detector would declare what dissolves.
func (d *detector) stays(c *priority, i unit.Port, out unit.PortSet) bool {
	d.queues = detect.Queues{}
	d.queues[c.id] = out
	return d.view.Stays(c.pg(i), d.queues)
}

// staysByAll is stays with all paused queues of all priorities.
func (d *detector) staysByAll(c *priority, i unit.Port) bool {
	for _, k := range d.order {
		d.queues[k.id] = k.paused
	}
	return d.view.Stays(c.pg(i), d.queues)
}

// having is the set of paused queues that have the label with this id and these
// flags.
func (c *priority) having(id label, flags uint64) (set unit.PortSet) {
	for rest := c.paused; !rest.Empty(); rest.Pop() {
		if p := rest.First(); c.lab[p].word&(maskID|flags) == id.word&maskID|flags {
			set.Add(p)
		}
	}
	return set
}

// Label is what a pause frame of b carries: what b publishes, and its initial
// trigger. If the pause may have lapsed at the far end since the last frame, what
// was published was not true all the time: b starts again.
func (d *detector) Label(now unit.Time, b detect.PG) itsyhdr.TLV {
	c, i := d.priorities[b.Priority], b.Port
	if !c.xoff.Has(i) {
		return itsyhdr.TLV{}
	}
	// Not before the first frame: of a pause that was never announced nothing is published that could be
	// untrue. Without this rule 2 are missed and 8 are late where pauses run out (docs/detection.md, "Which
	// rules are needed").
	if c.announced.Has(i) && d.view.Lapsed(b) {
		c.forget(i)
		c.freed.Add(i)
		d.disengage(c, i)
		if d.block(now, c, i) {
			d.mint(c, i, unit.NoPort)
		}
	}
	l := d.published(c, i)
	c.announced.Add(i)
	// What the far end knows from now on: waits repeats the pause ahead of time only for more than this.
	c.proved.Remove(i)
	c.settled.Remove(i)
	if l.has(flagProof) {
		c.proved.Add(i)
	}
	if l.has(flagDone) {
		c.settled.Add(i)
	}
	trigger := c.in[i].trigger
	t := l.withTrigger(trigger, !l.isNone() && d.passedTrigger(c, i, l, trigger)).tlv()
	t.Hops = c.in[i].strength
	return t
}
