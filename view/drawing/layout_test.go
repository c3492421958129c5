package drawing_test

import (
	"slices"
	"testing"

	"softswitch/view/drawing"
)

// TestShapes: what is joined in a row is drawn as a line, rows of levels as layers, all
// else on a circle; nothing is off the drawing.
func TestShapes(t *testing.T) {
	for _, c := range []struct {
		shape    string
		switches int
		links    [][2]int
		levels   []int
	}{
		{"line", 3, [][2]int{{0, 1}, {1, 2}, {0, 3}, {2, 4}}, []int{1, 2, 1}},
		{"ring", 3, [][2]int{{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 4}, {2, 5}}, []int{1, 1, 1}},
		{"layers", 4, [][2]int{{0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 4}, {3, 5}}, []int{2, 2, 1, 1}},
		{"layers", 5, [][2]int{{0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 5}, {3, 6}}, []int{2, 2, 1, 1, 0}},
	} {
		nodes := 0
		for _, l := range c.links {
			nodes = max(nodes, l[0]+1, l[1]+1)
		}
		g := drawing.NewPlacement(c.switches, nodes, c.links)
		if got := g.Levels(); !slices.Equal(got, c.levels) {
			t.Errorf("%s: levels %v, want %v", c.shape, got, c.levels)
		}
		d := g.Place()
		at, shape := d.At, d.Shape
		if shape != c.shape || len(at) != nodes {
			t.Errorf("%v: %s of %d nodes, want %s of %d", c.links, shape, len(at), c.shape, nodes)
		}
		for i, p := range at {
			if p.X <= 0 || p.X >= 1 || p.Y <= 0 || p.Y >= 1 {
				t.Errorf("%s: node %d is at %v", c.shape, i, p)
			}
			if slices.Index(at, p) != i {
				t.Errorf("%s: node %d hides another", c.shape, i)
			}
		}
	}
}

// TestApart: switches that nothing joins are drawn beside one another, and no switch at
// all is no fault.
func TestApart(t *testing.T) {
	for n := range 4 {
		at := drawing.NewPlacement(n, n, nil).Place().At
		for i, p := range at {
			if !(p.X > 0 && p.X < 1 && p.Y > 0 && p.Y < 1) || slices.Index(at, p) != i {
				t.Errorf("%d switches: %v", n, at)
			}
		}
	}
}
