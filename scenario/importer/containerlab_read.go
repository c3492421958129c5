package importer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"softswitch/unit"
)

// lab is what is read of a file.
type lab struct {
	name  string // "" if it has none
	nodes []clabNode
	links []clabLink
}

// clabNode is a container.
type clabNode struct {
	name string
	about
	line int
}

// about is what a node says of itself, or groups, kinds and defaults of many.
type about struct{ kind, group, icon, image string }

// clabLink joins two nodes, by their index. mtu is 0 if none is told.
type clabLink struct {
	ends [2]int
	line int
	mtu  int
}

// Types of links. Those that join nodes have two endpoints, and one that leads out of the lab has one; in a
// short endpoint, some types stand where a node would.
var (
	joining = []string{"", "brief", "veth", "veth-stitch"}
	leaving = []string{"host", "mgmt-net", "macvlan", "vxlan", "vxlan-stitch", "dummy"}
	short   = []string{"host", "mgmt-net", "macvlan"}
)

func readContainerlab(file string, data []byte, t *tally) (*lab, error) {
	if at := template(data); at > 0 {
		return nil, fmt.Errorf("%s:%d: \"{{\" begins a Go template: import what comes of it, or write its values", file, at)
	}
	if at := crowded(data); at > 0 {
		return nil, fmt.Errorf("%s:%d: more than %s in one mapping", file, at, unit.Count(maxMapping, "key"))
	}
	r, err := newReader(file, data, t)
	if err != nil {
		return nil, err
	}
	var l lab
	nodes := map[string]int{}
	top := r.table("lab", r.root)
	if l.name = r.text(top.value("name")); strings.Contains(l.name, "$") || strings.Contains(l.name, "__") {
		t.tell("The name of the lab, %s, has a variable: the scenario is called as the file", quoted(l.name))
		l.name = ""
	}
	body := top.value("topology")
	m := r.table("topology", body)
	r.nodes(&l, m, nodes)
	r.links(&l, m.value("links"), nodes)
	if r.err == nil && len(l.links) == 0 {
		r.faultf(body, "no links between nodes: a fabric has some")
	}
	return &l, r.err
}

// template is the first line that has a Go template, outside of comments; 0 if none has.
func template(data []byte) (line int) {
	for text := range strings.Lines(string(data)) {
		line++
		if !strings.HasPrefix(strings.TrimSpace(text), "#") && strings.Contains(text, "{{") {
			return line
		}
	}
	return 0
}

// table reads n, which has keys and values or is empty, and looks its keys up in the ledger. Keys that begin with
// x- are for anchors.
func (r *clabReader) table(name string, n ast.Node) mapping {
	m := r.mapping(n)
	for _, e := range m {
		if !strings.HasPrefix(e.key, "x-") {
			r.t.see(name, e.key, fmt.Sprintf("line %d", line(e.at)))
		}
	}
	return m
}

// word reads n, which is a word or empty, and no variable.
func (r *clabReader) word(n ast.Node) string {
	s := r.text(n)
	if strings.Contains(s, "$") {
		r.faultf(n, "%q has an environment variable: write its value", clip(s))
	}
	return s
}

func (r *clabReader) about(n ast.Node) about {
	m := r.table("node", n)
	icon := r.table("labels", m.value("labels")).value("graph-icon")
	return about{r.word(m.value("kind")), r.word(m.value("group")), r.word(icon), r.text(m.value("image"))}
}

func (r *clabReader) abouts(n ast.Node) map[string]about {
	of := map[string]about{}
	for _, e := range r.mapping(n) {
		of[e.key] = r.about(e.value)
	}
	return of
}

// nodes reads the nodes, with what they have from others: a group's comes before a kind's,
// and that before the defaults.
func (r *clabReader) nodes(l *lab, t mapping, index map[string]int) {
	defaults, kinds, groups := r.about(t.value("defaults")), r.abouts(t.value("kinds")), r.abouts(t.value("groups"))
	for _, e := range r.mapping(t.value("nodes")) {
		if len(l.nodes) == containerlabMaxNodes {
			r.faultf(e.at, "more than %d nodes", containerlabMaxNodes)
			return
		}
		a := r.about(e.value)
		a.kind = cmp.Or(a.kind, groups[a.group].kind, groups[defaults.group].kind, defaults.kind)
		a.group = cmp.Or(a.group, kinds[a.kind].group, defaults.group)
		a.icon = cmp.Or(a.icon, groups[a.group].icon, kinds[a.kind].icon, defaults.icon)
		a.image = cmp.Or(a.image, groups[a.group].image, kinds[a.kind].image, defaults.image)
		if strings.Contains(e.key, "$") {
			r.faultf(e.at, "%q has an environment variable: write its value", clip(e.key))
		}
		index[e.key] = len(l.nodes)
		l.nodes = append(l.nodes, clabNode{name: e.key, about: a, line: line(e.at)})
	}
}

func (r *clabReader) links(l *lab, n ast.Node, index map[string]int) {
	used := map[[2]string]int{} // lines of links, by node and interface
	for _, n := range r.list(n) {
		m := r.table("link", n)
		kind := strings.ToLower(strings.TrimSpace(r.word(m.value("type"))))
		switch {
		case r.err != nil:
			return
		case slices.Contains(leaving, kind):
			r.table("endpoint", m.value("endpoint"))
			r.leave(kind, n)
			continue
		case !slices.Contains(joining, kind):
			r.faultf(n, "type: %q is no type of a link; valid: %s, %s", clip(kind), strings.Join(joining[1:], ", "), strings.Join(leaving, ", "))
			return
		}
		ends := r.list(m.value("endpoints"))
		if len(ends) != 2 {
			r.faultf(n, "%d endpoints: a link has 2", len(ends))
			return
		}
		a, z := r.endpoint(ends[0]), r.endpoint(ends[1])
		k := clabLink{line: line(n), mtu: r.mtu(m.value("mtu"))}
		if to := slices.IndexFunc([]string{a[0], z[0]}, func(s string) bool { return slices.Contains(short, s) }); to >= 0 {
			r.leave([]string{a[0], z[0]}[to], n)
			continue
		}
		for i, end := range [][2]string{a, z} {
			at, ok := index[end[0]]
			if !ok {
				r.faultf(ends[i], "%s:%s: no node is called %q", end[0], end[1], end[0])
			}
			if before := used[end]; before > 0 {
				r.faultf(ends[i], "%s:%s is an endpoint of the link of line %d, too", end[0], end[1], before)
			}
			used[end], k.ends[i] = k.line, at
		}
		if k.ends[0] == k.ends[1] && r.err == nil {
			r.t.tellAt(fmt.Sprintf("line %d", k.line), "a link of a node to itself: left out")
			continue
		}
		if len(l.links) == maxLinks {
			r.faultf(n, "more than %d links", maxLinks)
		}
		if r.err != nil {
			return
		}
		l.links = append(l.links, k)
	}
}

// leave tells of a link that is left out.
func (r *clabReader) leave(kind string, n ast.Node) {
	why := "it leads out of the lab"
	if kind == "dummy" {
		why = "it leads nowhere"
	}
	r.t.tellAt(fmt.Sprintf("line %d", line(n)), "a link of type %s: left out, as %s", kind, why)
}

// mtu reads the mtu of a link, 0 for none.
func (r *clabReader) mtu(n ast.Node) int {
	s := r.word(n)
	mtu, err := strconv.Atoi(s)
	if s != "" && (err != nil || mtu < 0 || mtu > math.MaxUint16) {
		r.faultf(n, "mtu: %q is none: write 0 to %d", clip(s), math.MaxUint16)
		return 0
	}
	return mtu
}

// endpoint reads a node and its interface.
func (r *clabReader) endpoint(n ast.Node) (end [2]string) {
	if _, ok := scalar(r.value(n)); ok {
		end[0], end[1], _ = strings.Cut(r.word(n), ":")
	} else {
		m := r.table("endpoint", n)
		end[0], end[1] = r.word(m.value("node")), r.word(m.value("interface"))
	}
	if end[0] == "" || end[1] == "" {
		r.faultf(n, `an endpoint has a node and an interface: write it as "leaf1:eth1" or {node: leaf1, interface: eth1}`)
	}
	return end
}
