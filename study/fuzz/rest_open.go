package fuzz

import (
	"slices"

	"softswitch/detect"
	"softswitch/unit"
)

// Whether a knot hangs on a deadlock that was declared is asked of what moves, too: the run is
// played once more, and when nothing moves any more the queues at which deadlocks were declared are
// flushed, and drop what comes; and so is from then on each queue at which one is declared. A knot
// of which a queue sends a frame after that was no deadlock of its own: others' bytes of a shared
// pool held it.

// opener is a detector that flushes queues of its switch at which it has declared a deadlock, from a
// time on.
type opener struct {
	detect.Detector
	detect.Actions
	declared []detect.Queue // and not flushed
	at       unit.Time      // when to flush them
}

func (o *opener) Report(f detect.Finding) {
	o.Actions.Report(f)
	o.declared = append(o.declared, f.Queue)
}

// Frame takes a message for the detector.
func (o *opener) Frame(now unit.Time, p unit.Port, payload []byte) bool {
	peer, ok := o.Detector.(detect.Peer)
	return ok && peer.Frame(now, p, payload)
}

func (o *opener) Deadline() unit.Time {
	if len(o.declared) == 0 {
		return o.Detector.Deadline()
	}
	return min(o.Detector.Deadline(), o.at)
}

func (o *opener) Tick(now unit.Time) {
	if now >= o.at {
		for _, q := range o.declared {
			o.Flush(q, true)
		}
		o.declared = o.declared[:0]
	}
	if now >= o.Detector.Deadline() {
		o.Detector.Tick(now)
	}
}

// playOpened plays r once more, but that from its end on the queues at which deadlocks are declared,
// or were, are flushed.
func (r *restRun) playOpened() (*restRun, error) {
	at, opt := max(r.last, r.at)+r.quiet/2, r.opt
	name := r.plan.Scenario.Detector
	opt.Detectors = map[string]detect.Factory{name: func(v detect.View, a detect.Actions) detect.Detector {
		o := &opener{Actions: a, at: at}
		o.Detector = r.opt.Detectors[name](v, o)
		return o
	}}
	opened := newRestRun(r.plan, r.at, opt, r.judge)
	opened.opened = at
	return opened, opened.play()
}

// opens reports whether a queue of a knot has sent a frame since nothing moved in r.
func (r *restRun) opens(opened *restRun, knot []restQueue) bool {
	return slices.ContainsFunc(knot, func(q restQueue) bool { return opened.sent[q] > r.last })
}

// sharesPool reports whether a queue of a knot is in a switch whose groups share a pool that may be
// short.
func (r *restRun) sharesPool(knot []restQueue) bool {
	return slices.ContainsFunc(knot, func(q restQueue) bool {
		b := r.plan.Switches[r.ids[q.Node]].BuildBuffer()
		return b.Shares()
	})
}
