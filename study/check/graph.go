package check

import (
	"slices"

	"softswitch/internal/scc"
)

// graph is a directed graph of nodes and the edges between them, with the strongly
// connected components in which there is a cycle.
type graph struct {
	nodes []node  // those with an edge, ascending
	at    []int32 // by index of nodes: its edges are edges[at[i]:at[i+1]]
	edges []edge
	from  []int32 // by index of edges: index in nodes of the tail
	to    []int32 // by index of edges: index in nodes of the head, -1 for a node without edges

	index []int32 // by node: index in nodes, valid if nodes has it there
	comp  []int32 // by index of nodes: its component, -1 for none with a cycle
	comps int

	was    []int32 // by index of edges: index in edges while nothing fails, -1 for a new one
	wanted []bool  // by index of edges: the cycle by it is looked for
	roots  []int32 // by index of nodes: how many wanted edges lead to it

	scc     scc.Finder
	before  []int32 // of searches: index of the edge by which a node was met, + 1
	queue   []int32
	found   []int32 // of a search: the wanted edges that lead back
	heads   reach   // from the heads of new edges
	tails   reach   // back from the tails of new edges
	reverse reverse

	searches int // from a node or from several, so far
}

// build makes the graph of those edges whose hops wait; edges are ascending.
func (g *graph) build(c *Checker, edges []edge) {
	edges = c.waiting(edges)
	g.nodes, g.at, g.from, g.to, g.edges = g.nodes[:0], g.at[:0], g.from[:0], g.to[:0], edges
	for i, e := range edges {
		if n := c.groupOf(c.tail(e)); len(g.nodes) == 0 || g.nodes[len(g.nodes)-1] != n {
			g.index[n] = int32(len(g.nodes))
			g.nodes = append(g.nodes, n)
			g.at = append(g.at, int32(i))
		}
		g.from = append(g.from, int32(len(g.nodes)-1))
	}
	g.at = append(g.at, int32(len(edges)))
	for _, e := range edges {
		n := c.headGroup(e)
		i := g.index[n]
		if int(i) >= len(g.nodes) || g.nodes[i] != n {
			i = -1
		}
		g.to = append(g.to, i)
	}
	g.comp, g.before = zero(g.comp, len(g.nodes)), zero(g.before, len(g.nodes))
	g.comps = g.scc.Find(g.comp, g.at, g.to)
}

func zero(s []int32, n int) []int32 {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// cycles calls fn with a shortest cycle through each wanted edge, the same one once or more: indices of
// edges in the order of waiting, of which the last one is that edge. fn must not keep them.
func (g *graph) cycles(fn func(cycle []int32)) {
	var cycle []int32
	for root, n := range g.roots {
		if n == 0 {
			continue
		}
		g.searches++
		g.search(int32(root))
		for _, i := range g.found {
			cycle = append(cycle[:0], i)
			for at := g.from[i]; at != int32(root); at = g.from[cycle[len(cycle)-1]] {
				cycle = append(cycle, g.before[at]-1)
			}
			slices.Reverse(cycle)
			fn(cycle)
		}
		for _, n := range g.queue {
			g.before[n] = 0
		}
	}
}

// search meets nodes of root's component, nearest first, until it has found all wanted edges that lead back.
func (g *graph) search(root int32) {
	found, queue, before, comp := g.found[:0], append(g.queue[:0], root), g.before, g.comp
	left, in := g.roots[root], comp[root]
	for i := 0; i < len(queue) && left > 0; i++ {
		first, end := g.at[queue[i]], g.at[queue[i]+1]
		for j, to := range g.to[first:end] {
			switch j := first + int32(j); {
			case to == root:
				if g.wanted[j] {
					found = append(found, j)
					left--
				}
			case to >= 0 && before[to] == 0 && comp[to] == in:
				before[to] = j + 1
				queue = append(queue, to)
			}
		}
	}
	g.found, g.queue = found, queue
}

// turnCycle turns a cycle, in place, so that it begins with its least edge.
func turnCycle(cycle []edge) []edge {
	least := 0
	for i, e := range cycle {
		if e < cycle[least] {
			least = i
		}
	}
	slices.Reverse(cycle[:least])
	slices.Reverse(cycle[least:])
	slices.Reverse(cycle)
	return cycle
}

// hash is FNV-1a of a cycle, by whole edges.
func hash(cycle []edge) uint64 {
	h := uint64(14695981039346656037)
	for _, e := range cycle {
		h = (h ^ uint64(e)) * 1099511628211
	}
	return h
}
