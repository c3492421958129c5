package check

import (
	"cmp"
	"slices"

	"softswitch/internal/lists"
	"softswitch/scenario"
	"softswitch/topo"
	"softswitch/unit"
)

// Where ports have lossless priorities of their own, or pause in one direction only, frames can take a
// hop that stops nobody: what comes in by it is lossy, or its port sends no pauses, or the far end
// ignores them. Ways lead through it, and no cycle.
//
// Where ports tell priorities in their own way, a node is by the priority in which a host sends: that is
// what stays the same on the way of a frame. The group that is charged, whose pauses stop a queue, is
// that of the priority at the port.

// toldApart is the priorities in which hosts send and that are told apart, unless all are alike.
func toldApart(s *scenario.Scenario) []int {
	if !s.OwnClasses() {
		return s.Lossless()
	}
	all := make([]int, unit.Priorities)
	for i := range all {
		all[i] = i
	}
	return all
}

// findGroups finds the groups of nodes, and the hops that stop nobody.
func (c *Checker) findGroups() {
	s := c.plan.Scenario
	if s.Ports == nil {
		return
	}
	c.idle = make([]bool, len(c.ports)*len(c.priorities))
	if s.OwnClasses() {
		c.group = make([]node, len(c.idle))
	}
	for i := range c.ports {
		e := topo.End{Node: int(c.ports[i].sw), Port: c.ports[i].n}
		for j, priority := range c.priorities {
			n := c.node(int32(i), j)
			c.idle[n] = !s.Pauses(e, priority)
			if c.group != nil {
				c.group[n] = c.node(int32(i), int(c.index[s.PriorityAt(priority, e)]))
			}
		}
	}
}

// groupOf is the hop whose group frames of n are charged to.
func (c *Checker) groupOf(n node) node {
	if c.group == nil {
		return n
	}
	return c.group[n]
}

// headGroup is the hop that stops the queue in which frames that take e wait: they leave in the priority
// in which they came in.
func (c *Checker) headGroup(e edge) node {
	n := c.head(e)
	if c.group == nil {
		return n
	}
	return c.node(n/int32(len(c.priorities)), c.priorityOf(c.group[c.tail(e)]))
}

// waiting are those of edges that are between hops which stop somebody, in the order of their groups.
func (c *Checker) waiting(edges []edge) []edge {
	if c.idle == nil {
		return edges
	}
	edges = lists.Where(edges, func(e edge) bool { return !c.idle[c.groupOf(c.tail(e))] && !c.idle[c.headGroup(e)] })
	if c.group != nil {
		slices.SortFunc(edges, func(a, b edge) int {
			return cmp.Or(cmp.Compare(c.groupOf(c.tail(a)), c.groupOf(c.tail(b))), cmp.Compare(a, b))
		})
	}
	return edges
}
