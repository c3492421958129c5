package importer

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"softswitch/unit"
)

// graph is what is read of a file.
type graph struct {
	nodes []graphmlNode
	edges []edge
}

// graphmlNode is a node; label is "" if it has none.
type graphmlNode struct {
	id, label string
	host      bool
}

// edge joins nodes a and z; rate is 0 if none is told. One that is only the reverse of another, before
// it, has no nodes.
type edge struct {
	a, z    int
	reverse int // if a is -1: of which edge
	rate    unit.Rate
	line    int
}

// graphmlKey is a key, of which data of what it is for have a value; others have the usual one.
type graphmlKey struct{ id, name, of, usual string }

// told says that a node, by its number, has a value of its own of a key.
type told struct {
	n   int
	key string
}

// graphmlReader reads a file element by element.
type graphmlReader struct {
	file     string
	d        *xml.Decoder
	keys     map[string]*graphmlKey // by id
	key      *graphmlKey            // the one read last
	told     map[told]bool
	index    map[string]int   // of nodes, by id
	back     map[[2]int][]int // edges of a directed graph, from z to a, whose reverse has not come
	directed bool
	graphs   int
	g        graph
}

func (r *graphmlReader) faultf(format string, args ...any) error {
	line, _ := r.d.InputPos()
	return fmt.Errorf("%s:%d: %s", r.file, line, fmt.Sprintf(format, args...))
}

func readGraphML(file string, data []byte) (*graph, error) {
	r := graphmlReader{file: file, d: xml.NewDecoder(bytes.NewReader(data)), keys: map[string]*graphmlKey{}, told: map[told]bool{}, index: map[string]int{}, back: map[[2]int][]int{}}
	r.d.CharsetReader = func(label string, _ io.Reader) (io.Reader, error) {
		return nil, fmt.Errorf("encoding %q: write it as UTF-8", label)
	}
	var in []string // elements that are open
	for {
		t, err := r.d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, r.faultf("not XML: %v", err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			name := t.Name.Local
			if len(in) == 0 && name != "graphml" {
				return nil, r.faultf("<%s> where <graphml> should be", name)
			}
			in = append(in, name)
			if name == "data" || name == "default" {
				in = in[:len(in)-1]
				err = r.data(in, t)
			} else {
				err = r.start(t)
			}
			if err != nil {
				return nil, err
			}
		case xml.EndElement:
			in = in[:len(in)-1]
		}
	}
	if len(r.g.edges) == 0 {
		return nil, fmt.Errorf("%s: no edges: a fabric has some", file)
	}
	if err := r.join(); err != nil {
		return nil, err
	}
	if err := r.fill(); err != nil {
		return nil, err
	}
	return &r.g, r.degrees()
}

// start reads the start of an element that is no data.
func (r *graphmlReader) start(t xml.StartElement) error {
	switch t.Name.Local {
	case "key":
		r.key = &graphmlKey{id: attr(t, "id"), name: attr(t, "attr.name"), of: attr(t, "for")}
		r.keys[r.key.id] = r.key
	case "graph":
		if r.graphs++; r.graphs > 1 {
			return r.faultf("a second graph: a scenario has one, and none within a node")
		}
		r.directed = attr(t, "edgedefault") == "directed"
	case "node":
		id := attr(t, "id")
		if _, twice := r.index[id]; id == "" || twice {
			return r.faultf("node %q: an id of its own is missing", id)
		}
		if len(r.g.nodes) == graphmlMaxNodes {
			return r.faultf("more than %d nodes", graphmlMaxNodes)
		}
		r.index[id] = len(r.g.nodes)
		r.g.nodes = append(r.g.nodes, graphmlNode{id: id})
	case "edge":
		return r.edge(t)
	case "hyperedge", "port":
		return r.faultf("<%s>: a link of a scenario joins two nodes", t.Name.Local)
	}
	return nil
}

// edge reads an edge. In a directed graph, an edge and its reverse are one link.
func (r *graphmlReader) edge(t xml.StartElement) error {
	var ends [2]int
	for i, key := range []string{"source", "target"} {
		n, ok := r.index[attr(t, key)]
		if !ok {
			return r.faultf("%s %q: no node before the edge has this id", key, attr(t, key))
		}
		ends[i] = n
	}
	if ends[0] == ends[1] {
		return r.faultf("node %q is joined to itself", r.g.nodes[ends[0]].id)
	}
	if len(r.g.edges) == maxEdges {
		return r.faultf("more than %d edges", maxEdges)
	}
	line, _ := r.d.InputPos()
	e := edge{a: ends[0], z: ends[1], line: line}
	directed := r.directed
	if d := attr(t, "directed"); d != "" {
		directed = d == "true"
	}
	if directed {
		if ways := r.back[ends]; len(ways) > 0 {
			e.a, e.reverse = -1, ways[0]
			r.back[ends] = ways[1:]
		} else {
			from := [2]int{ends[1], ends[0]}
			r.back[from] = append(r.back[from], len(r.g.edges))
		}
	}
	r.g.edges = append(r.g.edges, e)
	return nil
}

// data reads a data element of what is open last, or the default of a key.
func (r *graphmlReader) data(in []string, t xml.StartElement) error {
	var text struct {
		Text string `xml:",chardata"`
	}
	if err := r.d.DecodeElement(&text, &t); err != nil {
		return r.faultf("not XML: %v", err)
	}
	value := strings.TrimSpace(text.Text)
	key := r.keys[attr(t, "key")]
	switch of := in[len(in)-1]; {
	case of == "key" && t.Name.Local == "default":
		r.key.usual = value
	case key == nil || t.Name.Local != "data":
	case of == "node" && len(r.g.nodes) > 0:
		n := len(r.g.nodes) - 1
		r.told[told{n, key.id}] = true
		r.putNode(n, key, value)
	case of == "edge" && len(r.g.edges) > 0:
		return r.putEdge(len(r.g.edges)-1, key, value)
	}
	return nil
}

// putNode gives node n the value of a key.
func (r *graphmlReader) putNode(n int, key *graphmlKey, value string) {
	switch key.name {
	case "label":
		r.g.nodes[n].label = value
	case "type", "kind", "role":
		r.g.nodes[n].host = r.g.nodes[n].host || strings.EqualFold(value, "host") || strings.EqualFold(value, "server")
	}
}

// putEdge gives edge n the value of a key.
func (r *graphmlReader) putEdge(n int, key *graphmlKey, value string) error {
	if key.name != "LinkSpeedRaw" {
		return nil
	}
	x, err := strconv.ParseFloat(value, 64)
	if err != nil || !(x >= 1 && x <= 1e15) {
		return r.faultf("LinkSpeedRaw: %q is not a rate in bit/s", value)
	}
	r.g.edges[n].rate = unit.Rate(math.Round(x))
	return nil
}

// fill gives nodes and edges the usual value of each key of which they have none.
func (r *graphmlReader) fill() error {
	for _, id := range slices.Sorted(maps.Keys(r.keys)) {
		key := r.keys[id]
		if key.usual == "" {
			continue
		}
		for n := range r.g.nodes {
			if key.isOf("node") && !r.told[told{n, id}] {
				r.putNode(n, key, key.usual)
			}
		}
		for n, e := range r.g.edges {
			if key.isOf("edge") && e.rate == 0 {
				if err := r.putEdge(n, key, key.usual); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// isOf reports whether a key is for nodes, or for edges.
func (k *graphmlKey) isOf(what string) bool { return k.of == what || k.of == "all" || k.of == "" }

// join gives edges the rate that only their reverse has.
func (r *graphmlReader) join() error {
	for _, e := range r.g.edges {
		if e.a >= 0 || e.rate == 0 {
			continue
		}
		forth := &r.g.edges[e.reverse]
		if forth.rate != 0 && forth.rate != e.rate {
			return fmt.Errorf("%s:%d: LinkSpeedRaw is %d, and of the reverse in line %d %d: a link has one rate", r.file, e.line, e.rate, forth.line, forth.rate)
		}
		forth.rate = e.rate
	}
	return nil
}

// degrees takes out the reverses of edges, and checks that hosts and switches have as many
// links as they can.
func (r *graphmlReader) degrees() error {
	var edges []edge
	degree := make([]int, len(r.g.nodes))
	for _, e := range r.g.edges {
		if e.a < 0 {
			continue
		}
		edges = append(edges, e)
		a, z := &r.g.nodes[e.a], &r.g.nodes[e.z]
		degree[e.a]++
		degree[e.z]++
		switch {
		case a.host && z.host:
			return fmt.Errorf("%s:%d: %q and %q are hosts: a host is linked to a switch", r.file, e.line, a.id, z.id)
		case a.host && degree[e.a] > 1 || z.host && degree[e.z] > 1:
			return fmt.Errorf("%s:%d: a host gets a second link: it has one", r.file, e.line)
		case degree[e.a] >= unit.MaxPorts || degree[e.z] >= unit.MaxPorts:
			return fmt.Errorf("%s:%d: a switch gets %d links: at most %d, and one for a host", r.file, e.line, unit.MaxPorts, unit.MaxPorts-1)
		}
	}
	r.g.edges = edges
	return nil
}

func attr(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
