package ui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/detect/itsy"
	"softswitch/event"
	"softswitch/itsyhdr"
	"softswitch/oracle"
	"softswitch/oracle/verdict"
	"softswitch/sim"
	"softswitch/unit"
)

// TestSimulate holds what the page is told of simulated runs against their verdicts.
func TestSimulate(t *testing.T) {
	named := 0
	files := []string{"fattree-on-loop.yaml", "fattree-no-loop.yaml", "itsy-fig2.yaml", "itsy-fig3.yaml", "guo-fig4.yaml", "pause.yaml", "w20-dynamic-threshold.yaml"}
	if testing.Short() { // with the race detector: each plays in one goroutine
		files = files[:1]
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			plan := planned(t, file)
			plan.Scenario.Detector = "itsy"
			stream := new(Stream)
			v, err := Simulate(plan, sim.Options{Seed: 1, Detectors: map[string]detect.Factory{"itsy": itsy.New}}, stream)
			if err != nil {
				t.Fatal(err)
			}
			named += checkStates(t, statesOf(t, stream), v)
		})
	}
	if named == 0 {
		t.Error("no run named a cause")
	}
}

// TestOpensByItself: a wait that opens by itself is told of, and is no deadlock.
func TestOpensByItself(t *testing.T) {
	stream := new(Stream)
	v, err := Simulate(planned(t, "w20-dynamic-threshold.yaml"), sim.Options{Seed: 1, Detectors: map[string]detect.Factory{"itsy": itsy.New}}, stream)
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, s := range statesOf(t, stream) {
		if s.Deadlock != nil {
			t.Fatalf("a deadlock at %v ms", s.T)
		}
		for _, e := range s.Log {
			if strings.Contains(e.Text, "opens by itself") || strings.Contains(e.Text, "opened by itself") {
				told++
			}
		}
	}
	if told != 2*v.Openings || told == 0 {
		t.Errorf("%d events tell of waits that open by themselves, want the beginning and end of %d", told, v.Openings)
	}
}

func statesOf(t *testing.T, s *Stream) (states []State) {
	t.Helper()
	for _, data := range s.states {
		var st State
		if err := json.Unmarshal(data, &st); err != nil {
			t.Fatal(err)
		}
		states = append(states, st)
	}
	return states
}

// checkStates returns how many named causes it held against the verdict.
func checkStates(t *testing.T, states []State, v *verdict.Verdict) (named int) {
	t.Helper()
	if n := len(states); n < evenStates || n > statesMax {
		t.Errorf("%d states, want %d to %d", n, evenStates, statesMax)
	}
	for i, s := range states {
		if i > 0 && s.T < states[i-1].T {
			t.Fatalf("state %d is at %v ms, after one at %v ms", i, s.T, states[i-1].T)
		}
	}
	onset, busy := -1.0, 0
	declared := 0
	causes := map[string]string{} // by the switch that named them
	for _, s := range states {
		if s.Deadlock != nil && onset < 0 {
			onset = s.T - s.Deadlock.For
		}
		if (s.Deadlock != nil && !s.Deadlock.Over) != strings.HasPrefix(s.Words, "DEADLOCK") {
			t.Fatalf("at %v ms the words and the truth differ: %s", s.T, s.Words)
		}
		for _, e := range s.Log {
			switch e.Kind {
			case "declared":
				declared++
			case "cause":
				by, text, _ := strings.Cut(e.Text, " names the cause: ")
				causes[by] += text + "\n"
			}
		}
		for d, load := range s.Load {
			if load < 0 || load > 100 {
				t.Fatalf("at %v ms the load of direction %d is %d %%", s.T, d, load)
			}
			busy += load
		}
		for _, g := range s.Groups {
			if g.Bytes > g.Most {
				t.Fatalf("at %v ms a priority group holds %d bytes, and can hold %d", s.T, g.Bytes, g.Most)
			}
		}
	}
	if busy == 0 {
		t.Error("nothing was ever sent")
	}
	if v.Deadlock != (onset >= 0) {
		t.Errorf("the verdict says deadlock: %v, the states begin one at %v ms", v.Deadlock, onset)
	}
	if v.Deadlock && ms(v.Onset) != onset && onset-ms(v.Onset) > 0.001 {
		t.Errorf("the verdict has the onset at %v ms, the states at %v ms", ms(v.Onset), onset)
	}
	if (len(v.Detections) > 0) != (declared > 0) {
		t.Errorf("the verdict has %d detections, the states %d", len(v.Detections), declared)
	}
	for _, d := range v.Detections {
		if len(d.Causes) == 0 {
			continue
		}
		c := d.Causes[0]
		named++
		if told := causes[d.Switch]; !strings.Contains(told, strings.Join(c.Flows, ", ")) || !strings.Contains(told, fmt.Sprintf("(%d %%)", c.Confidence)) || c.Type == "host" && !strings.Contains(told, "host "+c.Node+",") {
			t.Errorf("the verdict's likeliest cause by %s is %+v, the states tell %q", d.Switch, c, told)
		}
	}
	if last := states[len(states)-1]; int(last.Lost) != 0 {
		t.Errorf("%d lossless frames were lost", last.Lost)
	}
	return named
}

// script is a model of a ring of three switches whose truth the test sets.
type script struct {
	*testing.T
	m     *model
	stuck *oracle.State
	at    unit.Time
}

// newScript has XOFF in period 1 and held bytes as each test tells.
func newScript(t *testing.T) *script {
	w := wired(t, "hu-fig3.yaml")
	s := &script{T: t, stuck: oracle.NewState(w.fabric)}
	s.m = newModel(w, s.stuck.Stuck, 0)
	return s
}

// loop is a cycle of switches of the wiring: queues, each of which waits for the next.
func (s *script) loop(names ...string) (queues []oracle.Queue) {
	s.Helper()
	for i, name := range names {
		queues = append(queues, s.queue(name, names[(i+1)%len(names)]))
	}
	return queues
}

func (s *script) queue(from, to string) oracle.Queue {
	s.Helper()
	w := s.m.w
	for d := range w.far {
		if w.nodes[w.from(d)].Name == from && w.nodes[w.to(d)].Name == to {
			return oracle.Queue{NodePort: w.far[d^1], Priority: 3}
		}
	}
	s.Fatalf("no link from %s to %s", from, to)
	return oracle.Queue{}
}

// add is an event of a node, a millisecond after the one before.
func (s *script) add(node unit.NodeID, e event.Event) {
	s.Helper()
	s.m.settle()
	s.at += unit.Millisecond
	e.At = s.at
	entry := oracle.Entry{Node: node, Event: &e}
	if err := s.stuck.Apply(entry); err != nil {
		s.Fatal(err)
	}
	s.m.add(entry)
}

// restart is that a node began anew.
func (s *script) restart(node unit.NodeID) {
	s.m.settle()
	s.stuck.ForgetNode(node)
	s.m.forget(oracle.Entry{Node: node, Event: &event.Event{At: s.at, Type: beganAnew}})
}

// now is an event of the present instant, which changes no truth.
func (s *script) now(e event.Event) *event.Event {
	e.At = s.at
	return &e
}

// block makes q wait for the priority group behind it, which holds bytes in next.
func (s *script) block(q, next oracle.Queue) {
	s.Helper()
	b, _ := s.m.w.fabric.Down(q)
	s.add(b.Node, event.Event{Type: event.XOFF, Port: b.Port, Priority: 3, Out: next.Port, OutPriority: 3, Period: 1, Bytes: 40000, Limit: 1000})
	s.add(q.Node, event.Event{Type: event.Paused, Out: q.Port, OutPriority: 3, Period: 1, HasPeriod: true})
	s.add(b.Node, event.Event{Type: event.Held, Port: b.Port, Priority: 3, Out: next.Port, OutPriority: 3, Bytes: 30000, Limit: 1000})
}

func (s *script) state() State {
	s.m.settle()
	return s.m.state(s.at)
}

// ring is the names of the switches, which are joined in a ring, in order.
func (s *script) ring() []string {
	s.Helper()
	w := s.m.w
	names, seen, at := []string{w.nodes[0].Name}, map[int]bool{0: true}, 0
	for range w.switches {
		for _, l := range w.pairs() {
			for _, e := range [2][2]int{l, {l[1], l[0]}} {
				if e[0] == at && e[1] < len(w.switches) && !seen[e[1]] {
					at, seen[e[1]] = e[1], true
					names = append(names, w.nodes[at].Name)
				}
			}
		}
	}
	if len(names) != len(w.switches) {
		s.Fatalf("a ring of %d switches: %v", len(w.switches), names)
	}
	return names
}

// TestModel follows a deadlock from its onset to its end, and what is said of it.
func TestModel(t *testing.T) {
	s := newScript(t)
	names := s.ring()
	loop := s.loop(names...)
	for i, q := range loop[:len(loop)-1] {
		s.block(q, loop[(i+1)%len(loop)])
	}
	st := s.state()
	if st.Deadlock != nil || len(st.Paused) != len(loop)-1 || !strings.HasPrefix(st.Words, "No deadlock. Paused: ") {
		t.Fatalf("before the loop closes: %+v", st)
	}
	s.block(loop[len(loop)-1], loop[0])
	onset := s.at
	st = s.state()
	if st.Deadlock == nil || len(st.Deadlock.Core) != len(loop) || len(st.Deadlock.Loops) != 1 || st.Declared != nil {
		t.Fatalf("the loop is closed: %+v", st)
	}
	if !strings.Contains(st.Words, "No detector has declared it.") {
		t.Errorf("words: %s", st.Words)
	}
	b, _ := s.m.w.fabric.Down(loop[0])
	trigger := unit.NodePort{Node: b.Node, Port: b.Port}
	s.add(loop[1].Node, event.Event{Type: event.Deadlock, Port: b.Port, Priority: 3, Out: loop[1].Port, OutPriority: 3, Trigger: trigger, OnLoop: true})
	st = s.state()
	d := st.Declared
	if d == nil || !d.True || d.Trigger < 0 || s.m.w.nodes[d.Trigger].Name != s.m.w.fabric.Name(trigger.Node) || d.After != ms(s.at-onset) {
		t.Fatalf("declared: %+v", d)
	}
	if want := "the initial trigger is the port of " + s.m.w.fabric.Name(trigger.Node) + " to A, on the loop"; !strings.Contains(st.Words, want) {
		t.Errorf("words: %s; want: %s", st.Words, want)
	}
	cause := event.Event{
		Type: event.Cause, Cause: detect.CauseContention, Rank: 1, Confidence: 70, Trigger: loop[1].NodePort, In: b.Port, OnLoop: true,
		Port: b.Port, Priority: 3, Out: loop[1].Port, OutPriority: 3,
	}
	for flow, of := range s.m.w.flows {
		if cause.Flow = flow; of.name == s.m.w.hosts[0].Flows[0].Name {
			break
		}
	}
	s.m.add(oracle.Entry{Node: loop[1].Node, Event: s.now(cause)})
	cause.Flow = 0xabcdef01 // of the same cause
	s.m.add(oracle.Entry{Node: loop[1].Node, Event: s.now(cause)})
	cause.Rank, cause.Together = 2, true
	s.m.add(oracle.Entry{Node: loop[1].Node, Event: s.now(cause)})
	cause.Rank, cause.Together, cause.Cause, cause.Flow = 3, false, detect.CauseHost, 0 // less likely
	s.m.add(oracle.Entry{Node: loop[1].Node, Event: s.now(cause)})
	st = s.state()
	at := s.m.w.arrow(s.m.w.ports[loop[1].NodePort])
	want := fmt.Sprintf("contention at %s, flows %s, abcdef01, on the loop (70 %%); and contention at %s, flow abcdef01, on the loop (70 %%)", at, s.m.w.hosts[0].Flows[0].Name, at)
	if last := st.Log[len(st.Log)-1]; len(st.Log) != 1 || last.Kind != "cause" || !strings.HasSuffix(last.Text, " names the cause: "+want) {
		t.Errorf("the cause is told as %+v, want %s", st.Log, want)
	}
	if !strings.Contains(st.Words, "Likely cause: "+strings.ReplaceAll(want, " (70 %)", "")+" (right in 74 of 100 such cases).") || d.Cause != "" {
		t.Errorf("words: %s; want: %s; the state before has the cause %q", st.Words, want, d.Cause)
	}
	s.add(loop[0].Node, event.Event{Type: event.Resumed, Out: loop[0].Port, OutPriority: 3})
	st = s.state()
	if st.Deadlock == nil || !st.Deadlock.Over || !strings.Contains(st.Words, "The deadlock ended at ") {
		t.Fatalf("the loop is open again: %+v", st)
	}
	s.at += lingers
	if st = s.state(); st.Deadlock == nil || !st.Deadlock.Over {
		t.Errorf("what was over lately is not told of: %+v", st)
	}
	s.at++
	if st = s.state(); st.Deadlock != nil || st.Declared != nil {
		t.Errorf("long after: %+v", st)
	}
}

// TestModelAnew: of a switch that began anew, nothing is told of what it held before; of the others
// all is.
func TestModelAnew(t *testing.T) {
	s := newScript(t)
	loop := s.loop(s.ring()...)
	for i, q := range loop {
		s.block(q, loop[(i+1)%len(loop)])
	}
	police := event.Event{Type: event.Acted, Action: detect.ActionPolice, Port: loop[1].Port, Priority: 3, Out: loop[1].Port, OutPriority: 3, Bytes: 5}
	for _, q := range loop[1:3] {
		e := police
		b, _ := s.m.w.fabric.Down(loop[slices.Index(loop, q)-1])
		e.Port, e.Out = b.Port, q.Port
		s.add(q.Node, e)
	}
	was := s.state()
	s.restart(loop[1].Node)
	is := s.state()
	if was.Deadlock == nil || was.Deadlock.Over || is.Deadlock == nil || !is.Deadlock.Over {
		t.Errorf("deadlock before %+v, then %+v", was.Deadlock, is.Deadlock)
	}
	if len(was.Paused) != len(loop) || len(is.Paused) != len(loop)-1 {
		t.Errorf("%d queues paused, then %d; want %d and one less", len(was.Paused), len(is.Paused), len(loop))
	}
	// What it held waits no more, and nothing waits in its queue: both are one wait here.
	if len(was.Waits) != len(loop) || len(is.Waits) != len(loop)-1 || len(was.Actions) != 2 || len(is.Actions) != 1 {
		t.Errorf("%d waits and %d actions, then %d and %d", len(was.Waits), len(was.Actions), len(is.Waits), len(is.Actions))
	}
	if len(is.Log) == 0 || !slices.ContainsFunc(is.Log, func(e Entry) bool { return strings.HasSuffix(e.Text, " restarted") }) {
		t.Errorf("%v: want that it restarted", is.Log)
	}
	names := s.ring()
	s.block(loop[0], loop[1])
	s.block(loop[1], loop[2])
	if st := s.state(); st.Deadlock == nil || st.Deadlock.Over || len(st.Deadlock.Core) != len(names) {
		t.Errorf("the loop is closed again: %+v", st.Deadlock)
	}
}

// TestModelFalseAlarm: what is declared and not true is not shown as true.
func TestModelFalseAlarm(t *testing.T) {
	s := newScript(t)
	loop := s.loop(s.ring()...)
	s.block(loop[0], loop[1])
	s.add(loop[1].Node, event.Event{Type: event.Deadlock, Port: 0, Priority: 3, Out: loop[1].Port, OutPriority: 3})
	st := s.state()
	if st.Declared == nil || st.Declared.True || st.Log[len(st.Log)-1].Kind != "false" || !strings.Contains(st.Words, "which is not on the loop") {
		t.Errorf("a false alarm: %+v", st)
	}
}

// TestModelBoundsLog: a state tells a bounded number of events, and says that there were
// more.
func TestModelBoundsLog(t *testing.T) {
	s := newScript(t)
	q := s.loop(s.ring()...)[0]
	for i := range 1000 {
		s.add(q.Node, event.Event{Type: event.Acted, Action: detect.ActionDrop, Port: q.Port, Out: q.Port, Priority: 3, OutPriority: 3, Bytes: int32(i + 1)})
	}
	st := s.state()
	if n := len(st.Log); n != actsMax+1 || st.Log[n-1].Text != "and 992 more events" {
		t.Errorf("%d entries, the last %+v", n, st.Log[n-1])
	}
}

// TestModelWaits: what a priority group holds in a paused queue is told until the priority group goes XON or
// the queue is let go, and so is what the priority group held when it crossed a threshold.
func TestModelWaits(t *testing.T) {
	s := newScript(t)
	loop := s.loop(s.ring()...)
	s.block(loop[0], loop[1])
	st := s.state()
	from, _ := s.m.w.queue(loop[0])
	to, _ := s.m.w.queue(loop[1])
	if want := (Wait{from, to, 30000, 1000}); len(st.Waits) != 1 || st.Waits[0] != want {
		t.Errorf("waits: %+v, want %+v", st.Waits, want)
	}
	b, _ := s.m.w.fabric.Down(loop[0])
	s.add(b.Node, event.Event{Type: event.XON, Port: b.Port, Priority: 3, Bytes: 900})
	if st = s.state(); len(st.Waits) != 0 {
		t.Errorf("after XON: %+v", st.Waits)
	}
	s.block(loop[0], loop[1])
	s.add(loop[1].Node, event.Event{Type: event.Resumed, Out: loop[1].Port, OutPriority: 3})
	if st = s.state(); len(st.Waits) != 0 {
		t.Errorf("after the queue was let go: %+v", st.Waits)
	}
}

// TestModelSteps: each step of a detector is told in words, and names whom it is about.
func TestModelSteps(t *testing.T) {
	s := newScript(t)
	loop := s.loop(s.ring()...)
	b, _ := s.m.w.fabric.Down(loop[0])
	self, peer, next := s.m.w.fabric.Name(b.Node), s.m.w.fabric.Name(loop[0].Node), s.m.w.fabric.Name(loop[2].Node)
	label := itsyhdr.TLV{Kind: itsyhdr.KindLabel, Priority: 3, Initiator: unit.NodePort{Node: b.Node, Port: b.Port}, Seq: 7}
	for step, want := range map[detect.Step]string{
		detect.StepMint:    self + " makes label " + self + "#7 for what comes from " + peer + ", and pauses it with that: it began to wait for " + self + " → " + next,
		detect.StepForward: self + ": label " + self + "#7 came from " + next + " and goes on to " + peer + ", which waits for " + self + " → " + next,
		detect.StepDrop:    self + ": label " + self + "#7 came from " + next + " and goes no further: what comes from " + peer + " has a newer one",
		detect.StepLoop:    self + ": label " + self + "#7 is home again, by " + self + " → " + next + ": a loop",
		detect.StepCheck:   self + ": the check of label " + self + "#7 came from " + next + " and goes on to " + peer,
		detect.StepAsk:     self + " asks " + next + ": does all still wait that label " + self + "#7 went by?",
		detect.StepFail:    self + ": the check of label " + self + "#7 failed",
		detect.StepMiddle:  self + " takes label " + self + "#7 over as a middle switch, and pauses " + peer + " with that",
		detect.StepVerify:  self + " begins to verify that what comes from " + peer + " is stuck",
	} {
		s.add(b.Node, event.Event{Type: event.Trace, Step: step, Port: b.Port, Priority: 3, Out: loop[1].Port, OutPriority: 3, Label: label})
		st := s.state()
		if len(st.Steps) != 1 || st.Steps[0].Text != want || st.Steps[0].Queue == nil || st.Steps[0].PG == nil {
			t.Errorf("%v: %+v, want %s", step, st.Steps, want)
		}
	}
	for range stepsMax + 5 {
		s.add(b.Node, event.Event{Type: event.Trace, Step: detect.StepFail, Port: unit.NoPort, Out: unit.NoPort, Label: label})
	}
	if st := s.state(); len(st.Steps) != stepsMax || st.StepsLeft != 5 || st.Steps[0].Queue != nil || st.Steps[0].PG != nil {
		t.Errorf("%d steps and %d more; the first %+v", len(st.Steps), st.StepsLeft, st.Steps[0])
	}
}

// TestModelActions: an action of a response is told of from when it is taken until it is
// taken back.
func TestModelMeasures(t *testing.T) {
	s := newScript(t)
	q := s.loop(s.ring()...)[0]
	at, _ := s.m.w.queue(q)
	for _, c := range []struct {
		begins, ends detect.Action
		what         string
		at           At
	}{
		{detect.ActionRestrict, detect.ActionFree, "restricted", at},
		{detect.ActionPolice, detect.ActionUnpolice, "policed", At{at.Dir ^ 1, 3}},
		{detect.ActionIgnore, detect.ActionHonour, "ignores pauses", at},
		{detect.ActionLossy, detect.ActionHonour, "lossy", at},
		{detect.ActionLossyTurn, detect.ActionLosslessTurn, "lossy", at},
		{detect.ActionDiscard, detect.ActionAdmit, "discards", at},
		{detect.ActionFlush, detect.ActionAdmit, "discards", at},
	} {
		acts := func(a detect.Action) []Action {
			s.add(q.Node, event.Event{Type: event.Acted, Action: a, Port: q.Port, Priority: 3, Out: q.Port, OutPriority: 3})
			return s.state().Actions
		}
		if got, want := acts(c.begins), []Action{{c.at, c.what}}; !slices.Equal(got, want) {
			t.Errorf("%v: %+v, want %+v", c.begins, got, want)
		}
		if got := acts(c.ends); len(got) > 0 {
			t.Errorf("%v: %+v is left", c.ends, got)
		}
	}
}

// TestModelSlowHost: a host that drains slowly is told of until it is as fast as before.
func TestModelSlowHost(t *testing.T) {
	s := newScript(t)
	host := s.m.w.ids[len(s.m.w.switches)]
	s.add(host, event.Event{Type: event.HostSlow, Bytes: 4000})
	st := s.state()
	if !slices.Equal(st.SlowHosts, []int{len(s.m.w.switches)}) || !strings.Contains(st.Words, " takes only 4Mbit/s of its ") || !strings.Contains(st.Log[0].Text, " takes only 4Mbit/s of its ") {
		t.Errorf("%+v", st)
	}
	s.add(host, event.Event{Type: event.HostSlowOver})
	if st = s.state(); len(st.SlowHosts) > 0 || !strings.HasSuffix(st.Log[0].Text, "is slow no more") {
		t.Errorf("%+v", st)
	}
}
