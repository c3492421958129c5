package drawing

import (
	"softswitch/internal/lists"
	"softswitch/scenario"
	"softswitch/topo"
)

// OfPlan is the topology of a plan, with the link events marked.
func OfPlan(p *scenario.Plan) *Graph {
	g := &Graph{
		Name:  p.Scenario.Name,
		Nodes: lists.Map(p.Fabric.Nodes, func(n topo.Node) Node { return Node{Name: n.Name, Host: n.Kind == topo.Host} }),
		Links: lists.Map(p.Fabric.Links, func(l topo.Link) Link { return Link{A: l.A.Node, B: l.B.Node} }),
	}
	for _, e := range p.Events {
		verb := map[scenario.Do]string{scenario.Fail: "fails at ", scenario.Heal: "heals at "}[e.Do]
		if verb == "" {
			continue
		}
		l := &g.Links[e.Link]
		l.Down = true
		if l.Note != "" {
			l.Note += ", "
		}
		l.Note += verb + e.At.String()
	}
	return g
}
