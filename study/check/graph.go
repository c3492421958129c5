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
	to    []int32 // by index of edges: index in nodes of the head, -1 for a node without edges

	index []int32 // by node: index in nodes, valid if nodes has it there
	comp  []int32 // by index of nodes: its component, -1 for none with a cycle
	comps int

	scc    scc.Finder
	before []int32 // of searches: index of the edge by which a node was met, + 1
	queue  []int32
}

func (g *graph) init(nodes int) { g.index = make([]int32, nodes) }

// build makes the graph of those edges whose hops wait; edges are ascending.
func (g *graph) build(c *Checker, edges []edge) {
	edges = c.waiting(edges)
	g.nodes, g.at, g.to, g.edges = g.nodes[:0], g.at[:0], g.to[:0], edges
	for i, e := range edges {
		if n := c.groupOf(c.tail(e)); len(g.nodes) == 0 || g.nodes[len(g.nodes)-1] != n {
			g.index[n] = int32(len(g.nodes))
			g.nodes = append(g.nodes, n)
			g.at = append(g.at, int32(i))
		}
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
	g.comp = zero(g.comp, len(g.nodes))
	g.comps = g.scc.Find(g.comp, g.at, g.to)
}

func zero(s []int32, n int) []int32 {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// cycles calls fn with a shortest cycle through each edge of the components, the same one
// once or more. The edges are in the order of waiting and fn must not keep them. It starts
// from at most bound nodes, and returns false if there are more.
func (g *graph) cycles(bound int, fn func(cycle []edge)) bool {
	var cycle []edge
	for root := range int32(len(g.nodes)) {
		if g.comp[root] < 0 {
			continue
		}
		if bound == 0 {
			return false
		}
		bound--
		g.search(root)
		for _, from := range g.queue { // every node from which an edge leads back to root
			for i := g.at[from]; i < g.at[from+1]; i++ {
				if g.to[i] != root {
					continue
				}
				cycle = append(cycle[:0], g.edges[i])
				for at := from; at != root; {
					by := g.before[at] - 1
					cycle = append(cycle, g.edges[by])
					at = g.tailOf(by)
				}
				slices.Reverse(cycle)
				fn(cycle)
			}
		}
	}
	return true
}

// search meets all nodes of root's component, nearest first, and leaves them in queue.
func (g *graph) search(root int32) {
	g.before = zero(g.before, len(g.nodes))
	g.queue = append(g.queue[:0], root)
	for i := 0; i < len(g.queue); i++ {
		at := g.queue[i]
		for j := g.at[at]; j < g.at[at+1]; j++ {
			to := g.to[j]
			if to >= 0 && to != root && g.comp[to] == g.comp[root] && g.before[to] == 0 {
				g.before[to] = j + 1
				g.queue = append(g.queue, to)
			}
		}
	}
}

// tailOf is the node that edge i leaves.
func (g *graph) tailOf(i int32) int32 {
	at, found := slices.BinarySearch(g.at, i)
	if !found {
		at--
	}
	return int32(at)
}

// turned turns a cycle so that it begins with its least edge.
func turned(cycle []edge) []edge {
	least := 0
	for i, e := range cycle {
		if e < cycle[least] {
			least = i
		}
	}
	return append(slices.Clone(cycle[least:]), cycle[:least]...)
}
