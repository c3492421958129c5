package drawing

import "slices"

// Point is a position in the drawing: 0 to 1 from left to right and from top to bottom.
type Point struct{ X, Y float64 }

// Box is how large a node is drawn: half its width and half its height, as fractions of
// the drawing's width and height.
type Box struct {
	W float64 `json:"w"`
	H float64 `json:"h"`
}

// Drawing is where all is drawn, and how large. No two boxes touch.
type Drawing struct {
	Shape        string     // how the switches are arranged: see Place
	At           []Point    // by node: the middle of its box
	Ends         [][2]Point // by link: where it meets the boxes of its two nodes
	Switch, Host Box        // of every switch and of every host
}

// Placement is switches and their hosts. Nodes are numbered, switches before hosts.
type Placement struct {
	switches, nodes int
	links           [][2]int
	next            [][]int // by switch: its neighbouring switches, each once
	hosts           [][]int // by switch: those that are drawn at it, one of those to which they are linked
	loose           []int   // hosts that are linked to no switch
}

// NewPlacement makes the graph of this many nodes, the first of which are switches, and the
// links between them.
func NewPlacement(switches, nodes int, links [][2]int) *Placement {
	g := &Placement{switches: switches, nodes: nodes, links: links, next: make([][]int, switches), hosts: make([][]int, switches)}
	at := make([][]int, nodes) // by host: its switches
	var linked []int           // hosts in the order of their first links
	for _, l := range links {
		for _, e := range [2][2]int{{l[0], l[1]}, {l[1], l[0]}} {
			switch {
			case e[0] >= switches || e[0] == e[1]:
			case e[1] < switches:
				if !slices.Contains(g.next[e[0]], e[1]) {
					g.next[e[0]] = append(g.next[e[0]], e[1])
				}
			case !slices.Contains(at[e[1]], e[0]):
				if at[e[1]] == nil {
					linked = append(linked, e[1])
				}
				at[e[1]] = append(at[e[1]], e[0])
			}
		}
	}
	var several []int
	for _, h := range linked {
		if len(at[h]) > 1 {
			several = append(several, h)
			continue
		}
		g.hosts[at[h][0]] = append(g.hosts[at[h][0]], h)
	}
	for _, h := range several { // where there are the fewest
		s := slices.MinFunc(at[h], func(a, b int) int { return len(g.hosts[a]) - len(g.hosts[b]) })
		g.hosts[s] = append(g.hosts[s], h)
	}
	for h := switches; h < nodes; h++ {
		if at[h] == nil {
			g.loose = append(g.loose, h)
		}
	}
	return g
}

// Place draws the graph, in the first of these shapes that suits it:
//
//	line    the switches form a path: from left to right, hosts above and below; a long
//	        one is folded, so that every second row goes from right to left
//	layers  no link joins two switches of a level, and there is room for legible boxes: in
//	        rows by level, the highest on top, hosts below their switches
//	ring    on an ellipse, hosts outside, if there is room for legible boxes there; a
//	        ring that is longer is folded as a line is
//	mesh    else: in cells of a grid, each switch with its hosts, so that few links
//	        pass behind a node that they do not join
func (g *Placement) Place() *Drawing {
	levels := g.Levels()
	order := g.path()
	var s *sheet
	shape := ""
	switch {
	case order != nil:
		shape, s = "line", g.fold(order, false)
	case g.flat(levels):
		shape, s = "layers", g.layers(levels)
		if !s.legible() { // too many levels, perhaps
			if m := g.mesh(g.around()); m.fit() > s.fit() {
				shape, s = "mesh", m
			}
		}
	default:
		order := g.around()
		shape, s = "ring", g.ellipse(order)
		switch closed := g.cycle(order); {
		case closed && s.fit() < enough:
			s = g.fold(order, true)
		case !closed && !s.legible():
			shape, s = "mesh", g.mesh(order)
		}
	}
	return s.drawing(shape)
}

// path returns the switches in order if they form a path and no host is loose, else nil.
func (g *Placement) path() []int {
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
	if ends == 0 || len(g.loose) > 0 {
		return nil
	}
	if order := g.walk(start); len(order) == g.switches {
		return order
	}
	return nil
}

// walk goes from switch to switch, always to the first unvisited neighbour.
func (g *Placement) walk(start int) []int {
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

// cycle reports whether the switches form a cycle in this order, and no host is loose.
func (g *Placement) cycle(order []int) bool {
	for k, i := range order {
		if i >= g.switches || len(g.next[i]) != 2 || !slices.Contains(g.next[i], order[(k+1)%len(order)]) {
			return false
		}
	}
	return len(order) > 2
}

// Levels is each switch's distance from the nearest host, in links: 1 for a switch that
// has one, 0 for a switch that cannot reach any.
func (g *Placement) Levels() []int {
	levels := make([]int, g.switches)
	var work []int
	for _, l := range g.links {
		for _, e := range [2][2]int{{l[0], l[1]}, {l[1], l[0]}} {
			if e[0] < g.switches && e[1] >= g.switches && levels[e[0]] == 0 {
				levels[e[0]] = 1
			}
		}
	}
	for i, l := range levels {
		if l == 1 {
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
func (g *Placement) flat(levels []int) bool {
	for i, next := range g.next {
		if slices.ContainsFunc(next, func(n int) bool { return levels[n] == levels[i] }) {
			return false
		}
	}
	return true
}

// around returns all switches in an order in which neighbours are next to each other
// where possible: the longest walk found, then the switches it left out, then loose hosts.
func (g *Placement) around() []int {
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
	return append(best, g.loose...)
}
