package check

import (
	"slices"

	"softswitch/unit"
)

// change is what the failures of a case change in the edges of destinations. A destination is as it is
// while nothing fails, but for the hops that are down; or it has grown: it has edges in addition; or it
// was walked anew.
type change struct {
	state   []changed // by destination
	dests   []int     // those that are not as while nothing fails
	extra   [][]edge  // by destination: the edges in addition, or all of one that was walked anew
	touched []int32   // the switches beside links that are down
	met     []hopOf   // hops by which frames come that did not, of destinations that have grown
}

type changed uint8

const (
	same   changed = iota
	grown          // edges in addition
	walked         // all anew
)

func newChange(dests int) change {
	return change{state: make([]changed, dests), extra: make([][]edge, dests)}
}

// of are the edges of destination d that are counted in addition, or all of one that was walked anew.
func (ch *change) of(d int) []edge {
	if ch.state[d] == same {
		return nil
	}
	return ch.extra[d]
}

// grow counts, for all destinations, the edges of the ways that the failures open, such as backups. Of what
// they take away edgesUp leaves out what is down; what is lost behind that is left to lose.
func (c *Checker) grow() {
	c.findTouched()
	entries := !c.losesEntries()
	for d := range c.dests {
		switch {
		case !entries || slices.ContainsFunc(c.dests[d].hosts, c.isCut):
			c.walkAnew(d)
		case c.routing.growsNone(d):
		case c.routing.isMoved(d) || !c.growOne(d):
			c.walkAnew(d)
		}
	}
}

// findTouched finds the switches beside links that are down.
func (c *Checker) findTouched() {
	c.change.touched, c.change.met = c.change.touched[:0], c.change.met[:0]
	for s, n := range c.touched {
		if n > 0 {
			c.change.touched = append(c.change.touched, int32(s))
		}
	}
}

// losesEntries reports whether hosts can no longer send to a switch that has a link left, or by other ports
// than before.
func (c *Checker) losesEntries() bool {
	for _, s := range c.change.touched {
		ports := c.from[s]
		isDown := func(in unit.Port) bool { return c.down[c.ports[c.portNumber(int(s), in)].link] }
		if !slices.ContainsFunc(ports, isDown) || int(c.touched[s]) == len(c.plan.Fabric.Nodes[s].Ports) {
			continue
		}
		if !c.alike || !slices.ContainsFunc(ports, func(in unit.Port) bool { return !isDown(in) }) {
			return true
		}
	}
	return false
}

// growOne is grow for one destination. It returns false if that is not enough, since frames come as far as
// their TTL lets them, or change their priority on the way.
func (c *Checker) growOne(d int) bool {
	w, to, levels := &c.walker, &c.dests[d], c.table.levels[d]
	w.begin()
	edges := c.change.extra[d][:0]
	for _, s := range c.change.touched {
		for i := range c.plan.Fabric.Nodes[s].Ports {
			port := c.portNumber(int(s), unit.Port(i))
			if c.down[c.ports[port].link] {
				continue
			}
			hosts := c.ports[port].peer < 0 && s != to.owner && slices.Contains(c.from[s], unit.Port(i))
			for j := range c.priorities {
				n := c.node(port, j)
				if levels[n] == 0 && !hosts {
					continue
				}
				outs := c.ask(n, d, to).Without(c.waysUp(n, d))
				if outs.Empty() {
					continue
				}
				if hosts {
					c.enter(n, func(node) unit.PortSet { return outs })
				} else {
					edges = c.leave(n, int32(levels[n]), to, outs, edges)
				}
			}
		}
	}
	if len(w.queue) == 0 && len(edges) == 0 {
		return true
	}
	if c.bands || c.isDeep(d) {
		return false
	}
	for i := 0; i < len(w.queue); i++ {
		n := w.queue[i]
		if c.ttl-int(w.level[i]) < 2 {
			return false
		}
		if levels[n] == 0 {
			c.change.met = append(c.change.met, hopOf{n, int32(d)})
			edges = c.leave(n, w.level[i], to, c.ways(n, d), edges)
		}
	}
	if c.change.extra[d] = edges; len(edges) == 0 {
		return true
	}
	c.change.state[d] = grown
	c.change.dests = append(c.change.dests, d)
	for _, e := range edges {
		c.counts[e]++
	}
	return true
}

// isDeep reports whether the TTL of some frames for d ends on a hop while nothing fails, so that it matters
// how early they come by a hop.
func (c *Checker) isDeep(d int) bool { return c.ttl-int(c.table.last[d]) < 2 }

// lose walks those destinations anew whose edges the failures take away behind hops that are down, or by routes
// that have fewer ports. It reports whether there are any.
func (c *Checker) lose(k Case) bool {
	before := c.did.walks
	for d := range c.dests {
		if c.change.state[d] != walked && (c.routing.isMoved(d) || c.loses(k, d, 1)) {
			c.walkAnew(d)
		}
	}
	return c.did.walks > before
}

// losesAny reports whether loses does for some destination.
func (c *Checker) losesAny(k Case, enough int) bool {
	for d := range c.dests {
		if c.loses(k, d, enough) {
			return true
		}
	}
	return false
}

// loses reports whether frames for destination d come later, or no longer, by a hop behind one that is down. They
// come as early if hosts send them there, or if they come from other hops that are up, and that they took
// earlier, over enough links.
func (c *Checker) loses(k Case, d, enough int) bool {
	levels := c.table.levels[d]
	for _, l := range k.Links {
		link := c.plan.Fabric.Links[l]
		if link.A.Node >= len(c.switches) || link.B.Node >= len(c.switches) {
			continue
		}
		for _, end := range [...]int32{c.portNumber(link.A.Node, link.A.Port), c.portNumber(link.B.Node, link.B.Port)} {
			for j := range c.priorities {
				n := c.node(end, j)
				if levels[n] > 0 && (c.bands || c.isDeep(d) || !c.comeAsEarly(d, n, enough)) {
					return true
				}
			}
		}
	}
	return false
}

// comeAsEarly reports whether frames for d come as early to all hops behind n, which is down.
func (c *Checker) comeAsEarly(d int, n node, enough int) bool {
	if c.portOf(n).sw == c.dests[d].owner {
		return true // what is flooded goes no further
	}
	for outs := c.waysUp(n, d); !outs.Empty(); outs.Pop() {
		all := true
		c.eachTurn(n, outs.First(), c.ttl, func(e edge) {
			next := c.head(e)
			all = all && (c.down[c.portOf(next).link] || c.table.levels[d][next] == 1 || c.hasEarlier(d, next, enough))
		})
		if !all {
			return false
		}
	}
	return true
}

// hasEarlier reports whether frames for d come to hop n from other hops that are up, and that they took
// earlier while nothing fails, over enough links.
func (c *Checker) hasEarlier(d int, n node, enough int) bool {
	levels := c.table.levels[d]
	from := &c.ports[c.portOf(n).peer]
	for i := range c.plan.Fabric.Nodes[from.sw].Ports {
		port := c.portNumber(int(from.sw), unit.Port(i))
		if c.down[c.ports[port].link] {
			continue
		}
		found := false
		for j := range c.priorities {
			before := c.node(port, j)
			if levels[before] > 0 && levels[before] < levels[n] && c.waysUp(before, d).Has(from.n) {
				c.eachTurn(before, from.n, c.ttl, func(e edge) { found = found || c.head(e) == n })
			}
		}
		if found {
			enough--
		}
		if enough == 0 {
			return true
		}
	}
	return false
}

// walkAnew counts all edges of destination d anew.
func (c *Checker) walkAnew(d int) {
	c.uncount(d)
	c.eachEdge(d, func(e edge) { c.counts[e]-- })
	c.change.state[d] = walked
	c.change.dests = append(c.change.dests, d)
	c.change.extra[d] = c.walk(d, c.change.extra[d][:0])
	for _, e := range c.change.extra[d] {
		c.counts[e]++
	}
}

// uncount undoes what was counted for destination d.
func (c *Checker) uncount(d int) {
	if c.change.state[d] == same {
		return
	}
	for _, e := range c.change.extra[d] {
		c.counts[e]--
	}
	if c.change.state[d] == walked {
		c.eachEdge(d, func(e edge) { c.counts[e]++ })
	}
	c.change.state[d] = same
}

// restore undoes what was counted for the case.
func (c *Checker) restore() {
	for _, d := range c.change.dests {
		c.uncount(d)
	}
	c.change.dests = c.change.dests[:0]
}
