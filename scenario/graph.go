package scenario

import (
	"softswitch/node/config"
	"softswitch/topo"
	"softswitch/view/drawing"
)

// Graph is the topology of a plan, with the link events marked.
func (p *Plan) Graph() *drawing.Graph {
	g := &drawing.Graph{Name: p.Scenario.Name}
	for _, n := range p.Fabric.Nodes {
		g.Nodes = append(g.Nodes, drawing.Node{Name: n.Name, Host: n.Kind == topo.Host})
	}
	for _, l := range p.Fabric.Links {
		g.Links = append(g.Links, drawing.Link{A: l.A.Node, B: l.B.Node})
	}
	for _, e := range p.Events {
		verb := map[Do]string{Fail: "fails at ", Heal: "heals at "}[e.Do]
		if verb == "" {
			continue
		}
		l := &g.Links[e.Link]
		l.Down = true
		if l.Note != "" {
			l.Note += ", "
		}
		l.Note += verb + config.FormatTime(e.At)
	}
	return g
}
