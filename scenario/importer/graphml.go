// GraphML makes a scenario of a graph in GraphML (graphml.graphdrawing.org), such as
// those of the Internet Topology Zoo (Knight et al., JSAC 2011):
//
//	GraphML --read--> graph -->  scenario file
//
// GraphML says which nodes there are and which are joined; what else it tells is in data
// elements, which are known by the attr.name of their key, or is the default of the key. Read are of a node label, and
// type, kind or role, where "host" or "server" make a host of it; of an edge LinkSpeedRaw,
// in bit/s, as the zoo has it.
//
// Read in this order: graphml_read.go (the graph), this file (what comes of it).
//
// Invariants:
//   - place: a fault names the file and the line;
//   - what is supposed is a comment at the head of the scenario.
//
// What it does not do: it reads no nested graphs, hyperedges or ports, and not GML.

package importer

import (
	"fmt"
	"strings"

	"softswitch/internal/lists"
	"softswitch/unit"
)

// Limits of a file, in bytes, and of its graph.
const (
	MaxGraphMLFile  = 16 << 20
	graphmlMaxNodes = 10_000
	maxEdges        = 100_000
)

// GraphML is a scenario file called name, of the graph in data, the content of file.
// Links without a rate have this one. If no node is a host, each gets one. The error is the
// first fault.
func GraphML(name, file string, data []byte, rate unit.Rate) ([]byte, error) {
	g, err := readGraphML(file, data)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString("# Made of a graph in GraphML. Routes are shortest paths.\n")
	s := newSketch(lists.Map(g.nodes, func(n graphmlNode) sketchNode { return sketchNode{name: n.id, host: n.host} }))
	names := s.names
	for i, n := range g.nodes {
		if what := n.what(); what != names[i] {
			fmt.Fprintf(&b, "# %s is %q.\n", names[i], what)
		}
	}
	var overrides []string
	supposed, nth := 0, map[string]int{}
	for _, e := range g.edges {
		link := names[e.a] + "--" + names[e.z]
		pair := names[min(e.a, e.z)] + "--" + names[max(e.a, e.z)]
		s.links = append(s.links, link)
		if nth[pair]++; nth[pair] > 1 {
			link = fmt.Sprintf("%s#%d", link, nth[pair])
		}
		switch e.rate {
		case 0:
			supposed++
		case rate:
		default:
			overrides = append(overrides, fmt.Sprintf("{link: %q, rate: %s}", link, e.rate))
		}
	}
	if supposed > 0 {
		fmt.Fprintf(&b, "# %d of %d links have no rate in it: %s is supposed.\n", supposed, len(g.edges), rate)
	}
	if len(s.hosts) == 0 {
		s.hostEach(&b)
	}
	s.write(&b, name, rate)
	for i, o := range overrides {
		if i == 0 {
			b.WriteString("  overrides:\n")
		}
		fmt.Fprintf(&b, "    - %s\n", o)
	}
	b.WriteString("\nduration: 1s\n")
	return []byte(b.String()), nil
}

// what is how the graph calls a node.
func (n *graphmlNode) what() string {
	if n.label != "" {
		return n.label
	}
	return n.id
}
