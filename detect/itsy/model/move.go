package model

import "softswitch/unit"

// move is something that happens in a fabric.
type move struct {
	kind moveKind
	wire int         // of a frame
	k    unit.NodeID // where step happens
	step step
}

type moveKind uint8

const (
	moveLocal   moveKind = iota // at switch k
	moveDeliver                 // the next frame of the wire arrives
	moveLose                    // and is lost
	moveFail                    // the link of port step.a of switch k fails; it knows first
)

// moves appends what may happen in s.
func (e *explorer) moves(s state, all []move) []move {
	for w := range 2 * len(e.Links) {
		if *e.onWire(s, w) == 0 {
			continue
		}
		all = append(all, move{kind: moveDeliver, wire: w})
		if e.affords(s, losses) {
			all = append(all, move{kind: moveLose, wire: w})
		}
	}
	for k := range e.each {
		for _, o := range e.local(s, k).options {
			if of, priced := o.op.price(); (!priced || e.affords(s, of)) && e.allowed(s, k, o) {
				all = append(all, move{k: k, step: o})
			}
		}
	}
	for i, l := range e.Links {
		if e.affords(s, expiries) && e.mayExpire(s, i) {
			all = append(all, move{k: l.From.Node, step: step{op: opExpire, a: uint8(l.From.Port)}})
		}
		if e.affords(s, failures) && e.isWhole(s, l) {
			for _, end := range [...]unit.NodePort{l.From, l.To} {
				all = append(all, move{kind: moveFail, k: end.Node, step: step{op: opDown, a: uint8(end.Port)}})
			}
		}
	}
	return all
}

// affords reports whether budget of allows one more event.
func (e *explorer) affords(s state, of budget) bool { return uint8(*e.spent(s)>>of&15) < e.limit(of) }

func (e *explorer) spend(s state, of budget) { *e.spent(s) += 1 << of }

// allowed is what others have a say in. A link comes up when both ends know that it was down. A
// pause lapses long after its last frame has come.
func (e *explorer) allowed(s state, k unit.NodeID, o step) bool {
	switch o.op {
	case opUp:
		return !e.port(s, e.end(k, unit.Port(o.a)).other).has(isFailed)
	case opLapse:
		return !e.pauses(s, e.end(k, unit.Port(o.a)).out())
	}
	return true
}

// pauses reports whether a pause is on a wire.
func (e *explorer) pauses(s state, wire int) bool { return e.wires.seqs[*e.onWire(s, wire)].pauses }

// mayExpire: the pause of a link's queue runs out if it was not prolonged in time, or will not
// be.
func (e *explorer) mayExpire(s state, l int) bool {
	from, to := e.port(s, e.Links[l].From), e.port(s, e.Links[l].To)
	return from.has(isPaused) && (from.has(isLate) || from.has(isStarved) && !e.pauses(s, 2*l+1) || !to.has(isXOFF))
}

// isWhole reports whether a link is up.
func (e *explorer) isWhole(s state, l Link) bool {
	return !(e.port(s, l.From) | e.port(s, l.To)).has(isDown | isFailed)
}

// move makes next what becomes of s by m, and says what is wrong with that, "" for nothing. is
// is the truth about s.
func (e *explorer) move(s, next state, m *move, is truth) string {
	copy(next, s)
	var o *outcome
	switch m.kind {
	case moveDeliver:
		to := e.receiver(m.wire)
		o = e.take(next, to.Node, step{op: opDeliver, a: uint8(to.Port), frame: e.unwire(next, m.wire)})
	case moveLose:
		e.spend(next, losses)
		if f := e.unwire(next, m.wire); e.wires.frames[f].kind != messageFrame {
			e.weaken(next, e.receiver(m.wire), true)
		}
	case moveFail:
		e.spend(next, failures)
		end := e.end(m.k, unit.Port(m.step.a))
		*e.onWire(next, 2*end.link), *e.onWire(next, 2*end.link+1) = 0, 0
		e.take(next, end.other.Node, step{op: opDoom, a: uint8(end.other.Port)})
		o = e.take(next, m.k, m.step)
	case moveLocal:
		if of, priced := m.step.op.price(); priced {
			e.spend(next, of)
		}
		if m.step.op == opLapse {
			e.weaken(next, e.end(m.k, unit.Port(m.step.a)).other, false)
		}
		o = e.take(next, m.k, m.step)
	}
	return e.judge(s, next, o, is)
}

// unwire takes the next frame from a wire.
func (e *explorer) unwire(s state, wire int) (frame uint32) {
	w := e.onWire(s, wire)
	frame, *w = e.wires.seqs[*w].head, e.wires.seqs[*w].rest
	return frame
}

// take carries out the step what at switch k, and puts what the switch sends on the wires.
// What leaves by a link that is down is lost.
func (e *explorer) take(s state, k unit.NodeID, what step) *outcome {
	o := e.switches[k].take(s[k-1], what)
	s[k-1] = o.to
	for _, f := range o.sent {
		end := e.end(k, f.port)
		if e.isWhole(s, e.Links[end.link]) {
			w := e.onWire(s, end.out())
			*w = e.wires.add(*w, f.frame)
		}
	}
	return o
}

// weaken: what should prolong the pause at np is late, or lost.
func (e *explorer) weaken(s state, np unit.NodePort, lost bool) {
	e.take(s, np.Node, step{op: opWeaken, a: uint8(np.Port), b: uint8(one(lost))})
}
