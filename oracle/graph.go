package oracle

import (
	"slices"

	"softswitch/buffer"
	"softswitch/internal/scc"
	"softswitch/unit"
)

// graph is the wait-for graph of the closed queues of a State, by index: queue i waits
// for priority group down(i), and of its frames those of hold h wait in the queues to[h]. Holds
// with no closed queue are left out: their frames can leave, so condition 3 never counts them.
//
// A queue and the priority group that it waits for have one number: i stands for either. Priority groups of a
// pool for which no closed queue waits have the numbers after the queues. Lists of lists are flat, with the
// place at which each begins, and their memory is used again: a State is asked at every instant of a run.
//
// Invariants while queues are eliminated, at moments at which work is empty:
//   - left[i] is the bytes of priority group i that have a copy in some live queue;
//   - live[h] is in how many live queues the frames of hold h have a copy;
//   - used of a pool is what its priority groups use of it with these bytes, the headroom released first.
//
// While work is not, all three are too great by what the queues in it hold. That puts an elimination
// off, and never makes a wrong one.
type graph struct {
	queues []Queue // sorted where the order matters: see State.Stuck
	xon    []int   // by queue: of down(queue), if nothing is held but in live queues
	holdAt []int32 // by queue i: its priority group's holds are holdAt[i] to holdAt[i+1]
	bytes  []int   // by hold
	flood  []bool  // by hold: its frames were flooded
	toAt   []int32 // by hold h: to[toAt[h]:toAt[h+1]]
	to     []int32
	in     [][]int32 // by queue: the holds with a copy in it
	owner  []int32   // by hold: the queue whose priority group it is charged to, or a further one
	pools  []pool    // that priority groups of the graph share
	shares []share   // by queue, then the further priority groups of these pools; none if no switch has Rules

	alive  []bool  // by queue: not eliminated
	now    []bool  // by queue: held if XON stays as it is; empty without pools
	asItIs bool    // XON is not computed from the pool
	leans  []bool  // by queue: its component is stuck by what others hold of its priority group's pool
	left   []int   // by queue: bytes of its priority group with a copy in a live queue
	live   []int32 // by hold: its live queues
	work   []int32
	index  []int32 // by queue: its number in the result, if it is live
	kept   []int32 // by index in the result: the queue
	scc    scc.Finder
}

// pool is the shared pool of a switch whose priority groups decide about each other. Bytes that do not wait
// in live queues count as gone from it: condition 3 asks what XON would be then.
type pool struct {
	node  unit.NodeID
	used  int     // if nothing is held but in live queues
	of    []int32 // its priority groups in graph.shares
	dirty bool    // used has fallen since its priority groups were last looked at
}

// share is a priority group's share of a pool: by which rule it resumes, and how many bytes it has outside
// its headroom at most. Of less than that all is outside, for a release empties the headroom first.
type share struct {
	pool    int32 // index in graph.pools, -1 for none
	rule    buffer.Rule
	outside int
}

// Stuck computes the largest stuck set. It starts from all closed queues and
// eliminates, one by one, each queue whose priority group can fall to its XON by the bytes that
// wait outside the set. The cost is linear in the closed queues and the holds of their
// priority groups (plus a sort, needed only if the set is not empty), and nothing if no
// relevant fact has changed since the last call: see mayBeStuck. Where priority groups share a pool, all
// others are looked at again when one holds less.
//
// What is left is S*. Let A be the queues that are not yet eliminated.
//
//   - A contains S* at any time. It does at first, because each queue of S* is closed (conditions 1 and
//     2). Let q be the next to be eliminated: its priority group has XON bytes or fewer in A. In S*, a part
//     of A, it has no more; and its XON in a pool that only S* uses is no lower than in one that A uses. For
//     by buffer.Rule XON never falls when others leave the pool, nor when bytes of the priority group itself
//     do. So q breaks condition 3 in S* too: it is not of S*, and A still contains S* without it.
//   - At the end each queue of A meets condition 3 in A. So A is stuck, and S*, the largest stuck set,
//     contains it.
//
// It ends, because a queue is eliminated once, and a pool is looked at again only if a hold of it was
// released since; each hold is released once. In which order queues go makes no difference to the set.
//
// The order of closed is that of events, and S* does not depend on it. The result is a list in order,
// so what is stuck is computed once more with closed sorted.
func (s *State) Stuck() *Stuck {
	if !s.changed && !slices.ContainsFunc(s.came, s.mayBeStuck) {
		s.came = s.came[:0]
		return s.last
	}
	s.changed, s.came = false, s.came[:0]
	if !s.graph.find(s) {
		s.last = nothing
		return s.last
	}
	if !slices.IsSortedFunc(s.closed, compareQueues) {
		s.sortClosed()
		s.graph.find(s)
	}
	s.last = s.graph.result()
	return s.last
}

// find makes the graph of the closed queues and eliminates those that are not stuck. It reports
// whether any is, or would be if XON stayed as it was last told of, as it does without pools.
//
// With pools there are two passes. The first takes each XON for a constant, as last told of: what is
// left in it is held as long as nobody else leaves. In the second XON follows what is left in the pool:
// what is left then is S*. A queue of the first that is not of the second opens by itself. Eliminating
// uses the graph up, so it is built for each pass.
func (g *graph) find(s *State) bool {
	g.now = g.now[:0]
	g.build(s)
	if len(g.pools) > 0 {
		g.asItIs = true
		g.eliminate()
		g.asItIs = false
		g.now = append(g.now, g.alive...)
		g.build(s)
	}
	g.eliminate()
	return slices.Contains(g.alive, true) || slices.Contains(g.now, true)
}

// sortClosed sorts closed and tells each queue its new place.
func (s *State) sortClosed() {
	slices.SortFunc(s.closed, compareQueues)
	for i, q := range s.closed {
		s.queue(q).closed = int32(i) + 1
	}
}

// build makes the graph of the closed queues, in their order. First the priority groups that closed queues
// wait for, then the others of the pools that were met; the use of a pool is known when all are there.
func (g *graph) build(s *State) {
	g.queues = append(g.queues[:0], s.closed...)
	g.xon, g.holdAt, g.bytes, g.owner = g.xon[:0], append(g.holdAt[:0], 0), g.bytes[:0], g.owner[:0]
	g.flood = g.flood[:0]
	g.toAt, g.to = append(g.toAt[:0], 0), g.to[:0]
	g.left, g.live, g.alive, g.leans = g.left[:0], g.live[:0], g.alive[:0], g.leans[:0]
	g.pools, g.shares = g.pools[:0], g.shares[:0]
	for len(g.in) < len(g.queues) {
		g.in = append(g.in, nil)
	}
	for i := range g.queues {
		g.in[i] = g.in[i][:0]
	}
	for i, q := range g.queues {
		down, _ := s.fabric.Down(q)
		f := s.pg(down)
		g.xon = append(g.xon, f.xon)
		g.alive, g.leans = append(g.alive, true), append(g.leans, false)
		g.addPG(s, i, down, f)
	}
	for i := range g.pools {
		g.addOthers(s, int32(i))
	}
	for i, sh := range g.shares {
		if sh.pool >= 0 {
			g.pools[sh.pool].used += sh.rule.Shared(min(g.left[i], sh.outside))
		}
	}
}

// addPG adds priority group b, which is number i. Numbers are given in order, so holdAt[i] is already where
// its holds begin. A switch without Rules takes no part in any pool.
func (g *graph) addPG(s *State, i int, b PG, f *pgFacts) {
	g.left = append(g.left, 0)
	if s.fabric.pools {
		g.shares = append(g.shares, share{pool: -1})
	}
	if rules := s.fabric.node(b.Node).Rules; rules != nil {
		g.shares[i] = share{g.pool(b.Node), rules[b.Port], f.outside}
		g.shares[i].rule.Extra = f.extra
		at := &g.pools[g.shares[i].pool]
		at.of = append(at.of, int32(i))
	}
	for _, h := range f.held {
		g.addHold(s, i, b.Node, h)
	}
	g.holdAt = append(g.holdAt, int32(len(g.bytes)))
}

// pool is the number of a node's pool.
func (g *graph) pool(node unit.NodeID) int32 {
	for i := range g.pools {
		if g.pools[i].node == node {
			return int32(i)
		}
	}
	g.pools = append(g.pools, pool{node: node})
	return int32(len(g.pools) - 1)
}

// addOthers adds the priority groups of a pool that no closed queue waits for: what they have in closed
// queues stays in the pool as long as these are stuck, and so lowers the XON of the others. Nothing is
// asked of them: there is no queue to eliminate.
func (g *graph) addOthers(s *State, at int32) {
	node := g.pools[at].node
	pgs := s.node(node).pgs
	for i := range pgs {
		f := &pgs[i]
		b := PG{unit.NodePort{Node: node, Port: unit.Port(i / unit.Priorities)}, unit.Priority(i % unit.Priorities)}
		if len(f.held) == 0 {
			continue
		}
		if q, wired := s.fabric.Up(b); !wired || s.queue(q).closed == 0 {
			g.addPG(s, len(g.shares), b, f)
		}
	}
}

// addHold adds a hold of priority group i, by its closed queues. Copies in other queues are left out: such a
// copy leaves, but the bytes stay charged until the last copy has left.
func (g *graph) addHold(s *State, i int, node unit.NodeID, h hold) {
	n, from := int32(len(g.bytes)), len(g.to)
	for ports := h.ports; !ports.Empty(); ports.Pop() {
		q := Queue{unit.NodePort{Node: node, Port: ports.First()}, h.priority}
		if !s.fabric.has(q.NodePort) || s.queue(q).closed == 0 {
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

// eliminate eliminates queues until each that is left meets condition 3: first those that break it from
// the start, then those that break it because others went. work has queues that are eliminated and
// whose holds are not yet released; a hold goes with the last of its copies.
func (g *graph) eliminate() {
	g.work = g.work[:0]
	for i := range g.queues {
		g.eliminateIfFree(int32(i))
	}
	for more := true; more; {
		for len(g.work) > 0 {
			i := g.work[len(g.work)-1]
			g.work = g.work[:len(g.work)-1]
			for _, h := range g.in[i] {
				if g.live[h]--; g.live[h] == 0 {
					g.release(g.owner[h], g.bytes[h])
				}
			}
		}
		more = g.lookAgain()
	}
}

// release takes bytes from what priority group i holds in live queues. That may eliminate its own queue at
// once. The others of its pool are only noted (dirty), and looked at once for many releases. Bytes that were
// in the headroom leave the use of the pool as it was.
func (g *graph) release(i int32, bytes int) {
	was := g.left[i]
	g.left[i] -= bytes
	if len(g.shares) > 0 && g.shares[i].pool >= 0 {
		sh := &g.shares[i]
		freed := sh.rule.Shared(min(was, sh.outside)) - sh.rule.Shared(min(g.left[i], sh.outside))
		g.pools[sh.pool].used -= freed
		g.pools[sh.pool].dirty = g.pools[sh.pool].dirty || freed > 0
	}
	g.eliminateIfFree(i)
}

// lookAgain looks at all priority groups of the pools that have become emptier, and reports whether
// there were any: each XON of such a pool may have risen to what its priority group holds.
func (g *graph) lookAgain() (any bool) {
	for n := range g.pools {
		p := &g.pools[n]
		if !p.dirty {
			continue
		}
		p.dirty, any = false, true
		for _, i := range p.of {
			g.eliminateIfFree(i)
		}
	}
	return any
}

// eliminateIfFree eliminates queue i if condition 3 fails: its priority group will go XON. A priority group
// at XON resumes, as in the switch (buffer.MMU), so only more than XON bytes hold it. A number beyond the
// queues is a further priority group of a pool, for which no closed queue waits.
func (g *graph) eliminateIfFree(i int32) {
	if int(i) >= len(g.alive) || !g.alive[i] {
		return
	}
	if len(g.shares) > 0 && g.shares[i].pool >= 0 && !g.asItIs {
		sh := &g.shares[i]
		g.xon[i] = sh.rule.XON(g.pools[sh.pool].used, min(g.left[i], sh.outside))
	}
	if g.left[i] <= g.xon[i] {
		g.alive[i] = false
		g.work = append(g.work, i)
	}
}

// result returns the live queues, with their edges and components. An edge to where others of
// a pool wait is there only if its component would not be stuck without: so two deadlocks that
// meet in a switch are one only if neither stands alone.
//
// Such edges change what the components are and which of them are knots, and only of knots it is asked
// whether they lean; so edges and components are made again until no more queues do. It ends, for each
// round finds at least one queue more.
func (g *graph) result() *Stuck {
	n := int32(0)
	g.index, g.kept = g.index[:0], g.kept[:0]
	for i, alive := range g.alive {
		g.index = append(g.index, n)
		if alive {
			g.kept = append(g.kept, int32(i))
			n++
		}
	}
	var opening []Queue
	for i, held := range g.now {
		if held && !g.alive[i] {
			opening = append(opening, g.queues[i])
		}
	}
	if n == 0 && opening == nil {
		return nothing
	}
	for {
		s := g.edges()
		s.Opening = opening
		s.findComponents(&g.scc)
		if !g.lean(s) {
			s.findKinds()
			return s
		}
	}
}

// edges returns the live queues with their edges. Each list is in order and names a queue once: several
// holds of a priority group may wait in one queue. Whether an edge is strong is by XON as it was when the
// elimination ended, in a pool that only S* uses.
func (g *graph) edges() *Stuck {
	n := len(g.kept)
	s := &Stuck{Queues: make([]Queue, 0, n), nextAt: make([]int32, 1, n+1)}
	for _, i := range g.kept {
		s.Queues = append(s.Queues, g.queues[i])
		from := len(s.next)
		s.next = g.waits(s.next, i)
		if g.leans[i] {
			for _, k := range g.pools[g.shares[i].pool].of {
				s.next = g.waits(s.next, k)
			}
		}
		slices.Sort(s.next[from:])
		s.next = s.next[:from+len(slices.Compact(s.next[from:]))]
		s.nextAt = append(s.nextAt, int32(len(s.next)))
		for _, n := range s.next[from:] {
			s.strong = append(s.strong, g.held(int(i), g.kept[n]) > g.xon[i])
		}
		s.flooded = append(s.flooded, g.isFlooded(int(i)))
	}
	return s
}

// waits appends the live queues in which bytes of priority group i wait, as they are numbered in the
// result.
func (g *graph) waits(to []int32, i int32) []int32 {
	for _, j := range g.to[g.toAt[g.holdAt[i]]:g.toAt[g.holdAt[i+1]]] {
		if g.alive[j] {
			to = append(to, g.index[j])
		}
	}
	return to
}

// lean finds the queues whose priority groups would resume if nothing but the component of s that they
// are in were stuck, where no edge leads out of that. It reports whether it found more of them.
//
// Only a knot is asked. A component that an edge leaves waits for another one as it is, and victims wait
// for the core. A knot that does not stand alone is none: others hold its pool, and it opens if they do.
func (g *graph) lean(s *Stuck) (more bool) {
	if len(g.pools) == 0 {
		return false
	}
	for n, i := range g.kept {
		c := s.comp[n]
		if c < 0 || !s.Components[c].Knot || g.shares[i].pool < 0 || g.leans[i] || g.stands(s, c, i) {
			continue
		}
		g.leans[i], more = true, true
	}
	return more
}

// stands reports whether the priority group of queue i would stay XOFF if nothing but component c of s
// were stuck: condition 3 for the component as the set, from the holds and not from left, which is
// that of all live queues.
func (g *graph) stands(s *Stuck, c, i int32) bool {
	used, left := 0, 0
	for _, k := range g.pools[g.shares[i].pool].of {
		sh, n := &g.shares[k], 0
		for h := g.holdAt[k]; h < g.holdAt[k+1]; h++ {
			if slices.ContainsFunc(g.to[g.toAt[h]:g.toAt[h+1]], func(j int32) bool { return g.alive[j] && s.comp[g.index[j]] == c }) {
				n += g.bytes[h]
			}
		}
		used += sh.rule.Shared(min(n, sh.outside))
		if k == i {
			left = n
		}
	}
	return left > g.shares[i].rule.XON(used, min(left, g.shares[i].outside))
}

// held is the bytes of queue i's priority group with a copy in queue j.
func (g *graph) held(i int, j int32) (sum int) {
	for h := g.holdAt[i]; h < g.holdAt[i+1]; h++ {
		if slices.Contains(g.to[g.toAt[h]:g.toAt[h+1]], j) {
			sum += g.bytes[h]
		}
	}
	return sum
}

// isFlooded reports whether flooded frames of queue i's priority group wait in a live queue.
func (g *graph) isFlooded(i int) bool {
	for h := g.holdAt[i]; h < g.holdAt[i+1]; h++ {
		if g.flood[h] && g.live[h] > 0 {
			return true
		}
	}
	return false
}
