package check

import (
	"softswitch/internal/lists"
	"softswitch/topo"
)

// Where ports have lossless priorities of their own, or pause in one direction only, frames can take a
// hop that stops nobody: what comes in by it is lossy, or its port sends no pauses, or the far end
// ignores them. Ways lead through it, and no cycle.

// findIdle finds these hops.
func (c *Checker) findIdle() {
	s := c.plan.Scenario
	if s.Ports == nil {
		return
	}
	c.idle = make([]bool, len(c.ports)*len(c.priorities))
	for i := range c.ports {
		e := topo.End{Node: int(c.ports[i].sw), Port: c.ports[i].n}
		for j, priority := range c.priorities {
			c.idle[c.node(int32(i), j)] = !s.Pauses(e, priority)
		}
	}
}

// waiting are those of edges that are between hops which are not idle, in their order.
func (c *Checker) waiting(edges []edge) []edge {
	if c.idle == nil {
		return edges
	}
	return lists.Where(edges, func(e edge) bool { return !c.idle[c.tail(e)] && !c.idle[c.head(e)] })
}
