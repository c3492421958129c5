package graph

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// diamond is a spine over two leaves with a host each, which two links join; one of the
// spine's links is down.
var diamond = &Graph{
	Name:  "diamond",
	Nodes: []Node{{"spine", false}, {"leaf1", false}, {"leaf2", false}, {"h2", true}, {"h1", true}},
	Links: []Link{{A: 3, B: 2}, {A: 1, B: 0}, {A: 0, B: 2, Down: true, Note: "fails at 1s"}, {A: 1, B: 2}, {A: 2, B: 1}, {A: 1, B: 4}},
}

func TestDOT(t *testing.T) {
	const want = `graph "diamond" {
  ranksep=1.2
  node [shape=box]
  { rank=same; "spine"; }
  { rank=same; "leaf1"; "leaf2"; }
  { rank=same; "h1" [shape=ellipse]; "h2" [shape=ellipse]; }
  "leaf2" -- "h2"
  "spine" -- "leaf1"
  "spine" -- "leaf2" [style=dashed, color=red, label="fails at 1s"]
  "leaf1" -- "leaf2"
  "leaf2" -- "leaf1"
  "leaf1" -- "h1"
}
`
	if got := diamond.DOT(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestMermaid(t *testing.T) {
	const want = `flowchart TB
  n0["spine"]
  n1["leaf1"]
  n2["leaf2"]
  n3(["h2"])
  n4(["h1"])
  n2 --- n3
  n0 --- n1
  n0 -.-|"fails at 1s"| n2
  n1 --- n2
  n2 --- n1
  n1 --- n4
`
	if got := diamond.Mermaid(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// drawn is what an SVG shows.
type drawn struct {
	texts, paths []string
	dashed       int
}

func parse(t *testing.T, svg string) (d drawn) {
	t.Helper()
	for in := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			return d
		}
		if err != nil {
			t.Fatalf("no XML: %v\n%s", err, svg)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch start.Name.Local {
		case "text":
			var text string
			if err := in.DecodeElement(&text, &start); err != nil {
				t.Fatal(err)
			}
			d.texts = append(d.texts, text)
		case "path":
			for _, a := range start.Attr {
				if a.Name.Local == "d" {
					d.paths = append(d.paths, a.Value)
				}
				if a.Name.Local == "stroke-dasharray" {
					d.dashed++
				}
			}
		}
	}
}

func TestSVG(t *testing.T) {
	d := parse(t, diamond.SVG())
	if want := []string{"spine", "leaf1", "leaf2", "h2", "h1", "fails at 1s"}; !slices.Equal(d.texts, want) {
		t.Errorf("words %q, want %q", d.texts, want)
	}
	if slices.Sort(d.paths); len(slices.Compact(slices.Clone(d.paths))) != len(diamond.Links) {
		t.Errorf("links lie over each other: %q", d.paths)
	}
	if d.dashed != 1 {
		t.Errorf("%d dashed links, want 1", d.dashed)
	}
}

// TestRing: the link that closes a row of switches goes over those between.
func TestRing(t *testing.T) {
	g := &Graph{Name: `a<b & "c"`}
	for i := range 4 {
		g.Nodes = append(g.Nodes, Node{fmt.Sprint("s", i), false}, Node{fmt.Sprint("h", i), true})
		g.Links = append(g.Links, Link{A: 2 * i, B: 2*i + 1}, Link{A: 2 * i, B: (2*i + 2) % 8})
	}
	svg := g.SVG()
	d := parse(t, svg)
	if want := "M294 64 Q168 -42 42 64"; !slices.Contains(d.paths, want) {
		t.Errorf("no arc %q in %q", want, d.paths)
	}
	if svg != g.SVG() {
		t.Error("drawn again it is another picture")
	}
}

// TestHighArc: the link that closes a long row is in the picture too.
func TestHighArc(t *testing.T) {
	g := &Graph{Name: "row"}
	for i := range 40 {
		g.Nodes = append(g.Nodes, Node{Name: fmt.Sprint("s", i)})
		g.Links = append(g.Links, Link{A: i, B: (i + 1) % 40, Note: "note"})
	}
	p := picture{g: g, levels: g.levels()}
	p.place()
	for i, l := range g.Links {
		if _, y := p.middle(i); y < noteSize || y > p.height {
			t.Errorf("link %+v goes through y = %d of %d", l, y, p.height)
		}
	}
}

// TestApart: nodes without links are drawn too.
func TestApart(t *testing.T) {
	g := &Graph{Name: "apart", Nodes: []Node{{"s1", false}, {"s2", false}}}
	if d := parse(t, g.SVG()); !slices.Equal(d.texts, []string{"s1", "s2"}) {
		t.Errorf("words %q", d.texts)
	}
	if !strings.Contains(g.DOT(), `"s1"; "s2";`) {
		t.Errorf("DOT: %s", g.DOT())
	}
}
