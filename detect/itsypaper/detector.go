package itsypaper

import (
	"fmt"

	"softswitch/detect"
	"softswitch/internal/unit"
	"softswitch/itsyhdr"
)

// Name is the detector's name in scenario files and verdicts.
const Name = "itsypaper"

// detector is ITSY on one switch. Its events are told by the switch; all it
// remembers is in state.
type detector struct {
	view detect.View
	act  detect.Actions
	state
}

// New makes the detector of the switch that v shows; it is a detect.Factory. It
// allocates all its state, for v.Ports() ports, and nothing later. It panics if
// the switch's number does not fit the 14 bits that an id has for it (ITSY,
// section V), or if there are more ports than unit.MaxPorts.
func New(v detect.View, a detect.Actions) detect.Detector {
	if s := v.Self(); s == 0 || s > maxNode {
		panic(fmt.Sprintf("itsypaper: switch number %d: want 1 to %d, which fit 14 bits", s, maxNode))
	}
	if n := v.Ports(); n < 1 || n > unit.MaxPorts {
		panic(fmt.Sprintf("itsypaper: switch %d has %d ports: want 1 to %d", v.Self(), n, unit.MaxPorts))
	}
	return &detector{view: v, act: a, state: newState(v.Ports())}
}

func (d *detector) Name() string { return Name }

func (d *detector) StateBytes() int { return d.size() }

// Enqueue sets the bit of b's port in the traffic mapping of q's port.
func (d *detector) Enqueue(_ unit.Time, b detect.Bucket, q detect.Queue) {
	d.addTraffic(b.Port, q.Port)
}

// Empty clears the traffic mapping of q's port once no class of it holds a frame.
func (d *detector) Empty(_ unit.Time, q detect.Queue) {
	if !d.otherClassWaits(q) {
		d.clearTraffic(q.Port)
	}
}

// otherClassWaits reports whether another lossless queue of q's port holds frames.
func (d *detector) otherClassWaits(q detect.Queue) bool {
	classes := d.view.Lossless()
	if classes.Len() < 2 {
		return false
	}
	for xi := d.traffic(q.Port); xi != 0; xi.Remove(xi.First()) {
		for in := range unit.Priority(unit.Priorities) {
			b := detect.Bucket{Port: xi.First(), Class: in}
			for out := range unit.Priority(unit.Priorities) {
				other := detect.Queue{Port: q.Port, Class: out}
				if out != q.Class && classes.Has(in) && classes.Has(out) && d.view.Held(b, other) > 0 {
					return true
				}
			}
		}
	}
	return false
}

// XON ends the pausing of b's port, unless another class of it still pauses.
func (d *detector) XON(_ unit.Time, b detect.Bucket) {
	if _, still := d.pausingClass(b.Port, b.Class); still {
		return
	}
	d.pausing.Remove(b.Port)
	d.ingress[b.Port] = owesNothing
}

// Pause stores and forwards the label that came with the pause. A host's pause is
// an initial trigger, whatever it carries.
func (d *detector) Pause(now unit.Time, q detect.Queue, t itsyhdr.TLV, fresh bool) {
	d.budget.at(now)
	renewed := d.slots[q.Port]&resumed != 0
	d.slots[q.Port] &^= resumed
	t.Class = q.Class
	switch {
	case d.view.FacesHost(q.Port):
		if fresh {
			d.hostTrigger(q)
		}
	case t.Kind == itsyhdr.KindChecking:
		if renewed {
			t.Flags = d.trails[q.Port].nextRound()
		}
		d.receive(q.Port, t)
	}
}

// Resume forgets what q's port stores and raises its RESUME tag. The end of a
// pause by expiry counts as a resume frame.
func (d *detector) Resume(_ unit.Time, q detect.Queue, _ bool) {
	d.forget(q.Port)
	d.slots[q.Port] |= resumed
}

// Message takes a checking message or a temporal consistency check.
func (d *detector) Message(now unit.Time, p unit.Port, t itsyhdr.TLV) {
	d.budget.at(now)
	switch t.Kind {
	case itsyhdr.KindChecking:
		d.receive(p, t)
	case itsyhdr.KindTemporalCheck:
		d.check(p, t)
	}
}

// delta is the set delta_p: the ports in xi_p that pause a switch upstream. A
// port that pauses a host is left out: a host runs no detector.
func (d *detector) delta(p unit.Port) unit.PortSet {
	ports := d.traffic(p) & d.pausing
	for rest := ports; rest != 0; rest.Remove(rest.First()) {
		if d.view.FacesHost(rest.First()) {
			ports.Remove(rest.First())
		}
	}
	return ports
}

// paused reports whether a pause of any lossless class is in force at egress p.
func (d *detector) paused(p unit.Port) bool {
	classes := d.view.Lossless()
	for c := range unit.Priority(unit.Priorities) {
		if classes.Has(c) && d.view.Paused(detect.Queue{Port: p, Class: c}) {
			return true
		}
	}
	return false
}

// pausingClass is a lossless class in which ingress i pauses its upstream, want
// if that one does.
func (d *detector) pausingClass(i unit.Port, want unit.Priority) (unit.Priority, bool) {
	if on, _ := d.view.XOFF(detect.Bucket{Port: i, Class: want}); on {
		return want, true
	}
	classes := d.view.Lossless()
	for c := range unit.Priority(unit.Priorities) {
		if !classes.Has(c) {
			continue
		}
		if on, _ := d.view.XOFF(detect.Bucket{Port: i, Class: c}); on {
			return c, true
		}
	}
	return want, false
}

// bucket names the account of ingress i that pauses, for messages and the log:
// the detector itself knows ports only.
func (d *detector) bucket(i unit.Port, want unit.Priority) detect.Bucket {
	c, _ := d.pausingClass(i, want)
	return detect.Bucket{Port: i, Class: c}
}

// noBucket stands in a trace where no bucket is involved.
var noBucket = detect.Bucket{Port: unit.NoPort}

func (d *detector) trace(s detect.Step, q detect.Queue, b detect.Bucket, t itsyhdr.TLV) {
	d.act.Trace(detect.Trace{Step: s, Queue: q, Bucket: b, Label: t})
}

// send sends t out of b's port and notes step; a message beyond the budget, or one
// that the switch could not take, is noted as dropped.
func (d *detector) send(step detect.Step, q detect.Queue, b detect.Bucket, t itsyhdr.TLV) {
	t.Class = b.Class
	if !d.budget.take(d.ports()) || !d.act.Send(b.Port, t) {
		step = detect.StepDrop
	}
	d.trace(step, q, b, t)
}
