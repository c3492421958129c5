// Package patience is a deadlock detector to begin from, in a module of its own. It takes
// a queue that has stood paused for a hundred hops for a deadlock, if more than XON bytes
// of a priority group that is XOFF wait in it.
//
// It keeps the rules of softswitch's own detectors: it reads no clock (now comes in),
// starts no goroutine, goes through no map, and allocates nothing per frame.
package patience

import (
	"slices"
	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

const patience = 100 // hops

type detector struct {
	detect.None // what it need not be told
	view        detect.View
	act         detect.Actions
	due         [unit.Priorities][]unit.Time // when a port's queue will have stood too long
}

// New makes the detector of one switch; it is a detect.Factory.
func New(v detect.View, a detect.Actions) detect.Detector {
	d := &detector{view: v, act: a}
	for c := range d.due {
		d.due[c] = slices.Repeat([]unit.Time{unit.Never}, v.Ports())
	}
	return d
}

func (d *detector) Name() string { return "patience" }

func (d *detector) Pause(now unit.Time, q detect.Queue, _ itsyhdr.TLV, fresh bool) {
	if fresh && !d.view.FacesHost(q.Port) {
		d.due[q.Priority][q.Port] = now + patience*d.view.Hop()
	}
}

func (d *detector) Resume(_ unit.Time, q detect.Queue, _ bool) {
	d.due[q.Priority][q.Port] = unit.Never
}

func (d *detector) Deadline() unit.Time {
	next := unit.Never
	for set := d.view.Lossless(); set != 0; set &= set - 1 {
		next = min(next, slices.Min(d.due[set.First()]))
	}
	return next
}

func (d *detector) Tick(now unit.Time) {
	for c := range d.due {
		for p, due := range d.due[c] {
			if due <= now {
				d.due[c][p] = unit.Never
				d.declare(detect.Queue{Port: unit.Port(p), Priority: unit.Priority(c)})
			}
		}
	}
}

// declare reports q once for each priority group that waits for it.
func (d *detector) declare(q detect.Queue) {
	for in := range unit.Port(d.view.Ports()) {
		b := detect.PG{Port: in, Priority: q.Priority}
		if on, _ := d.view.XOFF(b); on && d.view.Held(b, q) > d.view.XON(b) {
			d.act.Report(detect.Finding{PG: b, Queue: q})
		}
	}
}

// StateBytes is the size of what it keeps.
func (d *detector) StateBytes() int { return unit.Priorities * d.view.Ports() * 8 }
