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
	mtu                    int // 0 is the default
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

// hostAt gives each of some nodes a host of its own: host0, host1, ...
func (s *sketch) hostAt(nodes []int) {
	for i, n := range nodes {
		host := fmt.Sprintf("host%d", i)
		for slices.Contains(s.names, host) {
			host += "x"
		}
		s.hosts, s.links = append(s.hosts, host), append(s.links, s.names[n]+"--"+host)
	}
}

// write begins the scenario of this name: its topology, and the rate of its links.
func (s *sketch) write(b *strings.Builder, name string, rate fmt.Stringer, routing routes) {
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
	if s.mtu > 0 {
		fmt.Fprintf(b, "  mtu: %d\n", s.mtu)
	}
	routing.write(b)
	fmt.Fprintf(b, "  rate: %s\n", rate)
}

// parts tells the parts of a graph of n nodes from each other, by a number for each node. Of two that are
// joined, both are in one part if through is true of both; else nobody gets from one link to the next there.
func parts(n int, links [][2]int, through func(node int) bool) []int {
	at := make([][]int, n)
	for _, l := range links {
		if through(l[0]) && through(l[1]) {
			at[l[0]], at[l[1]] = append(at[l[0]], l[1]), append(at[l[1]], l[0])
		}
	}
	part := make([]int, n) // from 1
	for i := range n {
		if part[i] > 0 {
			continue
		}
		part[i] = i + 1
		for work := []int{i}; len(work) > 0; work = work[1:] {
			for _, to := range at[work[0]] {
				if part[to] == 0 {
					part[to] = i + 1
					work = append(work, to)
				}
			}
		}
	}
	return part
}
