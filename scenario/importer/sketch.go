package importer

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/topo"
)

// sketch is the topology of a scenario by names.
type sketch struct {
	names                  []string // by node of the file; of those that are left out too
	switches, hosts, links []string
}

// sketchNode is a node of a file; one that is left out may have any name.
type sketchNode struct {
	name      string
	host, out bool
}

// newSketch names nodes: by their own names if all of these can be names of a scenario, else s0, s1, ...
// and h0, h1, ..., in the order of the file.
func newSketch(nodes []sketchNode) *sketch {
	s := &sketch{}
	own := !slices.ContainsFunc(nodes, func(n sketchNode) bool { return !n.out && !topo.ValidName(n.name) })
	for i, n := range nodes {
		name, list := fmt.Sprintf("s%d", i), &s.switches
		if n.host {
			name, list = fmt.Sprintf("h%d", i), &s.hosts
		}
		if own {
			name = n.name
		}
		s.names = append(s.names, name)
		if !n.out {
			*list = append(*list, name)
		}
	}
	return s
}

// hostEach gives each switch a host, which the head of the scenario tells.
func (s *sketch) hostEach(b *strings.Builder) {
	b.WriteString("# It has no hosts: each switch has one.\n")
	for i, sw := range s.switches {
		host := fmt.Sprintf("host%d", i)
		for slices.Contains(s.names, host) {
			host += "x"
		}
		s.hosts, s.links = append(s.hosts, host), append(s.links, sw+"--"+host)
	}
}

// write begins the scenario of this name: its head, its topology, and the rate of its links.
func (s *sketch) write(b *strings.Builder, name string, rate fmt.Stringer) {
	fmt.Fprintf(b, "name: %q\n\ntopology:\n", name)
	for _, k := range []struct {
		key  string
		list []string
	}{{"switches", s.switches}, {"hosts", s.hosts}, {"links", s.links}} {
		fmt.Fprintf(b, "  %s:\n", k.key)
		for _, entry := range k.list {
			fmt.Fprintf(b, "    - %q\n", entry)
		}
	}
	fmt.Fprintf(b, "  rate: %s\n", rate)
}
