package scenario

import (
	"slices"

	"softswitch/host"
	"softswitch/topo"
	"softswitch/unit"
)

// named is the number of a NIC as a file has it; unit.NoPort if it has none.
func named(nic *int) unit.Port {
	if nic == nil {
		return unit.NoPort
	}
	return unit.Port(*nic)
}

// place gives the flows of s the NICs that the file does not name, and checks those that it does.
func (p *parser) place(s *Scenario) {
	if p.fabric == nil {
		return
	}
	for i := range s.Flows {
		f := &s.Flows[i]
		from, to := &p.fabric.Nodes[f.From], &p.fabric.Nodes[f.To]
		p.namedNIC(s.key(i)+".nic", f.NIC, from)
		if p.namedNIC(s.key(i)+".to_nic", f.ToNIC, to); f.ToNIC != unit.NoPort && to.Shared {
			p.Faultf(s.key(i)+".to_nic", "%d: %s has one address at all of its NICs, and the switches choose by which one the flow gets there", f.ToNIC, to.Name)
		}
		f.settle(from, to, i)
	}
}

// namedNIC checks that a host has a NIC that the file names.
func (p *parser) namedNIC(path string, nic unit.Port, h *topo.Node) {
	if n := len(h.Ports); nic != unit.NoPort && int(nic) >= n {
		p.Faultf(path, "%d: the NICs of %s are 0 to %d", nic, h.Name, n-1)
	}
}

// settle gives flow number i the NICs that it does not name. Of hosts with an address at each NIC flows
// take them in turn, and go to the NIC with the number of that from which they come.
func (f *Flow) settle(from, to *topo.Node, i int) {
	if f.NIC == unit.NoPort && (!from.Shared || len(from.Ports) == 1) {
		f.NIC = unit.Port(i % max(1, len(from.Ports)))
		if n := len(to.Ports); f.ToNIC != unit.NoPort && !to.Shared && len(from.Ports) == n {
			f.NIC = f.ToNIC
		}
	}
	switch n := len(to.Ports); {
	case to.Shared:
		f.ToNIC = 0
	case f.ToNIC != unit.NoPort:
	case f.NIC != unit.NoPort && len(from.Ports) > 1 && int(f.NIC) < n:
		f.ToNIC = f.NIC
	default:
		f.ToNIC = unit.Port(i % max(1, n))
	}
}

// several checks what hosts with several NICs cannot be.
func (p *parser) several(s *Scenario) {
	if p.fabric == nil {
		return
	}
	for _, list := range []struct {
		key, why string
		hosts    []int
	}{
		{"nics", "has several links: programs of your own have a NIC with one", s.NICs},
		{"dead", "has several links: a dead host has one, and its switch floods what is for it", s.Dead},
	} {
		for _, h := range list.hosts {
			if n := &p.fabric.Nodes[h]; len(n.Ports) > 1 {
				p.Faultf(list.key, "%q %s", n.Name, list.why)
			}
		}
	}
}

// fromEnd is where flow f leaves its host, once the links have failed of which failed tells.
func (p *Plan) fromEnd(f Flow, srcPort uint16, failed func(int) bool) topo.End {
	nic := f.NIC
	if nic == unit.NoPort {
		n := &p.Fabric.Nodes[f.From]
		var up unit.PortSet
		for i, port := range n.Ports {
			if !failed(port.Link) {
				up.Add(unit.Port(i))
			}
		}
		nic = host.ChooseNIC(p.hash(f, srcPort), n.ID, len(n.Ports), up)
	}
	return topo.End{Node: f.From, Port: nic}
}

// From is the port by which flow i leaves its host once all permanent link failures have happened.
func (p *Plan) From(i int) topo.End {
	f := p.Scenario.Flows[i]
	if f.NIC != unit.NoPort {
		return topo.End{Node: f.From, Port: f.NIC}
	}
	return p.fromEnd(f, p.Flows[i].SrcPort, failedForGood(p.Scenario))
}

// LinkOf is the index of the link by which a flow leaves its host while all links are up; any of them if
// the host chooses.
func (s *Scenario) LinkOf(f *Flow) int {
	ports := s.Fabric.Nodes[f.From].Ports
	if int(f.NIC) < len(ports) {
		return ports[f.NIC].Link
	}
	return ports[0].Link
}

// Addresses are those of the frames of a flow.
func (s *Scenario) Addresses(f *Flow) (from, to unit.Addr) {
	nodes := s.Fabric.Nodes
	from, to = nodes[f.From].Addr, nodes[f.To].Addr
	if int(f.NIC) < len(nodes[f.From].Ports) {
		from = nodes[f.From].Ports[f.NIC].Addr
	}
	if int(f.ToNIC) < len(nodes[f.To].Ports) {
		to = nodes[f.To].Ports[f.ToNIC].Addr
	}
	return from, to
}

// number is a NIC of host i as its file has it: nil for the host's choice, and for the only one.
func (p *Plan) number(i int, nic unit.Port) *int {
	n := &p.Fabric.Nodes[i]
	if len(n.Ports) == 1 || nic == unit.NoPort {
		return nil
	}
	return new(int(nic))
}

// HasSeveral reports whether some host has several NICs.
func (s *Scenario) HasSeveral() bool {
	return slices.ContainsFunc(s.Fabric.Nodes, func(n topo.Node) bool { return n.Kind == topo.Host && len(n.Ports) > 1 })
}
