package oracle

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"softswitch/buffer"
	"softswitch/detect"
	"softswitch/event"
	"softswitch/internal/testkit"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

func wantIntervals(t *testing.T, what string, got []Interval, want ...Interval) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// A pause is stale while the resume that ends it is on the wire. b2's frames take
// 60 us: its first PAUSE takes effect at 70, when it is already XOFF for the second
// time, the RESUME between them arrives at 78, and the second PAUSE at 84. Until
// then p1 is going to transmit.
func stalePause(t *testing.T, period func(s *script, period uint8)) *Result {
	s := newScript(t)
	s.at(1*us).xoff(1, 1, 37).xoff(4, 1, 37).xoff(3, 1, 37)
	s.at(10*us).xoff(2, 1, 37).at(18 * us).xon(2)
	s.at(21*us).paused(4, 1).held(4, 45, 37).paused(3, 1).held(3, 45, 37).paused(2, 1)
	s.at(24*us).xoff(2, 2, 37).held(2, 45, 37)
	s.at(70 * us)
	period(s, 1)
	s.held(1, 45, 37)
	s.at(78 * us).resumed(1)
	s.at(84 * us)
	period(s, 2)
	s.held(1, 45, 37)
	s.at(90 * us).declared(1)
	return s.run(ring4(t), 0)
}

func TestStalePauseHoldsNothing(t *testing.T) {
	r := stalePause(t, func(s *script, period uint8) { s.paused(1, period) })
	wantIntervals(t, "deadlock", r.Intervals, Interval{84 * us, 90 * us, true})
	if f := r.Findings[0]; f.Outcome != TruePositive || f.Latency != 6*us {
		t.Errorf("finding %v after %d ns, want true after 6000", f.Outcome, f.Latency)
	}
	if got := r.History.At(84*us - 1); !got.Empty() {
		t.Errorf("just before the second pause: S* is %v", got.Queues)
	}
}

// The same run with periods unknown shows the hole that the period closes: without
// it this script could not fail.
func TestStalePauseWithoutPeriods(t *testing.T) {
	r := stalePause(t, func(s *script, _ uint8) {
		s.log(1, event.Event{Type: event.Paused, Out: out, OutPriority: 3})
	})
	wantIntervals(t, "deadlock", r.Intervals, Interval{70 * us, 78 * us, false}, Interval{84 * us, 90 * us, true})
}

func TestPeriodWrapsAround(t *testing.T) {
	s := newScript(t).at(0).closeRing(255).openRing()
	for k := unit.NodeID(2); k <= 4; k++ {
		s.at(30 * us).xon(k%4 + 1).resumed(k)
	}
	s.at(40 * us).closeRing(0)
	r := s.run(ring4(t), 0)
	// Opened in the instant in which it closed, the first ring never was.
	wantIntervals(t, "deadlock", r.Intervals, Interval{60 * us, 60 * us, true})
}

func TestDetection(t *testing.T) {
	s := newScript(t).at(0).closeRing(1).at(100 * us).declared(2).at(130 * us).declared(3).at(140 * us).declared(3)
	r := s.run(ring4(t), 0)
	wantIntervals(t, "deadlock", r.Intervals, Interval{20 * us, 140 * us, true})
	if len(r.Deadlocks) != 1 || !r.Deadlocks[0].Knot || len(r.Deadlocks[0].Queues) != 4 {
		t.Fatalf("deadlocks %+v, want one knot of four queues", r.Deadlocks)
	}
	if d := r.Deadlocks[0].Declarers; len(d) != 2 || d[0].Node != 2 || d[1].Node != 3 {
		t.Errorf("declarers %v, want b2 and b3", d)
	}
	if r.Count(TruePositive) != 3 || len(r.Missed()) != 0 {
		t.Errorf("%d true, %d missed; want 3 and 0", r.Count(TruePositive), len(r.Missed()))
	}
	f := r.Findings[0]
	loop := strings.Join(r.Fabric.LinkNames(f.Loop), " ")
	if f.Latency != 80*us || loop != "s2--s3 s3--s4 s4--s1 s1--s2" {
		t.Errorf("latency %d, loop %s", f.Latency, loop)
	}
	// b1 faces s4's queue: the trigger is a switch.
	if tr := r.Trigger(f); tr != (Trigger{Node: "s1", Port: "1", Kind: "switch", OnLoop: true}) {
		t.Errorf("trigger %+v", tr)
	}
}

func TestTriggerNames(t *testing.T) {
	r := &Result{Fabric: ring4(t)}
	for _, c := range []struct {
		at   unit.NodePort
		want Trigger
	}{
		{unit.NodePort{Node: 3, Port: host}, Trigger{Node: "h3", Port: "eth0", Kind: "host"}},
		{unit.NodePort{Node: 13}, Trigger{Node: "h3", Port: "eth0", Kind: "host"}},
		{unit.NodePort{Node: 2, Port: side}, Trigger{Node: "s2", Port: "3", Kind: "switch"}},
		{unit.NodePort{Node: 900, Port: 9}, Trigger{Node: "#900", Port: "9", Kind: "switch"}},
		{unit.NodePort{}, Trigger{}},
	} {
		if got := r.Trigger(Finding{Trigger: c.at}); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.at, got, c.want)
		}
	}
}

// The canary that nobody sings: a deadlock and no finding is a false negative.
func TestSilenceIsAMiss(t *testing.T) {
	r := newScript(t).at(0).closeRing(1).at(500*us).stormed(1).run(ring4(t), 0)
	if len(r.Missed()) != 1 || len(r.Findings) != 0 {
		t.Errorf("missed %+v, want the one deadlock", r.Missed())
	}
}

// The canary that always sings: a finding at every pause of a run without a
// deadlock is false each time, and the first three of closeRing are premature.
func TestAlwaysDeclaringIsFalse(t *testing.T) {
	s := newScript(t)
	for i := range unit.Time(50) {
		s.at(i*10*us).xoff(1, uint8(i), 36).held(1, 50, 36).paused(4, uint8(i)).declared(4).xon(1).resumed(4)
	}
	if r := s.run(ring4(t), 0); r.Count(FalsePositive) != 50 || len(r.Intervals) != 0 {
		t.Errorf("%d of 50 false, deadlock %v", r.Count(FalsePositive), r.Intervals)
	}

	s = newScript(t).at(0)
	for k := unit.NodeID(1); k <= 4; k++ {
		s.at(unit.Time(k)*10*us).xoff(k%4+1, 1, 36).held(k%4+1, 50, 36).paused(k, 1).declared(k)
	}
	r := s.run(ring4(t), 0)
	if r.Count(Premature) != 3 || r.Count(TruePositive) != 1 {
		t.Errorf("%d premature, %d true; want 3 and 1", r.Count(Premature), r.Count(TruePositive))
	}
	if len(r.Missed()) != 0 {
		t.Errorf("missed %+v", r.Missed())
	}
}

// A finding just after the end is late while word of the end is on its way, and
// false after that; at the very end and onset it is true.
func TestLate(t *testing.T) {
	s := newScript(t).at(0).closeRing(1).declared(1)
	s.at(50 * us).openRing().declared(1)
	s.at(59 * us).declared(1).at(60 * us).declared(1)
	r := s.run(ring4(t), 10*us)
	var got []Outcome
	for _, f := range r.Findings {
		got = append(got, f.Outcome)
	}
	if want := []Outcome{TruePositive, TruePositive, Late, FalsePositive}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	wantIntervals(t, "deadlock", r.Intervals, Interval{20 * us, 50 * us, false})
}

// A deadlock that comes back is another deadlock; who found the first has not
// found the second.
func TestRecurrence(t *testing.T) {
	s := newScript(t).at(0).closeRing(1).at(50 * us).declared(1).at(60 * us).openRing()
	s.at(100*us).xoff(2, 2, 36).held(2, 50, 36).paused(1, 2).held(1, 50, 36)
	r := s.at(200*us).stormed(1).run(ring4(t), 0)
	wantIntervals(t, "deadlock", r.Intervals, Interval{20 * us, 60 * us, false}, Interval{100 * us, 200 * us, true})
	if len(r.Deadlocks) != 2 || len(r.Missed()) != 1 || r.Missed()[0].From != 100*us {
		t.Errorf("deadlocks %+v, missed %+v", r.Deadlocks, r.Missed())
	}
}

// A wait that opens by itself is over when its first queue is let go, though nothing is stuck before or
// after that: an XON that is alone in its instant ends it.
func TestOpeningEnds(t *testing.T) {
	f := ring4(t)
	sharePool(f, buffer.Rule{Pool: 1000, Dynamic: true, MinXON: 36})
	s := newScript(t).at(0).closeRing(1)
	r := s.at(30*us).xon(2).at(35*us).xon(3).at(100*us).stormed(1).run(f, 0)
	wantIntervals(t, "opening", r.Openings, Interval{20 * us, 30 * us, false})
	wantIntervals(t, "deadlock", r.Intervals)
}

// A knot that grows stays the same deadlock, as old as its oldest part, and two
// that grow together are one.
func TestLives(t *testing.T) {
	set := func(comps ...Component) *Stuck { // each component is one cycle
		s := &Stuck{Components: comps, nextAt: []int32{0}}
		for _, c := range comps {
			s.Queues = append(s.Queues, c.Queues...)
		}
		slices.SortFunc(s.Queues, compareQueues)
		for _, q := range s.Queues {
			comp := slices.IndexFunc(comps, func(c Component) bool { return slices.Contains(c.Queues, q) })
			around := comps[comp].Queues
			s.comp = append(s.comp, int32(comp))
			s.next = append(s.next, int32(s.index(around[(slices.Index(around, q)+1)%len(around)])))
			s.nextAt = append(s.nextAt, int32(len(s.next)))
		}
		return s
	}
	knot := func(ks ...unit.NodeID) Component {
		c := Component{Knot: true}
		for _, k := range ks {
			c.Queues = append(c.Queues, q(k))
		}
		return c
	}
	var h History
	h.Settle(10, set(knot(1, 2)))
	h.Settle(20, set(knot(1, 2), knot(5, 6)))
	h.Settle(30, set(knot(1, 2), knot(5, 6, 7)))
	h.Settle(40, set(knot(1, 2, 5, 6, 7)))
	h.Settle(50, set(knot(5, 6, 7)))
	h.Settle(60, set(knot(8, 9)))
	h.Settle(70, set())
	findings := []Finding{{At: 45, Queue: q(6)}, {At: 25, Queue: q(2)}, {At: 65, Queue: q(6)}, {At: 62, Queue: q(8)}}
	got := h.Judge(findings, 0)
	if len(got) != 2 || got[0].Interval != (Interval{10, 60, false}) || got[1].Interval != (Interval{60, 70, false}) {
		t.Fatalf("deadlocks %+v", got)
	}
	if got[0].KnotFor != 50 || got[1].KnotFor != 10 {
		t.Errorf("knots for %d and %d, want 50 and 10: two at a time are one", got[0].KnotFor, got[1].KnotFor)
	}
	if len(got[0].Queues) != 5 || findings[0].Latency != 35 || findings[1].Latency != 15 || findings[2].Outcome != FalsePositive || findings[3].Deadlock != 1 {
		t.Errorf("queues %v, findings %+v", got[0].Queues, findings)
	}
}

// A host that pauses for ever stops everything behind it; nothing of that is a
// deadlock, and it is a storm only while there is none.
func TestStormIsNoDeadlock(t *testing.T) {
	s := newScript(t)
	s.at(10 * us).stormed(3).at(20 * us).stormed(4)
	s.at(30*us).xoff(3, 1, 36).paused(2, 1).xoff(2, 1, 36).paused(1, 1).held(2, 50, 36)
	s.at(40 * us).calmed(3).at(50 * us).calmed(4).at(60 * us).stormed(3)
	s.at(70 * us).closeRing(9).at(120 * us).openRing().at(150 * us).declared(1)
	r := s.run(ring4(t), 0)
	wantIntervals(t, "deadlock", r.Intervals, Interval{90 * us, 120 * us, false})
	wantIntervals(t, "storms", r.Storms, Interval{10 * us, 50 * us, false}, Interval{60 * us, 90 * us, false}, Interval{120 * us, 150 * us, true})
	if len(r.HostPauses) != 3 || r.HostPauses[2].Queue.Node != 3 || !r.HostPauses[2].Open {
		t.Errorf("host pauses %+v", r.HostPauses)
	}
}

func TestVictimsAreNotTheCore(t *testing.T) {
	s := newScript(t)
	s.at(0).closeRing(1)
	// s5 sends to s2, whose priority group on that side waits for the ring.
	s.at(50*us).log(2, event.Event{Type: event.XOFF, Port: side, Priority: 3, Out: out, OutPriority: 3, Period: 4, Bytes: 40, Limit: 36})
	s.log(2, event.Event{Type: event.Held, Port: side, Priority: 3, Out: out, OutPriority: 3, Bytes: 40, Limit: 36})
	victim := Queue{unit.NodePort{Node: 5, Port: in}, 3}
	s.at(60*us).log(5, event.Event{Type: event.Paused, Out: in, OutPriority: 3, HasPeriod: true, Period: 4})
	s.at(70*us).log(5, event.Event{Type: event.Deadlock, Port: side, Priority: 3, Out: in, OutPriority: 3})
	r := s.run(ring4(t), 0)
	st := r.History.At(65 * us)
	if v := st.Victims(); len(v) != 1 || v[0] != victim || len(st.Components) != 1 {
		t.Errorf("victims %v, components %+v", v, st.Components)
	}
	if r.Findings[0].Outcome != FalsePositive || len(r.Deadlocks) != 1 {
		t.Errorf("a victim's finding is %v, deadlocks %+v", r.Findings[0].Outcome, r.Deadlocks)
	}
}

// What a priority group held is forgotten at its XON, and what a queue held at its resume
// or expiry: only what is told again counts.
func TestHeldVanishes(t *testing.T) {
	for name, open := range map[string]func(s *script){
		"resume": func(s *script) { s.resumed(1).at(40*us).paused(1, 1) },
		"expiry": func(s *script) { s.expired(1).at(40*us).paused(1, 1) },
		"xon":    func(s *script) { s.xon(1).at(40*us).xoff(1, 1, 36) },
	} {
		s := newScript(t).at(0).closeRing(1).at(30 * us)
		open(s)
		s.at(50*us).held(1, 36, 36).at(60*us).held(1, 37, 36).at(70 * us).stormed(1)
		r := s.run(ring4(t), 0)
		t.Run(name, func(t *testing.T) {
			wantIntervals(t, "deadlock", r.Intervals, Interval{20 * us, 30 * us, false}, Interval{60 * us, 70 * us, true})
		})
	}
}

// A finding that is not true shows the way its label took.
func TestLoopFromTraces(t *testing.T) {
	s := newScript(t)
	// b1 waits for p1. The label leaves for p4, there for b4's upstream, and so on.
	s.at(10*us).forwarded(4, detect.StepForward, 7).forwarded(4, detect.StepForward, 6)
	s.at(20*us).forwarded(3, detect.StepForward, 7)
	s.at(25*us).forwarded(2, detect.StepDrop, 7)
	s.at(26 * us).declared(1)
	s.at(30*us).forwarded(2, detect.StepCheck, 7)
	s.at(40 * us).declared(1)
	r := s.run(ring4(t), 0)
	if r.Findings[0].Loop != nil {
		t.Errorf("at 26 us the way is not whole: %v", r.Findings[0].Loop)
	}
	if got := strings.Join(r.Fabric.LinkNames(r.Findings[1].Loop), " "); got != "s1--s2 s2--s3 s3--s4 s4--s1" {
		t.Errorf("loop %q", got)
	}
}

// The order in which logs are given, and which number a node has, change nothing.
func TestMergeOrder(t *testing.T) {
	seed := testkit.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	s := randomRun(t, rnd)
	f := ring4(t)
	want := s.run(f, 5*us)
	if len(want.Intervals) == 0 {
		t.Fatal("the run has no deadlock to compare")
	}
	for range 20 {
		logs := s.all()
		rnd.Shuffle(len(logs), func(i, j int) { logs[i], logs[j] = logs[j], logs[i] })
		got, err := Judge(f, logs, 0, 5*us)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("another order of the logs, another result: %v", err)
		}
	}
	for range 20 {
		compareRenumbered(t, rnd, s, want)
	}
}

// compareRenumbered gives the nodes other numbers, so that events of one time of
// different nodes are merged in another order.
func compareRenumbered(t *testing.T, rnd *rand.Rand, s *script, want *Result) {
	t.Helper()
	perm := rnd.Perm(20)
	id := func(n unit.NodeID) unit.NodeID { return unit.NodeID(perm[n] + 1) }
	f := ring4(t)
	nodes := slices.Clone(f.nodes)
	var links []Link
	for i := range nodes {
		for p := range nodes[i].Ports {
			end := unit.NodePort{Node: nodes[i].ID, Port: unit.Port(p)}
			if far, wired := f.Far(end); wired && end.Node < far.Node {
				links = append(links, Link{unit.NodePort{Node: id(end.Node), Port: end.Port}, unit.NodePort{Node: id(far.Node), Port: far.Port}})
			}
		}
		nodes[i].ID = id(nodes[i].ID)
	}
	g, err := NewFabric(nodes, links)
	if err != nil {
		t.Fatal(err)
	}
	logs := s.all()
	for i := range logs {
		logs[i].Node.ID = id(logs[i].Node.ID)
	}
	got, err := Judge(g, logs, 0, 5*us)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Intervals, want.Intervals) || !slices.Equal(got.Storms, want.Storms) || len(got.Missed()) != len(want.Missed()) {
		t.Fatalf("other numbers %v: intervals %v, want %v", perm, got.Intervals, want.Intervals)
	}
	for o := FalsePositive; o <= TruePositive; o++ {
		if got.Count(o) != want.Count(o) {
			t.Fatalf("other numbers %v: %d findings %v, want %d", perm, got.Count(o), o, want.Count(o))
		}
	}
}

// randomRun opens and closes the ring at random, many events to each instant.
func randomRun(t *testing.T, rnd *rand.Rand) *script {
	s := newScript(t)
	var period [6]uint8
	for i := range 3000 {
		s.at(unit.Time(i/6) * us)
		k := unit.NodeID(1 + rnd.IntN(4))
		down := k%4 + 1
		switch rnd.IntN(30) {
		case 0:
			s.xon(down)
		case 1:
			s.resumed(k)
		case 2:
			s.declared(k)
		case 3:
			s.stormed(k)
		case 4:
			s.calmed(k)
		case 5:
			period[down]++
			s.xon(down).xoff(down, period[down], 36)
		case 6, 7, 8, 9, 10:
			s.xoff(down, period[down], 36)
		case 11, 12, 13, 14, 15, 16, 17, 18:
			s.paused(k, period[down])
		default:
			s.held(k, int32(33+rnd.IntN(30)), 36)
		}
	}
	return s
}

// The fast replay evaluates when it must; the slow one after every instant, with
// a fresh State made of all events so far.
func TestReplayAgainstSlow(t *testing.T) {
	seed := testkit.Seed(t)
	s := randomRun(t, rand.New(rand.NewPCG(seed, 0)))
	f := ring4(t)
	r := s.run(f, 0)
	entries, err := Merge(s.all())
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		if i+1 < len(entries) && entries[i+1].At == entries[i].At || i%7 != 0 && i+1 < len(entries) {
			continue
		}
		slow := NewReplay(f)
		for _, e := range entries[:i+1] {
			if err := slow.Add(e); err != nil {
				t.Fatal(err)
			}
		}
		slow.state.changed = true
		if got, want := r.History.At(entries[i].At), slow.state.Stuck(); !got.equal(want) {
			t.Fatalf("at %d ns: S* is %v, slowly %v", entries[i].At, got.Queues, want.Queues)
		}
	}
}

func TestReplayErrors(t *testing.T) {
	f := ring4(t)
	ev := func(e event.Event) []event.Log {
		return []event.Log{{Node: event.Node{ID: 1, Name: "s1"}, Events: []event.Event{{At: 5, Type: event.LinkUp}, e}}}
	}
	for _, c := range []struct {
		logs []event.Log
		want string
	}{
		{ev(event.Event{At: 6, Type: event.XON, Port: 4}), "s1: event 1 (xon at 6 ns): s1: port 4: it has 4 ports"},
		{ev(event.Event{At: 6, Type: event.Paused, Out: 40}), "port 40"},
		{ev(event.Event{At: 6, Type: event.XOFF, Out: 40}), "port 40"},
		{ev(event.Event{At: 6, Type: event.Held, Priority: 8}), "priorities 8 and 0: want 0 to 7"},
		{[]event.Log{{Node: event.Node{ID: 77}, Events: []event.Event{{Type: event.XON}}}}, "node 77: not in the fabric of 9 nodes"},
		{append(ev(event.Event{At: 6}), ev(event.Event{At: 6})...), `two logs of node 1: "s1" and "s1"`},
	} {
		if _, err := Judge(f, c.logs, 0, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	r := NewReplay(f)
	if err := r.Add(Entry{1, 0, &event.Event{At: 9, Type: event.LinkUp}}); err != nil {
		t.Fatal(err)
	}
	if err := r.Add(Entry{1, 1, &event.Event{At: 8, Type: event.LinkUp}}); err == nil || !strings.Contains(err.Error(), "before the event at 9 ns") {
		t.Errorf("time going back: %v", err)
	}
}

// A trace that names neither queue nor priority group is an ordinary event.
func TestTraceWithoutPorts(t *testing.T) {
	s := newScript(t).at(1).log(1, event.Event{Type: event.Trace, Step: detect.StepMint, Port: unit.NoPort, Out: unit.NoPort, Label: itsyhdr.TLV{Seq: 1}})
	if r := s.run(ring4(t), 0); len(r.Findings) != 0 {
		t.Errorf("findings %v", r.Findings)
	}
}

func TestFabricErrors(t *testing.T) {
	np := func(n unit.NodeID, p unit.Port) unit.NodePort { return unit.NodePort{Node: n, Port: p} }
	_, err := NewFabric([]Node{
		{ID: 1, Name: "a", Ports: make([]string, 2)},
		{ID: 1, Name: "b"},
		{ID: 0, Name: "c"},
		{ID: 3, Name: "a"},
		{ID: 4, Name: "d", Ports: make([]string, 257)},
		{ID: 5, Name: "e", Ports: make([]string, 2)},
	}, []Link{{np(1, 0), np(5, 0)}, {np(1, 0), np(5, 1)}, {np(1, 1), np(5, 7)}, {np(9, 0), np(5, 1)}, {np(5, 1), np(5, 1)}})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		`node "b": number 1 is taken by "a"`, `node "c": number 0: want 1 to 65535`, `node 3: name "a" is empty or taken`,
		`node "d": 257 ports: want at most 256`, "link 1.0 to 5.1: a:0 is wired to e:0", "e: port 7: it has 2 ports", "node 9: not in the fabric",
		"link 5.1 to 5.1: both ends are one port",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in:\n%v", want, err)
		}
	}
}

func TestLinkNames(t *testing.T) {
	f := switches(t, 3, [2]int{1, 2}, [2]int{2, 1}, [2]int{2, 3}, [2]int{1, 1}, [2]int{1, 2})
	for np, want := range map[unit.NodePort]string{
		{Node: 1, Port: 0}: "s1--s2", {Node: 1, Port: 1}: "s1--s2#2", {Node: 2, Port: 1}: "s2--s1#2", {Node: 2, Port: 2}: "s2--s3",
		{Node: 3, Port: 0}: "s3--s2", {Node: 1, Port: 2}: "s1--s1", {Node: 1, Port: 4}: "s1--s2#3", {Node: 3, Port: 9}: "s3:9--nothing",
	} {
		if got := f.LinkName(np); got != want {
			t.Errorf("%v: %s, want %s", np, got, want)
		}
	}
}

func TestTimeline(t *testing.T) {
	s := newScript(t)
	s.at(0).log(1, event.Event{Type: event.LinkUp, Port: out}) // at the start, no news
	s.at(1*us).log(1, event.Event{Type: event.LinkDown, Port: out}).log(2, event.Event{Type: event.LinkDown, Port: in})
	s.at(2*us).log(1, event.Event{Type: event.Rerouted, Out: host, Bytes: 1}).log(1, event.Event{Type: event.Rerouted, Out: host, Bytes: 2})
	s.at(3*us).log(1, event.Event{Type: event.LinkUp, Port: out}).at(4*us).log(2, event.Event{Type: event.LinkUp, Port: in})
	s.at(5 * us).closeRing(1).at(30 * us).declared(1).at(40 * us).openRing().at(45 * us).declared(2).at(50 * us).expired(2)
	var got []string
	r := s.run(ring4(t), us)
	for _, m := range r.Timeline {
		got = append(got, fmt.Sprintf("%d %s", m.At/us, m.What))
	}
	want := []string{
		"1 link s1--s2 failed",
		"2 2 routes rerouted by s1--h1",
		"4 link s2--s1 healed",
		"15 first pause: s2 stops s1, priority 3",
		"25 deadlock: s1--s2, s2--s3, s3--s4, s4--s1 wait for one another",
		"30 s1 declares s1--s2 deadlocked, priority 3: true, 0.005 ms after onset",
		"40 first resume: s2 lets s1 go, priority 3",
		"40 this deadlock is over: s1--s2",
		"45 s2 declares s2--s3 deadlocked, priority 3: false",
		"50 first pause that runs out: of s3 over s2, priority 3",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var kinds []MomentKind
	for _, m := range r.Timeline {
		kinds = append(kinds, m.Kind)
	}
	if want := []MomentKind{4: DeadlockBegins, 7: DeadlockEnds, 9: OtherMoment}; !slices.Equal(kinds, want) {
		t.Errorf("kinds %v, want %v", kinds, want)
	}
}

// A pause that a system ends, because it drops what is paused or has it ignored, is no resume of
// the far end, which may pause for ever; the first that comes later is.
func TestTimelineOfActions(t *testing.T) {
	for action, name := range map[detect.Action]string{
		detect.ActionDiscard: "discard", detect.ActionFlush: "flush", detect.ActionIgnore: "ignore", detect.ActionLossy: "lossy", detect.ActionContain: "contain",
	} {
		s := newScript(t)
		act := event.Event{Type: event.Acted, Action: action, Port: unit.NoPort, Out: out, OutPriority: 3}
		s.at(5*us).paused(1, 1).at(20*us).log(1, act).resumed(1)
		s.at(30*us).paused(1, 2).at(40 * us).resumed(1)
		var got []string
		for _, m := range s.run(ring4(t), us).Timeline {
			got = append(got, fmt.Sprintf("%d %s", m.At/us, m.What))
		}
		want := []string{
			"5 first pause: s2 stops s1, priority 3",
			"20 s1: " + name + " at s1--s2, priority 3",
			"40 first resume: s2 lets s1 go, priority 3",
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// BenchmarkReplay: nanoseconds per event of a run full of changes.
func BenchmarkReplay(b *testing.B) {
	t := &testing.T{}
	s := randomRun(t, rand.New(rand.NewPCG(1, 1)))
	f := ring4(b)
	logs := s.all()
	n := 0
	for _, l := range logs {
		n += len(l.Events)
	}
	for b.Loop() {
		if _, err := Judge(f, logs, 0, 0); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
}
