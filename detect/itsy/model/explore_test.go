package model

import (
	"reflect"
	"strings"
	"testing"
)

// A detector that never speaks misses every deadlock: the shortest way to one.
func TestMissed(t *testing.T) {
	r := Explore(Ring(2), Bounds{Fills: 1, Units: 2}, silent)
	wantTrouble(t, r, "a deadlock that is never declared", `
S1: priority group 0 goes XOFF with 2 units in queue 1; sends S2 pause of period 1
S2: pause of period 1 from S1
S2: priority group 0 goes XOFF with 2 units in queue 1; sends S1 pause of period 1 with label 1 of 2.0
S1: pause of period 1 with label 1 of 2.0 from S2`)
}

// One that declares every wait declares what is no deadlock: the shortest way to that.
func TestFalse(t *testing.T) {
	r := Explore(Ring(3), Bounds{Fills: 1, Units: 2}, hasty)
	wantTrouble(t, r, "declared, and there is no such deadlock", `
S1: priority group 0 goes XOFF with 2 units in queue 1; sends S3 pause of period 1
S2: priority group 0 goes XOFF with 2 units in queue 1; sends S1 pause of period 1
S1: pause of period 1 from S2; DECLARES that priority group 0 and queue 1 wait for each other`)
}

// Messages that go round for ever are trouble where they keep a deadlock from being declared.
func TestEndless(t *testing.T) {
	r := Explore(Ring(2), Bounds{Fills: 1, Units: 2}, chats)
	if r.Trouble == nil || r.Trouble.What != "messages without end" {
		t.Errorf("%+v, want messages without end", r.Trouble)
	}
}

// Prompt takes a deadlock that waits for a timer for trouble.
func TestPrompt(t *testing.T) {
	r := Explore(Ring(2), Bounds{Fills: 1, Units: 2, Prompt: true}, silent)
	if r.Trouble == nil || r.Trouble.What != "a deadlock that labels and checks have not found" || len(r.Trouble.Story) != 4 {
		t.Errorf("%+v, want one that is not found in 4 steps", r.Trouble)
	}
}

// A search that is given up says so.
func TestGivenUp(t *testing.T) {
	if r := Explore(Ring(5), Bounds{Fills: 1, Units: 2, States: 1000}, silent); r.Complete || r.States < 1000 || r.Trouble != nil {
		t.Errorf("%+v, want an incomplete search", r)
	}
}

// The same search finds the same.
func TestSameAgain(t *testing.T) {
	b := Bounds{Fills: 1, Units: 3, Timers: 1, Losses: 1, Failures: 1, Heals: true}
	if one, two := Explore(Ring(3), b, hasty), Explore(Ring(3), b, hasty); !reflect.DeepEqual(one, two) {
		t.Errorf("%+v, then %+v", one, two)
	}
}

func TestTooLargePanics(t *testing.T) {
	for _, c := range []struct {
		f Fabric
		b Bounds
	}{
		{Ring(7), Bounds{Units: 2}},
		{Ring(2), Bounds{Units: 4}},
		{Ring(2), Bounds{Units: 2, Losses: 16}},
	} {
		func() {
			defer func() {
				if r, _ := recover().(string); !strings.HasPrefix(r, "model: ") {
					t.Errorf("%s, %v: panic %q, want one by model", c.f.Name, c.b, r)
				}
			}()
			Explore(c.f, c.b, silent)
		}()
	}
}

// What holds in every state: a priority group is XOFF if and only if it holds something; no bound is
// exceeded; nothing that is paused began to leave; what was saved is loaded as the same.
func TestInvariants(t *testing.T) {
	b := Bounds{Fills: 2, Units: 3, Losses: 1, Refreshes: 1, Lapses: 1, Expiries: 1, Failures: 1, Heals: true, Queued: true, States: 200_000}
	e := newExplorer(Ring(2), b, silent)
	e.add(make(state, e.width), 0)
	var moves []move
	for i := uint32(0); int(i) < min(e.len(), b.States); i++ {
		s := append(state(nil), e.at(i)...)
		for of := timers; of <= ages; of += 4 {
			if n := uint8(*e.spent(s) >> of & 15); n > b.limit(of) {
				t.Fatalf("bound %d is spent %d times, want at most %d", of, n, b.limit(of))
			}
		}
		is := e.truth(s)
		moves = e.moves(s, moves[:0])
		for m := range moves {
			e.checkPop(t, s, &moves[m])
			e.move(s, e.next, &moves[m], is)
			e.add(e.next, i)
		}
	}
	for k := range e.each {
		a := e.switches[k]
		for _, l := range a.states {
			a.node.load([]byte(l.key))
			if got := string(a.node.save(nil)); got != l.key {
				t.Fatalf("state %q is saved as %q", l.key, got)
			}
			for p := range a.node.ports {
				if n := a.node.charged(In); p == int(In) && a.node.is(In, isXOFF) != (n > xon) {
					t.Fatalf("priority group %d holds %d units, XOFF: %v", p, n, a.node.is(In, isXOFF))
				}
			}
		}
	}
}

// checkPop: what leaves a queue was not paused there.
func (e *explorer) checkPop(t *testing.T, s state, m *move) {
	t.Helper()
	if m.kind == moveLocal && m.step.op == opPop && e.local(s, m.k).ports[m.step.c].state.has(isPaused) {
		t.Fatalf("%s: it is paused", e.tell(s, m))
	}
}

func wantTrouble(t *testing.T, r Result, what, story string) {
	t.Helper()
	if r.Trouble == nil {
		t.Fatalf("%+v, want %s", r, what)
	}
	if got := "\n" + strings.Join(r.Trouble.Story, "\n"); r.Trouble.What != what || got != story {
		t.Errorf("%s:%s\nwant %s:%s", r.Trouble.What, got, what, story)
	}
}
