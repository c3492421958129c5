package importer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"softswitch/internal/lists"
	"softswitch/topo"
	"softswitch/unit"
)

// hpccMaxNodes limits a topology.
const hpccMaxNodes = 30_000

// hpccLink is a link between two nodes; loss is the share of frames that it loses.
type hpccLink struct {
	a, b  int
	rate  unit.Rate
	delay unit.Time
	loss  float64
}

// fabric is a topology. simulator is whose file it is of.
type fabric struct {
	simulator string
	isSwitch  []bool // by node
	nv        []bool // by node: it is an NVSwitch
	links     []hpccLink
	of        [][]int // by node: its links
}

// heads are the first lines of topologies, by how many words they have.
var heads = map[int]struct {
	simulator string
	words     []string
}{
	3: {"HPCC", []string{"nodes", "switches", "links"}},
	4: {"PowerTCP", []string{"nodes", "switches", "tors", "links"}},
	6: {"Reverie", []string{"nodes", "switches", "tors", "links", "leaf_server_capacity", "spine_leaf_capacity"}},
}

// simai is the first line of a topology of SimAI, which ends with a word that is no number.
var simai = []string{"nodes", "gpus_per_server", "nvswitches", "switches", "links", "gpu_type"}

// head reads the first line: how many nodes, switches, NVSwitches and links there are.
func (f *fabric) head(w *words, t *tally) (nodes, switches, nvswitches, links int) {
	w.lines()
	n := slices.IndexFunc(w.rest, func(word string) bool { _, err := strconv.ParseFloat(word, 64); return err != nil })
	if n < 0 {
		n = len(w.rest)
	}
	if n < 3 && w.err == nil {
		w.faultf("%q: a topology begins with the numbers of its nodes, switches and links", clip(strings.Join(w.rest, " ")))
	}
	form := heads[3]
	if other, ok := heads[n]; ok && len(w.rest) == n {
		form = other
	}
	if n == 5 && len(w.rest) == 6 {
		form.simulator, form.words = "SimAI", simai
	}
	f.simulator = form.simulator
	for _, word := range form.words {
		t.see("topology", word, w.at())
		switch word {
		case "nodes":
			nodes = w.number("the number of nodes", 2, hpccMaxNodes)
		case "switches":
			switches = w.number("the number of switches", 0, hpccMaxNodes)
		case "nvswitches":
			nvswitches = w.number("the number of NVSwitches", 0, hpccMaxNodes)
		case "links":
			links = w.number("the number of links", 1, unit.MaxPorts*hpccMaxNodes)
		default:
			w.next(word)
		}
	}
	return nodes, switches, nvswitches, links
}

// readTopology reads a topology. What it leaves out it tells.
func readTopology(file HPCCFile, t *tally) (*fabric, error) {
	w := newWords(file)
	f := &fabric{}
	nodes, switches, nvswitches, links := f.head(w, t)
	if w.err != nil {
		return nil, w.err
	}
	f.isSwitch, f.nv, f.of = make([]bool, nodes), make([]bool, nodes), make([][]int, nodes)
	for k := range nvswitches + switches {
		i := w.number("the number of a switch", 0, nodes-1)
		if w.err == nil && f.isSwitch[i] {
			w.faultf("switch %d is in the list already", i)
		}
		if w.err != nil {
			return nil, w.err
		}
		f.isSwitch[i], f.nv[i] = true, k < nvswitches
	}
	nvLinks := 0
	for k := range links {
		l := f.link(w, t, k)
		if w.err != nil {
			return nil, w.err
		}
		if f.nv[l.a] || f.nv[l.b] {
			nvLinks++
			continue
		}
		for _, i := range []int{l.a, l.b} {
			f.of[i] = append(f.of[i], len(f.links))
		}
		f.links = append(f.links, l)
	}
	if nvLinks > 0 {
		t.tell("%s and %s to them are left out: what they carry stays within a server, by NVLink, which has no PFC; flows between GPUs of one server go by the switches",
			unit.Count(nvswitches, "NVSwitch"), unit.Count(nvLinks, "link"))
	}
	if n, place := w.behind(); n > 0 {
		t.tellAt(place, "%s behind the %s that the head of the file counts: they are left out, as in that simulator", unit.Count(n, "line"), unit.Count(links, "link"))
	}
	if len(f.links) == 0 {
		return nil, fmt.Errorf("%s: no link of a switch: a fabric has some", file.Name)
	}
	return f, f.whole(file.Name, t)
}

// link reads the kth link, from 0. A file may have no error rates.
func (f *fabric) link(w *words, t *tally, k int) hpccLink {
	nodes := len(f.isSwitch)
	l := hpccLink{a: w.number("a node of a link", 0, nodes-1), b: w.number("a node of a link", 0, nodes-1)}
	l.rate, l.delay = w.rate(), w.delay()
	if len(w.rest) > 0 {
		l.loss = w.real("an error rate", 1)
	} else if w.err == nil {
		t.tellAt(w.at(), "a link without an error rate: it is 0")
	}
	if w.err != nil {
		return l
	}
	if l.a == l.b || !f.isSwitch[l.a] && !f.isSwitch[l.b] {
		w.faultf("a link from %s to %s: one is between two switches, or a switch and a host", f.name(l.a), f.name(l.b))
	}
	for _, i := range []int{l.a, l.b} {
		if f.nv[l.a] || f.nv[l.b] {
			break
		}
		switch {
		case f.isSwitch[i] && len(f.of[i]) == unit.MaxPorts:
			w.faultf("%s gets another link: a switch has at most %d", f.name(i), unit.MaxPorts)
		case f.isSwitch[i]:
		case len(f.of[i]) == topo.MaxNICs:
			w.faultf("host %d gets another link: a host has at most %d", i, topo.MaxNICs)
		case slices.ContainsFunc(f.of[i], func(k int) bool { return f.links[k].a+f.links[k].b == l.a+l.b }):
			w.faultf("host %d gets a second link to one switch: each leads to another one", i)
		}
	}
	return l
}

// whole tells which nodes have no link, and refuses switches that are not connected.
func (f *fabric) whole(file string, t *tally) error {
	var alone []int
	for i, of := range f.of {
		if len(of) == 0 && !f.nv[i] {
			alone = append(alone, i)
		}
	}
	if len(alone) > 0 {
		t.tell("%s: left out, for want of a link", f.names(alone))
	}
	return f.planes(file, t)
}

// planes takes the largest of several parts of the fabric that only hosts join, and tells it: each host is at
// that plane, too. Other parts are refused.
func (f *fabric) planes(file string, t *tally) error {
	part := parts(len(f.of), lists.Map(f.links, func(l hpccLink) [2]int { return [2]int{l.a, l.b} }), func(i int) bool { return f.isSwitch[i] })
	size := map[int]int{}
	isIn := func(i int) bool { return f.isSwitch[i] && len(f.of[i]) > 0 }
	for i := range f.of {
		if isIn(i) {
			size[part[i]]++
		}
	}
	first := slices.IndexFunc(f.isSwitch, func(is bool) bool { return is })
	for i := range f.of {
		if isIn(i) && size[part[i]] > size[part[first]] {
			first = i
		}
	}
	within := func(i int) bool { return !f.isSwitch[i] || part[i] == part[first] }
	keep := lists.Where(f.links, func(l hpccLink) bool { return within(l.a) && within(l.b) })
	if len(keep) == len(f.links) {
		return nil
	}
	before := f.of
	f.links, f.of = keep, make([][]int, len(before))
	for k, l := range keep {
		f.of[l.a], f.of[l.b] = append(f.of[l.a], k), append(f.of[l.b], k)
	}
	var out []int
	for i := range before {
		switch {
		case len(before[i]) == 0 || len(f.of[i]) > 0:
		case !f.isSwitch[i]:
			return fmt.Errorf("%s: %s is not connected to %s: all nodes of a fabric are", file, f.name(i), f.name(first))
		default:
			out = append(out, i)
		}
	}
	t.tell("The switches are %s that only hosts join: the one of %s is the scenario, and %s are left out", unit.Count(len(size), "plane"), f.name(first), f.names(out))
	return nil
}

// name is a node's in the scenario.
func (f *fabric) name(i int) string {
	if f.isSwitch[i] {
		return fmt.Sprintf("s%d", i)
	}
	return fmt.Sprintf("h%d", i)
}

// names are those of some nodes.
func (f *fabric) names(of []int) string { return span(lists.Map(of, f.name)) }

// usual is the rate, delay and loss that most links have.
func (f *fabric) usual() (most hpccLink) {
	count, best := map[hpccLink]int{}, 0
	for _, l := range f.links {
		key := hpccLink{rate: l.rate, delay: l.delay, loss: l.loss}
		if count[key]++; count[key] > best {
			best, most = count[key], key
		}
	}
	return most
}

// several are the hosts with several links.
func (f *fabric) several() (names []string) {
	for i, of := range f.of {
		if !f.isSwitch[i] && len(of) > 1 {
			names = append(names, f.name(i))
		}
	}
	return names
}
