package itsypaper

import (
	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// receive takes a checking message that reached port p, on a pause or alone (ITSY,
// III-B):
//
//  1. the switch's own id has come home: home decides (check.go);
//  2. anyone else's is stored at p, in place of what was there;
//  3. it goes on to every port of delta_p, unless it has gone this way before;
//  4. if another port stores the same trigger, this is a middle switch (takeOver).
func (d *detector) receive(p unit.Port, t itsyhdr.TLV) {
	q := detect.Queue{Port: p, Priority: t.Priority}
	l, ok := parseLabel(t)
	if !ok {
		d.trace(detect.StepDrop, q, noPG, t)
		return
	}
	if d.mine(l) {
		d.home(q, l, t)
		return
	}
	way := newTrail(t.Hops, t.Flags)
	again := d.cameRound(p, l, way)
	if again {
		way, _ = d.known(p, l)
	}
	d.put(p, l, way)
	delta := d.delta(p)
	if again || delta.Empty() {
		d.trace(detect.StepDrop, q, noPG, t)
		return
	}
	d.forward(detect.StepForward, q, delta, t)
	if !l.middle() && d.storedElsewhere(p, l) {
		d.takeOver(q, delta, l, t)
	}
}

// mine reports whether this switch is l's generic initiator. An id that it minted
// in a host's name is the host's: it is stored and forwarded like a stranger's, or
// the switch would never see it at two ports.
func (d *detector) mine(l label) bool {
	at := l.initiator()
	return at.Node == d.view.Self() && (int(at.Port) >= d.ports() || !d.view.FacesHost(at.Port))
}

// cameRound reports whether l was at p before, this time coming by a longer way, or
// by one as long in the same round. Such a label is stored but not sent on: this
// alone ends the circulation that the text leaves open. A new round on a way as
// long means that a port was resumed and learned the label again: it may pass.
func (d *detector) cameRound(p unit.Port, l label, way trail) bool {
	before, known := d.known(p, l)
	return known && (way.hops() > before.hops() || way == before)
}

// forward sends t, which reached q, to the upstreams of delta, one hop on.
func (d *detector) forward(step detect.Step, q detect.Queue, delta unit.PortSet, t itsyhdr.TLV) {
	if t.Hops+1 >= HopLimit {
		d.trace(detect.StepDrop, q, noPG, t)
		return
	}
	on := t
	on.Hops++
	on.Flags = newTrail(0, t.Flags).round()
	on.Period, on.Auth = 0, 0 // of the frame it came in
	for ; !delta.Empty(); delta.Pop() {
		d.send(step, q, d.pg(delta.First(), q.Priority), on)
	}
}

// storedElsewhere reports whether a port other than p stores l's {S, P}, of any Seq.
func (d *detector) storedElsewhere(p unit.Port, l label) bool {
	for k, s := range d.slots {
		if unit.Port(k) != p && s.label() != 0 && l.sameInitiator(s.label()) {
			return true
		}
	}
	return false
}

// takeOver makes this middle switch a generic initiator beside the trigger of l,
// which reached q (ITSY, III-D). Each port that it sends from is a P_middle of its own.
// Its Seq is that of l: the one received at the port that had not stored it.
func (d *detector) takeOver(q detect.Queue, delta unit.PortSet, l label, t itsyhdr.TLV) {
	for ; !delta.Empty(); delta.Pop() {
		i := delta.First()
		d.begin(i, l.seq())
		d.takeovers.set(i, l.initiator())
		if d.carried(i) == carryOwn {
			d.carry(i, carryNothing) // the newer episode has replaced the one that the pause should have told
		}
		own := newLabel(unit.NodePort{Node: d.view.Self(), Port: i}, l.seq()) | middleBit
		m := own.tlv(newTrail(0, t.Flags))
		m.Trigger = l.initiator()
		d.send(detect.StepMiddle, q, d.pg(i, q.Priority), m)
	}
}
