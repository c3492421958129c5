package tagger

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"softswitch/topo"
	"softswitch/unit"
)

func fatTree(t *testing.T, k int) *topo.Fabric {
	t.Helper()
	f, err := topo.FatTree(k)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func explicit(t *testing.T, switches, hosts, links string) *topo.Fabric {
	t.Helper()
	var nodes []topo.ExplicitNode
	var pairs [][2]string
	for _, s := range strings.Fields(switches) {
		nodes = append(nodes, topo.ExplicitNode{Name: s, Kind: topo.Switch})
	}
	for _, h := range strings.Fields(hosts) {
		nodes = append(nodes, topo.ExplicitNode{Name: h, Kind: topo.Host})
	}
	for _, l := range strings.Fields(links) {
		a, b, _ := strings.Cut(l, "--")
		pairs = append(pairs, [2]string{a, b})
	}
	f, err := topo.Explicit(nodes, pairs)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func tag(t *testing.T, f *topo.Fabric, lossless []unit.Priority, k int) *Tagging {
	t.Helper()
	g, err := New(f, lossless, k)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func set(priorities []unit.Priority) (s unit.PrioritySet) {
	for _, c := range priorities {
		s.Add(c)
	}
	return s
}

func node(t *testing.T, f *topo.Fabric, name string) int {
	t.Helper()
	i, ok := f.Node(name)
	if !ok {
		t.Fatalf("no node is called %s", name)
	}
	return i
}

// port is the port of node from that leads to node to.
func port(t *testing.T, f *topo.Fabric, from, to string) unit.Port {
	t.Helper()
	for j, p := range f.Nodes[node(t, f, from)].Ports {
		if f.Nodes[p.Peer.Node].Name == to {
			return unit.Port(j)
		}
	}
	t.Fatalf("no link leads from %s to %s", from, to)
	return 0
}

// path is the hops by way of these nodes, the first and the last of them hosts.
func path(t *testing.T, f *topo.Fabric, names ...string) (hops []topo.Hop) {
	t.Helper()
	for i := 1; i+1 < len(names); i++ {
		at := names[i]
		hops = append(hops, topo.Hop{Node: node(t, f, at), In: port(t, f, at, names[i-1]), Out: port(t, f, at, names[i+1])})
	}
	return hops
}

func TestLevels(t *testing.T) {
	f := fatTree(t, 4)
	levels, err := Levels(f)
	if err != nil {
		t.Fatal(err)
	}
	for s, level := range levels {
		name := f.Nodes[s].Name
		want := map[string]int{"e": 0, "a": 1, "c": 2}[name[:1]]
		if level != want {
			t.Errorf("%s has level %d, want %d", name, level, want)
		}
	}
}

func TestNoLevels(t *testing.T) {
	ring, err := topo.Ring(4, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		f    *topo.Fabric
		link string
	}{
		{ring, "s1--s2"},
		{explicit(t, "a b x y", "h i", "h--a i--b a--x b--y x--y"), "x--y"},
	} {
		_, err := New(c.f, []unit.Priority{3, 4}, 2)
		if err == nil || !strings.Contains(err.Error(), "without levels") || !strings.Contains(err.Error(), "link "+c.link+" ") {
			t.Errorf("got %v, want an error that names link %s", err, c.link)
		}
	}
}

func TestRefusedTags(t *testing.T) {
	f := fatTree(t, 4)
	for _, c := range []struct {
		k        int
		lossless []unit.Priority
		want     string
	}{
		{0, []unit.Priority{3, 4}, "use 1 to 2"},
		{-1, []unit.Priority{3, 4}, "use 1 to 2"},
		{3, []unit.Priority{3, 4}, "use 1 to 2"},
		{2, []unit.Priority{0, 1, 2, 3, 4, 5, 6, 7}, "leave one"},
	} {
		if _, err := New(f, c.lossless, c.k); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("k = %d of %v: %v; want %q", c.k, c.lossless, err, c.want)
		}
	}
}

// With k tags, k-1 turns are lossless, and the next one is the last lossless hop.
func TestTurns(t *testing.T) {
	f := fatTree(t, 4)
	straight := path(t, f, "h0-0-0", "edge0-0", "agg0-0", "core0", "agg1-0", "edge1-0", "h1-0-0")
	once := path(t, f, "h0-0-0", "edge0-0", "agg0-0", "core0", "agg2-0", "core1", "agg1-0", "edge1-0", "h1-0-0")
	twice := path(t, f, "h0-0-0", "edge0-0", "agg0-0", "core0", "agg2-0", "core1", "agg1-0", "edge1-1", "agg1-1", "edge1-0", "h1-0-0")
	for _, c := range []struct {
		k        int
		hops     []topo.Hop
		priority unit.Priority
		want     string
	}{
		{1, straight, 3, "[3 3 3 3 3]"},
		{1, once, 3, "[3 3 3 0 0 0 0]"},
		{2, straight, 3, "[3 3 3 3 3]"},
		{2, once, 3, "[3 3 3 4 4 4 4]"},
		{2, twice, 3, "[3 3 3 4 4 4 0 0 0]"},
		{3, twice, 3, "[3 3 3 4 4 4 5 5 5]"},
		{3, twice, 4, "[4 4 4 5 5 5 0 0 0]"}, // it began with tag 2
		{2, once, 5, "[5 5 5 0 0 0 0]"},      // lossless, and no tag
		{2, once, 1, "[1 1 1 1 1 1 1]"},      // lossy from the start
	} {
		g := tag(t, f, []unit.Priority{3, 4, 5}, c.k)
		if got := fmt.Sprint(g.Priorities(c.hops, c.priority)); got != c.want {
			t.Errorf("k = %d, from priority %d by %s: %s, want %s", c.k, c.priority, f.String(c.hops), got, c.want)
		}
	}
}

// The rules leave no cycle, whatever the number of tags; no rules leave one.
func TestProof(t *testing.T) {
	lossless := []unit.Priority{3, 4, 5}
	fabrics := []*topo.Fabric{
		fatTree(t, 2), fatTree(t, 4), fatTree(t, 6),
		explicit(t, "T0 T1 La Lb", "S1 S2", "T0--La T0--Lb T1--La T1--Lb S1--T0 S2--T1"),
	}
	for i, f := range fabrics {
		for k := 1; k <= len(lossless); k++ {
			g := tag(t, f, lossless, k)
			if c := Check(f, set(lossless), g.Rules); c != nil {
				t.Errorf("fabric %d, k = %d: %s", i, k, c.Text(f))
			}
		}
		c := Check(f, set(lossless), make([]Rules, f.Switches()))
		verify(t, f, make([]Rules, f.Switches()), c)
	}
}

// verify wants a cycle each hop of which leads to the next one.
func verify(t *testing.T, f *topo.Fabric, rules []Rules, c Cycle) {
	t.Helper()
	if len(c) == 0 {
		t.Fatal("no cycle was shown")
	}
	for i, h := range c {
		next := c[(i+1)%len(c)]
		out := f.Nodes[next.Node].Ports[next.In].Peer
		if out.Node != h.Node || rules[h.Node].Priority(h.Priority, h.In, out.Port) != next.Priority {
			t.Fatalf("%s: hop %d does not lead to the next one", c.Text(f), i)
		}
	}
}

// without is the rules less one triple of priority, in and out at a switch, or with
// another priority to go to if to is not unit.Priorities.
func without(rules []Rules, s int, priority unit.Priority, in, out unit.Port, to unit.Priority) []Rules {
	changed := slices.Clone(rules)
	changed[s] = nil
	for _, r := range rules[s] {
		if r.Priority != priority {
			changed[s] = append(changed[s], r)
			continue
		}
		rest := r
		rest.In.Remove(in)
		other := Rule{Priority: priority, In: in.Set(), Out: r.Out, To: r.To}
		other.Out.Remove(out)
		changed[s] = append(changed[s], rest, other)
		if to < unit.Priorities {
			changed[s] = append(changed[s], Rule{Priority: priority, In: in.Set(), Out: out.Set(), To: to})
		}
	}
	return changed
}

// eachTriple calls fn for every priority and pair of ports that has a rule.
func eachTriple(f *topo.Fabric, rules []Rules, fn func(s int, priority unit.Priority, in, out unit.Port)) {
	for s, rs := range rules {
		for _, r := range rs {
			for in := range f.Nodes[s].Ports {
				for out := range f.Nodes[s].Ports {
					if r.In.Has(unit.Port(in)) && r.Out.Has(unit.Port(out)) {
						fn(s, r.Priority, unit.Port(in), unit.Port(out))
					}
				}
			}
		}
	}
}

// TestEachTripleRemoved takes each (tag, ingress, egress) out of the rules of a
// fat-tree, alone, and compares with a reference model. One that turns a frame back
// where it came from makes a cycle alone; two at two switches are needed if it
// goes up another link.
func TestEachTripleRemoved(t *testing.T) {
	f, lossless := fatTree(t, 4), []unit.Priority{3, 4}
	g := tag(t, f, lossless, 2)
	triples, cycles := 0, 0
	eachTriple(f, g.Rules, func(s int, priority unit.Priority, in, out unit.Port) {
		triples++
		rules := without(g.Rules, s, priority, in, out, unit.Priorities)
		c := Check(f, set(lossless), rules)
		if slow := slowCyclic(f, set(lossless), rules); slow != (c != nil) {
			t.Fatalf("%s priority %d from port %d to %d: cycle %v, the reference model says %v", f.Nodes[s].Name, priority, in, out, c != nil, slow)
		}
		if (c != nil) != (in == out) {
			t.Errorf("%s priority %d from port %d to %d: cycle %q", f.Nodes[s].Name, priority, in, out, c.Text(f))
		}
		if c != nil {
			cycles++
			verify(t, f, rules, c)
		}
	})
	if triples != 16*2*2*2 || cycles != 16*2*2 {
		t.Errorf("%d triples, %d cycles; want 128 and 64", triples, cycles)
	}
}

// TestEachRuleRemoved takes out each switch's rule for a tag: the switch can then
// turn frames between its links up for ever.
func TestEachRuleRemoved(t *testing.T) {
	f, lossless := fatTree(t, 4), []unit.Priority{3, 4}
	g := tag(t, f, lossless, 2)
	for s, rs := range g.Rules {
		for i, r := range rs {
			rules := slices.Clone(g.Rules)
			rules[s] = slices.Delete(slices.Clone(rs), i, i+1)
			c := Check(f, set(lossless), rules)
			verify(t, f, rules, c)
			for _, h := range c {
				if h.Priority != r.Priority {
					t.Errorf("%s without its rule for priority %d: %s", f.Nodes[s].Name, r.Priority, c.Text(f))
				}
			}
		}
	}
}

// TestBouncePaths takes out what turns the two flows of the paper's Fig. 3: the
// two detours below two failed links.
func TestBouncePaths(t *testing.T) {
	f, lossless := fatTree(t, 4), []unit.Priority{3, 4}
	g := tag(t, f, lossless, 2)
	cut := func(rules []Rules, at, from, to string) []Rules {
		return without(rules, node(t, f, at), 3, port(t, f, at, from), port(t, f, at, to), unit.Priorities)
	}
	rules := cut(cut(g.Rules, "agg2-0", "core0", "core1"), "agg0-0", "core1", "core0")
	c := Check(f, set(lossless), rules)
	verify(t, f, rules, c)
	want := "core0>agg2-0 priority 3, agg2-0>core1 priority 3, core1>agg0-0 priority 3, agg0-0>core0 priority 3"
	if got := rotated(c, node(t, f, "agg2-0")).Text(f); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// rotated begins a cycle with the hop into a switch.
func rotated(c Cycle, s int) Cycle {
	i := slices.IndexFunc(c, func(h Hop) bool { return h.Node == s })
	return append(slices.Clone(c[i:]), c[:i]...)
}

// TestAlteredRule: a tag that falls back to the first makes a cycle across tags.
func TestAlteredRule(t *testing.T) {
	f, lossless := fatTree(t, 4), []unit.Priority{3, 4}
	g := tag(t, f, lossless, 2)
	across := 0
	eachTriple(f, g.Rules, func(s int, priority unit.Priority, in, out unit.Port) {
		if priority != 4 || in == out {
			return
		}
		rules := without(g.Rules, s, priority, in, out, 3)
		c := Check(f, set(lossless), rules)
		verify(t, f, rules, c)
		var seen unit.PrioritySet
		for _, h := range c {
			seen.Add(h.Priority)
		}
		if seen.Len() == 2 {
			across++
		}
	})
	if across != 32 {
		t.Errorf("%d cycles across tags, want 32", across)
	}
}

// slowCyclic computes which hop can come to wait for which, all pairs, and looks
// for one that waits for itself.
func slowCyclic(f *topo.Fabric, lossless unit.PrioritySet, rules []Rules) bool {
	c := newChecker(f, lossless, rules)
	n := len(c.state)
	waits := make([][]uint64, n)
	for i := range waits {
		waits[i] = make([]uint64, (n+63)/64)
		if !lossless.Has(c.hop(i).Priority) {
			continue
		}
		h := c.hop(i)
		for j, p := range f.Nodes[h.Node].Ports {
			if priority := rules[h.Node].Priority(h.Priority, h.In, unit.Port(j)); p.Peer.Node < f.Switches() && lossless.Has(priority) {
				to := (c.first[p.Peer.Node]+int(p.Peer.Port))*unit.Priorities + int(priority)
				waits[i][to/64] |= 1 << (to % 64)
			}
		}
	}
	for via := range waits { // Warshall
		for i := range waits {
			if waits[i][via/64]>>(via%64)&1 != 0 {
				for w := range waits[i] {
					waits[i][w] |= waits[via][w]
				}
			}
		}
	}
	for i := range waits {
		if waits[i][i/64]>>(i%64)&1 != 0 {
			return true
		}
	}
	return false
}
