package model

import "softswitch/unit"

// explorer goes through the states of a fabric, those first that are reached in fewest steps.
type explorer struct {
	*plan
	Bounds
	*store
	wires    *wires
	switches []*automaton // by number
	next     state        // scratch
	result   Result
}

// Explore goes through all states of f within b, in which each switch has a detector that make
// made. It stops at the first trouble. It panics if f or b are larger than this package is made
// for.
func Explore(f Fabric, b Bounds, make Factory) Result {
	e := newExplorer(f, b, make)
	e.run()
	return e.result
}

func newExplorer(f Fabric, b Bounds, factory Factory) *explorer {
	b.check()
	width := f.Switches + 2*len(f.Links) + 2
	e := &explorer{plan: newPlan(f), Bounds: b, store: newStore(width), wires: newWires(), next: make(state, width)}
	e.switches = make([]*automaton, f.Switches+1)
	for k := range e.each {
		e.switches[k] = newAutomaton(e.plan, e.wires, k, b, factory)
	}
	return e
}

// each is a range over the switches' numbers.
func (e *explorer) each(yield func(unit.NodeID) bool) {
	for k := 1; k <= e.Switches && yield(unit.NodeID(k)); k++ {
	}
}

// Parts of a state.
func (e *explorer) local(s state, k unit.NodeID) *localState { return &e.switches[k].states[s[k-1]] }
func (e *explorer) onWire(s state, wire int) *uint32         { return &s[e.Switches+wire] }
func (e *explorer) marks(s state) *marks                     { return (*marks)(&s[e.width-2]) }
func (e *explorer) spent(s state) *uint32                    { return &s[e.width-1] }

// port is the state of a port of a switch.
func (e *explorer) port(s state, np unit.NodePort) portState {
	return e.local(s, np.Node).ports[np.Port].state
}

// truth is which queues are stuck in s.
func (e *explorer) truth(s state) truth { return e.truthOf(s, false) }

func (e *explorer) truthOf(s state, anyPeriod bool) truth {
	return e.plan.truth(func(k unit.NodeID) *facts { return &e.local(s, k).facts }, anyPeriod)
}

func (e *explorer) run() {
	e.add(make(state, e.width), 0)
	here := make(state, e.width)
	var moves []move
	for i := uint32(0); int(i) < e.len(); i++ {
		if e.States > 0 && e.len() > e.States {
			e.finish(false)
			return
		}
		copy(here, e.at(i))
		is := e.truth(here)
		if what, alone := e.restless(here, is); what != "" {
			e.trouble(i, alone, what)
			return
		}
		moves = e.moves(here, moves[:0])
		for m := range moves {
			e.result.Steps++
			if what := e.move(here, e.next, &moves[m], is); what != "" {
				e.trouble(i, moves[m:m+1], what)
				return
			}
			e.add(e.next, i)
		}
	}
	e.finish(true)
}

func (e *explorer) finish(complete bool) {
	e.result.States, e.result.Complete = e.len(), complete
	for k := range e.each {
		e.result.Local += len(e.switches[k].states)
	}
}

// trouble ends the search: from state i, moves lead to what must not be.
func (e *explorer) trouble(i uint32, moves []move, what string) {
	e.finish(false)
	e.result.Trouble = &Trouble{What: what, Story: e.story(i, moves)}
}
