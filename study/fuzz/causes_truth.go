package fuzz

import (
	"slices"

	"softswitch/internal/lists"
	"softswitch/oracle"
	"softswitch/scenario"
	"softswitch/topo"
)

// causesTruth is what was planted in a case, for those plants that count.
type causesTruth struct {
	plan   *scenario.Plan
	plants []planted
}

// planted is one disturbance, in words in which answers speak.
type planted struct {
	Plant
	flows    []string // that were added, or that it misleads
	switches []string // where it is
	onLoop   *bool    // one of the queues where it is belongs to the loop; nil if it is in no one place
}

// truthOf is the truth of a case that deadlocked as h saw; r is of that run.
func truthOf(c *Case, h *watch, r *oracle.Result) (*causesTruth, error) {
	t := &causesTruth{plan: h.plan}
	for i, p := range c.Plants {
		if p.Idle {
			continue
		}
		x := planted{Plant: p, switches: t.switchesOf(p)}
		x.onLoop = h.plantOnLoop(c, p, r)
		for k, f := range c.Flows {
			name := h.plan.Scenario.Flows[k].Name
			switch {
			case p.Kind == Incast || p.Kind == Hog:
				if f.Plant == i+1 {
					x.flows = append(x.flows, name)
				}
			case p.Kind == RoutingLoop:
				if t.homeOf(f.To) == p.To && t.visits(k, p.Switches[:]) {
					x.flows = append(x.flows, name)
				}
			case p.Kind != LinkFailure && f.To == p.Host:
				x.flows = append(x.flows, name)
			}
		}
		switch p.Kind {
		case LinkFailure:
			before, err := c.Without(i + 1).Plan("none")
			if err != nil {
				return nil, err
			}
			x.flows = rerouted(before, h.plan)
		case Hog:
			for k, f := range c.Flows {
				if f.Plant == i+1 {
					x.switches = t.path(k)
				}
			}
		}
		t.plants = append(t.plants, x)
	}
	return t, nil
}

// rerouted are the flows that go another way in one plan than in another.
func rerouted(before, after *scenario.Plan) (names []string) {
	for i, f := range after.Scenario.Flows {
		if !slices.Equal(before.Flows[i].Hops, after.Flows[i].Hops) {
			names = append(names, f.Name)
		}
	}
	return names
}

// switchesOf are the switches where a plant is.
func (t *causesTruth) switchesOf(p Plant) []string {
	if p.Switches[0] != "" {
		return p.Switches[:]
	}
	return []string{t.homeOf(p.Host)}
}

// homeOf is the switch of a host.
func (t *causesTruth) homeOf(host string) string {
	i, ok := t.plan.Fabric.Node(host)
	if !ok {
		return ""
	}
	return t.plan.Fabric.Nodes[t.plan.Fabric.Nodes[i].Ports[0].Peer.Node].Name
}

// path is the switches on the way of flow i.
func (t *causesTruth) path(i int) []string {
	return lists.Map(t.plan.Flows[i].Hops, func(h topo.Hop) string { return t.plan.Fabric.Nodes[h.Node].Name })
}

func (t *causesTruth) visits(flow int, switches []string) bool {
	return slices.ContainsFunc(t.path(flow), func(s string) bool { return slices.Contains(switches, s) })
}

// plantOnLoop reports whether the loop has a queue of the port that the plant is at: the
// one that faces a host, that of a routing loop between its two switches, the one that
// is used instead of a link that fails. Flooded frames are on the loop if they hold it.
// A hog has no one port.
func (h *watch) plantOnLoop(c *Case, p Plant, r *oracle.Result) *bool {
	links := r.Fabric.LinkNames(h.loop)
	on := false
	switch p.Kind {
	case Hog:
		return nil
	case RoutingLoop:
		on = slices.Contains(links, p.Switches[0]+"--"+p.Switches[1]) || slices.Contains(links, p.Switches[1]+"--"+p.Switches[0])
	case LinkFailure:
		for _, b := range c.Routes {
			on = on || b.Backup && slices.Contains(p.Switches[:], b.At) && slices.Contains(links, b.At+"--"+b.Next)
		}
	case Flooding:
		on = h.flooded
	}
	return &on
}

// found reports whether an answer names what was planted.
func (t *causesTruth) found(a Answer) bool {
	return slices.ContainsFunc(t.plants, func(p planted) bool { return p.named(a, t.plan) })
}

// foundAll reports whether each of what was planted is named by one of the answers.
func (t *causesTruth) foundAll(answers []Answer) bool {
	return !slices.ContainsFunc(t.plants, func(p planted) bool {
		return !slices.ContainsFunc(answers, func(a Answer) bool { return p.named(a, t.plan) })
	})
}

func (p *planted) named(a Answer, plan *scenario.Plan) bool {
	if p.Kind.OfHost() {
		return a.Host == p.Host
	}
	if a.Host != "" {
		return false
	}
	atPlant := a.Type == typeOf(p.Kind) && p.Switches[0] != "" && slices.ContainsFunc(plan.Fabric.Nodes, func(n topo.Node) bool {
		return n.ID == a.At.Node && slices.Contains(p.Switches[:], n.Name)
	})
	return atPlant || slices.ContainsFunc(a.Flows, func(f string) bool { return slices.Contains(p.flows, f) })
}

// typeRight reports whether an answer has the type of what was planted.
func (t *causesTruth) typeRight(a Answer) bool {
	return slices.ContainsFunc(t.plants, func(p planted) bool { return a.Type == typeOf(p.Kind) })
}

// onLoop is whether what was planted is on the loop; known is false if that is not one
// thing.
func (t *causesTruth) onLoop() (on, known bool) {
	for i, p := range t.plants {
		switch {
		case p.onLoop == nil || i > 0 && *p.onLoop != on:
			return false, false
		default:
			on = *p.onLoop
		}
	}
	return on, len(t.plants) > 0
}

// innocents is how many of flows have no part in what was planted.
func (t *causesTruth) innocents(flows []string) int {
	return len(lists.Where(flows, func(f string) bool {
		return !slices.ContainsFunc(t.plants, func(p planted) bool { return slices.Contains(p.flows, f) })
	}))
}

// hops is how many links lie between the switch that an answer names and the nearest one
// of what was planted, -1 if it names no switch from which there is a way.
func (t *causesTruth) hops(a Answer) int {
	nodes := t.plan.Fabric.Nodes
	from := slices.IndexFunc(nodes, func(n topo.Node) bool { return n.ID == a.At.Node && n.Kind == topo.Switch })
	if from < 0 {
		return -1
	}
	far := map[int]int{from: 0}
	for work := []int{from}; len(work) > 0; work = work[1:] {
		at := work[0]
		if slices.ContainsFunc(t.plants, func(p planted) bool { return slices.Contains(p.switches, nodes[at].Name) }) {
			return far[at]
		}
		for _, p := range nodes[at].Ports {
			to := p.Peer.Node
			if _, seen := far[to]; !seen && nodes[to].Kind == topo.Switch {
				far[to] = far[at] + 1
				work = append(work, to)
			}
		}
	}
	return -1
}
