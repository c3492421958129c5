package fuzz

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/detect/catalog"
	"softswitch/host"
	"softswitch/oracle"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/topo"
	"softswitch/unit"
)

// restSeed is that of the random cases: the first that was tried.
const restSeed = 1

// ringText is three switches on a ring whose hosts send two hops on, clockwise.
const ringText = `name: ring
topology:
  switches: [s0, s1, s2]
  hosts: [h0, h1, h2]
  links: [s0--s1, s1--s2, s2--s0, s0--h0, s1--h1, s2--h2]
  rate: 10Gbit/s
  delay: 1us
pfc: {lossless: [3, 4]}
detector: itsy
routes:
  - {at: s0, to: s2, ports: [s1]}
  - {at: s1, to: s0, ports: [s2]}
  - {at: s2, to: s1, ports: [s0]}
flows:
  - {name: F0, from: h0, to: h2, priority: 3, rate: line, start: 0s}
  - {name: F1, from: h1, to: h0, priority: 3, rate: line, start: 0s}
  - {name: F2, from: h2, to: h1, priority: 3, rate: line, start: 1ms}
`

// restScript is a scenario that is held still at an instant, and what never moves then. Queues are
// named by the nodes of their links, "s0>s1"; all are of one priority.
type restScript struct {
	name, text string
	at         unit.Time
	// left are the queues with frames at the end, hosts those hosts that are paused then, knots how many
	// there are, and hanging how many of them open, or are declared, only when what itsy has declared
	// is flushed.
	left, hosts    []string
	knots, hanging int
}

func restScripts(t *testing.T) []restScript {
	file := func(name string) string {
		data, err := os.ReadFile(filepath.Join("testdata", "rest", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	ms := unit.Second / 1000
	ring := []string{"s0>s1", "s1>s2", "s2>s0"}
	hosts := []string{"h0>s0", "h1>s1", "h2>s2"}
	return []restScript{
		{name: "a ring that is locked", text: ringText + "duration: 3ms\n", at: 2 * ms, left: ring, hosts: hosts, knots: 1},
		{name: "a ring before it locks", text: ringText + "duration: 3ms\n", at: ms / 2},
		{ // what comes from s0 goes round the other way, and meets itself
			name: "a link of a ring fails", text: ringText + "events:\n  - {at: 1500us, do: fail, link: s0--s1}\nduration: 3ms\n", at: 2 * ms,
			left: []string{"s0>s2", "s1>s2", "s2>s0"}, hosts: []string{"h1>s1", "h2>s2"}, knots: 1,
		},
		{name: "a link of a ring fails after the instant", text: ringText + "events:\n  - {at: 2500us, do: fail, link: s0--s1}\nduration: 3ms\n", at: 2 * ms, left: ring, hosts: hosts, knots: 1},
		{name: "a host that pauses for ever", text: ringText + "events:\n  - {at: 0s, do: storm, host: h2, priority: 3}\nduration: 1ms\n", at: ms / 2},
		{
			name: "two switches, by headroom", text: file("headroom-holds.yaml"), at: 12334, left: []string{"a2>a3", "a3>a2"}, knots: 1,
		},
		{
			name: "two switches, by an XON that moved", text: file("moved-xon.yaml"), at: 169299, left: []string{"s0>s1", "s1>s0"}, hosts: []string{"h-s0-0>s0", "h-s1-1>s1"}, knots: 1,
		},
		{
			name: "two switches, by headroom at home", text: file("headroom-home.yaml"), at: 308184, left: []string{"arm2-0>arm2-1", "arm2-1>arm2-0"}, knots: 1,
		},
		{
			name: "three switches, by headroom of long ago", text: file("headroom-stays.yaml"), at: 11 * unit.Second,
			left:  []string{"upper>t1a", "upper>t1b", "lower>t1b", "t1a>upper", "t1b>upper", "rack1>t1a", "rack2>t1a", "rack3>t1b", "rack4>t1b"},
			hosts: []string{"s1>upper", "s2>lower", "s4>lower", "c1>rack1", "c2>rack2", "c3>rack3", "c4>rack4", "d2>rack2"}, knots: 1,
		},
		{
			name: "two priorities that hold each other", text: file("one-pool.yaml"), at: 100000, left: []string{"s4>s5", "s4>s5", "s5>s4", "s5>s4"},
			knots: 2, hanging: 1,
		},
	}
}

// TestRest: what rests is what each script says, and so says the oracle.
func TestRest(t *testing.T) {
	d := detectorOf(t, "itsy")
	for _, x := range restScripts(t) {
		t.Run(x.name, func(t *testing.T) {
			r := playText(t, x.text, x.at, d, theOracle)
			var hosts []restQueue
			for _, q := range r.paused {
				if r.isHost(q.Node) {
					hosts = append(hosts, q)
				}
			}
			if got := names(r.fabric, r.left); !slices.Equal(got, x.left) {
				t.Errorf("never move: %v, want %v", got, x.left)
			}
			if got := names(r.fabric, hosts); !slices.Equal(got, x.hosts) {
				t.Errorf("hosts paused for ever: %v, want %v", got, x.hosts)
			}
			var o TruthOutcome
			o.compare(r)
			if err := o.undeclared(r); err != nil {
				t.Fatal(err)
			}
			if o.Knots != x.knots || o.Hanging+o.Next != x.hanging {
				t.Errorf("%d knots, of which %d hang on others, want %d and %d", o.Knots, o.Hanging+o.Next, x.knots, x.hanging)
			}
			if o.Faulty() {
				t.Errorf("%v: %s", o.Worst, o.Why)
			}
		})
	}
}

// playText plays a scenario until an instant, and until nothing moves.
func playText(t *testing.T, text string, at unit.Time, d catalog.Detector, judge judge) *restRun {
	t.Helper()
	s, err := scenario.Parse("test.yaml", []byte(text), scenario.Known{Detectors: []string{d.Name}})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := scenario.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	r, err := playRest(plan, at, sim.Options{Seed: 1, Detectors: map[string]detect.Factory{d.Name: d.New}}, judge)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// names are queues by the nodes of their links.
func names(f *topo.Fabric, queues []restQueue) (all []string) {
	for _, q := range queues {
		for _, n := range f.Nodes {
			if n.ID == q.Node {
				all = append(all, n.Name+">"+f.Nodes[n.Ports[q.Port].Peer.Node].Name)
			}
		}
	}
	return all
}

// Canaries: judges in the place of the oracle, of which a part is left out.
var truthCanaries = []struct {
	name  string
	judge judge
	fault TruthFault
}{
	{"claims nothing", func(*sim.World) []oracle.Queue { return nil }, RestMissed},
	{"forgets that hosts wait", func(w *sim.World) []oracle.Queue {
		hosts := map[unit.NodeID]bool{}
		w.EachHost(func(h *host.Host) { hosts[h.Config().ID] = true })
		return slices.DeleteFunc(slices.Clone(theOracle(w)), func(q oracle.Queue) bool { return hosts[q.Node] })
	}, RestMissedHost},
	{"forgets that the group must still be held", func(w *sim.World) (stuck []oracle.Queue) {
		w.EachSwitch(func(s *dataplane.Switch) {
			for p := range unit.Port(s.Ports()) {
				for c := range unit.Priority(unit.Priorities) {
					if s.QueuePaused(p, c) && !s.Config().Ports[p].FacesHost {
						stuck = append(stuck, oracle.Queue{NodePort: unit.NodePort{Node: s.Config().ID, Port: p}, Priority: c})
					}
				}
			}
		})
		return stuck
	}, ClaimMoves},
	{"forgets that a host is live", func(w *sim.World) (stuck []oracle.Queue) {
		w.EachSwitch(func(s *dataplane.Switch) {
			for p := range unit.Port(s.Ports()) {
				if s.Config().Ports[p].FacesHost && s.Queue(p, 3).Head() != nil {
					stuck = append(stuck, oracle.Queue{NodePort: unit.NodePort{Node: s.Config().ID, Port: p}, Priority: 3})
				}
			}
		})
		return stuck
	}, ClaimMoves},
	{"forgets that the queue must be paused", func(w *sim.World) (stuck []oracle.Queue) {
		w.EachSwitch(func(s *dataplane.Switch) {
			stuck = append(stuck, oracle.Queue{NodePort: unit.NodePort{Node: s.Config().ID}, Priority: 3})
		})
		return stuck
	}, EndNotPaused},
}

// TestTruthCanary: a judge that is wrong is found out, in cases in which the oracle is right.
func TestTruthCanary(t *testing.T) {
	d := detectorOf(t, "none")
	for _, canary := range truthCanaries {
		t.Run(canary.name, func(t *testing.T) {
			for _, i := range []int{1, 3, 5} {
				c := New(restSeed, i, TruthStatic)
				if o := c.truth(d, canary.judge); o.Faults[canary.fault] > 0 {
					if right := c.truth(d, theOracle); right.Faulty() || right.Invalid != "" {
						t.Fatalf("case %d: with the oracle %s%s", i, right.Why, right.Invalid)
					}
					return
				}
			}
			t.Error("nothing rings")
		})
	}
}

// TestDeclarationCanary: a declaration of what moves dissolves, and one of what rests is true, whatever
// is said of them.
func TestDeclarationCanary(t *testing.T) {
	d, ms := detectorOf(t, "itsy"), unit.Second/1000
	ring := playText(t, ringText+"duration: 3ms\n", 2*ms, d, theOracle)
	before := playText(t, ringText+"duration: 3ms\n", ms/2, d, theOracle)
	q := ring.left[0]
	b := restQueue{q.NodePort, q.Priority} // some group of that switch that sends no resume
	for _, x := range []struct {
		name    string
		of      *restRun
		outcome oracle.Outcome
		wrong   []TruthFault
	}{
		{"true, and so says the oracle", ring, oracle.TruePositive, nil},
		{"true, and the oracle condemns it", ring, oracle.FalsePositive, []TruthFault{TrueCondemned}},
		{"true, and the oracle says late while the loop stands", ring, oracle.Late, []TruthFault{TrueCondemned}},
		{"it dissolves, and so says the oracle", before, oracle.FalsePositive, []TruthFault{Dissolves}},
		{"it dissolves, and the oracle approves of it", before, oracle.TruePositive, []TruthFault{FalseApproved, Dissolves}},
	} {
		var o TruthOutcome
		if err := o.judge(x.of, []oracle.Finding{{At: x.of.at, Queue: oracle.Queue(q), PG: oracle.PG(b), Outcome: x.outcome}, {At: x.of.at + 1}}); err != nil {
			t.Fatal(err)
		}
		for f := range TruthFault(truthFaults) {
			if got := o.Faults[f] > 0; got != slices.Contains(x.wrong, f) || o.Declared != 1 {
				t.Errorf("%s: %v %d times, of %d declarations", x.name, f, o.Faults[f], o.Declared)
			}
		}
	}
}

// TestTrailCanary: that two runs are not the same shows up to the time at which they part, and no
// sooner.
func TestTrailCanary(t *testing.T) {
	d := detectorOf(t, "none")
	c := New(restSeed, 5, TruthStatic)
	play := func(c *Case) *firstRun {
		f, err := c.playFirst(d)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	at := c.Flows[0].Start
	other := c.clone()
	other.Flows[0].Start++
	a, b, same := play(c), play(other), play(c)
	for _, x := range []struct {
		at   unit.Time
		with *firstRun
		same bool
	}{{at - 1, b, true}, {at, b, false}, {c.Duration, b, false}, {at, same, true}, {c.Duration, same, true}} {
		if got := a.past.until(x.at) == x.with.past.until(x.at); got != x.same {
			t.Errorf("up to %d ns, parted at %d: the same %v, want %v", x.at, at, got, x.same)
		}
	}
}

// TestRestKnowsNoThreshold: what rests is found without what it is held against.
func TestRestKnowsNoThreshold(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "rest.go", nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, imp := range f.Imports {
		path, err := strconv.Unquote(imp.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(path, "softswitch/oracle") || strings.HasPrefix(path, "softswitch/detect") {
			t.Errorf("rest.go imports %s", path)
		}
	}
	text, err := os.ReadFile("rest.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, no := range []string{".XON(", ".XOFF(", ".Bytes(", ".Period", ".Limit", ".Stuck("} {
		if strings.Contains(string(text), no) {
			t.Errorf("rest.go asks for %s", no)
		}
	}
}
