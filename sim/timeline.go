package sim

import (
	"fmt"

	"softswitch/link/impair"
	"softswitch/scenario"
	"softswitch/unit"
)

// nextStep is when the next scheduled event is due.
func (w *World) nextStep() unit.Time {
	if w.steps == len(w.plan.Events) {
		return unit.Never
	}
	return w.plan.Events[w.steps].At
}

// timeline carries out the next scheduled event.
func (w *World) timeline() {
	e := w.plan.Events[w.steps]
	w.steps++
	w.due = w.nextStep()
	w.partitions[0].events++
	for i := range w.partitions {
		w.partitions[i].now = w.now
	}
	switch e.Do {
	case scenario.Fail:
		w.setLink(e.Link, false)
	case scenario.Heal:
		w.setLink(e.Link, true)
	case scenario.Kill:
		w.nodes[e.Node].dead = true
		w.resume(e.Node)
	case scenario.Stop:
		w.nodes[e.Node].stopped = true
	case scenario.Continue:
		w.resume(e.Node)
	case scenario.Lose:
		p := &w.ports[w.endOf(e)]
		if p.wire == nil {
			p.wire = &impair.Wire{}
		}
		p.wire.Lose(e.Nth)
	case scenario.Forge:
		w.forge(&w.ports[w.endOf(e)], e.Frame)
	case scenario.Replay:
		p := &w.ports[w.endOf(e)]
		frame := p.tape.Last(e.Nth, e.Flip)
		if e.Back {
			p = &w.ports[p.peer]
		}
		if frame != nil {
			w.forge(p, frame)
		}
	default:
		panic(fmt.Sprintf("sim: the time line holds an event %q", e.Do))
	}
}

// forge puts a frame on a wire as if port p had sent it.
func (w *World) forge(p *port, frame []byte) {
	if !p.up {
		return
	}
	head, took := frame, p.rate.FrameTime(len(frame))
	if !impair.IsControl(frame) {
		head = frame[:min(len(frame), w.keep)]
	}
	fate := impair.Fate{Copies: 1}
	if p.wire != nil {
		fate = p.wire.Carry(w.opt.Seed, w.stream(p))
	}
	w.partOf(p).put(p, head, len(frame), w.now+took+p.delay, took, fate)
}

// endOf is the port at which the event's node is attached to the event's link.
func (w *World) endOf(e scenario.Event) int32 {
	l := w.plan.Fabric.Links[e.Link]
	if l.A.Node == e.Node {
		return w.portOf(l.A)
	}
	return w.portOf(l.B)
}

// setLink brings a link up or down. Frames on a link that goes down are lost. Nothing happens to a link
// that is in that state already.
func (w *World) setLink(link int, up bool) {
	l := w.plan.Fabric.Links[link]
	w.setEnds([2]int32{w.portOf(l.A), w.portOf(l.B)}, up)
}

// setEnds is setLink of the link with these ends.
func (w *World) setEnds(ends [2]int32, up bool) {
	if w.ports[ends[0]].up == up {
		return
	}
	for _, e := range ends {
		w.ports[e].up = up
		w.partOf(&w.ports[e]).cut(e)
	}
	for _, e := range ends { // cut both before telling either: what the first sends at once must survive
		w.tellLink(e)
	}
}

// tellLink tells a node the state of one of its links. A stopped node learns of it when
// it resumes.
func (w *World) tellLink(p int32) {
	q := &w.ports[p]
	if n := &w.nodes[q.node]; !n.stopped && !n.dead {
		n.machine.SetLink(w.now, q.n, q.up)
		n.part.work(q.node)
	}
}

// resume makes a stopped node continue: what came due in the meantime happens now.
func (w *World) resume(i int) {
	n := &w.nodes[i]
	if !n.stopped {
		return
	}
	n.stopped = false
	for p := n.first; p < n.first+n.ports; p++ {
		w.tellLink(p)
	}
	for _, id := range n.overdue {
		at := w.now
		if id&1 != 0 {
			at = max(at, w.ports[id/2].in.next()) // the wire may have been cut in the meantime
		}
		n.part.timer.set(id, at)
	}
	n.overdue = n.overdue[:0]
}

// lose handles a timer of a dead node: nothing is sent, and arriving frames are lost.
func (d *partition) lose(id int32) {
	q := &d.ports[id/2]
	if id&1 == 0 {
		d.timer.set(id, unit.Never)
		return
	}
	d.pool.Put(q.in.pop().f)
	d.timer.set(id, max(d.now, q.in.next()))
}
