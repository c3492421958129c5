package itsy

import (
	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// checkHops is how long a priority group waits for its check to come round before it checks again
// or verifies. Chosen: a lap of eight links, if each message takes a whole hop. On a longer loop the first
// check is still on its way then, and declares when it comes home; the further ones only cost messages.
const checkHops = 8

// sendCheck sends a check of priority group i's label round the loop that it proves, downstream,
// if it proves one: is everyone still as when it published the label? Each switch is asked
// after the label came home. So all of them waited at once when it did, whatever links
// have failed since the label passed them.
func (d *detector) sendCheck(now unit.Time, c *priority, i unit.Port) bool {
	proved, _ := d.homes(c, i)
	p := d.strong(c, i, proved)
	if !d.checked || p == unit.NoPort {
		return false
	}
	d.sendOn(c, i, p, p, c.lab[p].id())
	c.suspect.Add(i)
	d.wait(now, c, i, checkHops)
	return true
}

// check takes a check of the label id, which asks priority group i. A priority group that publishes id with
// F has had no new wait since it saw id: that would have got a greater label of its own.
// A check that is not handed on is lost, and its owner checks again or verifies. via is the
// owner's queue by which it left: one that comes home speaks of that queue and its own label
// only, not of another that is home by now.
func (d *detector) check(now unit.Time, c *priority, i, via unit.Port, id label) {
	// A priority group that has declared is free for all others, and one whose pause may have run out may
	// have been sent to since: nothing is proved through either.
	if !c.blocked.Has(i) || c.done.Has(i) || d.view.Lapsed(c.pg(i)) {
		return
	}
	if id.owner() == d.at(i) {
		// via is an octet of the wire.
		proved, _ := d.homes(c, i)
		if d.strong(c, i, proved.And(c.having(id, flagProof)).And(via.Set())) == via {
			d.declare(now, c, i, via, c.lab[via])
		}
		return
	}
	if l := d.published(c, i); l.id() != id || !l.has(flagProof) {
		return
	}
	// One queue is followed, so it has to be enough alone. Where it takes two to keep i, both have to be
	// asked about, as only a verification does.
	if p := d.strong(c, i, c.having(id, flagProof)); p != unit.NoPort && c.in[i].mayCheck(id.rank(), d.hops(now)) {
		d.sendOn(c, i, p, via, id)
	}
}

// sendOn sends a check of the label id, which left its owner by via, from priority group i to the next.
func (d *detector) sendOn(c *priority, i, p, via unit.Port, id label) {
	d.trace(detect.StepAsk, c, p, i, id)
	d.act.Send(p, itsyhdr.TLV{Kind: itsyhdr.KindTemporalCheck, Priority: c.id, Initiator: id.owner(), Seq: id.rank(), Hops: uint8(via)})
}

// strong is the first of the queues in that keeps priority group i XOFF by itself, unit.NoPort if none
// does.
func (d *detector) strong(c *priority, i unit.Port, in unit.PortSet) unit.Port {
	for ; !in.Empty(); in.Pop() {
		if p := in.First(); d.stays(c, i, p.Set()) {
			return p
		}
	}
	return unit.NoPort
}
