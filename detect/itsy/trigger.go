package itsy

import "softswitch/unit"

// The initial trigger is a diagnosis. It is decided once, when a priority group goes XOFF,
// handed on with every pause, and never used to find a loop.

// trigger is a port of a switch in 24 bits: an ingress port where more came in than could
// leave; or, with bit 24, the port that faces a host that paused. 0 is none.
type trigger uint32

const triggerHost trigger = 1 << 24

func newTrigger(at unit.NodePort, host bool) trigger {
	t := trigger(pack(at))
	if host && t != 0 {
		t |= triggerHost
	}
	return t
}

func (t trigger) at() unit.NodePort { return unpack(uint32(t &^ triggerHost)) }
func (t trigger) isHost() bool      { return t&triggerHost != 0 }

// own is priority group i of this switch as a trigger.
func (d *detector) own(i unit.Port) trigger { return newTrigger(d.at(i), false) }

// egress is what is remembered of a queue: whether it would be as full had nobody paused
// it, and who did.
type egress struct {
	// work is what would wait there had it never been paused, as time on the wire, at the
	// time at: a phantom queue that is served at the port's rate (Alizadeh et al., "Less Is
	// More", NSDI 2012, use one to mark).
	work, at unit.Time

	// pauser is whom the pauses since it was last empty are put down to, by majority of
	// their time (Boyer and Moore), and margin the time by which it leads.
	pauser trigger
	margin unit.Time

	by    trigger   // who is blamed for the active pause
	since unit.Time // when that began; 0: no pause is active

	// host is the host that did most for its being full since it was last empty, and part
	// how much, in 255ths.
	host trigger
	part uint8

	newest
}

// queued: a frame of priority group i was queued in p. It adds to the phantom queue, unless it is of
// a burst: it would have come earlier had i not paused its upstream, so it waits for the one
// that made i do so.
func (d *detector) queued(now unit.Time, c *priority, i, p unit.Port, bytes int) {
	e, took := &c.out[p], d.view.Rate(p).FrameTime(bytes)
	if by := d.inBurst(now, c, i, bytes); by != 0 {
		e.pauser, e.margin = vote(e.pauser, e.margin, by, took)
		if by.isHost() {
			e.blameHost(by, c.in[i].strength)
		}
		return
	}
	e.work, e.at = e.left(now)+took, now
}

// released: priority group i resumes its upstream. If it was XOFF because somebody paused, what now
// comes back to back is a burst that this one is to blame for.
func (d *detector) released(now unit.Time, c *priority, i unit.Port) {
	n := &c.in[i]
	n.burst, n.next = 0, now+burstHops*d.hop
	if n.trigger != d.own(i) {
		n.burst = n.trigger
	}
}

// burstHops is how long a burst may take to arrive after the resume. Chosen: a hop for the resume, and one
// for the first frame of the burst to come back.
const burstHops = 2

// inBurst takes note of a frame of priority group i, and is who is to blame for the burst that it is
// of, 0 if it is of none. The upstream queue has been empty if a frame comes later than right
// after the one before it.
func (d *detector) inBurst(now unit.Time, c *priority, i unit.Port, bytes int) trigger {
	n := &c.in[i]
	if n.burst == 0 {
		return 0
	}
	if now > n.next {
		n.burst = 0
		return 0
	}
	// A gap of one more frame of this length is still back to back: another priority may have had the wire.
	n.next = max(n.next, now+2*d.view.Rate(i).FrameTime(bytes))
	return n.burst
}

// left is what is left of the phantom queue now.
func (e *egress) left(now unit.Time) unit.Time { return max(0, e.work-(now-e.at)) }

// paused: a pause is active for which by is blamed, with this strength if by is a host.
func (e *egress) paused(now unit.Time, by trigger, strength uint8) {
	if by.isHost() {
		e.blameHost(by, strength)
	}
	if e.since != 0 && e.by == by {
		return
	}
	e.resumed(now)
	e.by, e.since = by, max(now, 1)
}

func (e *egress) blameHost(host trigger, part uint8) {
	if part > e.part || e.host == 0 {
		e.host, e.part = host, part
	}
}

// resumed: no pause is active any more.
func (e *egress) resumed(now unit.Time) {
	e.pauser, e.margin = e.blamed(now)
	e.since = 0
}

// blamed is who is blamed for all pauses since the queue was last empty, the active one
// included.
func (e *egress) blamed(now unit.Time) (trigger, unit.Time) {
	if e.since == 0 || e.by == 0 {
		return e.pauser, e.margin
	}
	return vote(e.pauser, e.margin, e.by, now-e.since)
}

// vote is the leader, and its margin, after one more vote of weight for by.
func vote(leader trigger, margin unit.Time, by trigger, weight unit.Time) (trigger, unit.Time) {
	switch {
	case by == leader:
		return leader, margin + weight
	case weight > margin:
		return by, weight - margin
	}
	return leader, margin - weight
}

// forget: the queue is empty, so nothing that waits from now on is there because of what was paused before.
// An active pause still counts (by, since).
func (e *egress) forget() { e.pauser, e.margin, e.host, e.part = 0, 0, 0, 0 }

// blame is why a priority group went XOFF. Of its bytes some wait because queues were paused; the
// rest would wait all the same.
type blame struct {
	trigger  trigger // the host if there is one, else of the greater part: the one that paused, or the priority group itself
	strength uint8   // of the bytes that wait for that host, in 255ths, at least 1
}

// findTrigger finds why priority group i, which went XOFF, did. What waits in a queue would wait
// there without its pauses too as far as its phantom queue is not empty. A queue that has
// not been paused since it was last empty explains itself.
//
// A host is named however little it did, with its strength: it can be handled at the cost of
// its own queue alone.
func (d *detector) findTrigger(now unit.Time, c *priority, i unit.Port) blame {
	var paused, rest, mostPaused, byHost int
	var host, pauser trigger
	for p := range unit.Port(len(c.out)) {
		held := d.view.Held(c.pg(i), c.queue(p))
		if held == 0 {
			continue
		}
		e := &c.out[p]
		here := 0
		by, _ := e.blamed(now)
		if by != 0 {
			here = held - d.unpaused(now, c, p, held)
		}
		paused += here
		rest += held - here
		if by != 0 && (pauser == 0 || here > mostPaused) {
			mostPaused, pauser = here, by
		}
		if e.host != 0 && (host == 0 || here*int(e.part) > byHost) {
			host, byHost = e.host, here*int(e.part)
		}
	}
	switch {
	case host != 0:
		return blame{host, uint8(max(1, byHost/max(paused+rest, 1)))}
	case paused > rest:
		return blame{trigger: pauser}
	}
	return blame{trigger: d.own(i)}
}

// unpaused is how many of held bytes in queue p would wait there had it never been paused.
func (d *detector) unpaused(now unit.Time, c *priority, p unit.Port, held int) int {
	all := d.view.Rate(p).FrameTime(d.view.Backlog(c.queue(p)))
	if all <= 0 {
		return held
	}
	return int(int64(held) * int64(min(c.out[p].left(now), all)) / int64(all))
}

// passedTrigger reports whether the label l, which priority group i publishes, has passed
// the priority group that is the trigger: i is that priority group, or the label came by it.
func (d *detector) passedTrigger(c *priority, i unit.Port, l label, t trigger) bool {
	if t == d.own(i) {
		return true
	}
	for set := c.paused; !set.Empty(); set.Pop() {
		m := c.lab[set.First()]
		if m.id() == l.id() && m.has(flagTrigger) && m.trigger == t {
			return true
		}
	}
	return false
}
