package oracle

import (
	"slices"

	"softswitch/internal/lists"
	"softswitch/internal/scc"
)

// Stuck is the largest stuck set S* of an instant and the wait-for graph G on it: q
// waits for q' if bytes of down(q) wait in q' and q' is in S*; or if others' bytes of the pool
// of down(q) do, and without them the component of q would not be stuck. It is immutable.
//
// S* alone decides whether there is a deadlock. G only says of what shape it is: core, knots and
// victims are read from it, and who declares a queue has to name one of the core.
type Stuck struct {
	// Queues are the queues of S*, in order of node, port, priority.
	Queues []Queue
	// Components are the strongly connected components of G that have a cycle, in the
	// order of their first queues. Together they are the core.
	Components []Component
	// Opening are queues that are not in S*, and would be if XON stayed as it is: others of
	// their pool are about to leave, and then they resume, with no deadlock at any time. In order
	// of node, port, priority.
	Opening []Queue

	comp    []int32 // by index of Queues: index of its component, -1 for a victim
	nextAt  []int32 // by index of Queues: its successors are next[nextAt[i]:nextAt[i+1]]
	next    []int32 // indices of Queues, ascending for each
	strong  []bool  // by index of next: the edge alone holds its priority group above XON
	flooded []bool  // by index of Queues: flooded frames of its priority group wait in S*
}

// Component is a set of queues each of which waits for every other, directly or not: a strongly
// connected component of G that has a cycle.
type Component struct {
	// Queues, in order of node, port, priority.
	Queues []Queue
	// Knot: none of its queues waits for a queue outside it, so it is a root of the
	// deadlock: breaking the deadlock means breaking this component.
	Knot bool
	Kind
}

// Kind is how a component holds itself.
type Kind struct {
	// Strong: it has a cycle of strong edges; a strong edge is more than XON bytes of a
	// priority group in one queue. Without such a cycle the component is split: some priority group
	// waits for several queues, none of which alone holds it above XON.
	Strong bool
	// Flooded: flooded frames hold one of its priority groups.
	Flooded bool
}

// nothing is the result where nothing is stuck and nothing opens by itself: one for all, so that a run
// without deadlocks allocates none.
var nothing = &Stuck{nextAt: []int32{0}}

// Empty reports whether there is no deadlock.
func (s *Stuck) Empty() bool { return len(s.Queues) == 0 }

// Has reports whether q is in S*.
func (s *Stuck) Has(q Queue) bool { return s.index(q) >= 0 }

// InCore reports whether q is on a cycle of S*.
func (s *Stuck) InCore(q Queue) bool { return s.component(q) >= 0 }

// Victims are the queues of S* that are on no cycle: stuck behind the core. Nobody has to declare
// them, and a declaration that names one is not true: nothing that is done there helps.
func (s *Stuck) Victims() []Queue {
	var victims []Queue
	for i, q := range s.Queues {
		if s.comp[i] < 0 {
			victims = append(victims, q)
		}
	}
	return victims
}

// WaitsFor are the queues that q waits for, in order; none if q is not in S*.
func (s *Stuck) WaitsFor(q Queue) []Queue {
	i := s.index(q)
	if i < 0 {
		return nil
	}
	return lists.Map(s.successors(int32(i)), func(n int32) Queue { return s.Queues[n] })
}

// Cycle is a shortest cycle of G through q, in the order of waiting and from q on; nil
// if q is not in the core. The search is by breadth, so the first way back is a shortest one; of
// several it takes the one by the lowest queues, as successors are in order.
func (s *Stuck) Cycle(q Queue) []Queue {
	start := int32(s.index(q))
	if start < 0 || s.comp[start] < 0 {
		return nil
	}
	before := make([]int32, len(s.Queues)) // its predecessor on a shortest path from start, + 1
	for work := []int32{start}; ; work = work[1:] {
		at := work[0] // start is on a cycle, so the path back to it is found first
		for _, n := range s.successors(at) {
			if n == start {
				return s.way(before, start, at)
			}
			if before[n] == 0 {
				before[n] = at + 1
				work = append(work, n)
			}
		}
	}
}

// way is the path from one queue to another along before, both included.
func (s *Stuck) way(before []int32, from, to int32) []Queue {
	way := []Queue{s.Queues[to]}
	for at := to; at != from; {
		at = before[at] - 1
		way = append(way, s.Queues[at])
	}
	slices.Reverse(way)
	return way
}

func (s *Stuck) successors(i int32) []int32 { return s.next[s.nextAt[i]:s.nextAt[i+1]] }

// index is the number of q in Queues, -1 if it is not stuck. It relies on their order.
func (s *Stuck) index(q Queue) int {
	if i, ok := slices.BinarySearchFunc(s.Queues, q, compareQueues); ok {
		return i
	}
	return -1
}

// component is the index of q's component, -1 if it is in none.
func (s *Stuck) component(q Queue) int {
	if i := s.index(q); i >= 0 {
		return int(s.comp[i])
	}
	return -1
}

// equal reports whether S*, G, the kinds of the components and what opens by itself are the same. Then
// the components and their knots are the same too, for they follow from G.
func (s *Stuck) equal(t *Stuck) bool {
	return slices.Equal(s.Queues, t.Queues) && slices.Equal(s.Opening, t.Opening) && slices.Equal(s.nextAt, t.nextAt) && slices.Equal(s.next, t.next) &&
		slices.EqualFunc(s.Components, t.Components, func(a, b Component) bool { return a.Kind == b.Kind })
}

// findKinds removes from each component, one by one, each queue without a strong edge
// to one that is left: what remains has a cycle of strong edges. For from each queue that remains a strong
// edge leads to one that remains, and such a way comes back to itself, as queues are finitely many. And
// of a cycle of strong edges no queue can be the first to go.
func (s *Stuck) findKinds() {
	left := make([]bool, len(s.Queues))
	for i, c := range s.comp {
		left[i] = c >= 0
		if c >= 0 && s.flooded[i] {
			s.Components[c].Flooded = true
		}
	}
	for more := true; more; {
		more = false
		for i := range left {
			if left[i] && !s.hasStrong(int32(i), left) {
				left[i], more = false, true
			}
		}
	}
	for i, c := range s.comp {
		if left[i] {
			s.Components[c].Strong = true
		}
	}
}

// hasStrong reports whether queue i has a strong edge within its component to one of
// left.
func (s *Stuck) hasStrong(i int32, left []bool) bool {
	for k := s.nextAt[i]; k < s.nextAt[i+1]; k++ {
		if n := s.next[k]; s.strong[k] && left[n] && s.comp[n] == s.comp[i] {
			return true
		}
	}
	return false
}

// findComponents finds the components of G, and which of them are knots: those that no edge leaves,
// to a victim or to another component. The Finder numbers components by their first nodes, and nodes
// are in the order of queues; so the same G gives the same numbers.
func (s *Stuck) findComponents(f *scc.Finder) {
	s.comp = make([]int32, len(s.Queues))
	s.Components = make([]Component, f.Find(s.comp, s.nextAt, s.next))
	for i := range s.Components {
		s.Components[i].Knot = true
	}
	for i, q := range s.Queues {
		if s.comp[i] < 0 {
			continue
		}
		c := &s.Components[s.comp[i]]
		c.Queues = append(c.Queues, q)
		for _, n := range s.successors(int32(i)) {
			c.Knot = c.Knot && s.comp[n] == s.comp[i]
		}
	}
}
