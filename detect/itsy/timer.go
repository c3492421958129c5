package itsy

import "softswitch/unit"

// Waiting times in hops (detect.View.Hop). Nothing is declared by a time. All of them are chosen, for loops
// of a few links, and most are drawn from once to twice their value, so that switches that are alike do not
// act at the same instant:
//
//   - lapHops: a verification takes four messages a link, a check one. What is still on its way, as a
//     greater label or one with proof, may make it needless.
//   - retryHops: by then a verification of eight links has ended, though each of its messages took a whole
//     hop: query, acknowledgement, walk, acknowledgement. One that takes longer is given up where it began
//     (verify), and the next may be waited for longer (ingress.unended, slot.patience).
//   - walkedHops: a walk that came by has found its way stuck so far, and may be about to be declared.
//   - longHops: without it 40 frames would do for 72. It stays, since a loop whose labels are outranked all
//     the time is found by nothing else (docs/detection.md, "Which rules are needed").
//   - holdHops: twice the longest lap of a diagnosis (lapMax): one that is not home by then is lost.
//   - maxTries: a wait is below 2 x longHops << 5 = 25,600 hops, and has to be below 32,768 for the sign of
//     a difference modulo 65536 to say which of two comes first.
const (
	lapHops    = 3   // a priority group whose label came home without proof waits this long, to twice that
	liveHops   = 8   // after a verification that found it live: this long, to twice that
	victimHops = 40  // after one that found it stuck, but on no loop
	retryHops  = 32  // after the start of one that never ended; doubled patience times
	walkedHops = 20  // after another's walk came by
	idleHops   = 8   // one that was quiet for this long is given up for another; doubled patience times
	longHops   = 400 // a blocked priority group that suspects nothing verifies all the same
	graceHops  = 16  // a declared priority group that is outdone waits for another declaration
	holdHops   = 128 // one that has declared a deadlock looks again
	maxTries   = 5   // doublings of those waits that grow
)

// hops is now in hops, modulo 65536: 16 bits a priority group instead of 64. All that compares two of them
// looks at their difference.
func (d *detector) hops(now unit.Time) uint16 { return uint16(now / d.hop) }

// wait sets when priority group i, which is blocked, acts by itself.
func (d *detector) wait(now unit.Time, c *priority, i unit.Port, hops int) {
	c.in[i].due = d.hops(now) + uint16(hops)
	d.deadline = min(d.deadline, (now/d.hop+unit.Time(hops))*d.hop)
}

// waitLonger sets when priority group i acts by itself: after hops to twice hops, and twice as
// many each time.
func (d *detector) waitLonger(now unit.Time, c *priority, i unit.Port, hops int) {
	n := &c.in[i]
	d.wait(now, c, i, (hops+d.random.Below(hops))<<n.tries)
	n.tries = min(n.tries+1, maxTries)
}

// waitTurn sets when priority group i verifies whose verification could not begin, as another one is passing.
// That has cost nothing, so it does not wait for longer each time, whatever it trusts.
func (d *detector) waitTurn(now unit.Time, c *priority, i unit.Port) {
	d.wait(now, c, i, liveHops+d.random.Below(liveHops))
}

// waitForEnd sets when priority group i gives up the verification that it begins, if it never ends: after
// hops to twice hops. There is no hurry if what it waits for was declared.
func (d *detector) waitForEnd(now unit.Time, c *priority, i unit.Port, hops int) {
	if c.trusting.Has(i) {
		d.waitLonger(now, c, i, longHops)
		return
	}
	d.wait(now, c, i, hops+d.random.Below(hops))
}

// waitLong sets when priority group i verifies without suspicion.
func (d *detector) waitLong(now unit.Time, c *priority, i unit.Port) {
	d.wait(now, c, i, longHops+d.random.Below(longHops))
}

// putOff makes priority group i act in this many hops. One that has acted in vain keeps a longer wait: it
// would act in vain again and again when others do, and none of them would leave the rest a turn.
func (d *detector) putOff(now unit.Time, c *priority, i unit.Port, hops int) {
	if left := int16(c.in[i].due - d.hops(now)); int(left) < hops || c.in[i].tries == 0 {
		d.wait(now, c, i, hops)
	}
}

// hurry makes priority group i verify as soon as after a first verification that found it live, if it
// would do so later.
func (d *detector) hurry(now unit.Time, c *priority, i unit.Port) {
	c.in[i].tries = 0
	if left := int16(c.in[i].due - d.hops(now)); left > 2*liveHops {
		d.wait(now, c, i, liveHops+d.random.Below(liveHops))
	}
}

// Deadline is when the next priority group is due.
func (d *detector) Deadline() unit.Time { return d.deadline }

// Tick makes every priority group act that is due.
func (d *detector) Tick(now unit.Time) {
	// Each blocked priority group puts its due in again: those that are not due here, the others when they
	// next wait, as all that fire does ends in a wait.
	d.deadline = unit.Never
	for _, c := range d.order {
		for set := c.blocked; !set.Empty(); set.Pop() {
			i := set.First()
			if left := int16(c.in[i].due - d.hops(now)); left > 0 {
				d.deadline = min(d.deadline, (now/d.hop+unit.Time(left))*d.hop)
			} else {
				d.fire(now, c, i)
			}
		}
	}
}

// fire makes priority group i, which is blocked, act by itself. It verifies what it suspects, or
// checks again if a label proves it: either may be lost. If it has been blocked for long it
// verifies without suspicion: its label may have been outranked all the time by those of
// live priority groups. It puts that off once if what it waits for was declared, and then verifies
// anyway: a label that goes round a loop may be nobody's, and then its flag D hides the
// loop.
func (d *detector) fire(now unit.Time, c *priority, i unit.Port) {
	declared := !c.done.Has(i) && d.published(c, i).has(flagDone)
	if !declared {
		c.trusting.Remove(i)
	}
	switch {
	case c.done.Has(i):
		d.fireDone(now, c, i)
	case declared && !c.trusting.Has(i):
		c.trusting.Add(i)
		c.in[i].tries = 0
		d.waitLong(now, c, i)
	case declared:
		d.verify(now, c, i)
	// Neither is tried alone: a check stops at a priority group that two queues hold together, and a
	// verification is lost more easily, since all of its four messages a link have to arrive.
	case c.suspect.Has(i) && d.random.Below(2) == 0 || !d.sendCheck(now, c, i):
		d.verify(now, c, i)
	}
}

// fireDone is fire for a priority group that has declared a deadlock.
func (d *detector) fireDone(now unit.Time, c *priority, i unit.Port) {
	d.diagnosisDue(now, c, i)
	// Outdone, and the greater label was not declared in the meantime: what i declared is over, or is part of
	// something new.
	if c.outdone.Has(i) && !d.isBehind(c, i) {
		d.revive(now, c, i)
		return
	}
	c.outdone.Remove(i)
	d.wait(now, c, i, holdHops)
}
