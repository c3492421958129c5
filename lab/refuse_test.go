package lab

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/detect/itsy"
	"softswitch/detect/itsypaper"
	"softswitch/host"
	"softswitch/internal/strictyaml"
	"softswitch/internal/testkit"
	"softswitch/link/impair"
	"softswitch/scenario"
	"softswitch/scenarios"
	"softswitch/sim"
	"softswitch/sim/simtest"
	"softswitch/topo"
	"softswitch/unit"
)

func TestRefuse(t *testing.T) {
	const (
		forge = "{at: 1s, do: forge, link: s1--s2, from: s1, frame: 0180c2000001 020000010000 8808 0101}"
		only  = "scenario small: what is expected with detector itsy holds in a simulation only: "
	)
	for _, c := range []struct{ more, want string }{
		{"", ""},
		{"events:\n  - {at: 1s, do: fail, link: s1--s2}\n  - {at: 1s, do: flap, link: s1--s2, for: 5ms}\n  - {at: 1s, do: kill, switch: s1}\n", ""},
		{"events:\n  - {at: 1s, do: storm, host: h1}\n  - {at: 1s, do: slow, host: h2, rate: 1Mbit/s}\n  - {at: 1100ms, do: normal, host: h2}\n", ""},
		{"events:\n  - {at: 500ms, do: heal, link: s1--s2}\n  - " + forge + "\n", ""},
		{"events:\n  - {at: 1500ms, do: lose, link: s1--s2, from: s2, nth: 3}\n", ""},
		{"response: drop\n", ""},
		{"expect: {deadlock: true, sim_only: it is over in a microsecond}\n", only + "it is over in a microsecond"},
		{"expect: {sim_only: all}\nexpect_for:\n  itsy: {sim_only: mine}\n", only + "mine"},
		{"expect_for:\n  itsypaper: {sim_only: not mine}\n", ""},
	} {
		got := ""
		if err := Refuse(plan(t, c.more).Scenario); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("Refuse of\n%sis %q, want %q", c.more, got, c.want)
		}
	}
}

// TestRefuseDisorder: pauses come once and in order on a link between two clocks, or it is refused.
func TestRefuseDisorder(t *testing.T) {
	const (
		onLink  = "events:\n  - {at: 1s, do: forge, link: s1--s2, from: s1, frame: 0180c2000001 020000010000 8808 0101}\n"
		data    = "events:\n  - {at: 1s, do: forge, link: s1--s2, from: s1, frame: 020000010000 020000020000 0800 0101}\n"
		replays = "events:\n  - {at: 1s, do: replay, link: s1--s2, from: s1, nth: 1}\n"
		because = ": its ends go by different clocks, and how these differ is told by its pauses, which have to come once, in the order in which they were sent"
	)
	for _, c := range []struct {
		more               string
		duplicate, reorder int
		want               string
	}{
		{"", 0, 0, ""},
		{data, 0, 0, ""},
		{"", 1, 0, "duplicate"},
		{"", 0, 1, "reorder"},
		{onLink, 0, 0, "forge"},
		{replays, 0, 0, "replay"},
	} {
		p := plan(t, c.more)
		if c.want != "" {
			c.want = "scenario small: link s1--s2: " + c.want + because
		}
		for i := range p.Links {
			p.Links[i].Duplicate, p.Links[i].Reorder = c.duplicate, c.reorder
		}
		for _, here := range []map[string]clock{nil, {"s1": {id: "a"}, "h1": {id: "a"}, "s2": {id: "b"}, "h2": {id: "b"}}} {
			want, got := c.want, ""
			if here == nil {
				want = ""
			}
			if err := refuseDisorder(p, here); err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("clocks %v, %q, duplicate %d, reorder %d: %q, want %q", here, c.more, c.duplicate, c.reorder, got, want)
			}
		}
	}
}

// TestRefuseLinks: what links of a live lab cannot do, and how to make a scenario of
// fast links one that they can.
func TestRefuseLinks(t *testing.T) {
	for _, c := range []struct {
		speed  scenario.LinkSpeed
		xoff   int
		refuse string
		slow   int
	}{
		{speed: scenario.LinkSpeed{Rate: 100_000_000}, xoff: 30720, slow: 1},
		{
			speed: scenario.LinkSpeed{Rate: 0}, xoff: 30720, slow: 1,
			refuse: `link s1--s2: it has no rate, so that a pause has no length and no headroom is enough; write one such as "100Mbit/s"`,
		},
		{speed: scenario.LinkSpeed{Rate: 100_000_000}, xoff: 0, slow: 1}, // the usual rate, whatever it costs
		{speed: scenario.LinkSpeed{Rate: 800_000_000}, xoff: 204800, slow: 1},
		{
			speed: scenario.LinkSpeed{Rate: 200_000_000}, xoff: 30720, slow: 2,
			refuse: "links of 200Mbit/s fill the headroom of 30720 bytes in 1.22976ms, and pauses of a live lab may be 2ms late: play it slower, --slow 2 makes 100Mbit/s of it",
		},
		{
			speed: scenario.LinkSpeed{Rate: 40_000_000_000}, xoff: 30720, slow: 400,
			refuse: "links of 40Gbit/s fill the headroom of 30720 bytes in 6.149µs, and pauses of a live lab may be 2ms late: play it slower, --slow 400 makes 100Mbit/s of it",
		},
		{speed: scenario.LinkSpeed{Rate: 100_000_000, Faults: impair.Faults{Delay: unit.Millisecond, Jitter: unit.Millisecond}}, xoff: 30720, slow: 1},
		{
			speed: scenario.LinkSpeed{Rate: 100_000_000, Faults: impair.Faults{Delay: 40 * unit.Second}}, xoff: 30720, slow: 1,
			refuse: "link s1--s2: a delay of 40s; a link of a live lab has at most 10s",
		},
		{speed: scenario.LinkSpeed{Rate: 100_000_000, Faults: impair.Faults{Delay: 40 * unit.Millisecond, ControlLoss: 3, Loss: 1}}, xoff: 30720, slow: 1},
	} {
		s := plan(t, "").Scenario
		link, ok := s.Fabric.Link("s1--s2")
		if !ok {
			t.Fatal("no link s1--s2")
		}
		s.Links[link], *s.Buffer.XOFF = c.speed, c.xoff
		got := ""
		if err := Refuse(s); err != nil {
			got = strings.TrimPrefix(err.Error(), "scenario small: ")
		}
		if n := Slowness(s); got != c.refuse || n != c.slow {
			t.Errorf("%+v, headroom %d: refused %q, %d times slower; want %q, %d", c.speed, c.xoff, got, n, c.refuse, c.slow)
		}
		if c.slow == 1 {
			continue
		}
		slow, err := s.Slow(c.slow)
		if err != nil {
			t.Fatal(err)
		}
		if err := Refuse(slow); err != nil {
			t.Errorf("%+v, %d times slower: %v", c.speed, c.slow, err)
		}
	}
}

// TestRefuseFabric: a fabric has as many nodes as a machine can have namespaces, and names
// that a lab does not use itself.
func TestRefuseFabric(t *testing.T) {
	f, err := topo.Ring(501, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := "1002 switches and hosts: a live lab has at most 1000, each with a namespace"
	if err := RefuseFabric(f); err == nil || err.Error() != want {
		t.Errorf("refused: %v, want %s", err, want)
	}
	s := plan(t, "").Scenario
	s.Fabric.Nodes[0].Name = "state.json"
	want = `scenario small: netnslab: node name "state.json": want one that does not begin with "state.json", the lab's own file`
	if err := Refuse(s); err == nil || err.Error() != want {
		t.Errorf("refused: %v, want %s", err, want)
	}
}

// seeds of simulations with the timing of a live lab: of one that has to break an
// expectation, and of those that must not, by detector.
const seeds = 16

var harmless = map[string]uint64{"itsy": testkit.Sized[uint64](2, seeds), "itsypaper": testkit.Sized[uint64](1, seeds)}

// TestTiming holds the sim_only of every scenario file to what it says. Where a live
// lab would play a file, no simulation with a live lab's timing breaks what is
// expected; where the file says that a live lab cannot keep it, one does.
func TestTiming(t *testing.T) {
	files, err := fs.Glob(scenarios.FS, "*.yaml")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d files, %v; want 30 or more", len(files), err)
	}
	for _, file := range files {
		for _, detector := range []string{"itsy", "itsypaper"} {
			t.Run(strings.TrimSuffix(file, ".yaml")+"/"+detector, func(t *testing.T) {
				t.Parallel()
				s := readSlow(t, file, detector)
				refused := Refuse(s)
				if refused != nil && s.SimOnly() == "" {
					t.Skip(refused)
				}
				most := harmless[detector]
				if refused != nil {
					most = seeds // it ends with the first that breaks it
				}
				seed, why := unmet(t, Timing(s), most)
				if refused == nil && seed > 0 {
					t.Errorf("a live lab would play it, and a simulation with its timing, seed %d, breaks what is expected: %s", seed, why)
				}
				if refused != nil && seed == 0 {
					t.Errorf("no simulation with a live lab's timing breaks what is expected, and yet: %v", refused)
				}
			})
		}
	}
}

// readSlow reads a scenario file, slow enough for a live lab.
func readSlow(t *testing.T, file, detector string) *scenario.Scenario {
	t.Helper()
	s := simtest.Shipped(t, strings.TrimSuffix(file, ".yaml"), detector)
	s, err := s.Slow(Slowness(s))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// unmet simulates s with so many seeds and returns the first with which its
// expectation is not met, and why; 0 if there is none.
func unmet(t *testing.T, s *scenario.Scenario, seeds uint64) (seed uint64, why string) {
	t.Helper()
	p := simtest.Compile(t, s)
	for seed := uint64(1); seed <= seeds; seed++ {
		w, err := sim.New(p, sim.Options{Seed: seed, Detectors: map[string]detect.Factory{"itsy": itsy.New, "itsypaper": itsypaper.New}})
		if err != nil {
			t.Fatal(err)
		}
		v, _ := simtest.RunWorld(t, w)
		if !v.ExpectedMet {
			return seed, strings.Join(v.Reasons, "; ")
		}
	}
	return 0, ""
}

// As many flows as a live host may have fit its file, with the longest names and numbers;
// more are refused.
func TestRefuseFlows(t *testing.T) {
	p := plan(t, "")
	from, _ := p.Fabric.Node("h1")
	to, _ := p.Fabric.Node("h2")
	flow := scenario.Flow{
		Name: strings.Repeat("f", 64), From: from, To: to, Priority: 3,
		Stream: host.Stream{
			Rate: 123_456_789, Frame: 1098, TTL: 255, Size: 1 << 40, Start: 123456789, Stop: 123456790,
			RC: &host.RC{Message: 1 << 31, PathMTU: 1024, Window: 64, Timeout: new(unit.Time(123456789)), Retries: new(host.Retries(1_000_000))},
		},
	}
	p.Scenario.Flows = slices.Repeat([]scenario.Flow{flow}, maxHostFlows)
	if err := Refuse(p.Scenario); err != nil {
		t.Error(err)
	}
	many, err := scenario.Compile(p.Scenario)
	if err != nil {
		t.Fatal(err)
	}
	for i := range many.Hosts {
		if n := len(many.Hosts[i].Marshal()); n > strictyaml.MaxBytes {
			t.Errorf("the file of %s has %d bytes", many.Hosts[i].Name, n)
		}
	}
	p.Scenario.Flows = append(p.Scenario.Flows, flow)
	want := fmt.Sprintf("%d flows begin or end at h1: a host of a live lab has at most %d", maxHostFlows+1, maxHostFlows)
	if err := Refuse(p.Scenario); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want %q", err, want)
	}
}
