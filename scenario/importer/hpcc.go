// HPCC makes a scenario of the files of the simulator of HPCC (Li et al., SIGCOMM
// 2019; github.com/alibaba-edu/High-Precision-Congestion-Control) and of those that came of
// it, such as SimAI:
//
//	topology.txt, flow.txt -->  scenario file
//
// Both are words between spaces and line ends. A topology is the number of nodes, of
// switches and of links, the number of each switch, and for each link its two nodes, rate,
// delay and error rate. Flows are their number, and for each its two hosts, priority group,
// destination port, size in bytes and start in seconds. What stands behind is a comment.
//
// Read in this order: this file (what comes of the files), hpcc_words.go (reading them).
//
// Invariants:
//   - place: a fault names the file and the line;
//   - what a scenario cannot say is a fault, or a comment at its head.
//
// What it does not do: it reads no config.txt: buffers and congestion control are those of
// a scenario.

package importer

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/node/config"
	"softswitch/topo"
	"softswitch/unit"
)

// MaxFile limits a file, in bytes; maxNodes a topology.
const (
	MaxHPCCFile  = 16 << 20
	hpccMaxNodes = 30_000
)

// HPCCFile is a file with its name, which faults carry.
type HPCCFile struct {
	Name string
	Data []byte
}

// hpccLink is a link between two nodes.
type hpccLink struct {
	a, b  int
	rate  unit.Rate
	delay unit.Time
	lossy bool
}

// flow is a flow; start is in seconds as written, made to begin with the first at 0.
type flow struct {
	from, to, priority, size int
	start                    unit.Time
}

// fabric is a topology.
type fabric struct {
	isSwitch []bool // by node
	links    []hpccLink
	of       [][]int // by node: its links
}

// HPCC is a scenario file called name. flows may be nil. The error is the first fault.
func HPCC(name string, topology HPCCFile, flows *HPCCFile) ([]byte, error) {
	f, err := readTopology(topology)
	if err != nil {
		return nil, err
	}
	var list []flow
	if flows != nil {
		if list, err = readFlows(*flows, f); err != nil {
			return nil, err
		}
	}
	return text(name, f, list), nil
}

func readTopology(file HPCCFile) (*fabric, error) {
	w := newWords(file)
	nodes, switches := w.number("the number of nodes", 2, hpccMaxNodes), w.number("the number of switches", 1, hpccMaxNodes)
	links := w.number("the number of links", 1, 64*hpccMaxNodes)
	if w.err != nil {
		return nil, w.err
	}
	f := &fabric{isSwitch: make([]bool, nodes), of: make([][]int, nodes)}
	for range switches {
		i := w.number("the number of a switch", 0, nodes-1)
		if w.err == nil && f.isSwitch[i] {
			w.faultf("switch %d is in the list already", i)
		}
		if w.err != nil {
			return nil, w.err
		}
		f.isSwitch[i] = true
	}
	for range links {
		l := hpccLink{a: w.number("a node of a link", 0, nodes-1), b: w.number("a node of a link", 0, nodes-1)}
		l.rate, l.delay, l.lossy = w.rate(), w.delay(), w.real("an error rate", 1) > 0
		for _, i := range []int{l.a, l.b} {
			if w.err == nil && !f.isSwitch[i] && len(f.of[i]) == topo.MaxNICs {
				w.faultf("host %d gets another link: a host has at most %d", i, topo.MaxNICs)
			}
			if w.err == nil && !f.isSwitch[i] && slices.ContainsFunc(f.of[i], func(k int) bool { return f.links[k].a+f.links[k].b == l.a+l.b }) {
				w.faultf("host %d gets a second link to one switch: each leads to another one", i)
			}
			if w.err == nil {
				f.of[i] = append(f.of[i], len(f.links))
			}
		}
		if w.err == nil && (l.a == l.b || !f.isSwitch[l.a] && !f.isSwitch[l.b]) {
			w.faultf("a link from %s to %s: one is between two switches, or a switch and a host", f.name(l.a), f.name(l.b))
		}
		if w.err != nil {
			return nil, w.err
		}
		f.links = append(f.links, l)
	}
	if w.end(links, "links"); w.err != nil {
		return nil, w.err
	}
	for i, of := range f.of {
		if len(of) == 0 {
			return nil, fmt.Errorf("%s: %s has no link", file.Name, f.name(i))
		}
	}
	return f, nil
}

func readFlows(file HPCCFile, f *fabric) (flows []flow, err error) {
	w := newWords(file)
	n := w.number("the number of flows", 0, 1<<24)
	for range n {
		var x flow
		x.from, x.to = w.number("a host", 0, len(f.of)-1), w.number("a host", 0, len(f.of)-1)
		x.priority = w.number("a priority group", 0, 7)
		w.number("a port", 0, 65535)
		x.size = w.number("a size", 1, config.MaxSize)
		x.start = unit.Time(w.real("a start in seconds", 24*3600)*float64(unit.Second) + 0.5)
		for _, i := range []int{x.from, x.to} {
			if w.err == nil && f.isSwitch[i] {
				w.faultf("a flow of switch %d: flows are between hosts", i)
			}
		}
		if w.err == nil && x.from == x.to {
			w.faultf("a flow from host %d to itself", x.from)
		}
		if w.err != nil {
			return nil, w.err
		}
		flows = append(flows, x)
	}
	w.end(n, "flows")
	return flows, w.err
}

// name is a node's in the scenario.
func (f *fabric) name(i int) string {
	if f.isSwitch[i] {
		return fmt.Sprintf("s%d", i)
	}
	return fmt.Sprintf("h%d", i)
}

// text is the scenario file.
func text(name string, f *fabric, flows []flow) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# Made of files of HPCC's simulator: switch N is sN, host N is hN. Routes are shortest paths.\n")
	if slices.ContainsFunc(f.links, func(l hpccLink) bool { return l.lossy }) {
		b.WriteString("# Links have error rates there, which a scenario has not.\n")
	}
	first, end := hpccSpan(f, flows)
	if first > 0 {
		fmt.Fprintf(&b, "# Flows begin %s earlier than there.\n", first)
	}
	fmt.Fprintf(&b, "name: %q\n\ntopology:\n", name)
	for _, kind := range []struct {
		key string
		is  bool
	}{{"switches", true}, {"hosts", false}} {
		fmt.Fprintf(&b, "  %s:\n", kind.key)
		for i, is := range f.isSwitch {
			if is == kind.is {
				fmt.Fprintf(&b, "    - %s\n", f.name(i))
			}
		}
	}
	if several := f.several(); len(several) > 0 {
		fmt.Fprintf(&b, "  shared_address: [%s]\n", strings.Join(several, ", ")) // as there: a host has one, and chooses a NIC by a hash
	}
	b.WriteString("  links:\n")
	for _, l := range f.links {
		fmt.Fprintf(&b, "    - %s--%s\n", f.name(l.a), f.name(l.b))
	}
	usual := f.usual()
	fmt.Fprintf(&b, "  rate: %s\n  delay: %s\n", usual.rate, usual.delay)
	head, nth := "  overrides:\n", map[[2]int]int{}
	for _, l := range f.links {
		pair := [2]int{min(l.a, l.b), max(l.a, l.b)}
		id := f.name(l.a) + "--" + f.name(l.b)
		if nth[pair]++; nth[pair] > 1 {
			id = fmt.Sprintf("%s#%d", id, nth[pair])
		}
		if l.rate != usual.rate || l.delay != usual.delay {
			fmt.Fprintf(&b, "%s    - {link: %q, rate: %s, delay: %s}\n", head, id, l.rate, l.delay)
			head = ""
		}
	}
	writePriorities(&b, flows)
	if len(flows) > 0 {
		b.WriteString("\nflows:\n")
	}
	for i, x := range flows {
		fmt.Fprintf(&b, "  - {name: f%d, from: %s, to: %s, priority: %d, transport: rc, size: %d, start: %s}\n",
			i+1, f.name(x.from), f.name(x.to), x.priority, x.size, (x.start - first).String())
	}
	fmt.Fprintf(&b, "\nduration: %s\n", end)
	return []byte(b.String())
}

// writePriorities makes the priority groups of flows lossless, if they are not by themselves.
func writePriorities(b *strings.Builder, flows []flow) {
	priorities := []int{3, 4}
	for _, x := range flows {
		if !slices.Contains(priorities, x.priority) {
			priorities = append(priorities, x.priority)
		}
	}
	if len(priorities) > 2 {
		slices.Sort(priorities)
		fmt.Fprintf(b, "\npfc: {lossless: %s}\n", strings.ReplaceAll(fmt.Sprint(priorities), " ", ", "))
	}
}

// usual is the rate and delay that most links have.
func (f *fabric) usual() (most hpccLink) {
	count, best := map[hpccLink]int{}, 0
	for _, l := range f.links {
		key := hpccLink{rate: l.rate, delay: l.delay}
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

// hpccSpan is when the first flow begins, and how long a scenario takes in which each host has
// twice the time that its link needs for all that it sends or gets, after the last flow
// has begun: at least 1 ms, at most a day.
func hpccSpan(f *fabric, flows []flow) (first, end unit.Time) {
	if len(flows) == 0 {
		return 0, unit.Second
	}
	first, last := flows[0].start, flows[0].start
	sent, got := make([]float64, len(f.of)), make([]float64, len(f.of))
	for _, x := range flows {
		first, last = min(first, x.start), max(last, x.start)
		sent[x.from] += float64(x.size)
		got[x.to] += float64(x.size)
	}
	longest := 0.0
	for i := range f.of {
		rate := float64(f.links[f.of[i][0]].rate)
		longest = max(longest, 2*8*max(sent[i], got[i])/rate)
	}
	const day = 24 * 3600 * unit.Second
	return first, min(day, last-first+max(unit.Millisecond, unit.Time(min(longest, 24*3600)*1000+1)*unit.Millisecond))
}
