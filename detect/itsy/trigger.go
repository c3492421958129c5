package itsy

import "softswitch/unit"

// The initial trigger is a diagnosis. It is decided once, when a bucket goes XOFF,
// handed on with every pause, and never used to find a loop.

// findTrigger is the initial trigger of bucket i, which went XOFF: this bucket
// itself, if it would not stay XOFF by paused queues alone; else whoever stands
// behind the paused queue that holds most of it: a host, or the trigger that the
// pause named.
func (d *detector) findTrigger(c *class, i unit.Port) unit.NodePort {
	b := c.bucket(i)
	all := c.paused | c.stopped
	if d.view.HeldIn(b, all) <= d.view.XON(b) {
		return d.at(i)
	}
	most, where := 0, unit.NoPort
	for ; all != 0; all &= all - 1 {
		if p := all.First(); d.view.Held(b, c.queue(p)) > most {
			most, where = d.view.Held(b, c.queue(p)), p
		}
	}
	if at := c.lab[where].trigger(); !at.IsZero() {
		return at
	}
	return d.at(where)
}

// passedTrigger reports whether the label l, which bucket i publishes, has passed
// the bucket that is the trigger: i is that bucket, or the label came by it.
func (d *detector) passedTrigger(c *class, i unit.Port, l label, trigger unit.NodePort) bool {
	if trigger == d.at(i) {
		return true
	}
	for set := c.paused; set != 0; set &= set - 1 {
		m := c.lab[set.First()]
		if m.id() == l.id() && m&flagTrigger != 0 && m.trigger() == trigger {
			return true
		}
	}
	return false
}
