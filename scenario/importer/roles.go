package importer

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"softswitch/internal/lists"
	"softswitch/topo"
	"softswitch/unit"
)

// Options are what a user says of a file, where that does not say it or says it otherwise.
type Options struct {
	Rate unit.Rate // of links without a rate
	Roles
	Routing Routing // "" is what the file suggests
}

// Roles are which nodes of a file are hosts, and which switches have one.
type Roles struct {
	// Hosts are names of nodes, or patterns of path.Match: these are the hosts, and all others switches. The
	// word all gives each switch a host.
	Hosts []string
	// Groups are groups of switches, or names or patterns of them, that get a host each.
	Groups []string
}

// role is a node of a file, and what the file says of what it is.
type role struct {
	name   string
	groups []string // what it is one of
	host   string   // why it is a host; "" is a switch
	out    bool     // it is left out
	joint  bool     // it joins links, and is the place of nobody
	place  string
	links  int
}

// roles are the nodes of a file, and its links, which join two of them.
type roles struct {
	file  string
	nodes []role
	links [][2]int
}

// hosting is switches that get a host of their own each, and a sentence that tells which and why.
type hosting struct {
	at  []int
	why string
}

// put gives nodes the roles that want says, leaves out what is not connected then, and returns the switches that
// get a host of their own. Where nothing says where hosts are, otherwise says which switches get one.
func (r *roles) put(want Roles, t *tally, otherwise func() (hosting, error)) (h hosting, err error) {
	all := slices.Equal(want.Hosts, []string{"all"})
	if len(want.Hosts) > 0 && !all {
		if err := r.named(want.Hosts); err != nil {
			return h, err
		}
	}
	r.whole(t)
	hosts := r.where(func(n *role) bool { return n.host != "" })
	switch {
	case all:
		h = hosting{r.where(func(n *role) bool { return n.host == "" && !n.joint }), "Each switch has a host of its own, as --hosts says"}
	case len(want.Groups) > 0:
		if h.at, err = r.grouped(want.Groups); err != nil {
			return h, err
		}
		h.why = fmt.Sprintf("%s: each has a host of its own, as --group says", span(r.names(h.at)))
	case len(hosts) > 0:
		h.why = "Nodes that are not hosts are switches"
	default:
		if h, err = r.edge(otherwise); err != nil {
			return h, err
		}
	}
	if len(h.at) == 0 && len(hosts) == 0 {
		return h, r.ask()
	}
	return h, r.degrees(h.at)
}

// ask is the fault of a file that does not tell where hosts are.
func (r *roles) ask() error {
	groups := ""
	if slices.ContainsFunc(r.nodes, func(n role) bool { return len(n.groups) > 0 }) {
		groups = ", and the groups " + r.candidates(func(n *role) []string { return n.groups })
	}
	return fmt.Errorf("%s: no node is a host, and groups, names and links do not say which switches have some: --hosts NAME,... says which nodes are hosts, --group NAME gives the switches of a group a host each, --hosts all each switch; there are %s%s",
		r.file, r.candidates(func(n *role) []string { return []string{n.name} }), groups)
}

// where are the nodes of a kind that are not left out.
func (r *roles) where(is func(*role) bool) (at []int) {
	for i := range r.nodes {
		if n := &r.nodes[i]; !n.out && is(n) {
			at = append(at, i)
		}
	}
	return at
}

func (r *roles) names(of []int) []string {
	return lists.Map(of, func(i int) string { return quoted(r.nodes[i].name) })
}

// named makes hosts of the nodes whose names match, and switches of all others.
func (r *roles) named(patterns []string) error {
	for i := range r.nodes {
		r.nodes[i].host = ""
	}
	for _, p := range patterns {
		at, err := r.matching("--hosts", p, func(n *role) []string { return []string{n.name} })
		if err != nil {
			return err
		}
		for _, i := range at {
			r.nodes[i].host = "named by --hosts"
		}
	}
	return nil
}

// grouped are the switches of groups, or whose names match.
func (r *roles) grouped(groups []string) (all []int, err error) {
	for _, g := range groups {
		at, err := r.matching("--group", g, func(n *role) []string { return append([]string{n.name}, n.groups...) })
		if err != nil {
			return nil, err
		}
		all = append(all, slices.DeleteFunc(at, func(i int) bool { return r.nodes[i].host != "" })...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// matching are the nodes of which a word matches the pattern of an option.
func (r *roles) matching(option, pattern string, words func(*role) []string) ([]int, error) {
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("%s: %q is no pattern: write a name, or one with * and ?, such as \"leaf*\"", option, pattern)
	}
	at := r.where(func(n *role) bool {
		return slices.ContainsFunc(words(n), func(word string) bool {
			ok, err := path.Match(pattern, word)
			return err == nil && ok || strings.EqualFold(pattern, word)
		})
	})
	if len(at) == 0 {
		return nil, fmt.Errorf("%s: %q matches nothing in %s; there are %s", option, pattern, r.file, r.candidates(words))
	}
	return at, nil
}

// candidates are the words of all nodes, each once.
func (r *roles) candidates(words func(*role) []string) string {
	all := lists.Once(r.where(func(*role) bool { return true }), func(i int) []string { return words(&r.nodes[i]) })
	return span(lists.Map(all, quoted))
}

// edgeWords are what the switches of the edge are called, which have hosts.
var edgeWords = []string{"leaf", "leave", "tor", "access", "edge"}

// edge is the switches that get hosts where no node is one: those that groups or names say to be the edge, or
// what otherwise says.
func (r *roles) edge(otherwise func() (hosting, error)) (hosting, error) {
	byGroup := r.where(func(n *role) bool {
		return !n.joint && slices.ContainsFunc(n.groups, func(g string) bool { return slices.Contains(edgeWords, singular(g)) })
	})
	byName := r.where(func(n *role) bool { return !n.joint && wordOf(n.name, edgeWords) != "" })
	const none = "No node is a host: %s have one each, as their %s that they are the edge"
	switch {
	case len(byGroup) > 0:
		return hosting{byGroup, fmt.Sprintf(none, span(r.names(byGroup)), "groups say")}, nil
	case len(byName) > 0:
		return hosting{byName, fmt.Sprintf(none, span(r.names(byName)), "names say")}, nil
	}
	return otherwise()
}

// singular is a word in lower case without the s of a plural.
func singular(word string) string { return strings.TrimSuffix(strings.ToLower(word), "s") }

// lowest are the switches of the lowest tier of a Clos: they have the fewest links, none to each other, and
// what is linked lies in tiers next to each other. Of two switches, both are lowest: what has nowhere else to
// go begins and ends there. nil if the links do not tell that.
func (r *roles) lowest() (at []int) {
	all := r.where(func(*role) bool { return true })
	isPlace := func(i int) bool { return !r.nodes[i].joint }
	switch len(all) {
	case 0:
		return nil
	case 2:
		return lists.Where(all, isPlace)
	}
	fewest := slices.MinFunc(all, func(a, b int) int { return r.nodes[a].links - r.nodes[b].links })
	tier := make([]int, len(r.nodes)) // from 1
	for _, i := range all {
		if r.nodes[i].links == r.nodes[fewest].links {
			at, tier[i] = append(at, i), 1
		}
	}
	if len(at) < 2 || len(at) == len(all) || len(lists.Where(at, isPlace)) < len(at) {
		return nil
	}
	near := make([][]int, len(r.nodes))
	for _, l := range r.links {
		near[l[0]], near[l[1]] = append(near[l[0]], l[1]), append(near[l[1]], l[0])
	}
	for work := slices.Clone(at); len(work) > 0; work = work[1:] {
		for _, to := range near[work[0]] {
			if tier[to] == 0 {
				tier[to] = tier[work[0]] + 1
				work = append(work, to)
			}
		}
	}
	for _, l := range r.links {
		if d := tier[l[0]] - tier[l[1]]; d != 1 && d != -1 {
			return nil
		}
	}
	return at
}

// degrees checks that hosts and switches have as many links as they can, with those to hosts of their own, and
// that no two hosts are linked.
func (r *roles) degrees(own []int) error {
	extra := make([]int, len(r.nodes))
	for _, i := range own {
		extra[i]++
	}
	for i := range r.nodes {
		n := &r.nodes[i]
		switch {
		case n.out:
		case n.host != "" && n.links > topo.MaxNICs:
			return fmt.Errorf("%s: %q has %s, and is a host %s; a host has at most %d", n.place, n.name, unit.Count(n.links, "link"), n.host, topo.MaxNICs)
		case n.links+extra[i] > unit.MaxPorts:
			return fmt.Errorf("%s: %q has %s: a switch has at most %d, with one to a host of its own", n.place, n.name, unit.Count(n.links+extra[i], "link"), unit.MaxPorts)
		}
	}
	for _, l := range r.links {
		if a, z := &r.nodes[l[0]], &r.nodes[l[1]]; a.host != "" && z.host != "" {
			return fmt.Errorf("%s: %q and %q are linked, and hosts, one %s and one %s: a host is linked to switches; --hosts NAME,... says which nodes are hosts", a.place, a.name, z.name, a.host, z.host)
		}
	}
	return nil
}

// tellHosts tells which nodes are hosts, and why, and which of them have several links.
func (r *roles) tellHosts(t *tally) {
	r.tellEach(t, "Hosts", func(i int) string { return r.nodes[i].host })
	several := r.where(func(n *role) bool { return n.host != "" && n.links > 1 })
	if len(several) > 0 {
		t.tell("%s: each has a NIC for each of its links, with an address of its own; topology.shared_address makes it one address", span(r.names(several)))
	}
}

// tellEach tells of the nodes that are something, by why they are it.
func (r *roles) tellEach(t *tally, something string, why func(i int) string) {
	var by lists.Groups[string, int]
	for i := range r.nodes {
		if reason := why(i); reason != "" && !r.nodes[i].out {
			by.Add(reason, i)
		}
	}
	for _, reason := range by.Keys {
		t.tell("%s %s: %s", something, reason, span(r.names(by.Of[reason])))
	}
}

// whole leaves out the nodes that are not in the largest part of the graph, which it tells, and the links of
// these. Frames go through switches alone.
func (r *roles) whole(t *tally) {
	isSwitch := func(i int) bool { return r.nodes[i].host == "" && !r.nodes[i].out }
	part := parts(len(r.nodes), r.links, isSwitch)
	size := map[int]int{}
	best := -1
	for i := range r.nodes {
		if !isSwitch(i) {
			continue
		}
		if size[part[i]]++; best < 0 || size[part[i]] > size[best] {
			best = part[i]
		}
	}
	if best < 0 {
		return // hosts alone, which are refused
	}
	in := make([]bool, len(r.nodes))
	for _, l := range r.links {
		in[l[0]] = in[l[0]] || isSwitch(l[1]) && part[l[1]] == best
		in[l[1]] = in[l[1]] || isSwitch(l[0]) && part[l[0]] == best
	}
	var out []int
	for i := range r.nodes {
		if n := &r.nodes[i]; !n.out && (isSwitch(i) && part[i] != best || !isSwitch(i) && !in[i]) {
			n.out = true
			out = append(out, i)
		}
	}
	if len(out) > 0 {
		t.tell("%s: left out, as not connected to the largest part of the fabric, of %s", span(r.names(out)), unit.Count(size[best], "switch"))
	}
}
