package itsy

import (
	"softswitch/internal/unit"
)

// Waiting times in hops (detect.View.Hop).
const (
	lapHops    = 8   // a bucket whose label came home without proof waits one lap or two
	liveHops   = 8   // after a verification that found it live: so much to twice that
	victimHops = 40  // after one that found it stuck, but on no loop
	walkedHops = 20  // after another's walk came by
	idleHops   = 8   // a verification that was quiet for so long is given up for another
	mintHops   = 25  // a blocked bucket mints anew after so much to thrice that
	holdHops   = 128 // a declared bucket looks after so much whether it is still stuck
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

// fire lets bucket i, which is blocked, act by itself: it verifies what it declared
// by verification, or what it suspects; else it mints anew, in case its label was
// lost or has been outranked by those of live buckets.
func (d *detector) fire(now unit.Time, c *class, i unit.Port) {
	n := &c.in[i]
	_, home := d.homes(c, i)
	switch l := d.published(c, i); {
	case c.proof.Has(i) || !c.done.Has(i) && l&flagDone != 0:
		d.waitToMint(now, c, i)
		return
	case c.done.Has(i) || c.suspect.Has(i) || home != 0:
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
}
