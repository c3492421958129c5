package scenario

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/internal/strictyaml"
	"softswitch/topo"
	"softswitch/unit"
)

func (p *parser) routes(routes []fileRoute) (overrides []Override) {
	for i, r := range routes {
		path := fmt.Sprintf("routes[%d]", i)
		at, ok := p.node(path+".at", r.At, "switch")
		if !ok {
			continue
		}
		o := Override{
			At:     at,
			To:     p.subnets(path+".to", r.To, at),
			Ports:  p.neighbours(path+".ports", r.Ports, at),
			Backup: p.neighbours(path+".backup", r.Backup, at),

			NoBackup: r.Backup != nil && len(r.Backup) == 0,
		}
		if len(r.Ports) == 0 && r.Backup == nil {
			p.Faultf(path, "changes nothing: name neighbours in ports or backup")
		}
		if !o.Ports.And(o.Backup).Empty() {
			p.Faultf(path+".backup", "%v: a neighbour is in ports too", r.Backup)
		}
		overrides = append(overrides, o)
	}
	return overrides
}

// subnets returns the subnets that to, a prefix or a node, stands for, except at's own.
func (p *parser) subnets(path, to string, at int) (subnets []int) {
	var inside func(topo.Subnet) bool
	if strings.Contains(to, "/") {
		var all unit.Prefix
		if err := all.UnmarshalText([]byte(to)); err != nil {
			p.Faultf(path, "%v", err)
			return nil
		}
		inside = func(s topo.Subnet) bool { return all.Bits() <= s.Bits && all.Contains(s.Addr.Netip()) }
	} else {
		i, ok := p.node(path, to, "node")
		if !ok {
			return nil
		}
		inside = func(s topo.Subnet) bool {
			return slices.ContainsFunc(p.fabric.SubnetsOf(i), func(k int) bool { return p.fabric.Subnets[k].Addr == s.Addr })
		}
	}
	for i, s := range p.fabric.Subnets {
		if _, own := s.OwnedBy(at); inside(s) && !own {
			subnets = append(subnets, i)
		}
	}
	if len(subnets) == 0 {
		p.Faultf(path, "%q holds no subnet of hosts other than %s's own; name a prefix such as 10.1.0.0/16, a host, or a switch with hosts", to, p.fabric.Nodes[at].Name)
	}
	return subnets
}

// neighbours returns the ports of switch at that lead to the switches with these names.
func (p *parser) neighbours(path string, names []string, at int) (ports unit.PortSet) {
	for i, name := range names {
		ports = ports.Or(p.neighbour(fmt.Sprintf("%s[%d]", path, i), name, at))
	}
	return ports
}

// neighbour returns the ports of switch at that lead to the switch of this name.
func (p *parser) neighbour(path, name string, at int) unit.PortSet {
	near := map[string]unit.PortSet{}
	var choices []string
	for j, port := range p.fabric.Nodes[at].Ports {
		n := p.fabric.Nodes[port.Peer.Node]
		if n.Kind != topo.Switch {
			continue
		}
		set, seen := near[n.Name]
		if !seen {
			choices = append(choices, n.Name)
		}
		set.Add(unit.Port(j))
		near[n.Name] = set
	}
	set, ok := near[name]
	if !ok {
		p.Faultf(path, "%q is not a switch beside %s%s; there are %s",
			name, p.fabric.Nodes[at].Name, strictyaml.DidYouMean(name, choices), strings.Join(choices, ", "))
	}
	return set
}
