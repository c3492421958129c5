package importer

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"softswitch/internal/lists"
)

// switchWords are what switches are called that are no edge.
var switchWords = []string{"spine", "superspine", "core", "agg", "aggregation", "router", "switch", "switche", "border", "gateway"}

// routing are words of images of routers.
var routing = []string{"frr", "frrouting", "bird", "gobgp", "quagga", "vyos", "openbgpd", "openvswitch", "ovs"}

// roles are the nodes of a lab, with what it says of which are hosts. A node of kind linux, of which neither
// icon nor group says what it is, is a host: with one link, and with several if nothing of its image is a
// switch.
func (l *lab) roles(file string, want Roles, t *tally) (*roles, error) {
	r := &roles{file: file}
	for i := range l.nodes {
		n := &l.nodes[i]
		one := role{name: n.name, place: fmt.Sprintf("%s:%d", file, n.line), joint: n.kind == "bridge" || n.kind == "ovs-bridge"}
		if n.group != "" {
			one.groups = []string{n.group}
		}
		r.nodes = append(r.nodes, one)
	}
	for _, k := range l.links {
		r.links = append(r.links, k.ends)
		r.nodes[k.ends[0]].links++
		r.nodes[k.ends[1]].links++
	}
	var alone []string // without a link
	for i := range r.nodes {
		n := &r.nodes[i]
		of := &l.nodes[i]
		switch {
		case n.links == 0:
			n.out = true
			alone = append(alone, n.name)
		case n.joint:
		case ofHost(of.icon):
			n.host = fmt.Sprintf("with the label graph-icon: %q", of.icon)
		case of.icon != "":
		case ofHost(of.group):
			n.host = fmt.Sprintf("of the group %q", of.group)
		case of.kind == "linux" && n.links == 1:
			n.host = "of kind linux with one link"
		}
	}
	if len(alone) > 0 {
		t.tell("%s: left out, for want of a link", span(lists.Map(alone, quoted)))
	}
	if len(want.Hosts) > 0 && want.Hosts[0] != "all" {
		return r, nil
	}
	return r, l.several(r, t)
}

// several finds out what nodes of kind linux with several links are, of which nothing says it.
func (l *lab) several(r *roles, t *tally) error {
	open := func(i int) bool {
		n := &l.nodes[i]
		return n.kind == "linux" && n.icon == "" && !ofHost(n.group) && r.nodes[i].links > 1
	}
	images := map[string]string{} // of switches, and why they are
	for i := range r.nodes {
		n := &l.nodes[i]
		if !open(i) {
			continue
		}
		if word := wordOf(n.image, routing); word != "" {
			images[n.image] = fmt.Sprintf("the word %s of the image is that of a router", word)
		}
		if wordOf(n.group, append(edgeWords, switchWords...)) != "" {
			images[n.image] = fmt.Sprintf("the group %q of one with this image is of switches", n.group)
		}
	}
	for _, k := range r.links {
		for i, at := range k {
			switch far := k[1-i]; {
			case !open(at):
			case r.nodes[far].host != "":
				images[l.nodes[at].image] = "one with this image is linked to a host"
			case open(far) && l.nodes[at].image == l.nodes[far].image:
				images[l.nodes[at].image] = "one with this image is linked to another"
			}
		}
	}
	for i := range r.nodes {
		if !open(i) {
			continue
		}
		if images[l.nodes[i].image] == "" {
			r.nodes[i].host = "of kind linux with several links, and an image that no switch has"
		}
	}
	r.tellEach(t, "Switches", func(i int) string {
		if !open(i) || r.nodes[i].host != "" {
			return ""
		}
		return "of kind linux, as " + images[l.nodes[i].image]
	})
	for _, k := range r.links {
		if open(k[0]) && open(k[1]) && r.nodes[k[0]].host != "" && r.nodes[k[1]].host != "" {
			a, z := &r.nodes[k[0]], &r.nodes[k[1]]
			return fmt.Errorf("%s: %q and %q are of kind linux, have several links, and are linked: at most one is a host; --hosts NAME,... says which nodes are hosts", a.place, a.name, z.name)
		}
	}
	return nil
}

// wordOf is the word of a name that is one of some, "" if none is.
func wordOf(name string, words []string) string {
	all := strings.FieldsFunc(name, func(c rune) bool { return !unicode.IsLetter(c) })
	if i := slices.IndexFunc(all, func(word string) bool { return slices.Contains(words, singular(word)) }); i >= 0 {
		return all[i]
	}
	return ""
}

// ofHost reports whether an icon or a group is one of hosts.
func ofHost(s string) bool {
	return slices.Contains([]string{"host", "server", "client"}, singular(s))
}
