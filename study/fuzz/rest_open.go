package fuzz

import (
	"slices"

	"softswitch/detect"
	"softswitch/unit"
)

// Whether a knot hangs on a deadlock that was declared is asked of what moves, too: the run is
// played once more, and when nothing moves any more the queues at which deadlocks were declared are
// flushed, and drop what comes. A knot of which a queue sends a frame after that was no deadlock of
// its own: others' bytes of a shared pool held it.

// opener is a detector that flushes queues of its switch at a time.
type opener struct {
	detect.Detector
	act    detect.Actions
	queues []detect.Queue
	at     unit.Time
}

// Frame takes a message for the detector.
func (o *opener) Frame(now unit.Time, p unit.Port, payload []byte) bool {
	peer, ok := o.Detector.(detect.Peer)
	return ok && peer.Frame(now, p, payload)
}

func (o *opener) Deadline() unit.Time { return min(o.Detector.Deadline(), o.at) }

func (o *opener) Tick(now unit.Time) {
	if now >= o.at {
		for _, q := range o.queues {
			o.act.Flush(q, true)
		}
		o.at = unit.Never
	}
	if now >= o.Detector.Deadline() {
		o.Detector.Tick(now)
	}
}

// playOpened plays r once more, but that at its end the queues at which deadlocks were declared
// are flushed.
func (r *restRun) playOpened() (*restRun, error) {
	opt := r.opt
	at := r.last + r.quiet/2
	open := map[unit.NodeID][]detect.Queue{}
	for _, q := range r.left {
		if r.declared[q] {
			open[q.Node] = append(open[q.Node], detect.Queue{Port: q.Port, Class: q.Class})
		}
	}
	opt.Detectors = map[string]detect.Factory{}
	for name, factory := range r.opt.Detectors {
		opt.Detectors[name] = func(v detect.View, a detect.Actions) detect.Detector {
			return &opener{Detector: factory(v, a), act: a, queues: open[v.Self()], at: at}
		}
	}
	opened := newRestRun(r.plan, r.at, opt, r.judge)
	opened.opened = at
	return opened, opened.play()
}

// opens reports whether a queue of a knot has sent a frame since nothing moved in r.
func (r *restRun) opens(opened *restRun, knot []restQueue) bool {
	return slices.ContainsFunc(knot, func(q restQueue) bool { return opened.moved(q) > r.last })
}

// sharesPool reports whether a queue of a knot is in a switch whose groups share a pool that may be
// short.
func (r *restRun) sharesPool(knot []restQueue) bool {
	return slices.ContainsFunc(knot, func(q restQueue) bool {
		b := r.plan.Switches[r.ids[q.Node]].BuildBuffer()
		return b.Shares()
	})
}
