package ui

import (
	"math/rand/v2"
	"slices"
	"testing"

	"softswitch/detect"
	"softswitch/detect/itsy"
	"softswitch/event"
	"softswitch/internal/testkit"
	"softswitch/oracle"
	"softswitch/sim"
	"softswitch/unit"
)

// TestSlowMotion: of what happens between two looks each instant at which something is told
// has a state of its own, with the moves around it, and nothing that happened is lost.
func TestSlowMotion(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for range 50 {
		l := newLooks(t)
		pauses, told := 0, map[float64]bool{}
		for range 5 {
			before := len(l.states)
			l.begin()
			for range r.IntN(800) {
				l.at += unit.Millisecond
				if pauses++; r.IntN(100) == 0 {
					l.storm(unit.Priority(len(told) % unit.Priorities))
					told[ms(l.at)] = true
				}
				l.pause()
			}
			if n := len(l.states) - before; n > slowMax {
				t.Fatalf("%d states in one look", n)
			}
			l.end()
		}
		sum := 0
		for i, st := range l.states {
			if i > 0 && st.T < l.states[i-1].T {
				t.Fatalf("state %d is at %v ms, after one at %v ms", i, st.T, l.states[i-1].T)
			}
			sum += st.Pauses
			for _, e := range st.Log {
				delete(told, e.T)
			}
		}
		if sum != pauses || len(told) > 0 {
			t.Errorf("%d pauses in %d states, want %d; %d entries are missing", sum, len(l.states), pauses, len(told))
		}
	}
}

// TestSlowMotionAround: what is told is shown with the moves just before and after it, and of
// moves alone one state is made a look.
func TestSlowMotionAround(t *testing.T) {
	l := newLooks(t)
	l.begin()
	for range 500 {
		l.at += unit.Millisecond
		l.pause()
	}
	l.end()
	if len(l.states) != 1 || l.states[0].Pauses != 500 {
		t.Fatalf("of 500 pauses %d states, want one", len(l.states))
	}
	l.begin()
	for i := range 300 {
		l.at += unit.Millisecond
		if l.pause(); i == 150 {
			l.storm(2)
		}
	}
	l.end()
	if slow := len(l.states) - 2; slow != 2*around+1 {
		t.Fatalf("%d states of single instants, want %d before one, it and as many after it", slow, around)
	}
	first, storm := l.states[1], l.states[1+around]
	if len(storm.Log) != 1 || first.Pauses != 150-around+1 || storm.Pauses != 1 {
		t.Errorf("the first tells of %d pauses, that of the storm of %d: %v", first.Pauses, storm.Pauses, storm.Log)
	}
}

// looks is a lab of which somebody makes up the events.
type looks struct {
	*testing.T
	v      *view
	q      oracle.Queue
	at     unit.Time
	period int
	states []State
}

func newLooks(t *testing.T) *looks {
	s := newScript(t)
	v := &view{w: s.m.w, truth: oracle.NewState(s.m.w.fabric), shown: newSlowMotion(s.m.w, 0)}
	v.model = v.shown.m
	return &looks{T: t, v: v, q: s.loop(s.ring()...)[0]}
}

func (l *looks) publish(s State) { l.states = append(l.states, s) }

func (l *looks) begin() { l.v.shown.begin() }

func (l *looks) event(e event.Event) {
	e.At = l.at
	l.v.apply([]oracle.Entry{{Node: l.q.Node, Event: &e}}, l.publish)
}

func (l *looks) pause() {
	l.period++
	l.event(event.Event{Type: event.Paused, Out: l.q.Port, OutPriority: 3, Period: uint8(l.period), HasPeriod: true})
}

func (l *looks) storm(p unit.Priority) { l.event(event.Event{Type: event.HostStorm, Priority: p}) }

func (l *looks) end() {
	l.at++
	l.v.shown.rest(l.v.truth.Stuck(), l.publish)
	l.publish(l.v.model.state(l.at))
}

// TestEachTellingHasItsState: of a run all that is told has a state of its own instant, and is what
// a model tells that makes a state at each.
func TestEachTellingHasItsState(t *testing.T) {
	for _, file := range []string{"fattree-on-loop.yaml", "itsy-fig3.yaml", "w20-dynamic-threshold.yaml"} {
		plan := planned(t, file)
		if plan.Scenario.Detector = "itsy"; file == "fattree-on-loop.yaml" {
			plan.Scenario.Response = "cure"
		}
		w, err := planWiring(plan)
		if err != nil {
			t.Fatal(err)
		}
		var entries []oracle.Entry
		var want, got []Entry
		m := newModel(w, nil, 0)
		each := func() { want = append(want, m.state(m.now).Log...) }
		world, err := m.simulation(plan, sim.Options{
			Seed: 1, Detectors: map[string]detect.Factory{"itsy": itsy.New},
			Events: func(n event.Node, e event.Event) { entries = append(entries, oracle.Entry{Node: n.ID, Event: &e}) },
		}, each)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := world.Play(); err != nil {
			t.Fatal(err)
		}
		m.settle()
		each()

		v := &view{w: w, truth: oracle.NewState(w.fabric), shown: newSlowMotion(w, 0)}
		v.model = v.shown.m
		publish := func(s State) {
			for _, e := range s.Log {
				if e.T != s.T {
					t.Errorf("%s: what was at %v ms is told at %v ms: %s", file, e.T, s.T, e.Text)
				}
			}
			got = append(got, s.Log...)
		}
		for look := range slices.Chunk(entries, 200) { // no look has more than it may show
			v.shown.begin()
			v.apply(look, publish)
		}
		v.shown.rest(v.truth.Stuck(), publish)
		publish(v.model.state(v.model.now))
		if len(want) < 2 || !slices.Equal(got, want) {
			t.Errorf("%s: %d entries, want %d:\n%v\n%v", file, len(got), len(want), got, want)
		}
	}
}

// TestTells: whatever type of event a model tells people of is one of those that tells knows.
func TestTells(t *testing.T) {
	told := 0
	for e := event.XOFF; e <= event.DCBXAgreed; e++ {
		s := newScript(t)
		q := s.loop(s.ring()...)[0]
		s.m.add(oracle.Entry{Node: q.Node, Event: &event.Event{At: unit.Millisecond, Type: e, Port: q.Port, Out: q.Port, Priority: 3, OutPriority: 3, In: unit.NoPort, Rank: 1}})
		if isTold, _ := s.m.happened(); isTold {
			if told++; !tells(e) {
				t.Errorf("%v is told, and no instant of it is shown", e)
			}
		}
	}
	if told < 8 {
		t.Errorf("%d types are told", told)
	}
}

// BenchmarkLookAtPauses is a look at a fat-tree of which two hundred pauses, and nothing else, came
// since the one before.
func BenchmarkLookAtPauses(b *testing.B) {
	w := wired(b, "fattree-on-loop.yaml")
	v := &view{w: w, truth: oracle.NewState(w.fabric), shown: newSlowMotion(w, 0)}
	v.model = v.shown.m
	l := &looks{v: v, q: oracle.Queue{NodePort: w.far[1], Priority: 3}}
	for b.Loop() {
		l.begin()
		for range 200 {
			l.at += unit.Millisecond
			l.pause()
		}
		l.end()
		l.states = l.states[:0]
	}
}
