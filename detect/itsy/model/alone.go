package model

import "slices"

// How long a fabric is left alone: rounds in each of which every pause is repeated and one
// priority group's time comes, and frames in each of those.
const (
	aloneRounds = 64
	aloneFrames = 10_000
)

// restless says what is wrong with s if nothing is on its way in it, "" for nothing: that there is
// a deadlock that was not declared, and is not when the fabric is left alone. One that waits for
// another need not be. moves are what happened meanwhile; is is the truth about s.
func (e *explorer) restless(s state, is truth) (what string, moves []move) {
	if is.core == 0 || !e.isQuiet(s) {
		return "", nil
	}
	e.result.Deadlocked++
	if !e.isUntold(s, is) {
		return "", nil
	}
	e.result.Waiting++
	if e.Prompt {
		return "a deadlock that labels and checks have not found", nil
	}
	a := alone{explorer: e, s: slices.Clone(s), next: make(state, e.width)}
	a.wait()
	return a.wrong, a.made
}

// isQuiet reports whether nothing is on its way in s.
func (e *explorer) isQuiet(s state) bool {
	for w := range 2 * len(e.Links) {
		if *e.onWire(s, w) != 0 {
			return false
		}
	}
	for k := range e.each {
		if e.local(s, k).waits {
			return false
		}
	}
	return true
}

// isUntold reports whether there is a deadlock in s that waits for no other and was not declared.
func (e *explorer) isUntold(s state, is truth) bool {
	told := e.marks(s).told()
	return slices.ContainsFunc(is.parts, func(p part) bool { return p.knot && p.queues&told == 0 })
}

// alone is a fabric that is left alone: no data come or go, and nothing is lost.
type alone struct {
	*explorer
	s, next state
	made    []move
	wrong   string
}

// wait waits until every deadlock is declared: what is sent arrives, pauses are repeated, those
// that nobody repeats run out, and priority groups act by themselves, one after the other.
func (a *alone) wait() {
	a.all(opDown)
	a.arrive()
	for _, l := range a.Links {
		if a.port(a.s, l.From).has(isPaused) && !a.port(a.s, l.To).has(isXOFF) {
			a.do(move{k: l.From.Node, step: step{op: opExpire, a: uint8(l.From.Port)}})
		}
	}
	for round := range aloneRounds {
		a.all(opRefresh)
		a.arrive()
		if a.wrong != "" || !a.isUntold(a.s, a.truth(a.s)) {
			return
		}
		for k := range a.each {
			a.do(move{k: k, step: step{op: opAge}})
		}
		a.fire(round)
		a.arrive()
	}
	a.wrong = "a deadlock that is never declared"
	a.made = nil
}

func (a *alone) do(m move) {
	if a.wrong != "" {
		return
	}
	a.wrong = a.move(a.s, a.next, &m, a.truth(a.s))
	a.s, a.next = a.next, a.s
	a.made = append(a.made, m)
}

// all makes all moves of a kind that switches have in s.
func (a *alone) all(kind op) {
	for _, m := range a.options(kind) {
		a.do(m)
	}
}

func (a *alone) options(kind op) (all []move) {
	for k := range a.each {
		for _, o := range a.local(a.s, k).options {
			if o.op == kind {
				all = append(all, move{k: k, step: o})
			}
		}
	}
	return all
}

// arrive delivers all that is on its way, and what results from that, the wires taking
// turns.
func (a *alone) arrive() {
	for n := 0; a.wrong == "" && !a.isQuiet(a.s); n++ {
		if n == aloneFrames {
			a.wrong = "messages without end"
			return
		}
		a.all(opSend)
		for w := range 2 * len(a.Links) {
			if *a.onWire(a.s, w) != 0 {
				a.do(move{kind: moveDeliver, wire: w})
			}
		}
	}
}

// fire makes one priority group act, another each round.
func (a *alone) fire(round int) {
	if all := a.options(opFire); len(all) > 0 {
		a.do(all[round%len(all)])
	}
}
