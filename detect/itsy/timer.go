package itsy

import (
	"softswitch/internal/unit"
)

// Waiting times in hops (detect.View.Hop).
const (
	lapHops    = 3   // a bucket whose label came home without proof waits that long, to twice that
	liveHops   = 8   // after a verification that found it live: so much to twice that
	victimHops = 40  // after one that found it stuck, but on no loop
	walkedHops = 20  // after another's walk came by
	idleHops   = 8   // a verification that was quiet for so long is given up for another
	mintHops   = 25  // a blocked bucket mints anew after so much to thrice that
	graceHops  = 16  // a declared bucket whose label has been replaced waits for another declaration
	holdHops   = 128 // one that waits for a declared deadlock, or has declared it, looks again
	maxPut     = 100 // the most that it is put off
	maxTries   = 5   // doublings of those waits that grow
	quietTries = 4   // a bucket that has minted so often in vain may verify without suspicion
)

// hops is now in hops, modulo 65536.
func (d *detector) hops(now unit.Time) uint16 { return uint16(now / d.hop) }

// wait sets when bucket i, which is blocked, acts by itself.
func (d *detector) wait(now unit.Time, c *class, i unit.Port, hops int) {
	c.in[i].due = d.hops(now) + uint16(hops)
	d.deadline = min(d.deadline, (now/d.hop+unit.Time(hops))*d.hop)
}

// waitToMint sets when bucket i mints anew: the later the more often it has.
func (d *detector) waitToMint(now unit.Time, c *class, i unit.Port) {
	d.wait(now, c, i, (mintHops+d.random.below(2*mintHops+1))<<c.in[i].tries)
}

// postpone puts off what bucket i is to do by itself: a label that has just come by
// may do it. It is put off by maxPut hops in all, so that labels of live buckets, which
// may come for ever, cannot stop it.
func (d *detector) postpone(now unit.Time, c *class, i unit.Port) {
	n := &c.in[i]
	left := max(int(int16(n.due-d.hops(now))), 0)
	if more := mintHops + d.random.below(mintHops) - left; more > 0 && int(n.put)+more <= maxPut {
		n.put += uint8(more)
		d.wait(now, c, i, left+more)
	}
}

// Deadline is when the next bucket is due.
func (d *detector) Deadline() unit.Time { return d.deadline }

// Tick lets every bucket act that is due.
func (d *detector) Tick(now unit.Time) {
	d.deadline = unit.Never
	for _, c := range d.classes {
		if c == nil {
			continue
		}
		for set := c.blocked; set != 0; set &= set - 1 {
			i := set.First()
			if left := int16(c.in[i].due - d.hops(now)); left > 0 {
				d.deadline = min(d.deadline, (now/d.hop+unit.Time(left))*d.hop)
			} else {
				d.fire(now, c, i)
			}
		}
	}
}

// fire lets bucket i, which is blocked, act by itself: it verifies a suspicion, or
// mints anew, in case its label was lost or outranked by those of live buckets. There
// is no need if what it waits for was declared.
func (d *detector) fire(now unit.Time, c *class, i unit.Port) {
	n := &c.in[i]
	n.put = 0
	if c.done.Has(i) {
		d.fireDone(now, c, i)
		return
	}
	if d.published(c, i)&flagDone != 0 {
		d.wait(now, c, i, holdHops)
		return
	}
	if _, home := d.homes(c, i); c.suspect.Has(i) || home != 0 {
		d.verify(now, c, i)
		return
	}
	n.tries = min(n.tries+1, maxTries)
	d.waitToMint(now, c, i)
	if n.tries >= quietTries && d.random.below(8) == 0 {
		d.verify(now, c, i)
		return
	}
	c.clock = later(c.clock, uint16(d.random.below(16)))
	d.mint(c, i, unit.NoPort)
	c.timed.Add(i)
}

// fireDone is fire for a bucket that has declared a deadlock.
func (d *detector) fireDone(now unit.Time, c *class, i unit.Port) {
	switch {
	case d.standDown(now, c, i):
	case c.news.Has(i):
		d.revive(now, c, i)
	default:
		d.wait(now, c, i, holdHops)
	}
}
