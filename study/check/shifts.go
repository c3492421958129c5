package check

import (
	"slices"

	"softswitch/topo"
	"softswitch/unit"
)

// Where routes are those of a protocol, most links that fail take ports from routes and change nothing else:
// every switch keeps a port to the destination, and what it announces. A route shifts where a switch loses its last
// port, and then others may get ports that they did not have. With two links down the routes to a destination are
// those with the one down, without the other, unless the other is critical to these. If with one link down
// frames take no edge that they do not take while nothing fails, then they take none with two, but for the
// destinations for which both are critical; and for these the routes tell.

// shift is the destinations whose routes the failure of a link shifts.
type shift struct {
	dests    []int    // ascending
	critical []bitset // by index of dests: links that are critical to the routes with the link down
	any      bitset   // links that are critical for some destination
}

func (b bitset) add(l int) { b[l/64] |= 1 << (l % 64) }

// shiftOf is the shift of the link that fails in a case; nil of other cases, and without a protocol.
func (c *Checker) shiftOf(k Case) *shift {
	if k.Kind != LinkFailure || c.routing == nil {
		return nil
	}
	r, h, link := c.routing, &shift{any: newBitset(len(c.down))}, k.Links[0]
	r.router.SetLink(link, false)
	defer r.router.SetLink(link, true)
	for _, d := range r.uses[link] {
		if !c.shifts(k.Links, int(d)) {
			continue
		}
		r.router.Aim(int(d))
		critical := c.critical(int(d))
		h.dests, h.critical = append(h.dests, int(d)), append(h.critical, critical)
		for i, w := range critical {
			h.any[i] |= w
		}
	}
	return h
}

// critical are the links whose failure may change the routes to destination d, those last aimed at, by more than
// that they lack it.
func (c *Checker) critical(d int) bitset {
	r, all := c.routing, newBitset(len(c.down))
	odd := r.odd[d] || !r.router.Uniform()
	for s := range c.switches {
		ports := r.router.Group(s).Ports
		if owned, owns := c.plan.Fabric.Subnets[d].OwnedBy(s); owns {
			ports = ports.Or(owned)
		}
		if r.own[d] {
			g := c.plan.Table.Group(s, d)
			ports = ports.Or(g.Ports).Or(g.Backup)
		}
		for left := ports; !left.Empty(); left.Pop() {
			l := c.plan.Fabric.Nodes[s].Ports[left.First()].Link
			if odd || c.isDown(s, ports.Without(left.First().Set())) {
				all.add(l)
			}
		}
	}
	return all
}

// shifted is what the shifts of all links tell of pairs of them.
type shifted struct {
	of   []*shift         // by index in links, nil for one whose pairs are checked as a whole
	both map[[2]int][]int // by links: destinations to which a switch has these two ports alone
}

// newShifted prepares the pairs of links, from the results of the cases before them. It is nil if every pair has to
// be checked as a whole.
func (c *Checker) newShifted(first []*Result) *pairs {
	if len(c.plan.Fabric.LAGs) > 0 && !c.isFree(first[0].edges) {
		return nil
	}
	p := &shifted{both: map[[2]int][]int{}}
	for i := range c.links {
		var h *shift
		if r := first[c.singleOf(i)]; r != nil {
			h = r.shift
		}
		p.of = append(p.of, h)
	}
	for d := range c.dests {
		for s := range c.switches {
			if ports := c.portsTo(s, d); ports.Len() == 2 && !c.routing.odd[d] {
				of := c.plan.Fabric.Nodes[s].Ports
				a, b := of[ports.First()].Link, of[ports.Last()].Link
				key := [2]int{min(a, b), max(a, b)}
				p.both[key] = append(p.both[key], d)
			}
		}
	}
	return &pairs{shifted: p}
}

// isFree reports whether edges have no cycle, whichever members of LAGs they take.
func (c *Checker) isFree(in bitset) bool {
	var edges []edge
	for e := range edge(len(c.counts)) {
		if in.has(e) {
			edges = append(edges, e)
		}
	}
	c.g.build(c, edges)
	return c.g.comps == 0
}

// checkShifted is Check of two links, nil if they have to be checked as a whole.
func (c *Checker) checkShifted(k Case) *Result {
	p := c.known.pairs.shifted
	i, j := c.indexOf[k.Links[0]], c.indexOf[k.Links[1]]
	a, b := p.of[i], p.of[j]
	if a == nil || b == nil {
		return nil
	}
	x, y := k.Links[0], k.Links[1]
	dests := slices.Clone(p.both[[2]int{x, y}])
	dests = a.together(b, x, y, dests)
	dests = b.together(a, y, x, dests)
	if len(dests) == 0 {
		return nothing
	}
	slices.Sort(dests)
	for _, l := range k.Links {
		c.routing.router.SetLink(l, false)
		defer c.routing.router.SetLink(l, true)
	}
	for _, d := range slices.Compact(dests) {
		c.routing.router.Aim(d)
		if c.adds(d) {
			return nil
		}
	}
	return nothing
}

// together appends to dests those whose routes the failure of a link, whose shift is h, shifts, and that of another
// one, whose shift is o, shifts once more.
func (h *shift) together(o *shift, link, other int, dests []int) []int {
	if !h.any.has(edge(other)) {
		return dests
	}
	for i, d := range h.dests {
		if !h.critical[i].has(edge(other)) {
			continue
		}
		if j, found := slices.BinarySearch(o.dests, d); !found || o.critical[j].has(edge(link)) {
			dests = append(dests, d)
		}
	}
	return dests
}

// adds reports whether a switch to which frames for destination d come has a port to it that it does not have while
// nothing fails, by the routes last aimed at.
func (c *Checker) adds(d int) bool {
	r := c.routing
	if r.own[d] {
		return true
	}
	clear(r.reached)
	r.queue = r.queue[:0]
	reach := func(s int32) {
		if !r.reached[s] {
			r.reached[s] = true
			r.queue = append(r.queue, s)
		}
	}
	for s, hosts := range c.from {
		if len(hosts) > 0 {
			reach(int32(s))
		}
	}
	for i := 0; i < len(r.queue); i++ {
		s := int(r.queue[i])
		ports := r.router.Group(s).Ports
		if !ports.Without(c.plan.Table.Group(s, d).Ports).Empty() {
			return true
		}
		for ; !ports.Empty(); ports.Pop() {
			reach(int32(c.plan.Fabric.Nodes[s].Ports[ports.First()].Peer.Node))
		}
	}
	return false
}

// shifts reports whether these links, which are down, may change the routes to destination d by more than that they
// lack them: a switch has no other port by which it sends there while nothing fails, or leads to its hosts.
func (c *Checker) shifts(links []int, d int) bool {
	if c.routing.odd[d] {
		return true
	}
	for _, l := range links {
		for _, end := range [...]topo.End{c.plan.Fabric.Links[l].A, c.plan.Fabric.Links[l].B} {
			if end.Node < len(c.switches) {
				if ports := c.portsTo(end.Node, d); ports.Has(end.Port) && c.isDown(end.Node, ports) {
					return true
				}
			}
		}
	}
	return false
}

// portsTo are the ports by which switch s sends to destination d while nothing fails, or that lead to its hosts.
func (c *Checker) portsTo(s, d int) unit.PortSet {
	if ports, owns := c.plan.Fabric.Subnets[d].OwnedBy(s); owns {
		return ports
	}
	return c.plan.Table.Group(s, d).Ports
}

// isDown reports whether the links of all of these ports of switch s are down.
func (c *Checker) isDown(s int, ports unit.PortSet) bool {
	for ; !ports.Empty(); ports.Pop() {
		if !c.down[c.plan.Fabric.Nodes[s].Ports[ports.First()].Link] {
			return false
		}
	}
	return true
}
