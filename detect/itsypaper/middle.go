package itsypaper

import (
	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

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
	for ; delta != 0; delta &= delta - 1 {
		i := delta.First()
		d.begin(i, l.seq())
		d.takeovers.set(i, l.initiator())
		if d.carried(i) == carryOwn {
			d.carry(i, carryNothing) // the newer episode has replaced the one that the pause should have told
		}
		own := newLabel(unit.NodePort{Node: d.view.Self(), Port: i}, l.seq()) | middleBit
		m := own.tlv(newTrail(0, t.Flags))
		m.Trigger = l.initiator()
		d.send(detect.StepMiddle, q, d.bucket(i, q.Class), m)
	}
}
