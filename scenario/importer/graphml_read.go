package importer

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"softswitch/unit"
)

// graph is what is read of a file.
type graph struct {
	nodes []graphmlNode
	edges []edge
}

// graphmlNode is a node; label is "" if it has none, kinds are the words for what it is.
type graphmlNode struct {
	id, label string
	kinds     []string
	hyper     bool
	line      int
}

// edge joins nodes a and z; rate is 0 if none is told. One that is only the reverse of another, before
// it, has no nodes.
type edge struct {
	a, z    int
	reverse int // if a is -1: of which edge
	speed   speed
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
	t        *tally
	keys     map[string]*graphmlKey // by id
	key      *graphmlKey            // the one read last
	told     map[told]bool
	index    map[string]int   // of nodes, by id
	back     map[[2]int][]int // edges of a directed graph, from z to a, whose reverse has not come
	directed bool
	graphs   int
	loops    []string // places of edges that join a node to itself
	loop     bool     // the edge read last is one
	g        graph
}

// at is place as the head of a scenario has it.
func (r *graphmlReader) at() string { line, _ := r.d.InputPos(); return fmt.Sprintf("line %d", line) }

func (r *graphmlReader) faultf(format string, args ...any) error {
	line, _ := r.d.InputPos()
	return r.faultAt(line, format, args...)
}

func (r *graphmlReader) faultAt(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", r.file, line, fmt.Sprintf(format, args...))
}

func readGraphML(file string, data []byte, t *tally) (*graph, error) {
	r := graphmlReader{file: file, d: xml.NewDecoder(bytes.NewReader(data)), t: t, keys: map[string]*graphmlKey{}, told: map[told]bool{}, index: map[string]int{}, back: map[[2]int][]int{}}
	r.d.CharsetReader = func(label string, _ io.Reader) (io.Reader, error) {
		return nil, fmt.Errorf("encoding %q: write it as UTF-8", label)
	}
	if err := r.read(); err != nil {
		return nil, err
	}
	if len(r.loops) > 0 {
		t.tellAt(r.loops[0], "%s from a node to itself: left out", unit.Count(len(r.loops), "edge"))
	}
	if len(r.g.edges) == 0 {
		return nil, fmt.Errorf("%s: no edge between two nodes: a fabric has some", file)
	}
	if err := r.join(); err != nil {
		return nil, err
	}
	return &r.g, r.fill()
}

// read reads all elements.
func (r *graphmlReader) read() error {
	in := []string{""} // elements that are open
	for {
		t, err := r.d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return r.faultf("not XML: %v", err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			within, name := in[len(in)-1], t.Name.Local
			switch {
			case within == "" && name != "graphml":
				return r.faultf("<%s> where <graphml> should be", clip(name))
			case name == "data" || name == "default":
				err = r.data(within, t)
			case slices.Contains([]string{"graphml", "key", "graph", "node", "edge", "hyperedge", "port"}, name):
				in = append(in, name)
				err = r.start(t)
			default: // what is in it is no matter
				r.t.see(within, name, r.at())
				if err = r.d.Skip(); err != nil {
					err = r.faultf("not XML: %v", err)
				}
			}
			if err != nil {
				return err
			}
		case xml.EndElement:
			in = in[:len(in)-1]
		}
	}
}

// start reads the start of an element that has others in it.
func (r *graphmlReader) start(t xml.StartElement) error {
	switch t.Name.Local {
	case "key":
		r.key = &graphmlKey{id: attr(t, "id"), name: cmp.Or(attr(t, "attr.name"), attr(t, "yfiles.type")), of: attr(t, "for")}
		r.keys[r.key.id] = r.key
		return nil
	case "graphml":
		return nil
	case "graph":
		if r.graphs++; r.graphs > 1 {
			return r.faultf("a second graph: a scenario has one, and none within a node")
		}
		r.directed = attr(t, "edgedefault") == "directed"
	case "node":
		id := attr(t, "id")
		if _, twice := r.index[id]; id == "" || twice {
			return r.faultf("node %q: an id of its own is missing", clip(id))
		}
		if len(r.g.nodes) == graphmlMaxNodes {
			return r.faultf("more than %s", unit.Count(graphmlMaxNodes, "node"))
		}
		r.index[id] = len(r.g.nodes)
		line, _ := r.d.InputPos()
		r.g.nodes = append(r.g.nodes, graphmlNode{id: id, line: line})
	case "edge":
		if err := r.edge(t); err != nil {
			return err
		}
	default:
		return r.faultf("<%s>: a link of a scenario joins two nodes", t.Name.Local)
	}
	for _, a := range t.Attr {
		if a.Name.Space == "" {
			r.t.see(t.Name.Local, "@"+a.Name.Local, r.at())
		}
	}
	return nil
}

// edge reads an edge. In a directed graph, an edge and its reverse are one link.
func (r *graphmlReader) edge(t xml.StartElement) error {
	var ends [2]int
	for i, key := range []string{"source", "target"} {
		n, ok := r.index[attr(t, key)]
		if !ok {
			return r.faultf("%s %q: no node before the edge has this id", key, clip(attr(t, key)))
		}
		ends[i] = n
	}
	if r.loop = ends[0] == ends[1]; r.loop {
		r.loops = append(r.loops, r.at())
		return nil
	}
	if len(r.g.edges) == maxEdges {
		return r.faultf("more than %s", unit.Count(maxEdges, "edge"))
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

// data reads a data element of the element within which it is, or the default of a key.
func (r *graphmlReader) data(within string, t xml.StartElement) error {
	value, err := r.text()
	if err != nil {
		return err
	}
	if t.Name.Local == "default" {
		if within == "key" {
			r.key.usual = value
		}
		return nil
	}
	id := attr(t, "key")
	key := r.keys[id]
	if key == nil {
		r.t.see(within, "data of key "+id, r.at())
		return nil
	}
	r.t.see(within, key.name, r.at())
	switch n, e := len(r.g.nodes)-1, len(r.g.edges)-1; {
	case within == "node" && n >= 0:
		r.told[told{n, id}] = true
		r.putNode(n, key.name, value)
	case within == "edge" && e >= 0 && !r.loop:
		r.g.edges[e].speed.put(key.name, value)
	}
	return nil
}

// text reads the text of an element, to its end; of a drawing that of the label in it.
func (r *graphmlReader) text() (string, error) {
	var own, label strings.Builder
	for depth, labelled := 1, 0; depth > 0; {
		t, err := r.d.Token()
		if err != nil {
			return "", r.faultf("not XML: %v", err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			if depth++; t.Name.Local == "NodeLabel" && labelled == 0 && label.Len() == 0 {
				labelled = depth
			}
		case xml.EndElement:
			if depth == labelled {
				labelled = 0
			}
			depth--
		case xml.CharData:
			if depth == 1 {
				own.Write(t)
			} else if depth == labelled {
				label.Write(t)
			}
		}
	}
	return cmp.Or(strings.TrimSpace(own.String()), strings.TrimSpace(label.String())), nil
}

// putNode gives node n the value of a key.
func (r *graphmlReader) putNode(n int, key, value string) {
	switch node := &r.g.nodes[n]; {
	case value == "":
	case key == "label":
		node.label = value
	case key == "nodegraphics":
		node.label = cmp.Or(node.label, value)
	case key == "hyperedge":
		node.hyper = value == "1" || strings.EqualFold(value, "true")
	case has("type kind role group device_type", key):
		node.kinds = append(node.kinds, value)
	}
}

// join gives each edge its rate, or the one that only its reverse has, and takes the reverses out.
func (r *graphmlReader) join() (err error) {
	for n := range r.g.edges {
		e := &r.g.edges[n]
		if e.rate, err = e.speed.rate(r, e.line); err != nil {
			return err
		}
		if e.a >= 0 || e.rate == 0 {
			continue
		}
		forth := &r.g.edges[e.reverse]
		if forth.rate != 0 && forth.rate != e.rate {
			return r.faultAt(e.line, "the rate is %s, and of the reverse in line %d %s: a link has one rate", e.rate, forth.line, forth.rate)
		}
		forth.rate = e.rate
	}
	r.g.edges = slices.DeleteFunc(r.g.edges, func(e edge) bool { return e.a < 0 })
	return nil
}

// fill gives nodes the usual value of each key of which they have none, and edges without a rate the usual one.
func (r *graphmlReader) fill() error {
	var usual speed
	for _, id := range slices.Sorted(maps.Keys(r.keys)) {
		key := r.keys[id]
		for _, of := range []string{"node", "edge"} {
			if key.usual == "" || key.of != of && key.of != "all" && key.of != "" {
				continue
			}
			r.t.see(of, key.name, "the default of key "+quoted(id))
			if of == "edge" {
				usual.put(key.name, key.usual)
				continue
			}
			for n := range r.g.nodes {
				if !r.told[told{n, id}] {
					r.putNode(n, key.name, key.usual)
				}
			}
		}
	}
	rate, err := usual.rate(r, 1)
	for n := range r.g.edges {
		r.g.edges[n].rate = cmp.Or(r.g.edges[n].rate, rate)
	}
	return err
}

func attr(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
