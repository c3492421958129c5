package itsy

import (
	"softswitch/detect"
	"softswitch/unit"
)

// home looks whether labels of priority group i came home to paused queues in which it has
// bytes, and acts: with F, and if it stays XOFF by these, it is a deadlock, which is checked;
// otherwise it is a suspicion, which is verified. p is the queue whose label is new.
func (d *detector) home(now unit.Time, c *priority, i, p unit.Port) {
	proved, all := d.homes(c, i)
	if all.Empty() {
		return
	}
	if !d.checked && d.proves(c, i, proved) {
		// The upstream may have sent if the pause could have run out: then the label says nothing of now. The
		// next pause frame carries a new one (Label).
		if !c.announced.Has(i) || d.view.Lapsed(c.pg(i)) {
			return
		}
		at := proved.First()
		if proved.Has(p) && d.view.Held(c.pg(i), c.queue(p)) > 0 {
			at = p
		}
		d.declare(now, c, i, at, c.lab[at])
		return
	}
	// A check or a verification is due already; refreshes that bring the label again do not put it off.
	if c.suspect.Has(i) {
		return
	}
	d.trace(detect.StepLoop, c, p, i, c.lab[all.First()])
	if !d.sendCheck(now, c, i) {
		c.suspect.Add(i)
		d.wait(now, c, i, lapHops+d.random.Below(lapHops))
	}
}

// homes are the paused queues with bytes of priority group i to which a label of i came
// home: those where it has F, and all. Any label of this XOFF counts, not the newest alone: on each loop
// another one may survive.
func (d *detector) homes(c *priority, i unit.Port) (proved, all unit.PortSet) {
	n := &c.in[i]
	for set := c.paused; !set.Empty(); set.Pop() {
		p := set.First()
		l := c.lab[p]
		if l.owner() != d.at(i) || l.isNone() || !n.has(l.rank()) || d.view.Held(c.pg(i), c.queue(p)) == 0 {
			continue
		}
		all.Add(p)
		if l.has(flagProof) {
			proved.Add(p)
		}
	}
	return proved, all
}

// proves reports whether priority group i would be blocked by the queues of proved alone. With labels that
// come home by too little 3 declarations are false and 22 premature (docs/detection.md, "Which rules are
// needed").
func (d *detector) proves(c *priority, i unit.Port, proved unit.PortSet) bool {
	return d.stays(c, i, proved)
}

// lookAfter checks what became of the deadlock that priority group i has declared. It lasts as long as
// nothing changes, and whatever changes on the loop, or joins it, causes a greater label. i waits a little
// for another priority group to declare that one, and then starts again. Without it 1 deadlock is missed, and
// 17 where pauses run out (docs/detection.md, "Which rules are needed").
func (d *detector) lookAfter(now unit.Time, c *priority, i unit.Port) {
	if !c.outdone.Has(i) && d.isOutdone(c, i) {
		c.outdone.Add(i)
		d.wait(now, c, i, graceHops)
	}
}

// isOutdone reports whether priority group i waits for a queue whose label is greater than its
// own.
func (d *detector) isOutdone(c *priority, i unit.Port) bool {
	own := d.ownLabel(c, i)
	for set := c.paused; !set.Empty(); set.Pop() {
		p := set.First()
		if l := c.lab[p]; own.less(l) && d.view.Held(c.pg(i), c.queue(p)) > 0 {
			return true
		}
	}
	return false
}

// isBehind reports whether priority group i, which is done, waits for what was declared by another
// with a greater label too. Starting again in that case too misses nothing, but makes 2.9 times as
// many declarations (docs/detection.md, "Which rules are needed").
func (d *detector) isBehind(c *priority, i unit.Port) bool {
	c.done.Remove(i)
	l := d.published(c, i)
	c.done.Add(i)
	return l.has(flagDone)
}

// revive makes priority group i, which was declared, live as a blocked one again.
func (d *detector) revive(now unit.Time, c *priority, i unit.Port) {
	c.undo(i)
	c.in[i].tries = 0
	d.waitLong(now, c, i)
	d.mint(c, i, unit.NoPort)
}

// declare reports that priority group i and queue p wait for each other. From now on i counts
// as free: priority groups that are stuck without i are stuck in another deadlock.
//
// Invariant: i is XOFF and stays so by queues that are paused at this instant. Each caller has just looked.
func (d *detector) declare(now unit.Time, c *priority, i, p unit.Port, l label) {
	trigger := c.in[i].trigger
	m := c.lab[p]
	t := l.tlv()
	t.Priority = c.id
	d.act.Report(detect.Finding{
		PG: c.pg(i), Queue: c.queue(p), Label: t, Trigger: trigger.at(),
		OnLoop: trigger == d.own(i) || m.has(flagTrigger) && m.trigger == trigger,
	})
	if c.trusting.Has(i) && d.published(c, i).has(flagDone) { // what outranks it says that it was declared, and is nobody's
		d.mint(c, i, p)
	}
	c.trusting.Remove(i)
	// After this published is i's own label, which is why a greater one was looked for above.
	c.done.Add(i)
	c.in[i].declared = p
	// D has to reach the others before they act by themselves, or they verify what is declared.
	if !c.settled.Has(i) {
		d.act.Repause(c.pg(i))
	}
	c.suspect.Remove(i)
	c.unanswered.Remove(i)
	d.disengage(c, i)
	// A verification of i that failed later would put off what i does about a greater label: 2 missed in
	// 15,000 cases with expiry (TestDeclaresDuringItsVerification).
	d.abandon(c, i)
	d.wait(now, c, i, holdHops)
	d.diagnose(now, c, i, p)
}
