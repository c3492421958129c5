package importer

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
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

// edge joins nodes a and z; rate is 0 if none is told.
type edge struct {
	a, z int
	rate unit.Rate
	line int
}

// graphmlReader reads a file element by element.
type graphmlReader struct {
	file     string
	d        *xml.Decoder
	keys     map[string]string // attr.name by id
	index    map[string]int    // of nodes, by id
	back     map[[2]int]int    // edges of a directed graph, from z to a, whose reverse has not come
	directed bool
	graphs   int
	g        graph
}

func (r *graphmlReader) faultf(format string, args ...any) error {
	line, _ := r.d.InputPos()
	return fmt.Errorf("%s:%d: %s", r.file, line, fmt.Sprintf(format, args...))
}

func readGraphML(file string, data []byte) (*graph, error) {
	r := graphmlReader{file: file, d: xml.NewDecoder(bytes.NewReader(data)), keys: map[string]string{}, index: map[string]int{}, back: map[[2]int]int{}}
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
			if name == "data" {
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
	return &r.g, r.degrees()
}

// start reads the start of an element that is no data.
func (r *graphmlReader) start(t xml.StartElement) error {
	switch t.Name.Local {
	case "key":
		r.keys[attr(t, "id")] = attr(t, "attr.name")
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
		if r.back[ends] > 0 {
			r.back[ends]--
			e.a = -1 // its reverse is there: what its data say is dropped with it
		} else {
			r.back[[2]int{ends[1], ends[0]}]++
		}
	}
	r.g.edges = append(r.g.edges, e)
	return nil
}

// data reads a data element of what is open last.
func (r *graphmlReader) data(in []string, t xml.StartElement) error {
	var text struct {
		Text string `xml:",chardata"`
	}
	if err := r.d.DecodeElement(&text, &t); err != nil {
		return r.faultf("not XML: %v", err)
	}
	value := strings.TrimSpace(text.Text)
	switch of, key := in[len(in)-1], r.keys[attr(t, "key")]; {
	case of == "node" && len(r.g.nodes) > 0:
		n := &r.g.nodes[len(r.g.nodes)-1]
		switch key {
		case "label":
			n.label = value
		case "type", "kind", "role":
			n.host = n.host || strings.EqualFold(value, "host") || strings.EqualFold(value, "server")
		}
	case of == "edge" && key == "LinkSpeedRaw" && len(r.g.edges) > 0:
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || !(x >= 1 && x <= 1e15) {
			return r.faultf("LinkSpeedRaw: %q is not a rate in bit/s", value)
		}
		r.g.edges[len(r.g.edges)-1].rate = unit.Rate(math.Round(x))
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
