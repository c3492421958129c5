package check

import (
	"slices"

	"softswitch/internal/lists"
	"softswitch/unit"
)

// maxOfCase limits the cycles that are kept of a case.
const maxOfCase = 1000

// Result is what a case allows.
type Result struct {
	cycles   []found
	shortest *shortest // of no failure
	opened   *opened   // of a link, if neither it nor no failure has a cycle
	shift    *shift    // of a link, if neither it nor no failure has a cycle, and it adds no edge
	pairs    *pairs    // of no failure, once all links are known
	edges    bitset    // all edges of the case: of no failure, and of a single link if it has a cycle
	flows    map[string]bool
	Cyclic   bool // some cycle, whether of fewer failures too or not
	Bounded  bool // not all were looked at
}

// found is a cycle, turned so that it begins with its least edge.
type found struct {
	edges      []edge
	priorities unit.PrioritySet // of the flows that close it; empty if hosts could
}

// known is what cases of fewer failures have told, for those of more.
type known struct {
	none  *Result
	links []*Result // by index in links
	pairs *pairs    // nil if every pair is checked as a whole
}

// bitset is a set of edges.
type bitset []uint64

func (b bitset) has(e edge) bool { return b[e/64]>>(e%64)&1 != 0 }

// Phases are the numbers at which to stop and to Know before more cases are checked.
func (c *Checker) Phases(failures int) (ends []int) {
	last := c.Cases(failures)
	for _, end := range []int{1, c.singleOf(len(c.links)), c.Singles(), last} {
		if end < last {
			ends = append(ends, end)
		}
	}
	return append(ends, last)
}

// Know takes note of the results of the first cases, in their order, so that their cycles
// are not found again where more fails.
func (c *Checker) Know(first []*Result) {
	c.known.none = first[0]
	if from := c.singleOf(0); len(first) >= from+len(c.links) {
		c.known.links = first[from:][:len(c.links)]
	}
	if c.known.pairs == nil && len(first) == c.Singles() {
		if first[0].pairs == nil {
			first[0].pairs = c.newPairs(first)
		}
		c.known.pairs = first[0].pairs
	}
}

// Check checks case i. The cycles in its result are those that no case of fewer failures
// has, as far as they are known, and those that the flows of the file close.
func (c *Checker) Check(i int) *Result {
	k := c.Case(i)
	if k.Kind == PairFailure && c.known.pairs != nil {
		if r := c.checkPair(k); r != nil {
			return r
		}
	}
	r := &Result{}
	if len(c.priorities) == 0 {
		r.edges = make(bitset, len(c.counts)/64+1)
		return r
	}
	c.setLinks(k.Links, false)
	defer c.setLinks(k.Links, true)
	c.grow()
	defer c.restore()
	free := c.known.none != nil && !c.known.none.Cyclic && len(c.supposed) == 0
	if k.Kind == LinkFailure && free && c.routing == nil {
		r.opened = c.open(k)
	}
	if free && len(c.change.dests) == 0 && len(c.plan.Fabric.LAGs) == 0 { // edges of no failure, some of which are down
		r.shift = c.shiftOf(k)
		return r
	}
	edges := c.edgesUp()
	if free && !slices.ContainsFunc(edges, func(e edge) bool { return !c.known.none.edges.has(e) }) {
		r.shift = c.shiftOf(k)
	}
	c.g.build(c, c.oneOfEachLAG(edges))
	if c.g.comps > 0 && c.lose(k) { // a cycle may come of edges that the failures take away
		edges = c.edgesUp()
		c.g.build(c, c.oneOfEachLAG(edges))
	}
	if k.Kind == NoFailure || k.Kind == LinkFailure && c.g.comps > 0 {
		r.edges = make(bitset, len(c.counts)/64+1)
		for _, e := range edges {
			r.edges[e/64] |= 1 << (e % 64)
		}
	}
	if r.Cyclic = c.g.comps > 0; r.Cyclic {
		r.opened = nil
	}
	if r.Cyclic || k.Kind == NoFailure {
		c.hostCycles(k, r)
		c.flowCycles(k, r)
	}
	return r
}

// edgesUp are the edges that there are, but for those of links that are down.
func (c *Checker) edgesUp() (edges []edge) {
	per := c.width * len(c.priorities)
	for i := range c.ports {
		at := &c.ports[i]
		if at.peer < 0 || c.down[at.link] {
			continue
		}
		ports := len(c.plan.Fabric.Nodes[at.sw].Ports) * len(c.priorities)
		for j := range c.priorities {
			of := edge(int(c.node(int32(i), j)) * per)
			for o, count := range c.counts[of:][:ports] {
				if count > 0 && !c.down[c.portOf(c.head(of+edge(o))).link] {
					edges = append(edges, of+edge(o))
				}
			}
		}
	}
	return edges
}

// hostCycles adds the cycles of the graph that is built.
func (c *Checker) hostCycles(k Case, r *Result) {
	switch {
	case k.Kind == NoFailure:
		c.g.wantAll()
		r.shortest = newShortest(&c.g)
	case c.known.none == nil || !c.known.none.Cyclic: // no cycle is known, or there is none
		c.g.wantAll()
	default:
		c.g.wantNew(c, c.known.none.shortest)
	}
	kept := &c.kept
	kept.begin()
	var cycle []edge
	c.g.cycles(func(by []int32) {
		if k.Kind == NoFailure {
			r.shortest.add(by)
		}
		cycle = cycle[:0]
		for _, i := range by {
			cycle = append(cycle, c.g.edges[i])
		}
		if !c.isKnown(k, cycle) && !kept.add(turnCycle(cycle)) {
			r.Bounded = true
		}
	})
	r.cycles = slices.Clone(kept.all)
	if k.Kind == NoFailure {
		r.shortest.close()
	}
}

// distinct is the cycles of a case, each once.
type distinct struct {
	all   []found
	slots [2 * maxOfCase]int16 // by hash, or the next free ones: index in all, + 1
	room  []edge               // for those of all, of many cases
}

func (d *distinct) begin() {
	d.all = d.all[:0]
	clear(d.slots[:])
}

// add keeps a copy of a cycle if it is a new one. It returns false if there are too many.
func (d *distinct) add(cycle []edge) bool {
	at := int(hash(cycle) >> 32 % uint64(len(d.slots)))
	for d.slots[at] > 0 && !slices.Equal(d.all[d.slots[at]-1].edges, cycle) {
		at = (at + 1) % len(d.slots)
	}
	if d.slots[at] > 0 {
		return true
	}
	if len(d.all) == maxOfCase {
		return false
	}
	if cap(d.room)-len(d.room) < len(cycle) {
		d.room = make([]edge, 0, max(4096, len(cycle)))
	}
	d.room = append(d.room, cycle...)
	d.all = append(d.all, found{edges: slices.Clip(d.room[len(d.room)-len(cycle):])})
	d.slots[at] = int16(len(d.all))
	return true
}

// isKnown reports whether a cycle is one of a case of fewer failures.
func (c *Checker) isKnown(k Case, cycle []edge) bool {
	in := func(r *Result) bool {
		return r != nil && r.edges != nil && !slices.ContainsFunc(cycle, func(e edge) bool { return !r.edges.has(e) })
	}
	if k.Kind == NoFailure {
		return false
	}
	if in(c.known.none) {
		return true
	}
	if k.Kind == PairFailure || k.Kind == SwitchFailure {
		for _, l := range k.Links {
			if i := c.indexOf[l]; i >= 0 && c.known.links != nil && in(c.known.links[i]) {
				return true
			}
		}
	}
	return false
}

// flowCycles adds the cycles that the flows of the file close.
func (c *Checker) flowCycles(k Case, r *Result) {
	var all []edge
	var of []int // by index of all: the flow
	for i := range c.flows {
		edges := c.flows[i].edges
		if c.routing != nil || c.passes(i, k) {
			edges, _ = c.follow(i)
		}
		for _, e := range edges {
			all, of = append(all, e), append(of, i)
		}
	}
	if len(all) == 0 {
		return
	}
	r.flows = map[string]bool{}
	for _, priority := range c.flowPriorities() {
		var edges []edge
		for j, e := range all {
			if !c.alike || c.flows[of[j]].priority == priority {
				edges = append(edges, e)
			}
		}
		slices.Sort(edges)
		c.g.build(c, slices.Compact(edges))
		c.g.wantAll()
		c.g.cycles(func(by []int32) {
			c.addFlowCycle(k, r, turnCycle(lists.Map(by, func(i int32) edge { return c.g.edges[i] })), priority)
		})
	}
}

// flowPriorities are the priorities to be looked at apart: all lossless ones where they are
// alike, and else one for all, since frames change theirs.
func (c *Checker) flowPriorities() []unit.Priority {
	if c.alike {
		return c.lossless
	}
	return c.lossless[:1]
}

func (c *Checker) addFlowCycle(k Case, r *Result, cycle []edge, priority unit.Priority) {
	key := string(rune('0'+priority)) + key(cycle)
	if r.flows[key] {
		return
	}
	r.flows[key] = true
	if k.Kind != NoFailure && c.known.none != nil && c.known.none.flows[key] {
		return
	}
	for _, l := range k.Links {
		if i := c.indexOf[l]; i >= 0 && len(k.Links) > 1 && k.Kind != FileFailure && c.known.links != nil && c.known.links[i].flows[key] {
			return
		}
	}
	for i := range r.cycles {
		if f := &r.cycles[i]; f.priorities != 0 && slices.Equal(f.edges, cycle) {
			f.priorities.Add(priority)
			return
		}
	}
	r.cycles = append(r.cycles, found{edges: cycle, priorities: 1 << priority})
}

// passes reports whether a flow passes a switch beside a failed link while nothing fails.
func (c *Checker) passes(i int, k Case) bool {
	for _, l := range k.Links {
		link := c.plan.Fabric.Links[l]
		if link.A.Node >= len(c.switches) || link.B.Node >= len(c.switches) ||
			slices.Contains(c.flows[i].hops, int32(link.A.Node)) || slices.Contains(c.flows[i].hops, int32(link.B.Node)) {
			return true
		}
	}
	return false
}

// key is a cycle as a key of maps.
func key(cycle []edge) string {
	b := make([]byte, 0, 4*len(cycle))
	for _, e := range cycle {
		b = append(b, byte(e), byte(e>>8), byte(e>>16), byte(e>>24))
	}
	return string(b)
}
