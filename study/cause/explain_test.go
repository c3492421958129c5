package cause

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"softswitch/sim/simtest"
)

func explain(t testing.TB, c *Case) *Report {
	t.Helper()
	r, err := c.Explain(InTurn)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func text(t testing.TB, r *Report) string {
	t.Helper()
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestExplain: every candidate is there once with a control of its own kind, which has
// the effect that it has when it is tried.
func TestExplain(t *testing.T) {
	c := newCase(t, known(t, "slow-host"), 789222455)
	r := explain(t, c)
	var got []string
	for _, x := range r.Candidates {
		got = append(got, x.Treatment.String())
		if x.Control == nil || len(x.Control.Hosts) != len(x.Hosts) || len(x.Control.Flows) != len(x.Flows) || len(x.Control.Turns) != len(x.Turns) {
			t.Fatalf("%v has the control %+v", x.Treatment, x.Control)
		}
		if e, err := c.Try(x.Control.Treatment); err != nil || e.Causal != x.Control.Causal || e.Total != x.Control.Total && e.Causal {
			t.Errorf("control %v: %+v, %v, want %+v", x.Control.Treatment, e, err, x.Control.Effect)
		}
	}
	want := []string{"host h-edge2-0", "flow F0", "flow F1", "flow F2", "flow F3"}
	for _, turn := range c.Deadlock.Turns {
		want = append(want, Treatment{Turns: []Turn{turn}}.String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("candidates %q, want %q", got, want)
	}
	var of OfLoop
	of.Hosts = Count{Causal: 1, Of: len(c.Paused)}
	for _, x := range r.Candidates[1:] {
		switch {
		case len(x.Turns) > 0:
			of.Turns.add(x.Causal)
		case slices.Contains(c.Deadlock.Flows, x.Flows[0]):
			of.Flows.add(x.Causal)
		default:
			of.Others.add(x.Causal)
		}
	}
	if r.OfLoop != of || of.Turns.Causal == 0 || of.Flows.Of == 0 {
		t.Errorf("of the loop %+v, want %+v", r.OfLoop, of)
	}
	if again := explain(t, newCase(t, known(t, "slow-host"), 789222455)); !bytes.Equal(asJSON(t, r), asJSON(t, again)) {
		t.Error("explained again it is something else")
	}
}

func asJSON(t testing.TB, r *Report) []byte {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestNoOther: a single flow has no other for a control.
func TestNoOther(t *testing.T) {
	r := explain(t, newCase(t, simtest.Shipped(t, "hu-case1-above", "none"), 1))
	if x := r.Candidates[0]; x.Treatment.String() != "flow loop" || x.Control != nil {
		t.Errorf("%+v, want flow loop without a control", x)
	}
}

// TestText is the whole report of a small case.
func TestText(t *testing.T) {
	const want = `two-rings: seed 936586168

deadlock     from 0.063 ms
loop         s0--s1 s1--s0
flows in it  F0 F1 F4

chronology: the pauses that led to it, oldest first, with what waited in paused queues; 1 source
     from ms  to ms  priority  paused by               bytes  waiting  caused by
  1  0.049    -      3         s0 to-s1 (on the loop)  24224  0        source
  2  0.062    -      3         s1 to-s0 (on the loop)  24224  22710    1

candidates: each treated alone, from the start; its control is another one, drawn at random
                                     causal  sufficient  Mbit/s   control causal
  nothing                                                11027.7
  flow F0                            no      no          -        no
  flow F1                            yes     yes         13562.8  no
  flow F2                            no      no          -        no
  flow F4                            no      no          -        no
  turn s1 to-s0 > to-s0, priority 3  yes     yes         12295.2  no
  turn s0 to-s1 > to-s1, priority 3  yes     yes         11661.5  yes

of the loop: what is known of it without trying, and how much of that is causal alone
  flows in it  1 of 3
  turns        2 of 2
  other flows  0 of 1

smallest: one host or flow alone prevents it
  flow F1  13562.8 Mbit/s
least harm: flow F1; 13562.8 Mbit/s arrive instead of 11027.7
`
	if got := text(t, explain(t, newCase(t, known(t, "two-rings"), 936586168))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestLongText: of many periods those are shown that are sources or on the loop, and the
// rest is counted.
func TestLongText(t *testing.T) {
	c := newCase(t, simtest.Shipped(t, "shpiner-fig6", "none"), 1)
	r := &Report{Deadlock: c.Deadlock, Chronology: c.Chronology}
	got := text(t, r)
	hidden := 0
	for _, p := range r.Chronology.Periods {
		if p.CausedBy != nil && !p.OnLoop {
			hidden++
		}
	}
	if line := fmt.Sprintf("\n  and %d more\n", hidden); hidden == 0 || !strings.Contains(got, line) {
		t.Errorf("%d periods are neither sources nor on the loop; want %q in\n%s", hidden, line, got)
	}
}

// TestConclusions: what is said when there is no single cause.
func TestConclusions(t *testing.T) {
	r := explain(t, newCase(t, known(t, "two-rings"), 936586168))
	two := Trial{Treatment: Treatment{Flows: []string{"F0", "F1"}}, Effect: Effect{Causal: true}}
	for _, c := range []struct {
		s    Smallest
		want string
	}{
		{Smallest{Sets: []Trial{two}, Proven: true, All: true}, "no single cause, it takes 2 hosts or flows\n  flow F0 + flow F1"},
		{Smallest{Sets: []Trial{two}, Proven: true}, "no single cause, it takes 2 hosts or flows, such as\n  flow F0 + flow F1"},
		{Smallest{Sets: []Trial{two}}, "no single cause; of these 2 none can be left out, though others may be fewer"},
		{Smallest{LeastHarm: -1}, "none, not even all hosts and flows together prevent it"},
	} {
		r.Smallest = c.s
		if got := text(t, r); !strings.Contains(got, c.want) {
			t.Errorf("no %q in\n%s", c.want, got)
		}
	}
}

// TestDrawings: the picture is XML with a bar for each period, the graph has an arrow
// for each cause.
func TestDrawings(t *testing.T) {
	r := explain(t, newCase(t, known(t, "slow-host"), 789222455))
	r.Scenario = `a<b & "c"`
	causes, bars, arrows := 0, 0, 0
	for _, p := range r.Chronology.Periods {
		causes += len(p.CausedBy)
	}
	for in := xml.NewDecoder(strings.NewReader(r.SVG())); ; {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("no XML: %v\n%s", err, r.SVG())
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range start.Attr {
			if start.Name.Local == "rect" && a.Name.Local == "stroke" {
				bars++
			}
			if start.Name.Local == "path" && a.Name.Local == "d" && strings.Contains(a.Value, "l3") {
				arrows++
			}
		}
	}
	if bars != len(r.Chronology.Periods) || arrows != causes {
		t.Errorf("%d bars and %d arrows, want %d and %d", bars, arrows, len(r.Chronology.Periods), causes)
	}
	dot := r.DOT()
	if got := strings.Count(dot, " -> "); got != causes {
		t.Errorf("%d arrows in the graph, want %d:\n%s", got, causes, dot)
	}
	if want := `p1 [label="h-edge2-0 eth0\npriority 2\n0.279 ms", shape=ellipse, style=filled]`; !strings.Contains(dot, want) {
		t.Errorf("no %q in\n%s", want, dot)
	}
}

// TestFigureIsCurrent: the picture in docs/figures is the one that is drawn.
func TestFigureIsCurrent(t *testing.T) {
	want, err := os.ReadFile("../../docs/figures/n1-chronology.svg")
	if err != nil {
		t.Fatal(err)
	}
	c := newCase(t, simtest.Shipped(t, "n1-two-triggers", "none"), 1)
	r := &Report{Scenario: c.Scenario.Name, Seed: c.Seed, Deadlock: c.Deadlock, Chronology: c.Chronology}
	if r.SVG() != string(want) {
		t.Error("docs/figures is out of date: make figures")
	}
}
