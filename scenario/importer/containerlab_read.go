package importer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"softswitch/topo"
	"softswitch/unit"
)

// lab is what is read of a file.
type lab struct {
	name  string // "" if it has none
	nodes []clabNode
	links []clabLink
	out   []outside
}

// clabNode is a container. host tells why it is a host, "" if it is a switch.
type clabNode struct {
	name, host string
	about
	line, links int
}

// about is what a node says of itself, or groups, kinds and defaults of many.
type about struct{ kind, group, icon string }

// clabLink joins two nodes, by their index.
type clabLink struct {
	ends [2]int
	line int
}

// outside is a link that leaves the lab, and where to.
type outside struct {
	to   string
	line int
}

// Types of links; in a short endpoint the type stands where a node would.
const inside = "veth"

var leaving = []string{"host", "mgmt-net", "macvlan", "vxlan", "vxlan-stitch", "dummy"}

func readContainerlab(file string, data []byte) (*lab, error) {
	r, err := newReader(file, data)
	if err != nil {
		return nil, err
	}
	var l lab
	nodes := map[string]int{}
	top := r.mapping(r.root)
	l.name = r.text(top.value("name"))
	body := top.value("topology")
	t := r.mapping(body)
	r.nodes(&l, t, nodes)
	r.links(&l, t.value("links"), nodes)
	if r.err == nil && len(l.links) == 0 {
		r.faultf(body, "no links between nodes: a fabric has some")
	}
	if r.err == nil {
		r.roles(&l)
	}
	return &l, r.err
}

func (r *clabReader) about(n ast.Node) about {
	m := r.mapping(n)
	return about{r.text(m.value("kind")), r.text(m.value("group")), r.text(r.mapping(m.value("labels")).value("graph-icon"))}
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
		index[e.key] = len(l.nodes)
		l.nodes = append(l.nodes, clabNode{name: e.key, about: a, line: line(e.at)})
	}
}

func (r *clabReader) links(l *lab, n ast.Node, index map[string]int) {
	used := map[[2]string]int{} // lines of links, by node and interface
	for _, n := range r.list(n) {
		m := r.mapping(n)
		kind := strings.ToLower(strings.TrimSpace(r.text(m.value("type"))))
		switch {
		case r.err != nil:
			return
		case slices.Contains(leaving, kind):
			l.out = append(l.out, outside{kind, line(n)})
			continue
		case kind != "" && kind != inside:
			r.faultf(n, "type: %q is no type of a link; valid: %s, %s", kind, inside, strings.Join(leaving, ", "))
			return
		}
		ends := r.list(m.value("endpoints"))
		if len(ends) != 2 {
			r.faultf(n, "%d endpoints: a link has 2", len(ends))
			return
		}
		a, z := r.endpoint(ends[0]), r.endpoint(ends[1])
		k := clabLink{line: line(n)}
		if to := slices.IndexFunc([]string{a[0], z[0]}, func(s string) bool { return slices.Contains(leaving, s) }); to >= 0 {
			l.out = append(l.out, outside{[]string{a[0], z[0]}[to], k.line})
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
		if k.ends[0] == k.ends[1] {
			r.faultf(n, "node %q is linked to itself", a[0])
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

// endpoint reads a node and its interface.
func (r *clabReader) endpoint(n ast.Node) (end [2]string) {
	if s, ok := scalar(r.value(n)); ok {
		end[0], end[1], _ = strings.Cut(s, ":")
	} else {
		m := r.mapping(n)
		end[0], end[1] = r.text(m.value("node")), r.text(m.value("interface"))
	}
	if end[0] == "" || end[1] == "" {
		r.faultf(n, `an endpoint has a node and an interface: write it as "leaf1:eth1" or {node: leaf1, interface: eth1}`)
	}
	return end
}

// roles tells hosts from switches, and checks that both have as many links as they can.
func (r *clabReader) roles(l *lab) {
	for _, k := range l.links {
		l.nodes[k.ends[0]].links++
		l.nodes[k.ends[1]].links++
	}
	for i := range l.nodes {
		n := &l.nodes[i]
		switch {
		case n.links == 0:
		case ofHost(n.icon):
			n.host = fmt.Sprintf("its label graph-icon is %q", n.icon)
		case n.icon != "":
		case ofHost(n.group):
			n.host = fmt.Sprintf("its group is %q", n.group)
		case n.kind == "linux" && n.links == 1:
			n.host = "it is of kind linux and has one link"
		}
		switch {
		case n.host != "" && n.links > topo.MaxNICs:
			r.faultAt(n.line, "%q has %d links, and is a host: %s; a host has at most %d", n.name, n.links, n.host, topo.MaxNICs)
		case n.links >= unit.MaxPorts:
			r.faultAt(n.line, "%q has %d links: a switch has at most %d, and one for a host", n.name, n.links, unit.MaxPorts-1)
		}
	}
	for _, k := range l.links {
		if a, z := &l.nodes[k.ends[0]], &l.nodes[k.ends[1]]; a.host != "" && z.host != "" {
			r.faultAt(k.line, "%q and %q are hosts: a host is linked to a switch, which the label graph-icon: switch makes of a node", a.name, z.name)
		}
	}
}

// ofHost reports whether an icon or a group is one of hosts.
func ofHost(s string) bool {
	return slices.Contains([]string{"host", "server", "client"}, strings.TrimSuffix(strings.ToLower(s), "s"))
}
