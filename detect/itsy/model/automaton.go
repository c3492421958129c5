package model

import "softswitch/unit"

// automaton is a switch as a machine whose states have numbers. What it does in a state when
// something happens is found out once, by its detector, and remembered.
type automaton struct {
	node   *node
	bounds Bounds

	states []localState
	number map[string]uint32
	done   map[event]uint32 // to an index in results
	result []outcome
}

// localState is a state of a switch.
type localState struct {
	key     string
	options []step // what may happen there by itself
	facts
	waits  bool   // something waits to be sent
	owners uint32 // as of a seq, of the messages that wait to be sent
}

// event is a step in a state.
type event struct {
	state uint32
	step
}

// outcome is the result of a step.
type outcome struct {
	to      uint32
	sent    []sending
	reports links // the queues that were declared
	absurd  bool  // one that leads to a host was
}

func newAutomaton(p *plan, w *wires, id unit.NodeID, b Bounds, make Factory) *automaton {
	a := &automaton{node: newNode(p, w, id, b.Queued, make), bounds: b, number: map[string]uint32{}, done: map[event]uint32{}}
	a.here()
	return a
}

// take is the outcome of s in a state.
func (a *automaton) take(state uint32, s step) *outcome {
	e := event{state, s}
	n, ok := a.done[e]
	if !ok {
		n = uint32(len(a.result))
		a.done[e] = n
		a.node.load([]byte(a.states[state].key))
		a.node.apply(s)
		a.result = append(a.result, a.outcome())
	}
	return &a.result[n]
}

func (a *automaton) outcome() outcome {
	o := outcome{to: a.here()}
	o.sent = append(o.sent, a.node.sent...)
	for _, f := range a.node.reports {
		if e := a.node.plan.end(a.node.id, f.Queue.Port); e != nil && e.from {
			o.reports |= 1 << e.link
		} else {
			o.absurd = true
		}
	}
	return o
}

// here is the number of the state that the switch is in.
func (a *automaton) here() uint32 {
	key := string(a.node.save(nil))
	n, ok := a.number[key]
	if !ok {
		n = uint32(len(a.states))
		a.number[key] = n
		a.states = append(a.states, a.describe(key))
	}
	return n
}

func (a *automaton) describe(key string) localState {
	n := a.node
	s := localState{key: key}
	s.ports = n.ports
	for p := range n.ports {
		for u, m := range n.units[p] {
			s.units[p][u] = n.plan.linksFrom(n.id, m)
		}
		s.waits = s.waits || len(n.box[p]) > 0
		for _, f := range n.box[p] {
			if fr := n.wires.frames[f]; f != pauseHere && fr.kind == messageFrame {
				s.owners |= bit(fr.tlv.Initiator.Node)
			}
		}
		s.options = append(s.options, a.optionsAt(unit.Port(p))...)
	}
	if a.bounds.Ages > 0 {
		s.options = append(s.options, step{op: opAge})
	}
	return s
}

// optionsAt is what may happen at port p by itself. What has a price comes with it all the same.
func (a *automaton) optionsAt(p unit.Port) (all []step) {
	n := a.node
	at := uint8(p)
	if len(n.box[p]) > 0 {
		all = append(all, step{op: opSend, a: at})
	}
	if n.is(p, isFailed) {
		all = append(all, step{op: opDown, a: at})
	}
	if n.is(p, isDown) && a.bounds.Heals {
		all = append(all, step{op: opUp, a: at})
	}
	e := n.plan.end(n.id, p)
	if e == nil || e.from {
		return all
	}
	if !n.is(p, isXOFF) {
		if n.ports[p].period < a.bounds.Fills && !n.is(p, isDown|isFailed) {
			all = append(all, a.fills(p)...)
		}
		return all
	}
	for t, outs := range n.turns(p) {
		if n.charged(p) < int(a.bounds.Units) && !n.is(p, isDown|isFailed) && n.open(outs) {
			all = append(all, step{op: opAdd, a: at, b: uint8(t)})
		}
	}
	for u, m := range n.units[p] {
		if u > 0 && m == n.units[p][u-1] {
			continue
		}
		if m == leaving {
			all = append(all, step{op: opSent, a: at, b: uint8(u)})
			continue
		}
		for rest := m; rest != 0; rest &= rest - 1 {
			if q := rest.first(); !n.is(q, isPaused) {
				all = append(all, step{op: opPop, a: at, b: uint8(u), c: uint8(q)})
			}
		}
	}
	if !n.is(p, isDown) {
		all = append(all, step{op: opRefresh, a: at})
		if n.is(p, isArmed) {
			all = append(all, step{op: opLapse, a: at})
		}
	}
	if n.det.Due(pg(p)) {
		for chance := range uint8(Chances) {
			all = append(all, step{op: opFire, a: at, b: chance})
		}
	}
	return all
}

// fills are the ways in which two units may make priority group p XOFF.
func (a *automaton) fills(p unit.Port) (all []step) {
	turns := a.node.turns(p)
	for i, first := range turns {
		for j, second := range turns[i:] {
			if a.node.open(first | second) {
				all = append(all, step{op: opFill, a: uint8(p), b: uint8(i), c: uint8(i + j)})
			}
		}
	}
	return all
}

// open reports whether frames may be queued at all of the ports outs.
func (n *node) open(outs portMask) bool {
	for ; outs != 0; outs &= outs - 1 {
		if n.is(outs.first(), isDown) {
			return false
		}
	}
	return true
}
