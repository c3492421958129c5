package check

import (
	"math/bits"
	"slices"

	"softswitch/internal/lists"
	"softswitch/unit"
)

// Where neither no failure nor one link has a cycle, two links have one only by edges that both of them
// open: from what the one opens frames come to what the other opens, and back. So most pairs are decided
// from what their links open, without a graph of the fabric; and of the others the graph is that between the
// new edges.

// opened is what the failure of a link opens.
type opened struct {
	edges []edge                 // that there are not while nothing fails, ascending
	met   []hopOf                // hops by which frames come for the first time
	hops  []hopOf                // into the switches beside the link, where frames come or not, whose ports are more
	ways  map[hopOf]unit.PortSet // by hops: the ports in addition
	ahead bitset                 // nodes to which the new edges lead, by all edges
	back  bitset                 // nodes from which they are reached
	tails []node                 // where they begin
	apart []uint64               // by index in links: the pair of it with this one is not what both open
	links []uint64               // of the fabric: what it opens leads over these
	dests []int                  // for which it opens something
	loses bool                   // with one more link down frames may come later, or no longer, behind it
}

// hopOf is a hop and a destination.
type hopOf struct {
	n node
	d int32
}

// pairs is what all links open, and the edges of no failure.
type pairs struct {
	shifted *shifted // of a protocol, in place of what follows

	opened []*opened // by index in links, nil for one whose pairs are checked as a whole
	at     []int32   // by node: its edges are edges[at[n]:at[n+1]]
	edges  []edge
	heads  []node
}

// open notes what a link opens, once its ways are counted. It is nil if its pairs have to be checked as a whole.
func (c *Checker) open(k Case) *opened {
	o := &opened{ways: map[hopOf]unit.PortSet{}, links: make([]uint64, len(c.down)/64+1), dests: slices.Clone(c.change.dests)}
	use := func(n node) { o.links[c.portOf(n).link/64] |= 1 << (c.portOf(n).link % 64) }
	for _, d := range c.change.dests {
		if c.change.state[d] != grown {
			return nil
		}
		for _, e := range c.change.extra[d] {
			use(c.tail(e))
			use(c.head(e))
			if !c.known.none.edges.has(e) {
				o.edges = append(o.edges, e)
			}
		}
	}
	slices.Sort(o.edges)
	o.edges = slices.Compact(o.edges)
	o.met = slices.Clone(c.change.met)
	for _, h := range o.met {
		use(h.n)
	}
	o.loses = c.losesAny(k, 2)
	c.eachWay(c.change.touched, func(h hopOf, more unit.PortSet) { o.hops, o.ways[h] = append(o.hops, h), more })
	return o
}

// eachWay calls fn with the ports in addition, with the links as they are, of each hop into these switches
// and each destination.
func (c *Checker) eachWay(switches []int32, fn func(h hopOf, more unit.PortSet)) {
	for d := range c.dests {
		for _, s := range switches {
			for i := range c.plan.Fabric.Nodes[s].Ports {
				for j := range c.priorities {
					n := c.node(c.portNumber(int(s), unit.Port(i)), j)
					if c.down[c.portOf(n).link] {
						continue
					}
					if more := c.ask(n, d, &c.dests[d]).Without(c.waysUp(n, d)); !more.Empty() {
						fn(hopOf{n, int32(d)}, more)
					}
				}
			}
		}
	}
}

// newPairs prepares the pairs of links, from the results of the cases before them, nil for those that were not
// checked. It is nil if every pair has to be checked as a whole.
func (c *Checker) newPairs(first []*Result) *pairs {
	if first[0].Cyclic || len(c.priorities) == 0 || len(c.supposed) > 0 {
		return nil
	}
	if c.routing != nil {
		return c.newShifted(first)
	}
	if c.group != nil || len(c.plan.Fabric.LAGs) > 0 {
		return nil
	}
	p := &pairs{at: make([]int32, 1, len(c.ports)*len(c.priorities)+1)}
	per := edge(c.width * len(c.priorities))
	for n := range edge(cap(p.at) - 1) {
		for e := n * per; e < (n+1)*per; e++ {
			if first[0].edges.has(e) {
				p.edges, p.heads = append(p.edges, e), append(p.heads, c.head(e))
			}
		}
		p.at = append(p.at, int32(len(p.edges)))
	}
	back := reversed(p.at, p.heads)
	by := map[hopOf][]int{}
	for i := range c.links {
		r := first[c.singleOf(i)]
		if r == nil || r.opened == nil {
			p.opened = append(p.opened, nil)
			continue
		}
		o := r.opened
		p.opened = append(p.opened, o)
		for _, h := range o.hops {
			by[h] = append(by[h], i)
		}
		o.ahead, o.back = newBitset(cap(p.at)), newBitset(cap(p.at))
		o.apart = make([]uint64, len(c.links)/64+1)
		heads, next, before := []node{}, map[node][]node{}, map[node][]node{}
		for _, e := range o.edges {
			tail, head := c.tail(e), c.head(e)
			o.tails, heads = append(o.tails, tail), append(heads, head)
			next[tail], before[head] = append(next[tail], head), append(before[head], tail)
		}
		o.ahead.spread(heads, func(n node) [2][]node { return [2][]node{p.heads[p.at[n]:p.at[n+1]], next[n]} })
		o.back.spread(o.tails, func(n node) [2][]node { return [2][]node{back.nodes[back.at[n]:back.at[n+1]], before[n]} })
		o.tails = slices.Compact(o.tails)
	}
	for i, o := range p.opened {
		if o == nil {
			continue
		}
		for _, h := range o.met {
			for _, j := range by[h] {
				o.apart[j/64] |= 1 << (j % 64)
				p.opened[j].apart[i/64] |= 1 << (i % 64)
			}
		}
	}
	return p
}

func newBitset(n int) bitset { return make(bitset, n/64+1) }

// spread adds nodes, and all that lie behind them.
func (b bitset) spread(nodes []node, next func(node) [2][]node) {
	queue := slices.Clone(nodes)
	for i := 0; i < len(queue); i++ {
		n := queue[i]
		if b[n/64]>>(n%64)&1 != 0 {
			continue
		}
		b[n/64] |= 1 << (n % 64)
		for _, list := range next(n) {
			queue = append(queue, list...)
		}
	}
}

// nodeLists are nodes by node.
type nodeLists struct {
	at    []int32
	nodes []node
}

// reversed turns edges round.
func reversed(at []int32, heads []node) (r nodeLists) {
	r.at, r.nodes = make([]int32, len(at)), make([]node, len(heads))
	for _, h := range heads {
		r.at[h+1]++
	}
	for i := range len(at) - 1 {
		r.at[i+1] += r.at[i]
	}
	fill := slices.Clone(r.at)
	for n := range len(at) - 1 {
		for _, h := range heads[at[n]:at[n+1]] {
			r.nodes[fill[h]] = node(n)
			fill[h]++
		}
	}
	return r
}

// nothing is the result of a case without a cycle.
var nothing = &Result{}

// checkPair is Check of two links, nil if they have to be checked as a whole.
func (c *Checker) checkPair(k Case) *Result {
	p := c.known.pairs
	if p.shifted != nil {
		return c.checkShifted(k)
	}
	i, j := c.indexOf[k.Links[0]], c.indexOf[k.Links[1]]
	a, b := p.opened[i], p.opened[j]
	if a == nil || b == nil || a.apart[j/64]>>(j%64)&1 != 0 || !c.openAlone(k, a, b) {
		return nil
	}
	leads := func(a, b *opened) bool {
		return slices.ContainsFunc(b.tails, func(n node) bool { return a.ahead.has(edge(n)) })
	}
	if !leads(a, b) || !leads(b, a) {
		return nothing
	}
	return c.checkOpened(k, a, b)
}

// checkOpened is checkPair of two links of which each leads to what the other opens.
func (c *Checker) checkOpened(k Case, a, b *opened) *Result {
	added := slices.Concat(a.edges, b.edges)
	c.down[k.Links[0]], c.down[k.Links[1]] = true, true
	c.g.build(c, c.edgesBetween(a, b, added))
	cyclic := c.g.comps > 0
	c.down[k.Links[0]], c.down[k.Links[1]] = false, false
	if !cyclic {
		return nothing
	}
	c.setLinks(k.Links, false)
	defer c.setLinks(k.Links, true)
	if a.leadsOver(k.Links[1]) || b.leadsOver(k.Links[0]) { // not all that each opens alone is left
		var whole bool
		if added, whole = c.openTogether(a, b); !whole {
			return nil
		}
		if c.g.build(c, c.edgesBetween(a, b, added)); c.g.comps == 0 {
			return nothing
		}
	}
	if (a.loses || b.loses) && c.losesAny(k, 1) {
		return nil
	}
	r := &Result{Cyclic: true}
	c.hostCycles(k, r)
	c.flowCycles(k, r)
	return r
}

func (o *opened) leadsOver(link int) bool { return o.links[link/64]>>(link%64)&1 != 0 }

// openTogether are the edges that two links open which are down; whole says that these are all.
func (c *Checker) openTogether(a, b *opened) (added []edge, whole bool) {
	dests := slices.Concat(a.dests, b.dests)
	slices.Sort(dests)
	c.findTouched()
	whole = true
	for _, d := range slices.Compact(dests) {
		whole = whole && c.growOne(d)
	}
	for _, d := range c.change.dests {
		added = append(added, lists.Where(c.change.extra[d], func(e edge) bool { return !c.known.none.edges.has(e) })...)
	}
	c.restore()
	return added, whole
}

// openAlone reports whether two links open nothing together, at a switch that has both, that none opens alone.
func (c *Checker) openAlone(k Case, a, b *opened) bool {
	s := c.common(k)
	if s == nil {
		return true
	}
	c.setLinks(k.Links, false)
	alone := true
	c.eachWay(s, func(h hopOf, more unit.PortSet) {
		alone = alone && more.Without(a.ways[h]).Without(b.ways[h]).Empty()
	})
	c.setLinks(k.Links, true)
	return alone
}

// common are the switches that have both links of a case.
func (c *Checker) common(k Case) (switches []int32) {
	x, y := c.plan.Fabric.Links[k.Links[0]], c.plan.Fabric.Links[k.Links[1]]
	for _, s := range [...]int{x.A.Node, x.B.Node} {
		if s < len(c.switches) && (s == y.A.Node || s == y.B.Node) {
			switches = append(switches, int32(s))
		}
	}
	return switches
}

// edgesBetween are the edges on all ways from what two links open, which are added, to what they open.
func (c *Checker) edgesBetween(a, b *opened, added []edge) (edges []edge) {
	p := c.known.pairs
	in := func(n node) bool {
		w := n / 64
		return (a.ahead[w]|b.ahead[w])&(a.back[w]|b.back[w])>>(n%64)&1 != 0
	}
	slices.Sort(added)
	added = slices.Compact(added)
	add := func(e edge, head node) {
		if in(head) && !c.down[c.portOf(head).link] {
			edges = append(edges, e)
		}
	}
	for w := range a.ahead {
		for left := (a.ahead[w] | b.ahead[w]) & (a.back[w] | b.back[w]); left != 0; left &= left - 1 {
			n := node(w*64 + bits.TrailingZeros64(left))
			for len(added) > 0 && c.tail(added[0]) < n {
				added = added[1:]
			}
			if c.down[c.portOf(n).link] {
				continue
			}
			for i := p.at[n]; i < p.at[n+1]; i++ {
				for len(added) > 0 && added[0] < p.edges[i] {
					add(added[0], c.head(added[0]))
					added = added[1:]
				}
				add(p.edges[i], p.heads[i])
			}
			for len(added) > 0 && c.tail(added[0]) == n {
				add(added[0], c.head(added[0]))
				added = added[1:]
			}
		}
	}
	return edges
}
