package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"softswitch/scenario"
)

// chain is n switches in a row, s0 with host h, and the last one with host z, of which the
// one before it sends the frames back.
func chain(t *testing.T, n int, more string) *scenario.Scenario {
	var switches, links []string
	for i := range n {
		switches = append(switches, fmt.Sprintf("s%d", i))
		if i > 0 {
			links = append(links, fmt.Sprintf("s%d--s%d", i-1, i))
		}
	}
	return parse(t, fmt.Sprintf("topology: {switches: [%s], hosts: [h, z], links: [%s, h--s0, z--s%d], rate: 1Gbit/s}\nroutes: [{at: s%d, to: z, ports: [s%d]}]\n%s",
		strings.Join(switches, ", "), strings.Join(links, ", "), n-1, n-2, n-3, more))
}

// TestTTL: a frame passes one switch fewer than its TTL is, so that what is behind them
// closes no cycle.
func TestTTL(t *testing.T) {
	for _, c := range []struct {
		n    int
		more string
		want bool
	}{
		// Frames leave the 62nd switch with a TTL of 2, and the 63rd with 1: the last two
		// of 62 send them to and fro.
		{63, "", true},
		{64, "", false},
		{64, "flows: [{name: far, from: h, to: z, ttl: 66}]", true},
	} {
		r := checked(t, chain(t, c.n, c.more), 0)
		if r.Clean() == c.want {
			t.Errorf("%d switches, %s: %d cycles, want some: %v", c.n, c.more, len(r.Cycles), c.want)
		}
	}
	r := checked(t, chain(t, 5, "flows: [{name: loop, from: h, to: z, ttl: 5}]"), 0)
	if len(r.Cycles) != 1 || len(r.Cycles[0].Flows) != 0 {
		t.Errorf("a flow whose TTL ends before: %+v", r.Cycles)
	}
}

// TestCases: the cases of a fabric are numbered by what fails, and the file's own count
// events of one instant together.
func TestCases(t *testing.T) {
	c := checker(t, parse(t, `topology: {ring: {switches: 4, hosts_per_switch: 1}, rate: 1Gbit/s}
events:
  - {at: 1ms, do: fail, link: s1--s2}
  - {at: 1ms, do: fail, link: s3--s4}
  - {at: 2ms, do: heal, link: s1--s2}
  - {at: 3ms, do: fail, link: h1-0--s1}
  - {at: 4ms, do: heal, link: h1-0--s1}
`))
	var got []string
	for i := range c.Cases(2) {
		k := c.Case(i)
		got = append(got, k.Kind.String()+": "+strings.Join(c.Name(k), " "))
	}
	want := []string{
		"no failure: ", "the file's failures: s1--s2 s3--s4", "the file's failures: s3--s4", "the file's failures: s1--h1-0 s3--s4",
		"a link: s1--s2", "a link: s2--s3", "a link: s3--s4", "a link: s4--s1",
		"a switch: switch s1", "a switch: switch s2", "a switch: switch s3", "a switch: switch s4",
		"two links: s1--s2 s2--s3", "two links: s1--s2 s3--s4", "two links: s1--s2 s4--s1",
		"two links: s2--s3 s3--s4", "two links: s2--s3 s4--s1", "two links: s3--s4 s4--s1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if c.Cases(0) != 4 || c.Cases(1) != 12 {
		t.Errorf("%d cases without failures, %d of one", c.Cases(0), c.Cases(1))
	}
}

// TestPriorities: Tagger's rules lead from one priority to the next and close nothing; a cycle of
// one priority only is one of that priority; frames in a lossy priority wait for nobody.
func TestPriorities(t *testing.T) {
	leafSpine := `topology: {switches: [l0, l1, l2, l3, x, y], hosts: [h0, h1, h2, h3], links: [h0--l0, h1--l1, h2--l2, h3--l3, l0--x, l0--y, l1--x, l1--y, l2--x, l2--y, l3--x, l3--y], rate: 1Gbit/s}
`
	if r := checked(t, parse(t, leafSpine), 2); r.Clean() || r.Cycles[0].Priorities[1] != 4 {
		t.Errorf("two failures of a leaf-spine: %+v", r.Cycles)
	}
	if r := checked(t, parse(t, leafSpine+"prevention: {tagger: {lossless: 2}}\n"), 2); !r.Clean() {
		t.Errorf("with Tagger: %+v", r.Cycles)
	}
	if r := checked(t, parse(t, leafSpine+"pfc: {lossless: []}\n"), 2); !r.Clean() {
		t.Errorf("without a lossless priority: %+v", r.Cycles)
	}
}

// TestAsymmetricPFC: a port that honours the pauses of all priorities waits for the far end in those that are
// lossy at it too. A far end where the priority is lossy pauses nobody in it.
func TestAsymmetricPFC(t *testing.T) {
	const ring = "topology: {switches: [s1, s2, s3], hosts: [h1, h2, h3], links: [s1--s2, s2--s3, s3--s1, s1--h1, s2--h2, s3--h3], rate: 1Gbit/s, ports: [%s]}\nroutes: [{at: s1, to: s3, ports: [s2]}, {at: s2, to: s1, ports: [s3]}, {at: s3, to: s2, ports: [s1]}]\n"
	for port, clean := range map[string]bool{
		"":                                     false,
		"{link: s1--s2, at: s1, lossless: []}": true,
		"{link: s1--s2, at: s1, lossless: [], pfc: asymmetric}": false,
		"{link: s1--s2, at: s2, lossless: [], pfc: asymmetric}": true,
		"{link: s1--s2, lossless: [], pfc: asymmetric}":         true,
	} {
		if got := checked(t, parse(t, fmt.Sprintf(ring, port)), 0); got.Clean() != clean {
			t.Errorf("%s: clean %v: %+v", port, got.Clean(), got.Cycles)
		}
	}
}

// TestRouting: where routes are shortest paths of what is left, two failures make a leaf-spine send down and up
// again and close a cycle; where the spines share an AS number they do not. No failure alone has one.
func TestRouting(t *testing.T) {
	for _, c := range []struct {
		routing string
		cycles  int
	}{{"igp", 12}, {"bgp", 0}} {
		s := parse(t, `topology: {leafspine: {leaves: 4, spines: 2, hosts_per_leaf: 1}, rate: 1Gbit/s, routing: `+c.routing+"}\n")
		if r := checked(t, s, 2); len(r.Cycles) != c.cycles || c.cycles > 0 && r.Cycles[0].When != "two failures" {
			t.Errorf("%s: %d cycles, want %d of two failures: %+v", c.routing, len(r.Cycles), c.cycles, r.Cycles)
		}
	}
}

// TestClones: cases that are checked by several checkers have the results of one.
func TestClones(t *testing.T) {
	s := parse(t, "topology: {fattree: {k: 4}, rate: 1Gbit/s}\n")
	c := checker(t, s)
	want := c.Report(resultsOf(c, 2), 2)
	d, err := checker(t, s).Clone()
	if err != nil {
		t.Fatal(err)
	}
	e, err := d.Clone()
	if err != nil {
		t.Fatal(err)
	}
	var all []*Result
	for _, end := range d.Phases(2) {
		for i := len(all); i < end; i++ {
			all = append(all, []*Checker{d, e}[i%2].Check(i))
		}
		d.Know(all)
		e.Know(all)
	}
	if got := d.Report(all, 2); fmt.Sprintf("%+v", strip(got)) != fmt.Sprintf("%+v", strip(want)) {
		t.Error("two checkers find other cycles than one")
	}
}

// strip takes from a report what is not for readers.
func strip(r *Report) *Report {
	for i := range r.Cycles {
		r.Cycles[i].merged = nil
	}
	return r
}
