// Containerlab makes a scenario of a topology of containerlab (containerlab.dev,
// "Topology definition"), which is a lab of containers and links between them:
//
//	.clab.yml --read--> lab -->  scenario file
//
// Read of a node are kind, group and the label graph-icon, which it can also have from
// groups, kinds and defaults; of a link its endpoints, short ("leaf1:eth1") or as node and
// interface. Every other key is the lab's own affair.
//
// Read in this order: containerlab_read.go (the lab), containerlab_yaml.go (mappings, anchors), this file (what
// comes of it).
//
// Invariants:
//   - place: a fault names the file and the line;
//   - what is supposed and what is left out are comments at the head of the scenario;
//   - bounded: aliases and merge keys make at most maxKeys of a file.
//
// What it does not do: it reads no Go templates, and not what a container configures, such
// as a bridge or the rate of an interface.

package importer

import (
	"cmp"
	"fmt"
	"strings"

	"softswitch/internal/lists"
	"softswitch/internal/strictyaml"
	"softswitch/unit"
)

// MaxContainerlabFile is the length of the longest file in bytes.
const MaxContainerlabFile = strictyaml.MaxBytes

// Limits of a lab.
const (
	containerlabMaxNodes = 10_000
	maxLinks             = 100_000
	maxKeys              = 1_000_000 // of mappings, with those that come of aliases
)

// Containerlab is a scenario file of the topology in data, the content of file, whose links have
// this rate. It is called as the lab is, or name if that has no name. If no node is a host,
// each gets one. The error is the first fault.
func Containerlab(name, file string, data []byte, rate unit.Rate) ([]byte, error) {
	l, err := readContainerlab(file, data)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString("# Made of a topology of containerlab. Routes are shortest paths.\n")
	fmt.Fprintf(&b, "# It has no rates: %s is supposed.\n", rate)
	for _, out := range l.out {
		fmt.Fprintf(&b, "# The link of line %d is left out: %s is outside of the lab.\n", out.line, out.to)
	}
	s := newSketch(lists.Map(l.nodes, func(n clabNode) sketchNode { return sketchNode{n.name, n.host != "", n.links == 0} }))
	for i, n := range l.nodes {
		if n.name != s.names[i] && n.links > 0 {
			fmt.Fprintf(&b, "# %s is %q.\n", s.names[i], n.name)
		}
		switch {
		case n.links == 0:
			fmt.Fprintf(&b, "# Node %q is left out: it has no link.\n", n.name)
		case n.host != "":
			fmt.Fprintf(&b, "# %s is a host: %s.\n", s.names[i], n.host)
		}
	}
	for _, k := range l.links {
		s.links = append(s.links, s.names[k.ends[0]]+"--"+s.names[k.ends[1]])
	}
	if len(s.hosts) == 0 {
		s.hostEach(&b)
	} else {
		b.WriteString("# All other nodes are switches.\n")
	}
	s.write(&b, cmp.Or(l.name, name), rate)
	b.WriteString("\nduration: 1s\n")
	return []byte(b.String()), nil
}
