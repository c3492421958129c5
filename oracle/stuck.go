package oracle

import (
	"slices"

	"softswitch/internal/scc"
	"softswitch/unit"
)

// Stuck is the largest stuck set S* of an instant and the wait-for graph G on it: q
// waits for q' if bytes of down(q) wait in q' and q' is in S*. It is immutable.
type Stuck struct {
	// Queues are the queues of S*, in order of node, port, class.
	Queues []Queue
	// Components are the strongly connected components of G that have a cycle, in the
	// order of their first queues. Together they are the core.
	Components []Component

	comp    []int32 // by index of Queues: index of its component, -1 for a victim
	nextAt  []int32 // by index of Queues: its successors are next[nextAt[i]:nextAt[i+1]]
	next    []int32 // indices of Queues, ascending for each
	strong  []bool  // by index of next: the edge alone holds its bucket above XON
	flooded []bool  // by index of Queues: flooded frames of its bucket wait in S*
}

// Component is a set of queues each of which waits for every other, directly or not.
type Component struct {
	// Queues, in order of node, port, class.
	Queues []Queue
	// Knot: none of its queues waits for a queue outside it, so it is a root of the
	// deadlock: breaking the deadlock means breaking this component.
	Knot bool
	Kind
}

// Kind is how a component holds itself.
type Kind struct {
	// Strong: it has a cycle of strong edges; a strong edge is more than XON bytes of a
	// bucket in one queue. Without such a cycle the component is split: some bucket
	// waits for several queues, none of which alone holds it above XON.
	Strong bool
	// Flooded: flooded frames hold one of its buckets.
	Flooded bool
}

var nothing = &Stuck{nextAt: []int32{0}}

// Empty reports whether there is no deadlock.
func (s *Stuck) Empty() bool { return len(s.Queues) == 0 }

// Has reports whether q is in S*.
func (s *Stuck) Has(q Queue) bool { return s.index(q) >= 0 }

// InCore reports whether q is on a cycle of S*.
func (s *Stuck) InCore(q Queue) bool { return s.component(q) >= 0 }

// Victims are the queues of S* that are on no cycle: stuck behind the core.
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
	var waits []Queue
	if i := s.index(q); i >= 0 {
		for _, n := range s.successors(int32(i)) {
			waits = append(waits, s.Queues[n])
		}
	}
	return waits
}

// Cycle is a shortest cycle of G through q, in the order of waiting and from q on; nil
// if q is not in the core.
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

// equal reports whether S*, G and the kinds of the components are the same.
func (s *Stuck) equal(t *Stuck) bool {
	return slices.Equal(s.Queues, t.Queues) && slices.Equal(s.nextAt, t.nextAt) && slices.Equal(s.next, t.next) &&
		slices.EqualFunc(s.Components, t.Components, func(a, b Component) bool { return a.Kind == b.Kind })
}

// graph is the wait-for graph of the closed queues of a State, by index: queue i waits
// for bucket down(i), and of its frames those of hold h wait in the queues to[h]. Holds
// with no closed queue are left out.
type graph struct {
	queues []Queue // sorted where the order matters: see State.Stuck
	xon    []int   // by queue: of down(queue)
	holdAt []int32 // by queue i: its bucket's holds are holdAt[i] to holdAt[i+1]
	bytes  []int   // by hold
	flood  []bool  // by hold: its frames were flooded
	toAt   []int32 // by hold h: to[toAt[h]:toAt[h+1]]
	to     []int32
	in     [][]int32 // by queue: the holds with a copy in it
	owner  []int32   // by hold: the queue whose bucket it is charged to

	alive []bool  // by queue: not eliminated
	left  []int   // by queue: bytes of its bucket with a copy in a live queue
	live  []int32 // by hold: its live queues
	work  []int32
	kept  []int32 // by index in the result: the queue
	scc   scc.Finder
}

// Stuck computes the largest stuck set. It starts from all closed queues and
// eliminates, one by one, each queue whose bucket can fall to its XON by the bytes that
// wait outside the set. The cost is linear in the closed queues and the holds of their
// buckets (plus a sort, needed only if the set is not empty), and nothing if no
// relevant fact has changed since the last call.
func (s *State) Stuck() *Stuck {
	if !s.changed {
		return s.last
	}
	s.changed = false
	s.graph.build(s)
	s.graph.eliminate()
	if !slices.Contains(s.graph.alive, true) {
		s.last = nothing
		return s.last
	}
	if !slices.IsSortedFunc(s.closed, compareQueues) {
		s.sortClosed()
		s.graph.build(s)
		s.graph.eliminate()
	}
	s.last = s.graph.result()
	return s.last
}

func (s *State) sortClosed() {
	slices.SortFunc(s.closed, compareQueues)
	for i, q := range s.closed {
		s.queue(q).closed = int32(i) + 1
	}
}

// build makes the graph of the closed queues, in their order.
func (g *graph) build(s *State) {
	g.queues = append(g.queues[:0], s.closed...)
	g.xon, g.holdAt, g.bytes, g.owner = g.xon[:0], append(g.holdAt[:0], 0), g.bytes[:0], g.owner[:0]
	g.flood = g.flood[:0]
	g.toAt, g.to = append(g.toAt[:0], 0), g.to[:0]
	g.left, g.live, g.alive = g.left[:0], g.live[:0], g.alive[:0]
	for len(g.in) < len(g.queues) {
		g.in = append(g.in, nil)
	}
	for i := range g.queues {
		g.in[i] = g.in[i][:0]
	}
	for i, q := range g.queues {
		down, _ := s.fabric.Down(q)
		f := s.bucket(down)
		g.xon = append(g.xon, f.xon)
		g.alive = append(g.alive, true)
		g.left = append(g.left, 0)
		for _, h := range f.held {
			g.addHold(s, i, down.Node, h)
		}
		g.holdAt = append(g.holdAt, int32(len(g.bytes)))
	}
}

func (g *graph) addHold(s *State, i int, node unit.NodeID, h hold) {
	n, from := int32(len(g.bytes)), len(g.to)
	for ports := h.ports; ports != 0; ports &= ports - 1 {
		q := Queue{unit.NodePort{Node: node, Port: ports.First()}, h.class}
		if s.fabric.check(q.NodePort) != nil || s.queue(q).closed == 0 {
			continue
		}
		j := s.queue(q).closed - 1
		g.to = append(g.to, j)
		g.in[j] = append(g.in[j], n)
	}
	if copies := len(g.to) - from; copies > 0 {
		g.bytes = append(g.bytes, h.bytes)
		g.flood = append(g.flood, h.flooded)
		g.owner = append(g.owner, int32(i))
		g.toAt = append(g.toAt, int32(len(g.to)))
		g.live = append(g.live, int32(copies))
		g.left[i] += h.bytes
	}
}

func (g *graph) eliminate() {
	g.work = g.work[:0]
	for i := range g.queues {
		g.eliminateIfFree(int32(i))
	}
	for len(g.work) > 0 {
		i := g.work[len(g.work)-1]
		g.work = g.work[:len(g.work)-1]
		for _, h := range g.in[i] {
			if g.live[h]--; g.live[h] == 0 {
				g.left[g.owner[h]] -= g.bytes[h]
				g.eliminateIfFree(g.owner[h])
			}
		}
	}
}

// eliminateIfFree eliminates queue i if condition 3 fails: its bucket will go XON.
func (g *graph) eliminateIfFree(i int32) {
	if g.alive[i] && g.left[i] <= g.xon[i] {
		g.alive[i] = false
		g.work = append(g.work, i)
	}
}

// result returns the live queues, with their edges and components.
func (g *graph) result() *Stuck {
	n := int32(0)
	index := g.work[:0] // by queue: its index in the result
	g.kept = g.kept[:0]
	for i, alive := range g.alive {
		index = append(index, n)
		if alive {
			g.kept = append(g.kept, int32(i))
			n++
		}
	}
	g.work = index
	if n == 0 {
		return nothing
	}
	s := &Stuck{Queues: make([]Queue, 0, n), nextAt: make([]int32, 1, n+1)}
	for i, q := range g.queues {
		if !g.alive[i] {
			continue
		}
		s.Queues = append(s.Queues, q)
		from := len(s.next)
		for _, j := range g.to[g.toAt[g.holdAt[i]]:g.toAt[g.holdAt[i+1]]] {
			if g.alive[j] {
				s.next = append(s.next, index[j])
			}
		}
		slices.Sort(s.next[from:])
		s.next = s.next[:from+len(slices.Compact(s.next[from:]))]
		s.nextAt = append(s.nextAt, int32(len(s.next)))
		for _, n := range s.next[from:] {
			s.strong = append(s.strong, g.held(i, g.kept[n]) > g.xon[i])
		}
		s.flooded = append(s.flooded, g.isFlooded(i))
	}
	s.findComponents(&g.scc)
	s.findKinds()
	return s
}

// held is the bytes of queue i's bucket with a copy in queue j.
func (g *graph) held(i int, j int32) (sum int) {
	for h := g.holdAt[i]; h < g.holdAt[i+1]; h++ {
		if slices.Contains(g.to[g.toAt[h]:g.toAt[h+1]], j) {
			sum += g.bytes[h]
		}
	}
	return sum
}

// isFlooded reports whether flooded frames of queue i's bucket wait in a live queue.
func (g *graph) isFlooded(i int) bool {
	for h := g.holdAt[i]; h < g.holdAt[i+1]; h++ {
		if g.flood[h] && g.live[h] > 0 {
			return true
		}
	}
	return false
}

// findKinds removes from each component, one by one, each queue without a strong edge
// to one that is left: what remains has a cycle of strong edges.
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

// findComponents finds the components of G, and which of them are knots.
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
