package topo

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/unit"
)

func fatTree(t testing.TB, k int) *Fabric {
	t.Helper()
	f, err := FatTree(k)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func mustNode(t testing.TB, f *Fabric, name string) int {
	t.Helper()
	i, ok := f.Node(name)
	if !ok {
		t.Fatalf("no node %s", name)
	}
	return i
}

// describe is one line for a node: number, name, address, ports with peers.
func describe(f *Fabric, name string) string {
	i, _ := f.Node(name)
	n := f.Nodes[i]
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s %s", n.ID, n.Kind, n.Name)
	if n.Addr != 0 {
		fmt.Fprintf(&b, " %s", n.Addr)
	}
	for j, p := range n.Ports {
		fmt.Fprintf(&b, " %d:%s:%d", j, p.Name, p.Peer.Port)
	}
	if d := f.SubnetOf(i); d >= 0 && n.Kind == Switch {
		fmt.Fprintf(&b, " %s", f.Subnets[d].Addr)
	}
	return b.String()
}

func TestFatTree(t *testing.T) {
	f := fatTree(t, 4)
	if len(f.Nodes) != 36 || len(f.Links) != 48 || f.Switches() != 20 || len(f.Subnets) != 8 {
		t.Errorf("%d nodes, %d links, %d switches, %d subnets; want 36, 48, 20, 8", len(f.Nodes), len(f.Links), f.Switches(), len(f.Subnets))
	}
	for name, want := range map[string]string{
		"core0":   "1 switch core0 0:to-agg0-0:2 1:to-agg1-0:2 2:to-agg2-0:2 3:to-agg3-0:2",
		"core3":   "4 switch core3 0:to-agg0-1:3 1:to-agg1-1:3 2:to-agg2-1:3 3:to-agg3-1:3",
		"agg0-0":  "5 switch agg0-0 0:to-edge0-0:2 1:to-edge0-1:2 2:to-core0:0 3:to-core1:0",
		"agg3-1":  "12 switch agg3-1 0:to-edge3-0:3 1:to-edge3-1:3 2:to-core2:3 3:to-core3:3",
		"edge3-1": "20 switch edge3-1 0:to-h3-1-0:0 1:to-h3-1-1:0 2:to-agg3-0:1 3:to-agg3-1:1 10.3.1.0",
		"h0-0-0":  "21 host h0-0-0 10.0.0.2 0:eth0:0",
		"h3-1-1":  "36 host h3-1-1 10.3.1.3 0:eth0:1",
	} {
		if got := describe(f, name); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	p := f.Nodes[mustNode(t, f, "agg3-1")].Ports[3]
	if p.MAC != 0x0200000c0003 {
		t.Errorf("MAC of agg3-1 port 3 is %012x, want 0200000c0003", p.MAC)
	}
	if got, want := f.GatewayMAC(mustNode(t, f, "h3-1-1"), 0), f.Nodes[mustNode(t, f, "edge3-1")].Ports[0].MAC; got != want {
		t.Errorf("the gateway of h3-1-1 is %012x, want %012x: its switch's first port", got, want)
	}
	if l, ok := f.Link("agg3-1--core3"); !ok || l != p.Link || f.Links[l].Name != "core3--agg3-1" {
		t.Errorf("link agg3-1--core3 is %d, %v; want %d", l, ok, p.Link)
	}
	for _, k := range []int{-2, 0, 1, 3, 66} {
		if _, err := FatTree(k); err == nil {
			t.Errorf("k = %d: no error", k)
		}
	}
}

func TestRing(t *testing.T) {
	f, err := Ring(3, 2)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"s1":   "1 switch s1 0:to-h1-0:0 1:to-h1-1:0 2:to-s2:2 3:to-s3:3 10.100.0.0",
		"s3":   "3 switch s3 0:to-h3-0:0 1:to-h3-1:0 2:to-s2:3 3:to-s1:3 10.100.2.0",
		"h3-1": "9 host h3-1 10.100.2.3 0:eth0:1",
	} {
		if got := describe(f, name); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	for _, c := range [][2]int{{2, 1}, {1001, 1}, {3, 0}, {3, 255}} {
		if _, err := Ring(c[0], c[1]); err == nil {
			t.Errorf("Ring(%d, %d): no error", c[0], c[1])
		}
	}
}

func TestExplicit(t *testing.T) {
	nodes := []ExplicitNode{{"h1", Host, false}, {"left", Switch, false}, {"a-very-long-name", Switch, false}}
	f, err := Explicit(nodes, [][2]string{{"left", "h1"}, {"left", "a-very-long-name"}, {"a-very-long-name", "left"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"left":             "1 switch left 0:to-h1:0 1:p1:0 2:p2:1 10.100.0.0",
		"a-very-long-name": "2 switch a-very-long-name 0:to-left:1 1:to-left:2",
	} {
		want := strings.ReplaceAll(want, "0:to-left:1 1:to-left:2", "0:p0:1 1:p1:2")
		if got := describe(f, name); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if l, ok := f.Link("left--a-very-long-name#2"); !ok || l != 2 {
		t.Errorf("the second link is %d, %v; want 2", l, ok)
	}
}

func TestExplicitFaults(t *testing.T) {
	nodes := []ExplicitNode{{"s--1", Switch, false}, {"s2", Switch, false}, {"s2", Host, false}, {"h1", Host, false}, {"h2", Host, false}, {"s3", Switch, false}, {"hub", Switch, false}}
	links := [][2]string{{"s2", "s9"}, {"s2", "s2"}, {"h1", "h2"}, {"s2", "h2"}, {"hub", "h2"}}
	for range unit.MaxPorts {
		links = append(links, [2]string{"hub", "s2"})
	}
	_, err := Explicit(nodes, links)
	want := `node 0: "s--1" is not a node's name: 1 to 32 letters, digits, "-", "_" and ".", a letter first, not "--"
node 2: "s2" is node 1 already
link 0: no node is called "s9"
link 1: "s2" is linked to itself
link 2: "h1" and "h2" are hosts: a host is linked to a switch
node 1: switch "s2" has 257 links: a switch has 1 to 256
node 3: host "h1" has 0 links: a host has 1 to 16, to switches
node 5: switch "s3" has 0 links: a switch has 1 to 256
node 6: switch "hub" has 257 links: a switch has 1 to 256`
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
}

// TestBigFatTree builds a fat-tree with all its routes; of k = 64 these are 5120 switches and 2048
// subnets, of k = 20 a tenth.
func TestBigFatTree(t *testing.T) {
	k := testkit.Sized(20, 64)
	f := fatTree(t, k)
	table := NewTable(f)
	s, most := 0, 0
	for i, g := range table.groups {
		if len(g) > most {
			s, most = i, len(g)
		}
	}
	if most > k+6 {
		t.Errorf("%s has %d different groups: equal groups are not stored once", f.Nodes[s].Name, most)
	}
	id := unit.NodeID(testkit.Sized(2500, 0)) // there are fewer numbers than nodes of k = 64
	name, addr := fmt.Sprintf("h%d-%d-%d", k-1, k/2-1, k/2-1), fmt.Sprintf("10.%d.%d.%d", k-1, k/2-1, k/2+1)
	if h := f.Nodes[len(f.Nodes)-1]; h.ID != id || h.Name != name || h.Addr.String() != addr {
		t.Errorf("last host is %+v", h)
	}
}

func TestExplicitInPieces(t *testing.T) {
	nodes := []ExplicitNode{{"s1", Switch, false}, {"s2", Switch, false}, {"s3", Switch, false}, {"s4", Switch, false}}
	_, err := Explicit(nodes, [][2]string{{"s1", "s2"}, {"s4", "s3"}})
	if want := `node 2: "s3" is not connected to "s1": all nodes of a fabric are`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := Explicit(nodes, [][2]string{{"s1", "s2"}, {"s4", "s3"}, {"s1", "s4"}}); err != nil {
		t.Error(err)
	}
}

// TestLinkNames: a link is found by its name, either way round, and by nothing else.
func TestLinkNames(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	nodes := []ExplicitNode{{"h", Host, false}}
	links := [][2]string{{"s0", "h"}}
	for i := range 6 {
		nodes = append(nodes, ExplicitNode{fmt.Sprintf("s%d", i), Switch, false})
		links = append(links, [2]string{fmt.Sprintf("s%d", i), fmt.Sprintf("s%d", (i+1)%6)})
	}
	for range 40 { // many are parallel to others
		a := r.IntN(6)
		links = append(links, [2]string{fmt.Sprintf("s%d", a), fmt.Sprintf("s%d", (a+1+r.IntN(5))%6)})
	}
	f, err := Explicit(nodes, links)
	if err != nil {
		t.Fatal(err)
	}
	many, taken := map[[2]string]int{}, map[string]bool{}
	for i, l := range links {
		many[l]++
		number := many[l] + many[[2]string{l[1], l[0]}]
		suffix := ""
		if number > 1 {
			suffix = fmt.Sprintf("#%d", number)
		}
		for _, name := range []string{l[0] + "--" + l[1] + suffix, l[1] + "--" + l[0] + suffix} {
			if got, ok := f.Link(name); !ok || got != i || taken[name] {
				t.Errorf("link %s is %d, %v; want %d", name, got, ok, i)
			}
			taken[name] = true
		}
	}
	for _, name := range []string{"", "s0", "--", "s0--", "s0--s0", "s0--nobody", "nobody--s0", "s0--s1#", "s0--s1#0", "s0--s1#1", "s0--s1#02", "s0--s1#99", "s0--s1--s2"} {
		if l, ok := f.Link(name); ok {
			t.Errorf("link %q is %d; there is none", name, l)
		}
	}
}
