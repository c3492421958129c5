package lab

import (
	"fmt"

	netnslab "softswitch/netns-lab"
	"softswitch/view/drawing"
)

// Graph is the topology of a lab, with the present state of its links.
func Graph(st *netnslab.State) *drawing.Graph {
	r := st.Inspect()
	g := &drawing.Graph{Name: fmt.Sprintf("lab %s", r.Name)}
	index := map[string]int{}
	for i, n := range r.Nodes {
		index[n.Name] = i
		g.Nodes = append(g.Nodes, drawing.Node{Name: n.Name, Host: n.Kind == "host"})
	}
	for _, l := range r.Links {
		link := drawing.Link{A: index[l.A.Node], B: index[l.B.Node], Down: !l.Up}
		if link.Down {
			link.Note = "down"
		}
		g.Links = append(g.Links, link)
	}
	return g
}
