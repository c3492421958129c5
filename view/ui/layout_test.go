package ui

import (
	"fmt"
	"math"
	"testing"

	"softswitch/scenario"
	"softswitch/scenarios"
	"softswitch/view/drawing"
)

// TestLayOut lays out every scenario that is shipped: all nodes are on the page, no two
// touch, and no two links meet a box at the same place.
func TestLayOut(t *testing.T) {
	files, err := scenarios.FS.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	shapes := map[string]int{}
	for _, f := range files {
		w := wired(t, f.Name())
		l := w.layOut()
		shapes[l.Shape]++
		box := map[string]drawing.Box{"switch": l.SwitchBox, "host": l.HostBox}
		for i, n := range w.nodes {
			b := box[n.Kind]
			if n.X < b.W || n.X > 1-b.W || n.Y < b.H || n.Y > 1-b.H {
				t.Errorf("%s: %s is at %.2f %.2f, off the page", f.Name(), n.Name, n.X, n.Y)
			}
			for _, m := range w.nodes[:i] {
				if c := box[m.Kind]; math.Abs(n.X-m.X) <= b.W+c.W && math.Abs(n.Y-m.Y) <= b.H+c.H {
					t.Errorf("%s: %s and %s touch", f.Name(), n.Name, m.Name)
				}
			}
		}
		at := map[[2]float64]bool{}
		for _, l := range w.links {
			at[[2]float64{l.X1, l.Y1}], at[[2]float64{l.X2, l.Y2}] = true, true
		}
		if len(at) != 2*len(w.links) {
			t.Errorf("%s: %d links have %d ends", f.Name(), len(w.links), len(at))
		}
	}
	for _, shape := range []string{"line", "ring", "layers"} {
		if shapes[shape] == 0 {
			t.Errorf("no scenario is laid out as a %s: %v", shape, shapes)
		}
	}
}

func TestLayOutFatTree(t *testing.T) {
	w := wired(t, "fattree-on-loop.yaml")
	if shape := w.layOut().Shape; shape != "layers" {
		t.Fatalf("a fat-tree is laid out as %s", shape)
	}
	at := map[string]Node{}
	for _, n := range w.nodes {
		at[n.Name] = n
	}
	for _, above := range [][2]string{{"core0", "agg0-0"}, {"agg0-0", "edge0-0"}, {"edge0-0", "h0-0-0"}} {
		if at[above[0]].Y >= at[above[1]].Y {
			t.Errorf("%s is not above %s", above[0], above[1])
		}
	}
	for _, left := range [][2]string{{"core0", "core3"}, {"agg0-1", "agg1-0"}, {"h0-0-0", "h0-0-1"}, {"h2-1-1", "h3-0-0"}} {
		if at[left[0]].X >= at[left[1]].X {
			t.Errorf("%s is not to the left of %s", left[0], left[1])
		}
	}
}

// wired is the wiring of a shipped scenario.
func wired(t testing.TB, file string) *wiring {
	t.Helper()
	w, err := planWiring(planned(t, file))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func planned(t testing.TB, file string) *scenario.Plan {
	t.Helper()
	data, err := scenarios.FS.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Parse(file, data, scenario.Known{Detectors: []string{"itsy", "itsypaper"}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := scenario.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTooManyNodes(t *testing.T) {
	s := planned(t, "fattree-on-loop.yaml")
	for i := range nodesMax {
		h := s.Hosts[0]
		h.Name = fmt.Sprint("extra", i)
		s.Hosts = append(s.Hosts, h)
	}
	if _, err := newWiring(s.Switches, s.Hosts, nil); err == nil {
		t.Errorf("%d nodes are drawn, and the most is %d", len(s.Switches)+len(s.Hosts), nodesMax)
	}
}
