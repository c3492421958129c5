package config

import (
	"fmt"
	"slices"

	"softswitch/dataplane"
	"softswitch/internal/lists"
	"softswitch/internal/strictyaml"
)

// LAG is links to one neighbour that act as one (IEEE 802.1AX; SONiC: PortChannel): to routes, the MAC
// table and flooding. A flow leaves by one of those that are up, chosen by its hash. PFC stays with each
// port. It is static: no LACP is spoken.
type LAG struct {
	// Name, such as PortChannel1, is what show commands call it.
	Name string `yaml:"name" schema:"name,required"`
	// Ports are its members, two or more. Subnets and routes have all of them, or none.
	Ports []int `yaml:"ports" schema:"0..255,required"`
}

// checkLAGs adds the faults of the LAGs of s to d.
func checkLAGs(d *strictyaml.Doc, s *Switch) {
	names, of := map[string]bool{}, map[int]string{}
	for i, l := range s.LAGs {
		path := fmt.Sprintf("lags[%d]", i)
		if needed(d, path+".name", l.Name) {
			if names[l.Name] {
				d.Faultf(path+".name", "%q is another LAG's: a LAG has a name of its own", l.Name)
			}
			names[l.Name] = true
		}
		checkPortList(d, path+".ports", l.Ports, len(s.Ports), "a LAG has two or more")
		if len(l.Ports) == 1 {
			d.Faultf(path+".ports", "one port: a LAG has two or more")
		}
		for j, p := range l.Ports {
			at := fmt.Sprintf("%s.ports[%d]", path, j)
			switch first := of[p]; {
			case p < 0 || p >= len(s.Ports):
			case first != "" && first != l.Name:
				d.Faultf(at, "port %d is of %s already: a port is in one LAG", p, first)
			case s.Ports[p].Peer != s.Ports[l.Ports[0]].Peer || s.Ports[p].Rate != s.Ports[l.Ports[0]].Rate:
				d.Faultf(at, "port %d has another rate or kind of peer than port %d: the members of a LAG have one", p, l.Ports[0])
			}
			of[p] = l.Name
		}
	}
	if d.Faulty("lags") {
		return
	}
	for _, l := range s.LAGs {
		for i, n := range s.Subnets {
			l.checkWhole(d, fmt.Sprintf("subnets[%d].ports", i), n.Ports)
			l.checkWhole(d, fmt.Sprintf("subnets[%d].flood", i), n.Flood)
		}
		for i, r := range s.Routes {
			l.checkWhole(d, fmt.Sprintf("routes[%d].ports", i), r.Ports)
			l.checkWhole(d, fmt.Sprintf("routes[%d].backup", i), r.Backup)
		}
	}
}

// checkWhole adds a fault if a list of ports has some members of l and lacks others.
func (l *LAG) checkWhole(d *strictyaml.Doc, path string, ports []int) {
	missing := lists.Where(l.Ports, func(p int) bool { return !slices.Contains(ports, p) })
	if n := len(missing); n > 0 && n < len(l.Ports) {
		d.Faultf(path, "%v has some ports of %s, which is one way, and lacks %v; write all of them, or none", ports, l.Name, missing)
	}
}

// build is the machine's.
func (l LAG) build() dataplane.LAG { return dataplane.LAG{Name: l.Name, Ports: portSet(l.Ports)} }
