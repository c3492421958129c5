package check

import (
	"cmp"
	"slices"
)

// shortest is the shortest cycles of no failure. A case has a new cycle only by an edge that is new. So the
// shortest cycle by an edge is looked for again if it is broken, or if one with a new edge can be as short.
type shortest struct {
	edges  []edge  // of the graph
	length []int32 // by index of edges: of a shortest cycle by it, 0 if there is none
	pairs  [][2]int32
	at, by []int32 // by index of edges: those whose cycle takes it are by[at[i]:at[i+1]]
}

func newShortest(g *graph) *shortest {
	return &shortest{edges: slices.Clone(g.edges), length: make([]int32, len(g.edges))}
}

// add takes note of a shortest cycle by its last edge.
func (s *shortest) add(cycle []int32) {
	last := cycle[len(cycle)-1]
	s.length[last] = int32(len(cycle))
	for _, i := range cycle {
		s.pairs = append(s.pairs, [2]int32{i, last})
	}
}

// close orders what was noted.
func (s *shortest) close() {
	slices.SortFunc(s.pairs, func(a, b [2]int32) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	s.at, s.by = make([]int32, len(s.edges)+1), make([]int32, len(s.pairs))
	for i, p := range s.pairs {
		s.at[p[0]+1]++
		s.by[i] = p[1]
	}
	for i := range s.edges {
		s.at[i+1] += s.at[i]
	}
	s.pairs = nil
}

// wantAll wants the cycles by all edges.
func (g *graph) wantAll() {
	g.clearWanted()
	for j := range int32(len(g.edges)) {
		if g.inComponent(j) {
			g.want(j)
		}
	}
}

func (g *graph) clearWanted() {
	g.wanted, g.roots = slices.Grow(g.wanted[:0], len(g.edges))[:len(g.edges)], zero(g.roots, len(g.nodes))
	clear(g.wanted)
}

func (g *graph) want(j int32) {
	g.wanted[j] = true
	g.roots[g.to[j]]++
}

// inComponent reports whether edge j is on some cycle.
func (g *graph) inComponent(j int32) bool {
	return g.to[j] >= 0 && g.comp[g.to[j]] >= 0 && g.comp[g.from[j]] == g.comp[g.to[j]]
}

// wantNew wants the cycles by those edges for which there can be a shortest one that is new.
func (g *graph) wantNew(c *Checker, s *shortest) {
	g.clearWanted()
	broken := g.compare(c, s)
	var added []int32 // edges that are new, those to the same hop side by side
	g.reverse.of(g)
	for n := range int32(len(g.nodes)) {
		for _, j := range g.reverse.into(n) {
			if g.was[j] < 0 && g.inComponent(j) {
				added = append(added, j)
			}
		}
	}
	if len(added) == 0 {
		return
	}
	g.measure(added)
	var unsure []int32 // edges
	for j := range int32(len(g.edges)) {
		if !g.inComponent(j) {
			continue
		}
		was, least := g.was[j], g.least(j)
		switch {
		case was < 0:
			g.want(j)
		case least == 0: // in a component without a new edge
		case broken[was] || s.length[was] == 0:
			g.want(j)
		case least <= s.length[was]:
			unsure = append(unsure, j)
		}
	}
	g.decide(s, added, unsure)
}

// decide wants those of edges for which a cycle by an added edge can be as short as the one that they have. It
// measures the cycles by the added edges to each hop, unless that takes longer than to look for all.
func (g *graph) decide(s *shortest, added, unsure []int32) {
	roots, hops := 0, 0
	for i, j := range unsure {
		if g.roots[g.to[j]] == 0 && (i == 0 || g.to[unsure[i-1]] != g.to[j]) {
			roots++
		}
	}
	for i, j := range added {
		if i == 0 || g.to[added[i-1]] != g.to[j] {
			hops++
		}
	}
	if roots <= 2*hops {
		for _, j := range unsure {
			g.want(j)
		}
		return
	}
	for len(added) > 0 {
		n := 1
		for n < len(added) && g.to[added[n]] == g.to[added[0]] {
			n++
		}
		g.measure(added[:n])
		for _, j := range unsure {
			if least := g.least(j); least > 0 && least <= s.length[g.was[j]] && !g.wanted[j] {
				g.want(j)
			}
		}
		added = added[n:]
	}
}

// measure measures how far it is from the heads of edges, and to their tails.
func (g *graph) measure(edges []int32) {
	g.heads.begin(len(g.nodes))
	g.tails.begin(len(g.nodes))
	for _, j := range edges {
		g.heads.meet(g.to[j], 0)
		g.tails.meet(g.from[j], 0)
	}
	g.searches += 2
	for q := &g.heads; q.next(); {
		for _, to := range g.to[g.at[q.n]:g.at[q.n+1]] {
			if to >= 0 && g.comp[to] == g.comp[q.n] {
				q.meet(to, q.far[q.n]+1)
			}
		}
	}
	for q := &g.tails; q.next(); {
		for _, j := range g.reverse.into(q.n) {
			if from := g.from[j]; g.comp[from] == g.comp[q.n] {
				q.meet(from, q.far[q.n]+1)
			}
		}
	}
}

// least is the least length of a way round by edge j and one that was measured, 0 if there is none.
func (g *graph) least(j int32) int32 {
	to, from := g.tails.far[g.to[j]], g.heads.far[g.from[j]]
	if to < 0 || from < 0 {
		return 0
	}
	return to + from + 2
}

// compare finds the edges that are new, and those of no failure whose shortest cycle is broken.
func (g *graph) compare(c *Checker, s *shortest) (broken []bool) {
	g.was = slices.Grow(g.was[:0], len(g.edges))[:len(g.edges)]
	broken = make([]bool, len(s.edges))
	before := func(a, b edge) bool {
		if c.group == nil {
			return a < b
		}
		return cmp.Or(cmp.Compare(c.groupOf(c.tail(a)), c.groupOf(c.tail(b))), cmp.Compare(a, b)) < 0
	}
	i := 0
	gone := func(end func(e edge) bool) {
		for ; i < len(s.edges) && end(s.edges[i]); i++ {
			for _, by := range s.by[s.at[i]:s.at[i+1]] {
				broken[by] = true
			}
		}
	}
	for j, e := range g.edges {
		gone(func(o edge) bool { return before(o, e) })
		g.was[j] = -1
		if i < len(s.edges) && s.edges[i] == e {
			g.was[j] = int32(i)
			i++
		}
	}
	gone(func(edge) bool { return true })
	return broken
}

// reach is a search of nodes from several at once.
type reach struct {
	far   []int32 // by node: how many edges away it is, -1 if it was not met
	queue []int32
	done  int
	n     int32 // the node that is looked at
}

func (r *reach) begin(nodes int) {
	r.far, r.queue, r.done = slices.Grow(r.far[:0], nodes)[:nodes], r.queue[:0], 0
	for i := range r.far {
		r.far[i] = -1
	}
}

func (r *reach) meet(n, far int32) {
	if r.far[n] < 0 {
		r.far[n] = far
		r.queue = append(r.queue, n)
	}
}

// next goes on to the next node, nearest first; it returns false if there is none.
func (r *reach) next() bool {
	if r.done == len(r.queue) {
		return false
	}
	r.n = r.queue[r.done]
	r.done++
	return true
}

// reverse is the edges of a graph by where they lead.
type reverse struct{ at, edges []int32 }

// into are the edges that lead to node n, ascending.
func (r *reverse) into(n int32) []int32 { return r.edges[r.at[n]:r.at[n+1]] }

func (r *reverse) of(g *graph) {
	r.at = zero(r.at, len(g.nodes)+1)
	for _, to := range g.to {
		if to >= 0 {
			r.at[to+1]++
		}
	}
	for i := range g.nodes {
		r.at[i+1] += r.at[i]
	}
	r.edges = slices.Grow(r.edges[:0], len(g.to))[:len(g.to)]
	for j, to := range g.to {
		if to >= 0 {
			r.edges[r.at[to]] = int32(j)
			r.at[to]++
		}
	}
	copy(r.at[1:], r.at[:len(r.at)-1])
	r.at[0] = 0
}
