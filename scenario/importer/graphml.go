// GraphML makes a scenario of a graph in GraphML (graphml.graphdrawing.org), such as
// those of the Internet Topology Zoo (Knight et al., JSAC 2011):
//
//	GraphML --read--> graph -->  scenario file
//
// GraphML says which nodes there are and which are joined; what else it tells is in data
// elements, which are known by the attr.name of their key, or is the default of the key. graphmlLedger has all
// names that are known, and what becomes of them: of a node its label and what it is; of an edge its rate, as
// the zoo has it: LinkSpeedRaw in bit/s, LinkSpeed with LinkSpeedUnits, or a LinkLabel such as "2.5 Gbps".
//
// Read in this order: graphml_read.go (the graph), graphml_rate.go (rates of edges), roles.go (hosts), this
// file (what comes of it).
//
// Invariants:
//   - place: a fault names the file and the line;
//   - what is supposed and what is left out are comments at the head of the scenario.
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

// graphmlLedger is what becomes of attributes of XML, with a @, and of data by the names of their keys.
var graphmlLedger = ledger{
	"graphml": {idle: reasons{{"*", "it is for programs that draw the graph"}}},
	"graph":   {used: "@edgedefault", idle: reasons{{"*", "it tells of the graph as a whole"}}},
	"node": {
		used: "@id label nodegraphics type kind role group device_type hyperedge",
		told: reasons{
			{"Internal doubted", "all nodes of the graph count alike"},
			{"asn vrf_role ibgp_role", "routes do not depend on them"},
		},
		idle: reasons{
			{"id Latitude Longitude Country Network geocode_id geocode_name geocode_append geocode_extent geocode_country x y", "it is about where a node is"},
			{"url description desc resources", "it is text for people"},
			{"@parse.indegree @parse.outdegree", "it is a hint for programs"},
		},
	},
	"edge": {
		used: "@source @target @directed LinkSpeedRaw LinkSpeed LinkSpeedUnits LinkLabel label",
		told: reasons{
			{"LinkStatus", "a link that is planned is taken for one that is there"},
			{"weight cost metric", "the shortest path has the fewest links"},
			{"delay latency length distance dist capacity bandwidth speed", "GraphML does not say in which unit"},
		},
		idle: reasons{
			{"@id id key", "links are called by their ends"},
			{"LinkType LinkNote edgegraphics url description desc", "it is text for people"},
			{"@sourceport @targetport", "a link has ports of its own"},
		},
	},
}

// GraphML is a scenario file called name, of the graph in data, the content of file.
// If neither the graph nor want says which nodes are hosts, each node gets one. The error is the first fault.
func GraphML(name, file string, data []byte, want Options) (Imported, error) {
	t := &tally{ledger: graphmlLedger}
	g, err := readGraphML(file, data, t)
	if err != nil {
		return Imported{}, err
	}
	r := g.roles(file)
	h, err := r.put(want.Roles, t, func() (hosting, error) {
		const why = "No node of the graph is a host: each has one, as a point of presence has users of its own; --hosts and --group say otherwise"
		return hosting{r.where(func(n *role) bool { return !n.joint }), why}, nil
	})
	if err != nil {
		return Imported{}, err
	}
	joints := r.where(func(n *role) bool { return n.joint })
	if len(joints) > 0 {
		t.tell("%s: a switch, as the graph has a hyperedge there, which joins several links", span(r.names(joints)))
	}
	s := newSketch(lists.Map(r.nodes, func(n role) sketchNode { return sketchNode{n.name, n.host != "", n.out} }))
	var names []string
	for i, n := range g.nodes {
		if what := n.what(); what != s.names[i] && !r.nodes[i].out {
			names = append(names, fmt.Sprintf("%s is %q", s.names[i], what))
		}
	}
	if len(names) > 0 {
		t.tell("%s", strings.Join(names, ", "))
	}
	r.tellHosts(t)
	var overrides []string
	supposed, nth := 0, map[[2]int]int{}
	for _, e := range g.edges {
		if r.nodes[e.a].out || r.nodes[e.z].out {
			continue
		}
		link := s.names[e.a] + "--" + s.names[e.z]
		pair := [2]int{min(e.a, e.z), max(e.a, e.z)}
		s.links = append(s.links, link)
		if nth[pair]++; nth[pair] > 1 {
			link = fmt.Sprintf("%s#%d", link, nth[pair])
		}
		switch e.rate {
		case 0:
			supposed++
		case want.Rate:
		default:
			overrides = append(overrides, fmt.Sprintf("{link: %q, rate: %s}", link, e.rate))
		}
	}
	if len(s.links) == 0 {
		return Imported{}, fmt.Errorf("%s: no edge between two nodes: a fabric has some", file)
	}
	if supposed > 0 {
		t.tell("%s of %d without a rate: %s is supposed", unit.Count(supposed, "link"), len(s.links), want.Rate)
	}
	s.hostAt(h.at)
	var b strings.Builder
	routing := want.Routing.or(RoutingIGP, "a graph does not say what its nodes run")
	s.write(&b, name, want.Rate, routing)
	for i, o := range overrides {
		if i == 0 {
			b.WriteString("  overrides:\n")
		}
		fmt.Fprintf(&b, "    - %s\n", o)
	}
	b.WriteString("\nduration: 1s\n")
	return t.imported(fmt.Sprintf("Made of a graph in GraphML. %s. %s.", h.why, routing), []byte(b.String())), nil
}

// roles are the nodes of a graph, with what it says of what they are.
func (g *graph) roles(file string) *roles {
	r := &roles{file: file}
	for _, n := range g.nodes {
		r.nodes = append(r.nodes, role{name: n.id, groups: n.kinds, host: n.host(), joint: n.hyper, place: fmt.Sprintf("%s:%d", file, n.line)})
	}
	for _, e := range g.edges {
		r.links = append(r.links, [2]int{e.a, e.z})
		r.nodes[e.a].links++
		r.nodes[e.z].links++
	}
	return r
}

// what is how the graph calls a node.
func (n *graphmlNode) what() string {
	if n.label != "" {
		return n.label
	}
	return n.id
}

// host is why a node is a host, "" if it is none.
func (n *graphmlNode) host() string {
	for _, kind := range n.kinds {
		if ofHost(kind) {
			return fmt.Sprintf("which the graph calls %q", kind)
		}
	}
	return ""
}
