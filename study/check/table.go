package check

import (
	"softswitch/dataplane"
	"softswitch/unit"
)

// table is what the switches say while nothing fails: a switch is asked again only in cases in which a
// link of it is down. Clones share it.
type table struct {
	ports  []unit.PortSet         // every different set, once
	index  map[unit.PortSet]int32 // in ports
	ways   [][]int32              // by destination and node: index in ports of those by which frames leave
	levels [][]uint8              // by destination and node: how many switches frames have passed at least, 0 if none come by it
	last   []uint8                // by destination: the greatest of its levels
}

func newTable(dests int) table {
	return table{index: map[unit.PortSet]int32{}, ways: make([][]int32, dests), levels: make([][]uint8, dests), last: make([]uint8, dests)}
}

// fill asks every switch for destination d, and walks it.
func (c *Checker) fill(d int) {
	t, to := &c.table, &c.dests[d]
	ways, levels := make([]int32, len(c.ports)*len(c.priorities)), make([]uint8, len(c.ports)*len(c.priorities))
	for n := range ways {
		ports := c.ask(node(n), d, to)
		i, found := t.index[ports]
		if !found {
			i = int32(len(t.ports))
			t.index[ports] = i
			t.ports = append(t.ports, ports)
		}
		ways[n] = i
	}
	t.ways[d], t.levels[d] = ways, levels
	c.walk(d, nil)
	for i, n := range c.walker.queue {
		levels[n] = uint8(c.walker.level[i])
		t.last[d] = max(t.last[d], levels[n])
	}
}

// ask asks the switch of hop n by which ports frames for a host of destination d leave. For those of the
// destination's own switch these are the ports to which it floods them.
func (c *Checker) ask(n node, d int, to *dest) unit.PortSet {
	at := c.portOf(n)
	if g, moved := c.routing.route(at.sw, d); moved {
		c.did.questions++
		return dataplane.WaysBy(c.switches[at.sw], at.n, g.Ports, g.Backup)
	}
	addr := to.addr
	if at.sw == to.owner {
		if addr = to.dead; addr == 0 {
			return unit.PortSet{}
		}
	}
	c.did.questions++
	ports, flooded := c.switches[at.sw].Ways(at.n, addr, c.priorities[c.priorityOf(n)])
	if at.sw == to.owner && !flooded {
		return unit.PortSet{}
	}
	return ports
}

// ways are the ports by which frames for destination d leave that come by hop n, with the links as they are.
func (c *Checker) ways(n node, d int) unit.PortSet {
	if c.touched[c.portOf(n).sw] > 0 || c.routing.isMoved(d) {
		return c.ask(n, d, &c.dests[d])
	}
	return c.waysUp(n, d)
}

// waysUp are those of ways while nothing fails.
func (c *Checker) waysUp(n node, d int) unit.PortSet { return c.table.ports[c.table.ways[d][n]] }

// eachEdge calls fn with each edge that frames for destination d take while nothing fails.
func (c *Checker) eachEdge(d int, fn func(edge)) {
	for n, level := range c.table.levels[d] {
		if level == 0 {
			continue
		}
		for outs := c.waysUp(node(n), d); !outs.Empty(); outs.Pop() {
			c.eachTurn(node(n), outs.First(), c.ttl-int(level), func(e edge) { fn(e) })
		}
	}
}
