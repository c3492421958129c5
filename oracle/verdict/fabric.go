package verdict

import (
	"softswitch/buffer"
	"softswitch/internal/lists"
	"softswitch/oracle"
	"softswitch/scenario"
	"softswitch/topo"
	"softswitch/unit"
)

// Fabric converts the wiring of f, and how its switches' buffers resume, for the oracle; buffers
// gives the buffer of switch i. Hosts beyond the last node number are left out: their switch port
// then leads nowhere, which the oracle treats as it does a host.
func Fabric(f *topo.Fabric, buffers func(i int) buffer.Config) (*oracle.Fabric, error) {
	var nodes []oracle.Node
	for i, n := range f.Nodes {
		if n.ID == 0 {
			continue
		}
		ports := lists.Map(n.Ports, func(p topo.Port) string { return p.Name })
		node := oracle.Node{ID: n.ID, Name: n.Name, Host: n.Kind == topo.Host, Ports: ports}
		if !node.Host {
			node.Rules = Rules(buffers(i))
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

// Buffers are those of a plan's switches, for [Fabric].
func Buffers(p *scenario.Plan) func(i int) buffer.Config {
	return func(i int) buffer.Config { return p.Switches[i].BuildBuffer() }
}

// Rules are those by which the priority groups of a switch resume, by port, for [oracle.Node]: nil if
// its priority groups do not share a pool that may be short.
func Rules(c buffer.Config) (rules []buffer.Rule) {
	if !c.Shares() {
		return nil
	}
	for in := range unit.Port(c.Ports) {
		rules = append(rules, c.Rule(in))
	}
	return rules
}
