package layout

import (
	"cmp"
	"math"
	"slices"
)

// Point is a position in the drawing: 0 to 1 from left to right and from top to bottom.
type Point struct{ X, Y float64 }

// Graph is switches and their hosts. Nodes are numbered, switches before hosts.
type Graph struct {
	switches int
	next     [][]int // by switch: its neighbouring switches, each once
	hosts    [][]int // by switch
	at       []Point // by node
}

// New makes the graph of this many nodes, the first of which are switches, and the
// links between them. Links between two hosts are ignored.
func New(switches, nodes int, links [][2]int) *Graph {
	g := &Graph{switches: switches, next: make([][]int, switches), hosts: make([][]int, switches), at: make([]Point, nodes)}
	for _, l := range links {
		for _, e := range [2][2]int{{l[0], l[1]}, {l[1], l[0]}} {
			switch {
			case e[0] >= switches:
			case e[1] >= switches:
				g.hosts[e[0]] = append(g.hosts[e[0]], e[1])
			case !slices.Contains(g.next[e[0]], e[1]):
				g.next[e[0]] = append(g.next[e[0]], e[1])
			}
		}
	}
	return g
}

// Place returns where each node is drawn, and the shape that it chose:
//
//	line    the switches form a path: from left to right, hosts above and below
//	ring    switches joined to others of their own level: on a circle, hosts outside
//	layers  else: in rows by level, the highest on top, hosts at the bottom
func (g *Graph) Place() (at []Point, shape string) {
	levels := g.Levels()
	switch order := g.path(); {
	case order != nil:
		shape = "line"
		g.line(order)
	case g.flat(levels):
		shape = "layers"
		g.layered(levels)
	default:
		shape = "ring"
		g.ring(g.around())
	}
	return g.at, shape
}

// path returns the switches in order if they form a path, else nil.
func (g *Graph) path() []int {
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

// walk goes from switch to switch, always to the first unvisited neighbour.
func (g *Graph) walk(start int) []int {
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

// Levels is each switch's distance from the nearest host, in links: 1 for a switch that
// has one, 0 for a switch that cannot reach any.
func (g *Graph) Levels() []int {
	levels := make([]int, g.switches)
	var work []int
	for i := range levels {
		if len(g.hosts[i]) > 0 {
			levels[i] = 1
			work = append(work, i)
		}
	}
	for ; len(work) > 0; work = work[1:] {
		for _, n := range g.next[work[0]] {
			if levels[n] == 0 {
				levels[n] = levels[work[0]] + 1
				work = append(work, n)
			}
		}
	}
	return levels
}

// flat reports whether no link joins two switches of the same level.
func (g *Graph) flat(levels []int) bool {
	for i, next := range g.next {
		for _, n := range next {
			if levels[n] == levels[i] {
				return false
			}
		}
	}
	return true
}

// around returns all switches in an order in which neighbours are next to each other
// where possible: the longest walk found, then the switches it left out.
func (g *Graph) around() []int {
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

func (g *Graph) line(order []int) {
	for k, i := range order {
		x := (float64(k) + 0.5) / float64(len(order))
		g.at[i].X, g.at[i].Y = x, 0.5
		for j, h := range g.hosts[i] {
			half := (len(g.hosts[i]) + 1) / 2
			y, col, cols := 0.75, j, half
			if j >= half {
				y, col, cols = 0.25, j-half, len(g.hosts[i])-half
			}
			g.at[h].X = x + (float64(col)-float64(cols-1)/2)*0.8/float64(len(order)*max(1, cols))
			g.at[h].Y = y
		}
	}
}

func (g *Graph) ring(order []int) {
	for k, i := range order {
		angle := 2*math.Pi*float64(k)/float64(len(order)) - math.Pi/2
		g.at[i].X, g.at[i].Y = 0.5+0.27*math.Cos(angle), 0.5+0.30*math.Sin(angle)
		share := 2 * math.Pi / float64(len(order))
		for j, h := range g.hosts[i] {
			a := angle + share*0.7*(float64(j)-float64(len(g.hosts[i])-1)/2)/float64(len(g.hosts[i]))
			g.at[h].X, g.at[h].Y = 0.5+0.45*math.Cos(a), 0.5+0.47*math.Sin(a)
		}
	}
}

// layered places hosts in the order of their switches, and each switch above the middle
// of its neighbours below.
func (g *Graph) layered(layer []int) {
	top := slices.Max(append([]int{1}, layer...))
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
			g.at[i].Y = row(l)
			g.at[i].X = (float64(k) + 0.5) / float64(len(rows[l]))
		}
	}
	for k, i := range rows[0] { // switches that cannot reach a host
		g.at[i].X, g.at[i].Y = (float64(k)+0.5)/float64(len(rows[0])), 0.03
	}
}

// hostRow places hosts under their switches; each switch gets as much room as it has
// hosts, and at least that of one.
func (g *Graph) hostRow(edges []int, y float64) {
	for k, i := range edges {
		for j, h := range g.hosts[i] {
			g.at[h].X = (float64(k) + (float64(j)+0.5)/float64(len(g.hosts[i]))) / float64(len(edges))
			g.at[h].Y = y
		}
	}
}

// sortByMiddle orders a row by the mean position of the neighbours in the row below;
// ties keep their order.
func (g *Graph) sortByMiddle(row, layer []int) {
	middle := func(i int) float64 {
		sum, n := 0.0, 0
		for _, b := range g.next[i] {
			if layer[b] == layer[i]-1 {
				sum += g.at[b].X
				n++
			}
		}
		return math.Round(1e6*sum/float64(max(1, n))) / 1e6
	}
	slices.SortStableFunc(row, func(a, b int) int { return cmp.Compare(middle(a), middle(b)) })
}
