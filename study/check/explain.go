package check

import (
	"slices"

	"softswitch/internal/lists"
)

// explain fills in the turns of cycles, each as they are in the first of its cases. Workers take a case each,
// and step is called for each cycle; its error ends the work.
func explain(workers []*Checker, cycles []Cycle, step func(n int) error) error {
	var groups lists.Groups[int, *Cycle]
	for i := range cycles {
		groups.Add(cycles[i].merged.cases[0], &cycles[i])
	}
	return each(workers, 0, len(groups.Keys), func(w *Checker, i int) error {
		same := groups.Of[groups.Keys[i]]
		w.explainCase(w.Case(groups.Keys[i]), same)
		return step(len(same))
	})
}

// explainCase fills in the turns of cycles in a case.
func (c *Checker) explainCase(k Case, cycles []*Cycle) {
	c.setLinks(k.Links, false)
	c.grow()
	c.lose(k)
	c.explainHosts(cycles)
	c.restore()
	c.explainFlows(cycles)
	c.setLinks(k.Links, true)
}

// explainHosts tells which hosts could take the turns, with the links as they are.
func (c *Checker) explainHosts(cycles []*Cycle) {
	var first []*Turn // those that a destination is the first to take
	var tails []node  // of them
	for d, to := range c.dests {
		first, tails = first[:0], tails[:0]
		for _, e := range c.change.of(d) {
			c.marked[e] = true
		}
		for _, cy := range cycles {
			takes := 0
			for j, e := range cy.merged.edges {
				if !c.takesEdge(d, e) {
					continue
				}
				takes++
				t := &cy.Turns[j]
				if t.Subnets++; t.Subnets == 1 {
					first, tails = append(first, t), append(tails, c.tail(e))
				}
			}
			cy.RoutingLoop = cy.RoutingLoop || takes == len(cy.merged.edges)
		}
		for _, e := range c.change.of(d) {
			c.marked[e] = false
		}
		if len(first) == 0 {
			continue
		}
		c.walkUntil(d, tails)
		for i, t := range first {
			t.Flooded = c.portOf(tails[i]).sw == to.owner
			t.From, t.To = c.sender(tails[i]), c.receiver(d, t.Flooded)
		}
	}
}

// takesEdge reports whether frames for destination d take an edge whose hops are up, in the case whose change
// is counted and whose edges of d are marked.
func (c *Checker) takesEdge(d int, e edge) bool {
	if c.marked[e] || c.change.state[d] == walked {
		return c.marked[e]
	}
	n := c.tail(e)
	level := c.table.levels[d][n]
	if level == 0 || !c.waysUp(n, d).Has(c.out(e)) {
		return false
	}
	takes := false
	c.eachTurn(n, c.out(e), c.ttl-int(level), func(o edge) { takes = takes || o == e })
	return takes
}

// explainFlows tells which flows take the turns, with the links as they are.
func (c *Checker) explainFlows(cycles []*Cycle) {
	ways := make([][]edge, len(c.flows))
	for i := range c.flows {
		ways[i], _ = c.follow(i)
	}
	for _, cy := range cycles {
		closes := make([]bool, len(c.flows))
		for j, e := range cy.merged.edges {
			t := &cy.Turns[j]
			t.Switch, t.Flows = c.plan.Fabric.Nodes[c.portOf(c.tail(e)).sw].Name, []string{}
			for i, way := range ways {
				ofPriority := !c.alike || cy.merged.priorities == 0 || cy.merged.priorities.Has(c.flows[i].priority)
				if ofPriority && slices.Contains(way, e) {
					t.Flows = append(t.Flows, c.plan.Scenario.Flows[i].Name)
					closes[i] = cy.merged.priorities != 0
				}
			}
		}
		for i, does := range closes {
			if does {
				cy.Flows = append(cy.Flows, c.plan.Scenario.Flows[i].Name)
			}
		}
	}
}

// sender is a host whose frames take hop n, by the walk that was just made.
func (c *Checker) sender(n node) string {
	for c.walker.start[n] < 0 {
		n = c.tail(c.walker.via[n])
	}
	f, p := c.plan.Fabric, c.ports[c.walker.start[n]]
	return f.Nodes[f.Nodes[p.sw].Ports[p.n].Peer.Node].Name
}

// receiver is a host of destination d, one whose frames are flooded if flooded.
func (c *Checker) receiver(d int, flooded bool) string {
	sub := c.plan.Fabric.Subnets[d]
	for ports := sub.Ports; !ports.Empty(); ports.Pop() {
		h := c.plan.Fabric.Nodes[sub.Switch].Ports[ports.First()].Peer.Node
		if !flooded || uint32(c.plan.Fabric.Nodes[h].Addr) == c.dests[d].dead {
			return c.plan.Fabric.Nodes[h].Name
		}
	}
	return ""
}
