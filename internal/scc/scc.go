// Package scc finds who can come back to itself in a graph: its strongly connected components.
//
// A graph of n nodes is two slices: the edges of node i lead to to[at[i]:at[i+1]], and a
// negative entry of to leads nowhere.
//
// The algorithm is Tarjan's (SIAM J. Comput. 1972), in time linear in nodes and edges, and with
// an explicit stack instead of recursion, because a chain of nodes may be as long as a fabric is
// large.
//
// Invariant: the same graph has the same numbers, whatever the Finder did before.
package scc

import "slices"

// Finder finds components. Its memory is used again, so that a graph no larger than one before
// takes no allocation. The zero value is ready.
type Finder struct {
	order, low  []int32 // by node, in order of discovery from 1
	next        []int32 // by node: index in to of the edge to follow next
	stack, path []int32 // nodes whose component is open; the way from where the search began
	at, to      []int32
	comp        []int32
	clock, n    int32
}

// Of comp's values while the search is under way.
const (
	none = -1 // on no cycle
	open = -2
)

// Find sets comp, which has an entry for each node, to the component of each: components that
// have a cycle are numbered from 0 in the order of their first nodes, a node on no cycle has -1.
// It returns the number of components. A node alone has a cycle if an edge leads to itself.
func (f *Finder) Find(comp, at, to []int32) int {
	n := len(at) - 1
	f.order, f.low, f.next = resized(f.order, n), resized(f.low, n), append(f.next[:0], at[:n]...)
	f.at, f.to, f.comp, f.clock, f.n = at, to, comp[:n], 0, 0
	clear(f.order)
	for i := range f.comp {
		f.comp[i] = open
	}
	for i := range int32(n) {
		if f.order[i] == 0 {
			f.visit(i)
		}
	}
	f.number()
	f.at, f.to, f.comp = nil, nil, nil
	return int(f.n)
}

func (f *Finder) visit(root int32) {
	f.enter(root)
	for len(f.path) > 0 {
		i := f.path[len(f.path)-1]
		if f.next[i] == f.at[i+1] {
			f.leave(i)
			continue
		}
		j := f.to[f.next[i]]
		f.next[i]++
		switch {
		case j < 0:
		case f.order[j] == 0:
			f.enter(j)
		case f.comp[j] == open:
			f.low[i] = min(f.low[i], f.order[j])
		}
	}
}

func (f *Finder) enter(i int32) {
	f.clock++
	f.order[i], f.low[i] = f.clock, f.clock
	f.stack, f.path = append(f.stack, i), append(f.path, i)
}

// leave ends the search below node i.
func (f *Finder) leave(i int32) {
	f.path = f.path[:len(f.path)-1]
	if len(f.path) > 0 {
		up := f.path[len(f.path)-1]
		f.low[up] = min(f.low[up], f.low[i])
	}
	if f.low[i] != f.order[i] {
		return
	}
	c := int32(none)
	if f.stack[len(f.stack)-1] != i || slices.Contains(f.to[f.at[i]:f.at[i+1]], i) {
		c = f.n
		f.n++
	}
	for {
		top := f.stack[len(f.stack)-1]
		f.stack = f.stack[:len(f.stack)-1]
		f.comp[top] = c
		if top == i {
			return
		}
	}
}

// number numbers the components, which are in the order in which the search left them, by their
// first nodes.
func (f *Finder) number() {
	number := f.low[:f.n] // by component, 0 for none yet
	clear(number)
	n := int32(0)
	for i, c := range f.comp {
		if c == none {
			continue
		}
		if number[c] == 0 {
			n++
			number[c] = n
		}
		f.comp[i] = number[c] - 1
	}
}

// resized is a slice of n entries in the memory of s, if that is enough.
func resized(s []int32, n int) []int32 { return slices.Grow(s[:0], n)[:n] }
