package topo

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/unit"
)

// ExplicitNode is a node of a fabric that is listed node by node.
type ExplicitNode struct {
	Name string
	Kind Kind
	// Shared says that a host has one address at all of its links, which lead to different switches.
	Shared bool
}

// Fault is an error in a node or a link of an explicit fabric.
type Fault struct {
	Link  bool // the index is that of a link, else of a node
	Index int
	Text  string
}

// Faults is all errors in an explicit fabric: at least one.
type Faults []Fault

// Error has one line per fault.
func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		what := "node"
		if f.Link {
			what = "link"
		}
		lines[i] = fmt.Sprintf("%s %d: %s", what, f.Index, f.Text)
	}
	return strings.Join(lines, "\n")
}

// maxExplicit limits an explicit fabric, so that every node gets a number and every
// subnet a prefix.
const maxExplicit = 30000

// MaxNICs is how many links a host has at most.
const MaxNICs = 16

// Explicit makes a fabric of these nodes, and of links between the two names of each
// pair. Ports are numbered in the order of the links. The error is a Faults.
func Explicit(nodes []ExplicitNode, links [][2]string) (*Fabric, error) {
	if fs := checkExplicit(nodes, links); len(fs) > 0 {
		return nil, fs
	}
	b := newBuilder()
	for _, kind := range []Kind{Switch, Host} {
		for _, n := range nodes {
			if n.Kind == kind {
				i := b.node(kind, "%s", n.Name)
				b.f.Nodes[i].Shared = n.Shared
			}
		}
	}
	for _, l := range links {
		b.link(b.f.byName[l[0]], b.f.byName[l[1]])
	}
	return b.done(inOrder), nil
}

func checkExplicit(nodes []ExplicitNode, links [][2]string) (fs Faults) {
	if len(nodes) > maxExplicit {
		return Faults{{Index: maxExplicit, Text: fmt.Sprintf("%s: at most %d", unit.Count(len(nodes), "node"), maxExplicit)}}
	}
	index, degree := map[string]int{}, make([]int, len(nodes))
	for i, n := range nodes {
		first, twice := index[n.Name]
		switch {
		case !ValidName(n.Name):
			fs = append(fs, Fault{Index: i, Text: fmt.Sprintf(`%q is not a node's name: 1 to 32 letters, digits, "-", "_" and ".", a letter first, not "--"`, n.Name)})
		case twice:
			fs = append(fs, Fault{Index: i, Text: fmt.Sprintf("%q is node %d already", n.Name, first)})
		default:
			index[n.Name] = i
		}
	}
	for i, l := range links {
		a, okA := index[l[0]]
		z, okZ := index[l[1]]
		switch {
		case !okA || !okZ:
			for _, name := range l {
				if _, ok := index[name]; !ok {
					fs = append(fs, Fault{Link: true, Index: i, Text: fmt.Sprintf("no node is called %q", name)})
				}
			}
			continue
		case a == z:
			fs = append(fs, Fault{Link: true, Index: i, Text: fmt.Sprintf("%q is linked to itself", l[0])})
			continue
		case nodes[a].Kind == Host && nodes[z].Kind == Host:
			fs = append(fs, Fault{Link: true, Index: i, Text: fmt.Sprintf("%q and %q are hosts: a host is linked to a switch", l[0], l[1])})
			continue
		}
		degree[a]++
		degree[z]++
	}
	for i, n := range nodes {
		first, ok := index[n.Name]
		switch {
		case !ok || first != i: // reported already
		case n.Kind == Host && (degree[i] < 1 || degree[i] > MaxNICs):
			fs = append(fs, Fault{Index: i, Text: fmt.Sprintf("host %q has %d links: a host has 1 to %d, to switches", n.Name, degree[i], MaxNICs)})
		case n.Shared && twice(n.Name, links) != "":
			fs = append(fs, Fault{Index: i, Text: fmt.Sprintf("host %q has two links to %q: with one address at all links, each leads to another switch", n.Name, twice(n.Name, links))})
		case n.Kind == Switch && (degree[i] < 1 || degree[i] > unit.MaxPorts):
			fs = append(fs, Fault{Index: i, Text: fmt.Sprintf("switch %q has %d links: a switch has 1 to %d", n.Name, degree[i], unit.MaxPorts)})
		}
	}
	if len(fs) == 0 {
		fs = checkWhole(nodes, links, index)
	}
	return fs
}

// twice is the node to which a host has two links, "" for none.
func twice(host string, links [][2]string) string {
	seen := map[string]bool{}
	for _, l := range links {
		if l[0] == host || l[1] == host {
			far := l[0]
			if far == host {
				far = l[1]
			}
			if seen[far] {
				return far
			}
			seen[far] = true
		}
	}
	return ""
}

// checkWhole requires that every node can be reached from the first one. It names the
// first that cannot.
func checkWhole(nodes []ExplicitNode, links [][2]string, index map[string]int) Faults {
	at := make([][]int, len(nodes)) // by node: its neighbours
	for _, l := range links {
		a, z := index[l[0]], index[l[1]]
		at[a], at[z] = append(at[a], z), append(at[z], a)
	}
	for i, n := range nodes {
		if i > 0 && n.Kind == Host {
			at[i] = nil // frames do not go through a host
		}
	}
	if i := firstApart(at); i >= 0 {
		return Faults{{Index: i, Text: fmt.Sprintf("%q is not connected to %q: all nodes of a fabric are", nodes[i].Name, nodes[0].Name)}}
	}
	return nil
}

// firstApart is the first node without a path to node 0, -1 if there is none; at is the
// neighbours of each, none of a host other than node 0.
func firstApart(at [][]int) int {
	reached := make([]bool, len(at))
	for work := []int{0}; len(work) > 0 && len(at) > 0; work = work[1:] {
		if i := work[0]; !reached[i] {
			reached[i] = true
			work = append(work, at[i]...)
		}
	}
	return slices.Index(reached, false)
}

// ValidName reports whether a node can have this name: 1 to 32 letters, digits, "-", "_" and
// ".", a letter first, not "--".
func ValidName(s string) bool {
	if s == "" || len(s) > 32 || strings.Contains(s, "--") {
		return false
	}
	for i, c := range []byte(s) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || !('0' <= c && c <= '9' || strings.IndexByte("-_.", c) >= 0)) {
			return false
		}
	}
	return true
}
