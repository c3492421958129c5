package topo

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"softswitch/internal/ether"
	"softswitch/internal/testkit"
	"softswitch/unit"
)

// peers names the far ends of ports of switch s.
func peers(f *Fabric, s int, ports unit.PortSet) string {
	var names []string
	for n := range ports.Len() {
		names = append(names, f.Nodes[f.Nodes[s].Ports[ports.Nth(n)].Peer.Node].Name)
	}
	return strings.Join(names, " ")
}

func TestFatTreeRoutes(t *testing.T) {
	f := fatTree(t, 4)
	table := NewTable(f)
	for _, c := range []struct{ at, to, ports, backup string }{
		{"edge0-0", "edge0-0", "", ""},
		{"edge0-0", "edge0-1", "agg0-0 agg0-1", ""},
		{"edge0-0", "edge1-0", "agg0-0 agg0-1", ""},
		// The other edge has agg0-1 left; the cores have no other port into pod 0.
		{"agg0-0", "edge0-0", "edge0-0", "edge0-1"},
		// The edges have agg0-1 left.
		{"agg0-0", "edge1-0", "core0 core1", "edge0-0 edge0-1"},
		// The other pods' aggregation switches have core1 left.
		{"core0", "edge1-0", "agg1-0", "agg0-0 agg2-0 agg3-0"},
		{"core1", "edge3-1", "agg3-0", "agg0-0 agg1-0 agg2-0"},
	} {
		s, to := mustNode(t, f, c.at), mustNode(t, f, c.to)
		g := table.Group(s, f.SubnetOf(to))
		if p, b := peers(f, s, g.Ports), peers(f, s, g.Backup); p != c.ports || b != c.backup {
			t.Errorf("%s to %s: ports %q, backup %q; want %q, %q", c.at, c.to, p, b, c.ports, c.backup)
		}
	}
}

// TestDetour plays the two failed links that make a loop of a fat-tree: the
// detours of pod 0 -> 1 and pod 2 -> 3 close agg0-0, core0, agg2-0, core1.
func TestDetour(t *testing.T) {
	f := fatTree(t, 4)
	table := NewTable(f)
	pin := func(at, pod, via string) {
		s := mustNode(t, f, at)
		for _, e := range []string{"0", "1"} {
			d := f.SubnetOf(mustNode(t, f, "edge"+pod+"-"+e))
			g := table.Group(s, d)
			v := mustNode(t, f, via)
			j := slices.IndexFunc(f.Nodes[s].Ports, func(p Port) bool { return p.Peer.Node == v })
			g.Backup = unit.Port(j).Set()
			table.Set(s, d, g)
		}
	}
	pin("core0", "1", "agg2-0")
	pin("core1", "3", "agg0-0")
	l1, _ := f.Link("core0--agg1-0")
	l2, _ := f.Link("core1--agg3-0")
	down := func(l int) bool { return l == l1 || l == l2 }
	ways := map[string]bool{}
	for hash := range uint32(200) {
		for _, c := range [][2]string{{"h0-0-0", "h1-0-0"}, {"h2-0-0", "h3-0-0"}} {
			p, err := table.Path(End{Node: mustNode(t, f, c[0])}, End{Node: mustNode(t, f, c[1])}, hash, 64, down)
			if err != nil {
				t.Fatal(err)
			}
			ways[f.String(p)] = true
		}
	}
	for _, want := range []string{
		"edge0-0 agg0-0 core0 agg2-0 core1 agg1-0 edge1-0",
		"edge2-0 agg2-0 core1 agg0-0 core0 agg3-0 edge3-0",
	} {
		if !ways[want] {
			t.Errorf("no flow went %s; seen: %v", want, ways)
		}
	}
}

func TestPathErrors(t *testing.T) {
	f := fatTree(t, 4)
	table := NewTable(f)
	a, b := mustNode(t, f, "h0-0-0"), mustNode(t, f, "h1-0-0")
	near := mustNode(t, f, "h0-0-1")
	links := func(names ...string) func(int) bool {
		return func(l int) bool { return slices.Contains(names, f.Links[l].Name) }
	}
	for _, c := range []struct {
		to, ttl int
		down    func(int) bool
		want    string
	}{
		{b, 64, links("edge0-0--h0-0-0"), "link edge0-0--h0-0-0 is down"},
		{b, 64, links("edge1-0--h1-0-0"), "link edge1-0--h1-0-0 is down"},
		{b, 64, links("agg0-0--edge0-0", "agg0-1--edge0-0"), "no port is up from edge0-0 to h1-0-0"},
		{b, 3, links(), "TTL 3 ends on the way edge0-0 agg0-"},
		{b, 6, links(), ""},
		{near, 2, links(), ""},
		{near, 1, links(), "TTL 1 ends on the way "},
	} {
		_, err := table.Path(End{Node: a}, End{Node: c.to}, 7, c.ttl, c.down)
		if got := fmt.Sprint(err); c.want == "" && err != nil || !strings.HasPrefix(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// randomFabric is a connected graph of 2 to 12 switches with parallel links and
// hosts at about half of them.
func randomFabric(t *testing.T, r *rand.Rand) *Fabric {
	t.Helper()
	n := 2 + r.IntN(11)
	var nodes []ExplicitNode
	var links [][2]string
	name := func(i int) string { return fmt.Sprintf("s%d", i) }
	for i := range n {
		nodes = append(nodes, ExplicitNode{name(i), Switch, false})
		if i > 0 {
			links = append(links, [2]string{name(i), name(r.IntN(i))})
		}
		if i < 2 || r.IntN(2) == 0 {
			nodes = append(nodes, ExplicitNode{fmt.Sprintf("h%d", i), Host, false})
			links = append(links, [2]string{fmt.Sprintf("h%d", i), name(i)})
		}
	}
	for range r.IntN(2 * n) {
		if a, b := r.IntN(n), r.IntN(n); a != b {
			links = append(links, [2]string{name(a), name(b)})
		}
	}
	f, err := Explicit(nodes, links)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// slowTable is the same routes the dumb way: all distances by Floyd and
// Warshall, and a backup by walking every way that a frame can take beyond it.
type slowTable struct {
	f *Fabric
	d [][]int
}

func newSlow(f *Fabric) slowTable {
	n := f.Switches()
	d := make([][]int, n)
	for i := range d {
		d[i] = make([]int, n)
		for j := range d[i] {
			if i != j {
				d[i][j] = 1 << 20
			}
		}
	}
	for _, l := range f.Links {
		if l.A.Node < n && l.B.Node < n {
			d[l.A.Node][l.B.Node], d[l.B.Node][l.A.Node] = 1, 1
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				d[i][j] = min(d[i][j], d[i][k]+d[k][j])
			}
		}
	}
	return slowTable{f, d}
}

func (t slowTable) ports(s, dst int) (ports []int) {
	for j, p := range t.f.Nodes[s].Ports {
		if n := p.Peer.Node; n < t.f.Switches() && t.d[n][dst] == t.d[s][dst]-1 {
			ports = append(ports, j)
		}
	}
	return ports
}

// delivers reports whether every way from switch n, which the frame entered by
// port in, ends at dst without passing avoid.
func (t slowTable) delivers(n, in, dst, avoid, ttl int) bool {
	if n == dst {
		return true
	}
	if n == avoid || ttl == 0 {
		return false
	}
	ports := t.ports(n, dst)
	if len(ports) > 1 {
		ports = slices.DeleteFunc(ports, func(p int) bool { return p == in })
	}
	for _, j := range ports {
		p := t.f.Nodes[n].Ports[j].Peer
		if !t.delivers(p.Node, int(p.Port), dst, avoid, ttl-1) {
			return false
		}
	}
	return len(ports) > 0
}

func (t slowTable) group(s, dst int) (g Group) {
	for _, j := range t.ports(s, dst) {
		g.Ports.Add(unit.Port(j))
	}
	if g.Ports.Empty() {
		return g
	}
	for j, p := range t.f.Nodes[s].Ports {
		if p.Peer.Node < t.f.Switches() && !g.Ports.Has(unit.Port(j)) && t.delivers(p.Peer.Node, int(p.Peer.Port), dst, s, 64) {
			g.Backup.Add(unit.Port(j))
		}
	}
	return g
}

func TestRoutesAgainstSlowTwin(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	backups := 0
	for range 300 {
		f := randomFabric(t, r)
		fast, slow := NewTable(f), newSlow(f)
		for s := range f.Switches() {
			for dst, sub := range f.Subnets {
				got, want := fast.Group(s, dst), slow.group(s, sub.Switch)
				if got != want {
					t.Fatalf("%s to the hosts of %s over %v: got %b, want %b", f.Nodes[s].Name, f.Nodes[sub.Switch].Name, f.Links, got, want)
				}
				backups += got.Backup.Len()
			}
		}
		checkPaths(t, r, f, fast, slow)
	}
	if backups == 0 {
		t.Error("no graph had a backup: nothing was tested")
	}
}

// checkPaths: with every link up, a path is a shortest one.
func checkPaths(t *testing.T, r *rand.Rand, f *Fabric, table *Table, slow slowTable) {
	t.Helper()
	up := func(int) bool { return false }
	for a := f.Switches(); a < len(f.Nodes); a++ {
		for b := f.Switches(); b < len(f.Nodes); b++ {
			if a == b {
				continue
			}
			hash := ether.FlowHash(uint32(f.Nodes[a].Addr), uint32(f.Nodes[b].Addr), 17, uint16(r.Uint32()), 4791)
			path, err := table.Path(End{Node: a}, End{Node: b}, hash, 64, up)
			sa, sb := f.Nodes[a].Ports[0].Peer.Node, f.Nodes[b].Ports[0].Peer.Node
			if err != nil || len(path) != slow.d[sa][sb]+1 {
				t.Fatalf("%s to %s: %s, %v; want %d switches", f.Nodes[a].Name, f.Nodes[b].Name, f.String(path), err, slow.d[sa][sb]+1)
			}
		}
	}
}

func BenchmarkTable(b *testing.B) {
	for _, k := range []int{4, 16, 64} {
		f := fatTree(b, k)
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				NewTable(f)
			}
		})
	}
}
