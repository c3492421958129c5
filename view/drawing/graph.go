package drawing

import (
	"fmt"
	"slices"

	"softswitch/internal/lists"
	"softswitch/scenario"
	"softswitch/topo"
)

// Graph is the topology to draw.
type Graph struct {
	Name  string
	Nodes []Node
	Links []Link
}

// Node is a switch or a host.
type Node struct {
	Name string
	Host bool
}

// Link joins the nodes with these indices. One that is down is dashed.
type Link struct {
	A, B int
	Down bool
	Note string // written beside it: "fails at 200ms"
}

// layout is the graph as a Placement, switches before hosts, and the number that
// each node has there.
func (g *Graph) layout() (drawn *Placement, number []int) {
	switches := len(lists.Where(g.Nodes, func(n Node) bool { return !n.Host }))
	next := map[bool]int{true: switches} // of a host, or of a switch
	for _, n := range g.Nodes {
		number = append(number, next[n.Host])
		next[n.Host]++
	}
	pairs := lists.Map(g.Links, func(l Link) [2]int { return [2]int{number[l.A], number[l.B]} })
	return NewPlacement(switches, len(g.Nodes), pairs), number
}

// levels are the levels of the nodes: 0 of hosts, 1 of switches with hosts, one more
// with each link from there. Switches from which no host can be reached have 1.
func (g *Graph) levels() []int {
	drawn, number := g.layout()
	of := drawn.Levels()
	levels := make([]int, len(g.Nodes))
	for i, n := range g.Nodes {
		if !n.Host {
			levels[i] = max(1, of[number[i]])
		}
	}
	return levels
}

// rows are the nodes by level, the lowest first, in the order of the graph; hosts in
// that of their switches.
func (g *Graph) rows() (rows [][]int) {
	levels := g.levels()
	for i, l := range levels {
		for len(rows) <= l {
			rows = append(rows, nil)
		}
		if !g.Nodes[i].Host {
			rows[l] = append(rows[l], i)
		}
	}
	for sw, n := range g.Nodes {
		if n.Host {
			continue
		}
		for _, l := range g.Links {
			host := l.B
			if l.B == sw {
				host = l.A
			}
			if (l.A == sw || l.B == sw) && g.Nodes[host].Host && !slices.Contains(rows[0], host) {
				rows[0] = append(rows[0], host)
			}
		}
	}
	return rows
}

// downwards is the link from its higher to its lower end.
func (l Link) downwards(levels []int) (from, to int) {
	if levels[l.A] < levels[l.B] {
		return l.B, l.A
	}
	return l.A, l.B
}

// OfFabric is the topology of a fabric, with one label for the links of a LAG.
func OfFabric(name string, f *topo.Fabric) *Graph {
	g := &Graph{
		Name:  name,
		Nodes: lists.Map(f.Nodes, func(n topo.Node) Node { return Node{Name: n.Name, Host: n.Kind == topo.Host} }),
		Links: lists.Map(f.Links, func(l topo.Link) Link { return Link{A: l.A.Node, B: l.B.Node} }),
	}
	for _, lag := range f.LAGs {
		g.Links[lag.Links[len(lag.Links)/2]].Note = fmt.Sprintf("LAG of %d", len(lag.Links))
	}
	return g
}

// OfPlan is the topology of a plan, with the link events marked.
func OfPlan(p *scenario.Plan) *Graph {
	g := OfFabric(p.Scenario.Name, p.Fabric)
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
