package itsypaper

import (
	"fmt"

	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// Name is the detector's name in scenario files and verdicts.
const Name = "itsypaper"

// detector is ITSY on one switch. The switch tells it of events; all it remembers is in
// state.
type detector struct {
	detect.None // the text has no timer
	view        detect.View
	act         detect.Actions
	state
}

// New makes the detector of the switch that v shows; it is a detect.Factory. It
// allocates all its state, for v.Ports() ports, and nothing later. It panics if
// the switch's number does not fit the 14 bits that an id has for it (ITSY,
// section V), or if there are more ports than MaxPorts.
func New(v detect.View, a detect.Actions) detect.Detector {
	if s := v.Self(); s == 0 || s > MaxNode {
		panic(fmt.Sprintf("itsypaper: switch number %d: want 1 to %d, which fit 14 bits", s, MaxNode))
	}
	if n := v.Ports(); n < 1 || n > MaxPorts {
		panic(fmt.Sprintf("itsypaper: switch %d has %d ports: want 1 to %d", v.Self(), n, MaxPorts))
	}
	return &detector{view: v, act: a, state: newState(v.Ports())}
}

func (d *detector) Name() string { return Name }

func (d *detector) StateBytes() int { return d.size() }

// Enqueue sets the bit of b's port in the traffic mapping of q's port.
func (d *detector) Enqueue(_ unit.Time, b detect.PG, q detect.Queue, _ detect.FlowID, _ int) {
	d.addTraffic(b.Port, q.Port)
}

// Empty clears the traffic mapping of q's port once no priority of it holds a frame.
func (d *detector) Empty(_ unit.Time, q detect.Queue) {
	if !d.otherPriorityWaits(q) {
		d.clearTraffic(q.Port)
	}
}

// otherPriorityWaits reports whether another lossless queue of q's port holds frames.
func (d *detector) otherPriorityWaits(q detect.Queue) bool {
	priorities := d.view.Lossless()
	others := priorities &^ (1 << q.Priority)
	for ; others != 0; others &= others - 1 {
		if d.waits(detect.Queue{Port: q.Port, Priority: others.First()}, priorities) {
			return true
		}
	}
	return false
}

// waits reports whether q holds frames of a priority group of those priorities.
func (d *detector) waits(q detect.Queue, priorities unit.PrioritySet) bool {
	for xi := d.traffic(q.Port); !xi.Empty(); xi.Pop() {
		for c := priorities; c != 0; c &= c - 1 {
			if d.view.Held(detect.PG{Port: xi.First(), Priority: c.First()}, q) > 0 {
				return true
			}
		}
	}
	return false
}

// XON ends the pausing of b's port, unless another priority of it still pauses.
func (d *detector) XON(_ unit.Time, b detect.PG) {
	if _, still := d.pausingPriority(b.Port, b.Priority); still {
		return
	}
	d.pausing.remove(b.Port)
	d.ingress[b.Port] = carryNothing
}

// Pause stores and forwards the label that came with the pause. A host's pause is
// an initial trigger, whatever it carries.
func (d *detector) Pause(now unit.Time, q detect.Queue, t itsyhdr.TLV, fresh bool) {
	d.budget.at(now)
	renewed := d.slots[q.Port]&resumed != 0
	d.slots[q.Port] &^= resumed
	t.Priority = q.Priority
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
	ports := d.traffic(p).And(d.pausing.ports())
	for rest := ports; !rest.Empty(); rest.Pop() {
		if d.view.FacesHost(rest.First()) {
			ports.Remove(rest.First())
		}
	}
	return ports
}

// paused reports whether a pause of any lossless priority is active at egress p.
func (d *detector) paused(p unit.Port) bool {
	for c := d.view.Lossless(); c != 0; c &= c - 1 {
		if d.view.Paused(detect.Queue{Port: p, Priority: c.First()}) {
			return true
		}
	}
	return false
}

// pausingPriority is a lossless priority in which ingress i pauses its upstream, want
// if that one does.
func (d *detector) pausingPriority(i unit.Port, want unit.Priority) (unit.Priority, bool) {
	if on, _ := d.view.XOFF(detect.PG{Port: i, Priority: want}); on {
		return want, true
	}
	for c := d.view.Lossless(); c != 0; c &= c - 1 {
		if on, _ := d.view.XOFF(detect.PG{Port: i, Priority: c.First()}); on {
			return c.First(), true
		}
	}
	return want, false
}

// pg names the account of ingress i that pauses, for messages and the log:
// the detector itself knows ports only.
func (d *detector) pg(i unit.Port, want unit.Priority) detect.PG {
	c, _ := d.pausingPriority(i, want)
	return detect.PG{Port: i, Priority: c}
}

// noPG stands in a trace where no priority group is involved.
var noPG = detect.PG{Port: unit.NoPort}

func (d *detector) trace(s detect.Step, q detect.Queue, b detect.PG, t itsyhdr.TLV) {
	d.act.Trace(detect.Trace{Step: s, Queue: q, PG: b, Label: t})
}

// send sends t out of b's port and notes step; a message beyond the budget, or one
// that the switch could not take, is noted as dropped.
func (d *detector) send(step detect.Step, q detect.Queue, b detect.PG, t itsyhdr.TLV) {
	t.Priority = b.Priority
	if !d.budget.take(d.ports()) || !d.act.Send(b.Port, t) {
		step = detect.StepDrop
	}
	d.trace(step, q, b, t)
}
