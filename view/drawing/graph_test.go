package drawing

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
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

// TestAgain: the same graph gives the same picture, and names are escaped.
func TestAgain(t *testing.T) {
	g := ring(4)
	g.Name, g.Nodes[0].Name = `a<b & "c"`, "a<b"
	svg := g.SVG()
	if d := parse(t, svg); d.texts[0] != "a<b" || len(d.paths) != len(g.Links) {
		t.Errorf("words %q, links %q", d.texts, d.paths)
	}
	if svg != g.SVG() {
		t.Error("drawn again it is another picture")
	}
}

// ring is n switches in a ring, with a host each and a note at every link.
func ring(n int) *Graph {
	g := &Graph{Name: "ring"}
	for i := range n {
		g.Nodes = append(g.Nodes, Node{fmt.Sprint("switch", i), false}, Node{fmt.Sprint("host-of-switch", i), true})
		g.Links = append(g.Links, Link{A: 2 * i, B: 2*i + 1, Note: "note"}, Link{A: 2 * i, B: (2*i + 2) % (2 * n), Note: "note"})
	}
	return g
}

// TestFits: names fit into their boxes, boxes and notes into the picture, and no box touches
// another.
func TestFits(t *testing.T) {
	for _, n := range []int{3, 40, 200} {
		p := ring(n).place()
		for i, node := range p.g.Nodes {
			x, y := p.pixels(p.At[p.number[i]])
			w, h := p.pixels(size(p.box(i)))
			if name := charWidth * float64(len(node.Name)); name > 2*w || fontSize > 2*h {
				t.Fatalf("%d: %q of %.1f pixels is in a box of %.1f x %.1f", n, node.Name, name, 2*w, 2*h)
			}
			if x < w || y < h || x+w > float64(p.width) || y+h > float64(p.height) {
				t.Fatalf("%d: %s is off the picture", n, node.Name)
			}
			for j := range i {
				x2, y2 := p.pixels(p.At[p.number[j]])
				w2, h2 := p.pixels(size(p.box(j)))
				if math.Abs(x-x2) <= w+w2 && math.Abs(y-y2) <= h+h2 {
					t.Fatalf("%d: %s and %s touch", n, node.Name, p.g.Nodes[j].Name)
				}
			}
		}
		for i, e := range p.Ends {
			if _, y := p.pixels(e[0]); y < 0 || y > float64(p.height) {
				t.Fatalf("%d: link %d is off the picture", n, i)
			}
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

// TestMarked: a base is drawn where it is used, with a cross at each link that is down and an arrow along each
// that is marked, beside its link in either direction.
func TestMarked(t *testing.T) {
	d := NewBase(diamond, "fabric")
	if symbol := d.Symbol(); len(parse(t, symbol).paths) != len(diamond.Links) || !strings.Contains(symbol, `<symbol id="fabric"`) {
		t.Errorf("symbol: %s", symbol)
	}
	marked := d.Marked("a<b", []int{2}, []Arrow{{Link: 1}, {Link: 1, Back: true}})
	m := parse(t, marked)
	if !strings.Contains(marked, `<use href="#fabric"`) || !strings.Contains(marked, "<title>a&lt;b</title>") || !slices.Equal(m.texts, []string{"×"}) || m.dashed != 1 {
		t.Errorf("marked: %s", marked)
	}
	if slices.Sort(m.paths); len(m.paths) != 6 || len(slices.Compact(slices.Clone(m.paths))) != 5 { // the link that is down twice, a line and a head of each arrow
		t.Errorf("paths %q", m.paths)
	}
}
