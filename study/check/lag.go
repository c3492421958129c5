package check

import (
	"slices"

	"softswitch/internal/lists"
	"softswitch/unit"
)

// Members of a LAG are hops of their own, since each has queues and priority groups of its own. But by
// its hash a flow can come by any member and leave by any of the next LAG, so what hosts could close by
// one member they could by every other. One stands for all: that of the lowest number that is up.

// oneOfEachLAG are those of edges that lead from and to the hops that stand for their LAGs.
func (c *Checker) oneOfEachLAG(edges []edge) []edge {
	if len(c.plan.Fabric.LAGs) == 0 {
		return edges
	}
	stands := slices.Repeat([]bool{true}, len(c.plan.Fabric.Links))
	for _, lag := range c.plan.Fabric.LAGs {
		found := false
		for _, l := range lag.Links {
			stands[l] = !found && !c.down[l]
			found = found || stands[l]
		}
	}
	return lists.Where(edges, func(e edge) bool { return stands[c.portOf(c.tail(e)).link] && stands[c.portOf(c.head(e)).link] })
}

// ofLAGs is a cycle with the first member of each LAG for the one that it takes: the same for cycles that
// differ in members alone.
func (c *Checker) ofLAGs(cycle []edge) []edge {
	if len(c.plan.Fabric.LAGs) == 0 {
		return cycle
	}
	all := make([]edge, len(cycle))
	for i, e := range cycle {
		tail, out := c.tail(e), c.ports[c.portOf(c.head(e)).peer].n
		at := c.portOf(tail)
		n := &c.plan.Fabric.Nodes[at.sw]
		all[i] = c.edge(c.node(c.portNumber(int(at.sw), n.LAG(at.n).First()), c.priorityOf(tail)), n.LAG(out).First(), c.priorityOf(c.head(e)))
	}
	return turnCycle(all)
}

// firstOfLAG is the first port of the LAG that a port of a switch is in, or the port itself.
func (c *Checker) firstOfLAG(sw int32, p unit.Port) unit.Port {
	return c.plan.Fabric.Nodes[sw].LAG(p).First()
}

// membersUp are the queues that send into the link of a hop and into those that act as one with it, but
// for links that are down in case k.
func (c *Checker) membersUp(k Case, n node) (queues []unit.NodePort) {
	from := c.ports[c.portOf(n).peer]
	sw := &c.plan.Fabric.Nodes[from.sw]
	for all := sw.LAG(from.n); !all.Empty(); all.Pop() {
		if !slices.Contains(k.Links, int(c.ports[c.portNumber(int(from.sw), all.First())].link)) {
			queues = append(queues, unit.NodePort{Node: sw.ID, Port: all.First()})
		}
	}
	return queues
}
