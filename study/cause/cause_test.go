package cause

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"softswitch/node/config"
	"softswitch/scenario"
	"softswitch/sim/simtest"
	"softswitch/unit"
)

// cases are scenarios whose deadlock has a known cause, and the seed with which.
var cases = []struct {
	name  string
	seed  uint64
	least string // the set with the least harm, of those that prevent the deadlock alone
	also  []string
	not   []string // prevent nothing alone
}{
	{"chattering-host", 1429917599, "host h-leaf3-0", []string{"flow F0", "flow F1", "flow F2", "flow F3"}, nil},
	{"ended-storm", 857491355, "flow F0", []string{"host h-leaf2-0", "flow F1", "flow F3"}, []string{"flow F2", "flow F4"}},
	{"incast-hides-routing-loop", 596769270, "flow F0", nil, []string{"flow F1", "flow F2"}},
	{"two-rings", 936586168, "flow F1", nil, []string{"flow F0", "flow F2", "flow F4"}},
	{"slow-host", 789222455, "host h-edge2-0", []string{"flow F1", "flow F2", "flow F3"}, []string{"flow F0"}},
	{"storming-host", 113532852, "host h-t0-0", []string{"flow F0", "flow F1"}, nil},
}

// known is a case of testdata.
func known(t testing.TB, name string) *scenario.Scenario {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return simtest.Parse(t, name+".yaml", string(text), "itsy")
}

func newCase(t testing.TB, s *scenario.Scenario, seed uint64) *Case {
	t.Helper()
	c, err := New(s, seed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func smallestOf(t testing.TB, c *Case) (singles []Trial, s Smallest) {
	t.Helper()
	singles, err := c.TryAll(InTurn, "singles", c.Singles())
	if err != nil {
		t.Fatal(err)
	}
	if s, err = c.Smallest(InTurn, singles); err != nil {
		t.Fatal(err)
	}
	return singles, s
}

func texts(all []Trial) (names []string) {
	for _, t := range all {
		names = append(names, t.Treatment.String())
	}
	slices.Sort(names)
	return names
}

// TestKnownCauses: each host and flow alone prevents what it is known to prevent, and
// every turn of the loop does when it is lossy.
func TestKnownCauses(t *testing.T) {
	for _, k := range cases {
		t.Run(k.name, func(t *testing.T) {
			c := newCase(t, known(t, k.name), k.seed)
			singles, s := smallestOf(t, c)
			want := append([]string{k.least}, k.also...)
			slices.Sort(want)
			if got := texts(s.Sets); !slices.Equal(got, want) || !s.Single || !s.Proven {
				t.Errorf("%q prevent it (single %v, proven %v), want %q", got, s.Single, s.Proven, want)
			}
			if got := s.Sets[s.LeastHarm].Treatment.String(); got != k.least {
				t.Errorf("least harm: %s, want %s", got, k.least)
			}
			without := slices.DeleteFunc(singles, func(x Trial) bool { return x.Causal })
			if got := texts(without); !slices.Equal(got, k.not) {
				t.Errorf("%q prevent nothing, want %q", got, k.not)
			}
			for _, turn := range c.Deadlock.Turns {
				if e, err := c.Try(Treatment{Turns: []Turn{turn}}); err != nil || !e.Causal {
					t.Errorf("turn %v: %+v, %v", turn, e, err)
				}
			}
		})
	}
}

// ring is three switches whose flows go two links round, so that each of them is needed.
// more is further keys.
func ring(more string) string {
	return `
name: ring
topology: {ring: {switches: 3, hosts_per_switch: 2}, rate: 1Gbit/s, delay: 2us}
buffer: {static_th: 20000, xon_offset: 20000, xoff: 60000}
pfc: {lossless: [3, 4]}
routes:
  - {at: s1, to: s3, ports: [s2]}
  - {at: s2, to: s1, ports: [s3]}
  - {at: s3, to: s2, ports: [s1]}
` + more
}

const roundTheRing = `
flows:
  - {name: A, from: h1-0, to: h3-0}
  - {name: B, from: h2-0, to: h1-0}
  - {name: C, from: h3-0, to: h2-0}
  - {name: lossy, from: h1-1, to: h2-1, priority: 0, rate: 100Mbit/s}
duration: 4ms
`

// TestRing: any of the three flows prevents it, and the lossy one is no candidate.
func TestRing(t *testing.T) {
	c := newCase(t, simtest.Parse(t, "ring.yaml", ring(roundTheRing), "itsy"), 1)
	singles, s := smallestOf(t, c)
	want := []string{"flow A", "flow B", "flow C"}
	if got := texts(s.Sets); !slices.Equal(got, want) || len(singles) != 3 {
		t.Errorf("of %d candidates %q prevent it, want %q of 3", len(singles), got, want)
	}
	loop := []string{"s1--s2", "s2--s3", "s3--s1"}
	if got := slices.Sorted(slices.Values(c.Deadlock.Loops[0])); !slices.Equal(got, loop) {
		t.Errorf("the loop is %q, want %q", got, loop)
	}
	if !slices.Equal(c.Deadlock.Flows, []string{"A", "B", "C"}) || len(c.Deadlock.Turns) != 3 {
		t.Errorf("flows %q, turns %v", c.Deadlock.Flows, c.Deadlock.Turns)
	}
}

// TestPlantedStorm: flows too slow to lock a ring lock it when a host has stormed, and
// that host is the only cause.
func TestPlantedStorm(t *testing.T) {
	flows := "flows:\n"
	for i, from := range []string{"h1", "h2", "h3"} {
		to := []string{"h3", "h1", "h2"}[i]
		for k := range 6 { // so many that no single one is needed
			flows += fmt.Sprintf("  - {name: F%d%d, from: %s-%d, to: %s-%d, rate: 60Mbit/s}\n", i, k, from, k%2, to, k%2)
		}
	}
	const rest = "duration: 20ms\n"
	storm := "events: [{at: 1ms, do: storm, host: h1-0, for: 2ms}, {at: 1ms, do: slow, host: h2-1, rate: 900Mbit/s}]\n"
	calm := simtest.Parse(t, "calm.yaml", ring(flows+rest), "itsy")
	if _, err := New(calm, 1, nil); !errors.Is(err, ErrNoDeadlock) {
		t.Fatalf("without the storm: %v, want %v", err, ErrNoDeadlock)
	}
	c := newCase(t, simtest.Parse(t, "storm.yaml", ring(flows+storm+rest), "itsy"), 1)
	singles, s := smallestOf(t, c)
	if got := texts(s.Sets); !slices.Equal(got, []string{"host h1-0"}) {
		t.Errorf("of %d, %q prevent it, want host h1-0 only", len(singles), got)
	}
	if first := c.Chronology.Periods[c.Chronology.Sources[0]]; !first.Host || first.Node != "h1-0" {
		t.Errorf("the earliest source is %+v, want host h1-0", first)
	}
}

// TestNoSingleCause: two flows on each link, one of which would do, and no host
// misbehaves: the smallest sets have two flows.
func TestNoSingleCause(t *testing.T) {
	s := simtest.Parse(t, "ring.yaml", ring(`
flows:
  - {name: A1, from: h1-0, to: h3-0}
  - {name: A2, from: h1-1, to: h3-1}
  - {name: B1, from: h2-0, to: h1-0}
  - {name: B2, from: h2-1, to: h1-1}
  - {name: C1, from: h3-0, to: h2-0}
  - {name: C2, from: h3-1, to: h2-1}
duration: 4ms
`), "itsy")
	c := newCase(t, s, 1)
	singles, all := smallestOf(t, c)
	for _, x := range singles {
		if x.Causal {
			t.Errorf("%v prevents it alone", x.Treatment)
		}
	}
	want := []string{"flow A1 + flow A2", "flow B1 + flow B2", "flow C1 + flow C2"}
	if got := texts(all.Sets); !slices.Equal(got, want) || all.Single || !all.Proven || !all.All {
		t.Errorf("%q (single %v, proven %v, all %v), want %q", got, all.Single, all.Proven, all.All, want)
	}
	// Where pairs would take too long it comes to one of them too.
	c.events = pairEvents
	one, err := c.Smallest(InTurn, singles)
	if err != nil || len(one.Sets) != 1 || !slices.Contains(want, texts(one.Sets)[0]) || !one.Proven || one.All {
		t.Errorf("%+v, %v, want one of %q", one, err, want)
	}
}

// TestThreeTogether: three flows on each link, one of which would do. All pairs are
// tried in vain, so that the three flows that are found are as few as can be.
func TestThreeTogether(t *testing.T) {
	s := simtest.Parse(t, "ring.yaml", ring(`
flows:
  - {name: A1, from: h1-0, to: h3-0}
  - {name: A2, from: h1-1, to: h3-1}
  - {name: A3, from: h1-1, to: h3-1}
  - {name: B1, from: h2-0, to: h1-0}
  - {name: B2, from: h2-1, to: h1-1}
  - {name: B3, from: h2-1, to: h1-1}
  - {name: C1, from: h3-0, to: h2-0}
  - {name: C2, from: h3-1, to: h2-1}
  - {name: C3, from: h3-1, to: h2-1}
duration: 2ms
`), "itsy")
	c := newCase(t, s, 1)
	singles, all := smallestOf(t, c)
	want := []string{"flow C1 + flow C2 + flow C3"}
	if got := texts(all.Sets); !slices.Equal(got, want) || all.Single || !all.Proven || all.All {
		t.Errorf("%q (single %v, proven %v, all %v), want %q", got, all.Single, all.Proven, all.All, want)
	}
	c.events = pairEvents
	if again, err := c.Smallest(InTurn, singles); err != nil || !slices.Equal(texts(again.Sets), want) || again.Proven {
		t.Errorf("without pairs: %+v, %v, want %q, unproven", again, err, want)
	}
}

// TestApply: the scenario stays, and so does all of the plan that is not named.
func TestApply(t *testing.T) {
	s := known(t, "slow-host")
	before := simtest.Compile(t, known(t, "slow-host"))
	c := newCase(t, s, 789222455)
	turn := c.Deadlock.Turns[0]
	plan, err := Apply(s, Treatment{Hosts: []string{"h-edge2-0"}, Flows: []string{"F0", "F2"}, Turns: []Turn{turn}})
	if err != nil {
		t.Fatal(err)
	}
	if got := simtest.Compile(t, s); !reflect.DeepEqual(got.Hosts, before.Hosts) || !reflect.DeepEqual(got.Switches, before.Switches) {
		t.Error("the scenario has changed")
	}
	if plan.Scenario.Detector != "none" || plan.Scenario.Response != "none" || s.Detector != "itsy" {
		t.Errorf("detector %s, response %s; the scenario's is %s", plan.Scenario.Detector, plan.Scenario.Response, s.Detector)
	}
	for i, h := range plan.Hosts {
		was := before.Hosts[i]
		if h.Name == "h-edge2-0" && (len(h.Acts) > 0 || len(was.Acts) == 0) {
			t.Errorf("acts of %s: %v, were %v", h.Name, h.Acts, was.Acts)
		}
		for k, f := range h.Flows {
			want := was.Flows[k]
			want.Rate = map[string]unit.FlowRate{"F0": 93.75e6, "F2": 156.25e6}[f.Name]
			if want.Rate == 0 {
				want.Rate = was.Flows[k].Rate
			}
			if f != want {
				t.Errorf("flow %+v, want %+v", f, want)
			}
		}
	}
	for i, sw := range plan.Switches {
		rules := len(sw.Rewrite)
		sw.Rewrite, sw.Detector = nil, before.Switches[i].Detector
		if (rules > 0) != (sw.Name == turn.Switch) || !reflect.DeepEqual(sw, before.Switches[i]) {
			t.Errorf("%s has %d rules, or something else has changed", sw.Name, rules)
		}
	}
}

// TestApplyToTagger: a turn for which Tagger has a rule is lossy, all others follow the
// rule.
func TestApplyToTagger(t *testing.T) {
	s := simtest.Shipped(t, "fattree-on-loop-tagger", "none")
	before := simtest.Compile(t, s)
	at := slices.IndexFunc(before.Switches, func(sw config.Switch) bool { return len(sw.Rewrite) > 0 })
	rule := before.Switches[at].Rewrite[0]
	ports := before.Switches[at].Ports
	turn := Turn{Switch: before.Switches[at].Name, In: ports[rule.In[0]].Name, Out: ports[rule.Out[1]].Name, Priority: unit.Priority(rule.Priority)}
	plan, err := Apply(s, Treatment{Turns: []Turn{turn}})
	if err != nil {
		t.Fatal(err)
	}
	to := func(rules []config.Rewrite, priority, in, out int) []int {
		var all []int
		for _, r := range rules {
			if r.Priority == priority && slices.Contains(r.In, in) && slices.Contains(r.Out, out) {
				all = append(all, r.To)
			}
		}
		return all
	}
	for priority := range 8 {
		for in := range ports {
			for out := range ports {
				want := to(before.Switches[at].Rewrite, priority, in, out)
				if priority == rule.Priority && in == rule.In[0] && out == rule.Out[1] {
					want = []int{0}
				}
				if got := to(plan.Switches[at].Rewrite, priority, in, out); !slices.Equal(got, want) {
					t.Errorf("priority %d from port %d to %d: %v, want %v", priority, in, out, got, want)
				}
			}
		}
	}
}

// TestUnknown: errors name what is unknown, and what there is.
func TestUnknown(t *testing.T) {
	s := known(t, "two-rings")
	turn := func(sw, in, out string, priority int) Treatment {
		return Treatment{Turns: []Turn{{sw, in, out, unit.Priority(priority)}}}
	}
	for _, c := range []struct {
		t    Treatment
		want string
	}{
		{Treatment{Hosts: []string{"h-s0"}}, `no host is called "h-s0"`},
		{Treatment{Hosts: []string{"s0"}}, "there are h-s0-1, h-s1-0"},
		{Treatment{Flows: []string{"F9"}}, "F0, F1, F2, F3, F4"},
		{turn("s9", "a", "b", 3), "there are s0, s1, s2, s3, s4"},
		{turn("h-s0-1", "a", "b", 3), `no switch is called "h-s0-1"`},
		{turn("s1", "s0", "to-s0", 3), `no port of s1 is called "s0"`},
		{turn("s1", "to-s0", "x", 3), "there are to-h-s1-0, to-s0"},
		{turn("s1", "to-s0", "to-s0", 0), "priority 0 is not lossless; valid: [3 4]"},
	} {
		if _, err := Apply(s, c.t); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.t, err, c.want)
		}
	}
	bands := simtest.Shipped(t, "hu-case1-ttl-bands", "none")
	n := bands.Fabric.Nodes[0]
	impossible := turn(n.Name, n.Ports[0].Name, n.Ports[1].Name, bands.PFC.Lossless[0])
	if _, err := Apply(bands, impossible); err == nil || !strings.Contains(err.Error(), "priority of their TTL") {
		t.Errorf("TTL bands: %v", err)
	}
}

// TestControl: as many others, the same ones each time, and none if there are too few.
func TestControl(t *testing.T) {
	c := newCase(t, known(t, "slow-host"), 789222455)
	of := Treatment{Hosts: []string{"h-edge2-0"}, Flows: []string{"F1", "F2"}, Turns: c.Deadlock.Turns[:1]}
	seen := map[string]bool{}
	for seed := range uint64(20) {
		got, ok := c.Control(of, seed)
		again, _ := c.Control(of, seed)
		seen[got.String()] = true
		if !ok || !reflect.DeepEqual(got, again) || len(got.Hosts) != 1 || len(got.Flows) != 2 || len(got.Turns) != 1 {
			t.Fatalf("seed %d: %v, %v, then %v", seed, got, ok, again)
		}
		if got.Hosts[0] == of.Hosts[0] || slices.Contains(got.Flows, "F1") || slices.Contains(got.Flows, "F2") || got.Turns[0] == of.Turns[0] {
			t.Fatalf("seed %d: %v is no control of %v", seed, got, of)
		}
	}
	if len(seen) < 5 {
		t.Errorf("20 seeds give %d controls", len(seen))
	}
	if got, ok := c.Control(Treatment{Flows: []string{"F0", "F1", "F2"}}, 1); ok {
		t.Errorf("of four flows, %v is said to be a control of three", got)
	}
}

// TestLoopControl: as many of the loop, whichever, the same ones each time; all where there are
// not so many.
func TestLoopControl(t *testing.T) {
	c := newCase(t, known(t, "slow-host"), 789222455)
	if !slices.Equal(c.Paused, []string{"h-edge2-0"}) || len(c.Deadlock.Flows) < 2 || len(c.Deadlock.Turns) < 2 {
		t.Fatalf("%v have paused, flows %v, turns %v", c.Paused, c.Deadlock.Flows, c.Deadlock.Turns)
	}
	of := Treatment{Hosts: []string{"h-core0-0"}, Flows: c.Deadlock.Flows[:1], Turns: c.Deadlock.Turns[:1]}
	drawn := map[string]int{}
	for seed := range uint64(60) {
		got := c.LoopControl(of, seed)
		if again := c.LoopControl(of, seed); !reflect.DeepEqual(got, again) || len(got.Hosts) != 1 || len(got.Flows) != 1 || len(got.Turns) != 1 {
			t.Fatalf("seed %d: %v, then %v", seed, got, again)
		}
		drawn[got.Hosts[0]]++
		drawn[got.Flows[0]]++
		drawn[got.Turns[0].String()]++
	}
	want := slices.Concat(c.Paused, c.Deadlock.Flows)
	for _, x := range c.Deadlock.Turns {
		want = append(want, x.String())
	}
	for _, x := range want {
		if drawn[x] == 0 {
			t.Errorf("%s is of the loop, and in none of 60 controls: %v", x, drawn)
		}
	}
	if len(drawn) != len(want) {
		t.Errorf("drawn are %v, of the loop are %v", drawn, want)
	}
	many := Treatment{Hosts: make([]string, 9), Flows: make([]string, 99)}
	if got := c.LoopControl(many, 1); !slices.Equal(got.Hosts, c.Paused) || !slices.Equal(got.Flows, c.Deadlock.Flows) || len(got.Turns) > 0 {
		t.Errorf("of more than there are: %v", got)
	}
}

// TestWaiting: flows wait on each turn that holds a deadlock, and those on all turns are those in it.
func TestWaiting(t *testing.T) {
	for _, k := range cases {
		d := newCase(t, known(t, k.name), k.seed).Deadlock
		all := map[string]bool{}
		for i, x := range d.Turns {
			if len(d.Waiting[i]) == 0 {
				t.Errorf("%s: no flow waits on %v", k.name, x)
			}
			for _, f := range d.Waiting[i] {
				all[f] = true
				if !slices.Contains(d.Flows, f) {
					t.Errorf("%s: %s waits on %v, in the deadlock are %v", k.name, f, x, d.Flows)
				}
			}
		}
		if d.Strong && len(all) == 0 {
			t.Errorf("%s: nobody waits", k.name)
		}
	}
}

// TestStopped: watch ends a run, and its error comes back.
func TestStopped(t *testing.T) {
	stop := errors.New("stop")
	s := simtest.Parse(t, "busy.yaml", ring("flows: [{name: A, from: h1-0, to: h2-0, frame: 64}]\nduration: 20ms\n"), "itsy")
	if _, err := New(s, 1, func(unit.Time) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("%v, want %v", err, stop)
	}
}

// TestSufficient: the same ring locks in two priorities, one after the other, until a link
// of it flaps. What prevents the first deadlock is causal; only what prevents both is
// sufficient.
func TestSufficient(t *testing.T) {
	c := newCase(t, simtest.Parse(t, "two.yaml", ring(`
flows:
  - {name: A, from: h1-0, to: h3-0, stop: 4ms}
  - {name: B, from: h2-0, to: h1-0, stop: 4ms}
  - {name: C, from: h3-0, to: h2-0, stop: 4ms}
  - {name: D, from: h1-1, to: h3-1, priority: 4, start: 2ms, stop: 4ms}
  - {name: E, from: h2-1, to: h1-1, priority: 4, start: 2ms, stop: 4ms}
  - {name: F, from: h3-1, to: h2-1, priority: 4, start: 2ms, stop: 4ms}
events: [{at: 5ms, do: flap, link: s1--s2, for: 50us}]
scheduler: {4: {type: strict}}
duration: 6ms
`), "itsy"), 1)
	for _, k := range []struct {
		flows              []string
		causal, sufficient bool
	}{
		{[]string{"A"}, true, false},
		{[]string{"D"}, false, false},
		{[]string{"A", "D"}, true, true},
	} {
		e, err := c.Try(Treatment{Flows: k.flows})
		if err != nil || e.Causal != k.causal || e.Sufficient != k.sufficient || (e.Goodput != nil) != k.causal {
			t.Errorf("%q: %+v, %v, want causal %v, sufficient %v", k.flows, e, err, k.causal, k.sufficient)
		}
	}
}
