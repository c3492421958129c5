package drawing

import (
	"math"
	"slices"
)

// meshMost is the largest size of boxes in a mesh, as a part of that elsewhere: just
// legible, so that links have room between them.
const meshMost = 0.6

// mesh places nodes in the cells of a grid.
func (g *Placement) mesh(order []int) *sheet {
	var best *sheet
	for n := 1; n <= len(order); n++ {
		rows := slices.Repeat([]row{{}}, n)
		for k := range n {
			rows[k].nodes = slices.Clone(order[len(order)*k/n : len(order)*(k+1)/n])
			if k%2 == 1 {
				slices.Reverse(rows[k].nodes)
			}
		}
		if s := g.rows(rows, gapLinked, func(int) part { return both }); best == nil || s.fit() > best.fit() {
			best = s
		}
	}
	best.limit(meshMost)
	best.untangle()
	return best
}

// untangle swaps switches, with their hosts, until no swap makes links pass behind fewer
// nodes, or makes them shorter.
func (s *sheet) untangle() {
	g := s.g
	cost := s.costs()
	spot := make([]int, g.switches) // by switch: the one whose place it has
	for i := range spot {
		spot[i] = i
	}
	// change is what the links of i would cost at place p if j were at q.
	sum := func(i, p, j, q int) (sum float64) {
		for _, n := range g.next[i] {
			switch n {
			case j:
				sum += cost[p][q] / 2
			default:
				sum += cost[p][spot[n]]
			}
		}
		return sum
	}
	const rounds = 50
	for better, n := true, 0; better && n < rounds; n++ {
		better = false
		for i := range spot {
			for j := range i {
				if len(g.hosts[i]) != len(g.hosts[j]) {
					continue
				}
				p, q := spot[i], spot[j]
				if sum(i, q, j, p)+sum(j, p, i, q) < sum(i, p, j, q)+sum(j, q, i, p)-1e-6 {
					spot[i], spot[j] = q, p
					better = true
				}
			}
		}
	}
	at := slices.Clone(s.at)
	for i, p := range spot {
		s.at[i] = at[p]
		for k, h := range g.hosts[i] {
			s.at[h] = at[g.hosts[p][k]]
		}
	}
}

// costs is what a link between the places of any two switches costs: 1 for each box that it
// would pass behind, and a little for its length.
func (s *sheet) costs() [][]float64 {
	g := s.g
	cost := make([][]float64, g.switches)
	for i := range cost {
		cost[i] = make([]float64, g.switches)
		for j := range i {
			p, q := s.on(i, s.side(i, j), 0), s.on(j, s.side(j, i), 0)
			c := math.Hypot(q.X-p.X, q.Y-p.Y) / width
			for n := range s.at {
				if n != i && n != j && cuts(p, q, s.at[n], s.box(n)) {
					c++
				}
			}
			cost[i][j], cost[j][i] = c, c
		}
	}
	return cost
}

// cuts reports whether the line from p to q passes through the box around m.
func cuts(p, q, m Point, b Box) bool {
	if max(p.X, q.X) <= m.X-b.W || min(p.X, q.X) >= m.X+b.W || max(p.Y, q.Y) <= m.Y-b.H || min(p.Y, q.Y) >= m.Y+b.H {
		return false
	}
	// It does if the corners are not all on one side of it.
	dx, dy := q.X-p.X, q.Y-p.Y
	side := dx*(m.Y-p.Y) - dy*(m.X-p.X)
	return math.Abs(side) < math.Abs(dx)*b.H+math.Abs(dy)*b.W
}
