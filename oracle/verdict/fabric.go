package verdict

import (
	"softswitch/oracle"
	"softswitch/topo"
	"softswitch/unit"
)

// Fabric converts the wiring of f for the oracle. Hosts beyond the last node number are
// left out: their switch port then leads nowhere, which the oracle treats as it does a
// host.
func Fabric(f *topo.Fabric) (*oracle.Fabric, error) {
	var nodes []oracle.Node
	for _, n := range f.Nodes {
		if n.ID == 0 {
			continue
		}
		node := oracle.Node{ID: n.ID, Name: n.Name, Host: n.Kind == topo.Host}
		for _, p := range n.Ports {
			node.Ports = append(node.Ports, p.Name)
		}
		nodes = append(nodes, node)
	}
	var links []oracle.Link
	for _, l := range f.Links {
		a, b := f.Nodes[l.A.Node].ID, f.Nodes[l.B.Node].ID
		if a != 0 && b != 0 {
			links = append(links, oracle.Link{A: unit.NodePort{Node: a, Port: l.A.Port}, B: unit.NodePort{Node: b, Port: l.B.Port}})
		}
	}
	return oracle.NewFabric(nodes, links)
}
