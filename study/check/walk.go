package check

import (
	"slices"

	"softswitch/dataplane"
	"softswitch/host"
	"softswitch/scenario"
	"softswitch/topo"
	"softswitch/unit"
)

// walker walks the hops that frames for one destination can take, breadth first: so it
// meets each with the most TTL that is left.
type walker struct {
	seen  []int32 // by node: the walk that last met it
	walk  int32
	queue []node
	level []int32 // by index of queue: switches that the frames have passed
	via   []edge  // by node: how it was first met, if it was not from a host
	start []int32 // by node: the port of the host it was first met from, -1
}

func newWalker(nodes int) walker {
	return walker{seen: make([]int32, nodes), via: make([]edge, nodes), start: make([]int32, nodes)}
}

// begin begins a walk.
func (w *walker) begin() {
	w.walk++
	w.queue, w.level = w.queue[:0], w.level[:0]
}

// meet notes that frames can take hop n.
func (w *walker) meet(n node, level int32, via edge, start int32) {
	if w.seen[n] == w.walk {
		return
	}
	w.seen[n] = w.walk
	w.via[n], w.start[n] = via, start
	w.queue = append(w.queue, n)
	w.level = append(w.level, level)
}

// walk appends to edges those that frames for destination d can take, from every host
// that may send, in every lossless priority, whatever the hash of their flow.
func (c *Checker) walk(d int, edges []edge) []edge {
	from := len(edges)
	c.did.walks++
	edges = c.walkTo(&c.dests[d], func(n node) unit.PortSet { return c.ways(n, d) }, edges)
	to, apart := c.dests[d], false
	for _, h := range to.hosts {
		if addr := uint32(c.plan.Fabric.Nodes[h].Addr); addr != c.dests[d].addr && c.isCut(h) {
			apart, to.addr = true, addr
			edges = c.walkTo(&to, func(n node) unit.PortSet { return c.ask(n, d, &to) }, edges)
		}
	}
	if apart { // each edge once
		slices.Sort(edges[from:])
		edges = edges[:from+len(slices.Compact(edges[from:]))]
	}
	return edges
}

// isCut reports whether a link of host h is down, so that frames for it may go otherwise than those for
// others of its subnet.
func (c *Checker) isCut(h int) bool {
	return slices.ContainsFunc(c.plan.Fabric.Nodes[h].Ports, func(p topo.Port) bool { return c.down[p.Link] })
}

// walkTo is walk to one host of destination to, by the ports that ways tells.
func (c *Checker) walkTo(to *dest, ways func(node) unit.PortSet, edges []edge) []edge {
	c.enterAll(to, ways)
	w := &c.walker
	for i := 0; i < len(w.queue); i++ {
		edges = c.leave(w.queue[i], w.level[i], to, ways(w.queue[i]), edges)
	}
	return edges
}

// walkUntil walks destination d until it has met these hops, in the order in which walk meets them.
func (c *Checker) walkUntil(d int, hops []node) {
	if slices.ContainsFunc(c.dests[d].hosts, c.isCut) {
		c.walk(d, nil)
		return
	}
	c.did.walks++
	w, to, ways := &c.walker, &c.dests[d], func(n node) unit.PortSet { return c.ways(n, d) }
	c.enterAll(to, ways)
	for i := 0; i < len(w.queue); i++ {
		for len(hops) > 0 && w.seen[hops[0]] == w.walk {
			hops = hops[1:]
		}
		if len(hops) == 0 {
			return
		}
		c.leave(w.queue[i], w.level[i], to, ways(w.queue[i]), nil)
	}
}

// enterAll begins a walk with the hops that hosts send to.
func (c *Checker) enterAll(to *dest, ways func(node) unit.PortSet) {
	c.walker.begin()
	for s, ports := range c.from {
		if int32(s) == to.owner {
			continue
		}
		for _, in := range ports {
			port := c.portNumber(s, in)
			if c.down[c.ports[port].link] {
				continue
			}
			for i := range c.priorities {
				c.enter(c.node(port, i), ways)
			}
			if c.alike {
				break // what comes by another port to a host leaves as this does
			}
		}
	}
}

// enter walks the first hops of frames that a host sends to a switch by from. One switch has
// lowered their TTL at the next one.
func (c *Checker) enter(from node, ways func(node) unit.PortSet) {
	for outs := ways(from); !outs.Empty(); outs.Pop() {
		c.eachEntry(from, outs.First(), func(n node) { c.walker.meet(n, 1, -1, from/node(len(c.priorities))) })
	}
}

// eachEntry calls fn with the hops by out of frames that a host sends to a switch by from.
func (c *Checker) eachEntry(from node, out unit.Port, fn func(node)) {
	at, priority := c.portOf(from), c.priorities[c.priorityOf(from)]
	far := c.ports[c.first[at.sw]+int32(out)].peer
	if far < 0 {
		return
	}
	if c.alike {
		fn(c.node(far, 0))
		return
	}
	for ttl := c.ttl - 1; ttl > 0; ttl-- {
		if to := c.index[c.switches[at.sw].PriorityOut(priority, at.n, out, uint8(ttl))]; to >= 0 {
			fn(c.node(far, int(to)))
		}
		if !c.bands {
			break
		}
	}
}

// leave appends the edges of hop n, whose frames have passed level switches and leave by outs, and walks
// on. A flooded frame goes no further: the next switch drops it.
func (c *Checker) leave(n node, level int32, to *dest, outs unit.PortSet, edges []edge) []edge {
	next := level + 1
	if c.portOf(n).sw == to.owner {
		next = -1
	}
	for ; !outs.Empty(); outs.Pop() {
		c.eachTurn(n, outs.First(), c.ttl-int(level), func(e edge) {
			edges = append(edges, e)
			if next >= 0 {
				c.walker.meet(c.head(e), next, e, -1)
			}
		})
	}
	return edges
}

// eachTurn calls fn with the edges from hop n, to which frames come with a TTL of up to most, to
// the one by out.
func (c *Checker) eachTurn(n node, out unit.Port, most int, fn func(edge)) {
	at, priority := c.portOf(n), c.priorityOf(n)
	if most < 2 || c.ports[c.first[at.sw]+int32(out)].peer < 0 {
		return
	}
	if c.alike { // no switch changes priorities
		fn(c.edge(n, out, 0))
		return
	}
	sw := c.switches[at.sw]
	var done unit.PrioritySet
	for ttl := most; ttl > 1; ttl-- {
		// A frame has the priority of the TTL with which it left the switch before, which is the one with
		// which it comes.
		if c.bands && sw.PriorityOut(c.priorities[priority], at.n, out, uint8(ttl)) != c.priorities[priority] {
			continue
		}
		to := sw.PriorityOut(c.priorities[priority], at.n, out, uint8(ttl-1))
		if i := c.index[to]; i >= 0 && !done.Has(to) {
			done.Add(to)
			fn(c.edge(n, out, int(i)))
		}
		if !c.bands {
			break
		}
	}
}

// follow is the way of flow i: its edges, and the switches it passes.
func (c *Checker) follow(i int) (edges []edge, hops []int32) {
	f := c.plan.Scenario.Flows[i]
	f.Priority = c.flows[i].priority
	return c.followAs(f, c.flows[i].hash)
}

// firstOf is where a flow with a hash comes into its first switch, with the links as they are.
func (c *Checker) firstOf(f *scenario.Flow, hash uint32) topo.End {
	h := &c.plan.Fabric.Nodes[f.From]
	nic := f.NIC
	if nic == unit.NoPort {
		var up unit.PortSet
		for i, p := range h.Ports {
			if c.switches[p.Peer.Node].LinkUp(p.Peer.Port) {
				up.Add(unit.Port(i))
			}
		}
		nic = host.ChooseNIC(hash, h.ID, len(h.Ports), up)
	}
	return h.Ports[nic].Peer
}

// followAs is the way of a flow with a hash.
func (c *Checker) followAs(f scenario.Flow, hash uint32) (edges []edge, hops []int32) {
	_, addr := c.plan.Scenario.Addresses(&f)
	first, dst, priority := c.firstOf(&f, hash), uint32(addr), f.Priority
	d := c.plan.Fabric.SubnetAt(f.To, f.ToNIC)
	if c.index[priority] < 0 || !c.switches[first.Node].LinkUp(first.Port) {
		return nil, nil
	}
	at, in, from := int32(first.Node), first.Port, node(-1)
	for ttl := f.TTL; ttl > 1; ttl-- {
		hops = append(hops, at)
		sw := c.switches[at]
		outs, flooded := sw.Ways(in, dst, priority)
		if g, moved := c.routing.route(at, d); moved {
			outs, flooded = dataplane.WaysBy(sw, in, g.Ports, g.Backup), false
		}
		if !flooded && !outs.Empty() {
			outs = dataplane.Choose(sw, outs, hash).Set()
		}
		next := node(-1)
		for ; !outs.Empty(); outs.Pop() {
			out := outs.First()
			to := sw.PriorityOut(priority, in, out, uint8(ttl-1))
			far := c.ports[c.first[at]+int32(out)].peer
			if far < 0 || c.index[to] < 0 {
				continue
			}
			if from >= 0 {
				edges = append(edges, c.edge(from, out, int(c.index[to])))
			}
			if !flooded {
				next, priority = c.node(far, int(c.index[to])), to
			}
		}
		if next < 0 {
			break
		}
		from = next
		at, in = c.portOf(next).sw, c.portOf(next).n
	}
	return edges, hops
}
