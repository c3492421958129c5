package itsypaper

import (
	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// XOFF decides what the pause of b will carry (ITSY, III-A and III-B). The packet
// that crossed the threshold decides: if the port it was queued in is paused, the
// pause carries what is stored there; if not, this switch is an initial trigger.
func (d *detector) XOFF(_ unit.Time, b detect.PG, cause detect.Queue) {
	d.pausing.add(b.Port)
	if d.paused(cause.Port) {
		d.carry(b.Port, uint8(cause.Port))
		return
	}
	d.takeovers.forget(b.Port)
	d.begin(b.Port, d.seqs[b.Port]+1)
	d.carry(b.Port, carryOwn)
	d.trace(detect.StepMint, cause, b, d.own(b))
}

// Label is the checking message that rides on the first pause frame of b after an
// XOFF. A refresh repeats a pause and carries none: the text knows no refresh, and
// repeating the label would repair losses that the text does not repair.
func (d *detector) Label(_ unit.Time, b detect.PG) itsyhdr.TLV {
	from := d.carried(b.Port)
	d.carry(b.Port, carryNothing)
	switch from {
	case carryNothing:
		return itsyhdr.TLV{}
	case carryOwn:
		return d.own(b)
	}
	return d.copied(b, unit.Port(from))
}

// own is b's own id, as an initial trigger sends it.
func (d *detector) own(b detect.PG) itsyhdr.TLV {
	id := newLabel(unit.NodePort{Node: d.view.Self(), Port: b.Port}, d.seqs[b.Port])
	t := id.tlv(newTrail(0, firstRound))
	t.Priority = b.Priority
	return t
}

// copied is what is stored at the paused port p, one hop on. There is nothing to
// copy if p was paused by a device that sends no label, or has been resumed since.
func (d *detector) copied(b detect.PG, p unit.Port) itsyhdr.TLV {
	l, way := d.slots[p].label(), d.trails[p]
	if l == 0 || way.hops()+1 >= HopLimit {
		return itsyhdr.TLV{}
	}
	t := l.tlv(newTrail(way.hops()+1, way.round()))
	t.Priority = b.Priority
	d.trace(detect.StepForward, detect.Queue{Port: p, Priority: b.Priority}, b, t)
	return t
}

// hostTrigger begins an episode for the host that paused q. A host mints no id, so
// the switch does it in the host's name: {this switch, the port that faces it}.
func (d *detector) hostTrigger(q detect.Queue) {
	d.takeovers.forget(q.Port)
	d.begin(q.Port, d.seqs[q.Port]+1)
	t := d.own(detect.PG(q))
	d.trace(detect.StepMint, q, noPG, t)
	d.receive(q.Port, t)
}
