package drawing

import "softswitch/internal/lists"

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
	number = make([]int, len(g.Nodes))
	switches, nodes := 0, 0
	for _, host := range []bool{false, true} {
		for i, n := range g.Nodes {
			if n.Host == host {
				number[i] = nodes
				nodes++
			}
		}
		if !host {
			switches = nodes
		}
	}
	pairs := lists.Map(g.Links, func(l Link) [2]int { return [2]int{number[l.A], number[l.B]} })
	return NewPlacement(switches, nodes, pairs), number
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
			if h, ok := l.hostAt(g, sw); ok {
				rows[0] = append(rows[0], h)
			}
		}
	}
	return rows
}

// hostAt is the host that the link joins to switch sw, if it does.
func (l Link) hostAt(g *Graph, sw int) (host int, ok bool) {
	switch {
	case l.A == sw && g.Nodes[l.B].Host:
		return l.B, true
	case l.B == sw && g.Nodes[l.A].Host:
		return l.A, true
	}
	return 0, false
}

// downwards is the link from its higher to its lower end.
func (l Link) downwards(levels []int) (from, to int) {
	if levels[l.A] < levels[l.B] {
		return l.B, l.A
	}
	return l.A, l.B
}
