package fuzz

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/detect/catalog"
	"softswitch/detect/itsy"
	"softswitch/host"
	"softswitch/internal/stat"
	"softswitch/internal/testkit"
	"softswitch/study/cause"
	"softswitch/unit"
)

// speaker is a detector that declares what itsy declares, and names something else.
type speaker struct {
	detect.Actions
	name func(f detect.Finding) (trigger unit.NodePort, causes []detect.Cause)
}

func (s speaker) Report(f detect.Finding) {
	trigger, causes := s.name(f)
	f.Trigger, f.OnLoop = trigger, false
	s.Actions.Report(f)
	if causes != nil {
		s.Diagnose(f.PG, f.Queue, causes)
	}
}

// Diagnose lets nothing through that itsy says itself.
func (s speaker) Diagnose(b detect.PG, q detect.Queue, causes []detect.Cause) {
	if _, own := s.name(detect.Finding{}); own != nil {
		s.Actions.Diagnose(b, q, causes)
	}
}

// speaks makes a detector that names what name returns.
func speaks(name func(v detect.View, f detect.Finding) (unit.NodePort, []detect.Cause)) catalog.Detector {
	return catalog.Detector{Name: "speaker", New: func(v detect.View, a detect.Actions) detect.Detector {
		return itsy.New(v, speaker{a, func(f detect.Finding) (unit.NodePort, []detect.Cause) { return name(v, f) }})
	}}
}

// mute names nothing.
var mute = speaks(func(detect.View, detect.Finding) (unit.NodePort, []detect.Cause) { return unit.NodePort{}, nil })

// guess names a host beside the declaring switch, at random.
var guess = speaks(func(v detect.View, f detect.Finding) (unit.NodePort, []detect.Cause) {
	rng := stat.Rand(uint64(v.Self())<<16 | uint64(f.PG.Port))
	for range 100 {
		if p := unit.Port(rng.Below(v.Ports())); v.FacesHost(p) {
			return unit.NodePort{Node: v.Self(), Port: p}, nil
		}
	}
	return unit.NodePort{}, nil
})

// knows is a detector that was told what was planted in a case.
func knows(t *testing.T, p *Planted) catalog.Detector {
	plan, err := p.Plan("none")
	if err != nil {
		t.Fatal(err)
	}
	right := detect.Cause{Confidence: 100}
	for n, x := range p.Plants {
		if x.Idle {
			continue
		}
		for _, y := range detect.CauseTypes {
			if y.String() == typeOf(x.Kind) {
				right.Type = y
			}
		}
		tr := &causesTruth{plan: plan}
		node, _ := plan.Fabric.Node(tr.switchesOf(x)[0])
		far := x.Switches[1]
		if far == "" {
			far = x.Host
		}
		for port, end := range plan.Fabric.Nodes[node].Ports {
			if plan.Fabric.Nodes[end.Peer.Node].Name == far {
				right.At = unit.NodePort{Node: plan.Fabric.Nodes[node].ID, Port: unit.Port(port)}
			}
		}
		k := 0
		for i, f := range p.Flows {
			if !x.Kind.OfHost() && k < detect.CauseFlowsMax && (f.Plant == n+1 || x.Kind == Flooding && f.To == x.Host) {
				right.Flows[k] = detect.FlowID(plan.Hash(i))
				k++
			}
		}
		break
	}
	return speaks(func(detect.View, detect.Finding) (unit.NodePort, []detect.Cause) {
		return unit.NodePort{}, []detect.Cause{right}
	})
}

const canarySeed = 18

// soonSeeds are seeds with which those cases are found soon that take longest with canarySeed.
var causesSeeds = map[Planting]uint64{
	Planting(Slow): 7, Planting(Chatter): 16, Planting(EndedStorm): 7, Planting(Incast): 14,
}

// TestCanaries: who names nothing has no answer, who knows is right, and who guesses is
// wrong mostly, about as often as the control.
func TestCanaries(t *testing.T) {
	r := newCausesReport(&Run{Mode: Cause, Seed: canarySeed, Detectors: []catalog.Detector{{Name: "mute"}, {Name: "knows"}, {Name: "guess"}}})
	for i, planting := range Plantings {
		seed := uint64(canarySeed)
		if soon := causesSeeds[planting]; soon > 0 && !testkit.Long() {
			seed = soon
		}
		p := NewPlanted(seed, i)
		o := PlayCauses(p, []catalog.Detector{mute, knows(t, p), guess})
		if o.Invalid != "" || !o.Locked && p.Planting != Control {
			t.Fatalf("case %d: %s, locked %t", i, o.Invalid, o.Locked)
		}
		if o.Locked && !o.Systems[1].Elsewhere && !o.Systems[1].Found {
			t.Errorf("case %d, %s: who knows is not right: %+v", i, p.Planting, o.Systems[1])
		}
		r.Add(0, &o)
	}
	mute, knows, guess := r.Systems[0], r.Systems[1], r.Systems[2]
	all := func(s stat.Share) bool { return s.N == s.Of && s.Of > 0 }
	if !all(mute.Declared) || mute.Answered.N != 0 || mute.Found.N != 0 || mute.TypeRight.N != 0 || mute.Causal.Of != 0 {
		t.Errorf("who names nothing: %+v", mute)
	}
	if !all(knows.Found) || !all(knows.TypeRight) || knows.Innocent.N != 0 || knows.Hops.Sum != 0 {
		t.Errorf("who knows: %+v", knows)
	}
	if guess.Found.N*3 > guess.Found.Of || guess.Causal.N*3 > guess.Causal.Of || guess.Innocent.N != 0 {
		t.Errorf("who guesses: %+v", guess)
	}
	for _, s := range r.Systems {
		sum := 0
		for _, row := range s.Planted {
			for _, n := range row.Types {
				sum += n
			}
		}
		if want := r.Locked + r.Controls - s.Elsewhere; !s.Baseline && sum != want {
			t.Errorf("%s: %d answers in the matrix, want %d", s.Name, sum, want)
		}
	}
	if !r.Clean() {
		t.Error("it is not clean")
	}
}

// TestLoud: what is declared in a control is a false alarm.
func TestLoud(t *testing.T) {
	loud := catalog.Detector{Name: "loud", New: func(_ detect.View, a detect.Actions) detect.Detector { return shout{a: a} }}
	control := slices.Index(Plantings, Control)
	r := newCausesReport(&Run{Mode: Cause, Seed: canarySeed, Detectors: []catalog.Detector{loud}})
	o := PlayCauses(NewPlanted(canarySeed, control), []catalog.Detector{loud})
	r.Add(0, &o)
	if r.Controls != 1 || r.Systems[0].FalseAlarms != 1 || r.Clean() {
		t.Errorf("%d controls, %d false alarms", r.Controls, r.Systems[0].FalseAlarms)
	}
}

type shout struct {
	detect.None
	a detect.Actions
}

func (s shout) XOFF(_ unit.Time, b detect.PG, cause detect.Queue) {
	s.a.Report(detect.Finding{PG: b, Queue: cause})
}

// TestControlLocks: a control that deadlocks with the detector's own frames is no false alarm.
func TestControlLocks(t *testing.T) {
	d, err := catalog.Named("test", "itsy")
	if err != nil {
		t.Fatal(err)
	}
	r := newCausesReport(&Run{Mode: Cause, Seed: 2621, Detectors: []catalog.Detector{d}})
	data, err := os.ReadFile(filepath.Join("testdata", "control-locks.json"))
	if err != nil {
		t.Fatal(err)
	}
	var c Planted
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	o := PlayCauses(&c, []catalog.Detector{d})
	r.Add(0, &o)
	if s := r.Systems[0]; r.Controls != 1 || s.FalseAlarms != 0 || s.Elsewhere != 1 || !r.Clean() {
		t.Errorf("%d controls, %d false alarms, %d deadlocks of its own", r.Controls, s.FalseAlarms, s.Elsewhere)
	}
}

// looping is two switches that send what is for a third one to each other: F0 goes
// round, F1 does not.
func looping() *Case {
	c := &Case{
		Mode: Cause, Switches: []string{"a", "b", "c"}, Hosts: []string{"h-a", "h-b", "h-c"},
		Lossless: []int{3}, Threshold: 20000, XONOffset: 10000, Headroom: 22000, Quanta: 65535, Refresh: 1118464,
		Routes: []Route{{At: "a", To: "c", Next: "b", Plant: 1}, {At: "b", To: "c", Next: "a", Plant: 1}},
		Flows: []Flow{
			{From: "h-a", To: "h-c", Priority: 3, Stream: host.Stream{Rate: 4_000_000_000, Frame: 1514, TTL: 64}},
			{From: "h-b", To: "h-a", Priority: 3, Stream: host.Stream{Rate: 100_000_000, Frame: 1514, TTL: 64}},
		},
		Plants:   []Plant{{Kind: RoutingLoop, Switches: [2]string{"a", "b"}, To: "c"}},
		Duration: 2_000_000,
	}
	for _, ends := range [][2]string{{"a", "h-a"}, {"b", "h-b"}, {"c", "h-c"}, {"a", "b"}, {"b", "c"}} {
		c.Links = append(c.Links, Link{A: ends[0], B: ends[1], Rate: 10_000_000_000, Delay: 1000})
	}
	return c
}

// TestNamedFlows: who names the priority group that it declares, names the flows that waited
// where that priority group had most bytes: those that go round.
func TestNamedFlows(t *testing.T) {
	self := speaks(func(v detect.View, f detect.Finding) (unit.NodePort, []detect.Cause) {
		return unit.NodePort{Node: v.Self(), Port: f.PG.Port}, nil
	})
	answers, truth, err := listen(looping(), self)
	if err != nil || len(answers) != 1 {
		t.Fatalf("%+v, %v", answers, err)
	}
	a := answers[0]
	if a.Type != Switch || a.Host != "" || !slices.Contains(a.Flows, "F0") {
		t.Errorf("it names %+v, want flow F0", a)
	}
	if !truth.found(a) || truth.hops(a) != 0 || truth.typeRight(a) {
		t.Errorf("found %t, %d hops off, type right %t; want true, 0, false", truth.found(a), truth.hops(a), truth.typeRight(a))
	}
	if on, known := truth.onLoop(); !on || !known {
		t.Error("the routing loop is not on the deadlock's loop")
	}
	if wrong := (Answer{Type: "contention", At: a.At, Flows: []string{"F1"}}); truth.found(wrong) || truth.innocents(wrong.Flows) != 1 {
		t.Error("a flow that does not go round counts as found")
	}
	if host := (Answer{Type: "host", At: a.At, Host: "h-c"}); truth.found(host) {
		t.Error("a host counts as a routing loop")
	}
}

// TestBaselines: in a case with one host that storms for good, and first of all, the
// baselines that look for a host find it.
func TestBaselines(t *testing.T) {
	storm := slices.Index(Plantings, Planting(Storm))
	o := PlayCauses(NewPlanted(canarySeed, storm), nil)
	at := slices.Index(Baselines, LongestHost)
	if j := o.Systems[at]; !j.Found || j.Type != "host" || !j.Causal || j.Control.Causal || !j.Loop.Found || !j.Loop.Causal {
		t.Errorf("%s: %+v; who guesses among the hosts that paused is right too", LongestHost, j)
	}
	if j := o.Systems[slices.Index(Baselines, Victim)]; j.Type != Switch || j.Flows == 0 || !j.Said {
		t.Errorf("%s: %+v", Victim, j)
	}
	if j := o.Systems[slices.Index(Baselines, Whole)]; j.Flows <= o.Systems[slices.Index(Baselines, Victim)].Flows || !j.Causal {
		t.Errorf("%s: %+v, want more flows than those of one queue, and that they are causal", Whole, j)
	}
}

// TestGrownDeadlock: a ring that was closed first, and has grown into two by the time
// that the other one is declared, is the deadlock that is declared.
func TestGrownDeadlock(t *testing.T) {
	d, err := catalog.Named("test", itsy.Name)
	if err != nil {
		t.Fatal(err)
	}
	if o := PlayCauses(NewPlanted(2101, 177), []catalog.Detector{d}); o.Invalid != "" || !o.Systems[0].Declared {
		t.Errorf("%s %+v, want it declared", o.Invalid, o.Systems[0])
	}
}

// TestRandomCases: whether there is a single cause is what trying each says.
func TestRandomCases(t *testing.T) {
	several := speaks(func(_ detect.View, f detect.Finding) (unit.NodePort, []detect.Cause) {
		return unit.NodePort{}, []detect.Cause{{Type: detect.CauseSeveral, At: unit.NodePort{Node: 1}}}
	})
	seed := testkit.Sized[uint64](36, 1) // of the first of seed 36 some have a single cause and some do not
	run := &Run{Mode: RandomCause, Seed: seed, Detectors: []catalog.Detector{several}}
	r := newCausesReport(run)
	for i := range testkit.Sized(5, 30) {
		c := New(seed, i, Usual)
		o := playRandomCause(run, i)
		r.Add(0, &o)
		if !o.Locked {
			continue
		}
		plan, err := c.Plan("none")
		if err != nil {
			t.Fatal(err)
		}
		k, err := cause.New(plan.Scenario, c.Wires, nil)
		if err != nil {
			t.Fatal(err)
		}
		trials, err := k.TryAll(cause.InTurn, "", k.Singles())
		if err != nil {
			t.Fatal(err)
		}
		if single := slices.ContainsFunc(trials, func(t cause.Trial) bool { return t.Causal }); single != o.Single {
			t.Errorf("case %d: a single cause %t, trying each says %t", i, o.Single, single)
		}
	}
	s := r.Systems[0]
	if s.Several.N != s.Several.Of || s.NotSeveral.N != 0 || s.Several.Of == 0 || s.NotSeveral.Of == 0 {
		t.Errorf("who always denies a single cause: %+v, %+v", s.Several, s.NotSeveral)
	}
}

// What is named together with the likeliest answer is handled with it, each once; what is not
// together, and what comes after that, is not.
func TestNamedTogether(t *testing.T) {
	turn := func(at string, flows ...string) Answer {
		return Answer{Type: "contention", Flows: flows, Turn: &cause.Turn{Switch: at, Priority: 3}}
	}
	with := func(a Answer) Answer { a.Together = true; return a }
	host := Answer{Type: "host", Host: "h1"}
	for _, c := range []struct {
		answers []Answer
		flows   string
		treated string
	}{
		{[]Answer{host}, "", "host h1"},
		{[]Answer{host, turn("a", "F1")}, "", "host h1"},
		{[]Answer{host, with(turn("a", "F1", "F2")), turn("b", "F3")}, "F1 F2", "host h1 + turn a  > , priority 3"},
		{[]Answer{turn("a", "F1", "F2"), with(turn("b", "F2", "F3")), with(turn("a", "F4"))}, "F1 F2 F3 F4", "turn a  > , priority 3 + turn b  > , priority 3"},
		{[]Answer{host, turn("a", "F1"), with(turn("b", "F2"))}, "", "host h1"},
		{[]Answer{{Type: "link", Flows: []string{"F1"}}, with(host)}, "F1", "host h1 + flow F1"},
	} {
		flows, all := together(c.answers)
		if strings.Join(flows, " ") != c.flows || all.String() != c.treated {
			t.Errorf("%+v: flows %v, treated %v; want %s and %s", c.answers, flows, all, c.flows, c.treated)
		}
	}
}

// Of two plants both have to be named, by whichever answers.
func TestBothOfTwo(t *testing.T) {
	two := causesTruth{plants: []planted{{Plant: Plant{Kind: Storm, Host: "h1"}}, {Plant: Plant{Kind: Hog}, flows: []string{"F7"}}}}
	host, flow := Answer{Type: "host", Host: "h1"}, Answer{Type: "contention", Flows: []string{"F2", "F7"}}
	for _, c := range []struct {
		answers []Answer
		want    bool
	}{
		{nil, false},
		{[]Answer{host}, false},
		{[]Answer{flow}, false},
		{[]Answer{flow, host}, true},
	} {
		if got := two.foundAll(c.answers); got != c.want {
			t.Errorf("%+v names both: %v, want %v", c.answers, got, c.want)
		}
	}
}

func TestCausesReport(t *testing.T) {
	r := newCausesReport(&Run{Mode: Cause, Seed: 7, Detectors: []catalog.Detector{{Name: "x"}}})
	storm := CausesOutcome{Planting: Planting(Storm), Locked: true, Fabrics: 2, Tries: 5, Systems: make([]Judged, 1+len(Baselines))}
	for i := range storm.Systems {
		storm.Systems[i] = Judged{Type: NoAnswer}
	}
	right, wrong, silent := storm, storm, storm
	right.Systems, wrong.Systems = slices.Clone(storm.Systems), slices.Clone(storm.Systems)
	right.Systems[0] = Judged{
		Declared: true, Type: "host", Found: true, Among3: true, Two: true, Both: true, Answers: 2, TypeRight: true,
		Effect: cause.Effect{Causal: true, Sufficient: true}, Control: Try{Done: true}, Loop: Try{true, true, true, true}, Turn: Try{Done: true, Causal: true}, Known: true,
	}
	wrong.Systems[0] = Judged{
		Declared: true, Type: Switch, Two: true, Answers: 1, Control: Try{true, true, false, true}, Turn: Try{Done: true},
		Loop: Try{true, true, false, false}, Said: true, Known: true, Flows: 4, Innocents: 3, Hops: 2,
	}
	for _, o := range []CausesOutcome{right, wrong, silent, {Invalid: "no room"}} {
		r.Add(0, &o)
	}
	s := r.Systems[0]
	for what, got := range map[string][2]stat.Share{
		"declared": {s.Declared, {N: 2, Of: 3}}, "answered": {s.Answered, {N: 2, Of: 3}}, "found": {s.Found, {N: 1, Of: 3}}, "both": {s.Both, {N: 1, Of: 2}},
		"type": {s.TypeRight, {N: 1, Of: 3}}, "causal": {s.Causal, {N: 1, Of: 2}}, "control": {s.Control, {N: 1, Of: 2}},
		"guessed": {s.Guessed, {N: 1, Of: 3}}, "loop": {s.Loop, {N: 2, Of: 2}}, "loop sufficient": {s.LoopSufficient, {N: 1, Of: 2}},
		"guessed, planted": {s.Planted[0].Guessed, {N: 1, Of: 3}}, "loop, planted": {s.Planted[0].Loop, {N: 2, Of: 2}},
		"turn": {s.Turn, {N: 1, Of: 2}}, "chance": {s.Chance, {N: 1, Of: 2}}, "control sufficient": {s.ControlSufficient, {Of: 2}}, "off": {s.OffLoop, {N: 1, Of: 2}}, "on": {s.OnLoop, {}}, "innocent": {s.Innocent, {N: 1, Of: 2}},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %+v, want %+v", what, got[0], got[1])
		}
	}
	if s.Flows.Value() != 2 || s.Innocents.Value() != 1.5 || s.Hops.Value() != 2 || s.Answers.Value() != 1.5 || r.Invalid != 1 || r.Clean() {
		t.Errorf("%+v, %d invalid", s, r.Invalid)
	}
	if y := r.Yields[0]; y != (Yield{Planting(Storm), 3, 3, 6, 15}) {
		t.Errorf("yield %+v", y)
	}
	var text strings.Builder
	if err := r.WriteText(&text); err != nil || !strings.Contains(text.String(), "x: planted") {
		t.Errorf("%v\n%s", err, text.String())
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}
