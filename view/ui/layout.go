package ui

import (
	"cmp"
	"math"
	"slices"
)

// layOut places the nodes and returns the shape:
//
//	line    the switches form a path: from left to right, hosts above and below
//	ring    switches joined to others of their own layer: on a circle, hosts outside
//	layers  else: by their distance from hosts, the farthest on top, hosts at the bottom
func (w *wiring) layOut() (shape string) {
	g := newGraph(w)
	if order := g.path(); order != nil {
		g.line(order)
		return "line"
	}
	layers, flat := g.layers()
	if flat {
		g.layered(layers)
		return "layers"
	}
	g.ring(g.around())
	return "ring"
}

// graph is the switches and their hosts, by index of wiring.nodes.
type graph struct {
	nodes    []Node
	switches int
	next     [][]int // by switch: its neighbours among the switches, each once
	hosts    [][]int // by switch
}

func newGraph(w *wiring) *graph {
	n := len(w.switches)
	g := &graph{nodes: w.nodes, switches: n, next: make([][]int, n), hosts: make([][]int, n)}
	for _, l := range w.links {
		for _, e := range [2][2]int{{l.A, l.B}, {l.B, l.A}} {
			switch {
			case e[0] >= n:
			case e[1] >= n:
				g.hosts[e[0]] = append(g.hosts[e[0]], e[1])
			case !slices.Contains(g.next[e[0]], e[1]):
				g.next[e[0]] = append(g.next[e[0]], e[1])
			}
		}
	}
	return g
}

// path is the switches in order if they form a path, else nil.
func (g *graph) path() []int {
	start, ends := 0, 0
	for i, next := range g.next {
		switch {
		case len(next) > 2:
			return nil
		case len(next) < 2:
			if ends++; ends == 1 {
				start = i
			}
		}
	}
	if g.switches == 0 || ends == 0 {
		return nil
	}
	if order := g.walk(start); len(order) == g.switches {
		return order
	}
	return nil
}

// walk goes from switch to switch, always to the first neighbour that it has not seen.
func (g *graph) walk(start int) []int {
	seen := make([]bool, g.switches)
	order := []int{start}
	for seen[start] = true; ; {
		at := order[len(order)-1]
		i := slices.IndexFunc(g.next[at], func(n int) bool { return !seen[n] })
		if i < 0 {
			return order
		}
		seen[g.next[at][i]] = true
		order = append(order, g.next[at][i])
	}
}

// layers is each switch's distance from the nearest host, in links; flat reports whether no
// link joins two of the same layer.
func (g *graph) layers() (layer []int, flat bool) {
	layer = make([]int, g.switches)
	var work []int
	for i := range layer {
		if len(g.hosts[i]) > 0 {
			layer[i] = 1
			work = append(work, i)
		}
	}
	for ; len(work) > 0; work = work[1:] {
		for _, n := range g.next[work[0]] {
			if layer[n] == 0 {
				layer[n] = layer[work[0]] + 1
				work = append(work, n)
			}
		}
	}
	for i, next := range g.next {
		for _, n := range next {
			if layer[n] == layer[i] {
				return layer, false
			}
		}
	}
	return layer, true
}

// around is all switches in an order in which neighbours stand beside one another where
// that is possible: the longest walk that is found, then those that it left out.
func (g *graph) around() []int {
	var best []int
	for i := range g.switches {
		if order := g.walk(i); len(order) > len(best) {
			best = order
		}
	}
	for i := range g.switches {
		if !slices.Contains(best, i) {
			best = append(best, i)
		}
	}
	return best
}

func (g *graph) line(order []int) {
	for k, i := range order {
		x := (float64(k) + 0.5) / float64(len(order))
		g.nodes[i].X, g.nodes[i].Y = x, 0.5
		for j, h := range g.hosts[i] {
			half := (len(g.hosts[i]) + 1) / 2
			y, col, cols := 0.75, j, half
			if j >= half {
				y, col, cols = 0.25, j-half, len(g.hosts[i])-half
			}
			g.nodes[h].X = x + (float64(col)-float64(cols-1)/2)*0.8/float64(len(order)*max(1, cols))
			g.nodes[h].Y = y
		}
	}
}

func (g *graph) ring(order []int) {
	for k, i := range order {
		angle := 2*math.Pi*float64(k)/float64(len(order)) - math.Pi/2
		g.nodes[i].X, g.nodes[i].Y = 0.5+0.27*math.Cos(angle), 0.5+0.30*math.Sin(angle)
		share := 2 * math.Pi / float64(len(order))
		for j, h := range g.hosts[i] {
			a := angle + share*0.7*(float64(j)-float64(len(g.hosts[i])-1)/2)/float64(len(g.hosts[i]))
			g.nodes[h].X, g.nodes[h].Y = 0.5+0.45*math.Cos(a), 0.5+0.47*math.Sin(a)
		}
	}
}

// layered places hosts in the order of their switches, and each switch above the middle of
// those below that it is joined to.
func (g *graph) layered(layer []int) {
	top := slices.Max(layer)
	rows := make([][]int, top+1)
	for i, l := range layer {
		rows[l] = append(rows[l], i)
	}
	row := func(l int) float64 { return 0.93 - 0.86*float64(l)/float64(top) }
	g.hostRow(rows[1], row(0))
	for l := 1; l <= top; l++ {
		if l > 1 {
			g.sortByMiddle(rows[l], layer)
		}
		for k, i := range rows[l] {
			g.nodes[i].Y = row(l)
			g.nodes[i].X = (float64(k) + 0.5) / float64(len(rows[l]))
		}
	}
	for k, i := range rows[0] { // switches that no host can reach
		g.nodes[i].X, g.nodes[i].Y = (float64(k)+0.5)/float64(len(rows[0])), 0.03
	}
}

// hostRow places hosts under their switches, each switch having as much room as it has
// hosts, and at least one.
func (g *graph) hostRow(edges []int, y float64) {
	for k, i := range edges {
		for j, h := range g.hosts[i] {
			g.nodes[h].X = (float64(k) + (float64(j)+0.5)/float64(len(g.hosts[i]))) / float64(len(edges))
			g.nodes[h].Y = y
		}
	}
}

// sortByMiddle orders a row by the mean place of the neighbours in the row below; those of
// the same mean keep their order.
func (g *graph) sortByMiddle(row, layer []int) {
	middle := func(i int) float64 {
		sum, n := 0.0, 0
		for _, b := range g.next[i] {
			if layer[b] == layer[i]-1 {
				sum += g.nodes[b].X
				n++
			}
		}
		return math.Round(1e6*sum/float64(max(1, n))) / 1e6
	}
	slices.SortStableFunc(row, func(a, b int) int { return cmp.Compare(middle(a), middle(b)) })
}
