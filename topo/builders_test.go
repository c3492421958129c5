package topo

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"softswitch/internal/stat"
	"softswitch/internal/testkit"
)

// must is the fabric of a builder that does not fail.
func must(t testing.TB, f *Fabric, err error) *Fabric {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func wantNodes(t *testing.T, f *Fabric, want map[string]string) {
	t.Helper()
	for name, want := range want {
		if got := describe(f, name); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// linkNames lists the links between switches.
func linkNames(f *Fabric) (names []string) {
	for _, l := range f.Links {
		if l.B.Node < f.Switches() && l.A.Node < f.Switches() {
			names = append(names, l.Name)
		}
	}
	return names
}

func TestLeafSpine(t *testing.T) {
	f, err := LeafSpine(3, 2, 2)
	f = must(t, f, err)
	wantNodes(t, f, map[string]string{
		"spine1": "2 switch spine1 0:to-leaf0:3 1:to-leaf1:3 2:to-leaf2:3",
		"leaf0":  "3 switch leaf0 0:to-h0-0:0 1:to-h0-1:0 2:to-spine0:0 3:to-spine1:0 10.100.0.0",
		"h2-1":   "11 host h2-1 10.100.2.3 0:eth0:1",
	})
	if _, ok := f.Link("leaf1--spine0"); !ok || f.Links[6].Name != "spine0--leaf0" {
		t.Errorf("links are %v", f.Links)
	}
	if _, err := LeafSpine(256, 1, 255); err != nil {
		t.Error(err)
	}
}

func TestDragonfly(t *testing.T) {
	// The example of the paper's figure 5 (a): p = h = 2, a = 4, with all 9 groups.
	f, err := Dragonfly(9, 4, 2, 2)
	f = must(t, f, err)
	if len(f.Nodes) != 36+72 || f.Switches() != 36 {
		t.Errorf("%d nodes, %d switches; want 108, 36", len(f.Nodes), f.Switches())
	}
	wantNodes(t, f, map[string]string{
		"r0-0":   "1 switch r0-0 0:to-h0-0-0:0 1:to-h0-0-1:0 2:to-r0-1:2 3:to-r0-2:2 4:to-r0-3:2 5:to-r1-0:5 6:to-r2-0:5 10.100.0.0",
		"r8-3":   "36 switch r8-3 0:to-h8-3-0:0 1:to-h8-3-1:0 2:to-r8-0:4 3:to-r8-1:4 4:to-r8-2:4 5:to-r6-3:6 6:to-r7-3:6 10.100.35.0",
		"h8-3-1": "108 host h8-3-1 10.100.35.3 0:eth0:1",
	})
	// Three groups of two routers: two links between every two, each router to both.
	f, err = Dragonfly(3, 2, 1, 2)
	f = must(t, f, err)
	want := "r0-0--r0-1 r1-0--r1-1 r2-0--r2-1 r0-0--r1-0 r0-0--r2-0 r1-0--r2-0 r0-1--r1-1 r0-1--r2-1 r1-1--r2-1"
	if got := strings.Join(linkNames(f), " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestDragonflyEven: groups are whole, every two have as many links as any other two, and
// no router has more global links than it may have.
func TestDragonflyEven(t *testing.T) {
	for routers := 1; routers <= 4; routers++ {
		for global := 1; global <= 3; global++ {
			for groups := 2; groups <= routers*global+1; groups++ {
				f, err := Dragonfly(groups, routers, 1, global)
				f = must(t, f, err)
				between, inside, ports := map[[2]int]int{}, map[[2]int]int{}, map[int]int{}
				for _, l := range f.Links {
					a, z := min(l.A.Node, l.B.Node), max(l.A.Node, l.B.Node)
					switch {
					case z >= f.Switches():
					case a/routers == z/routers:
						inside[[2]int{a, z}]++
					default:
						between[[2]int{a / routers, z / routers}]++
						ports[a]++
						ports[z]++
					}
				}
				if len(inside) != groups*routers*(routers-1)/2 || len(between) != groups*(groups-1)/2 {
					t.Errorf("%d x %d, %d: %d pairs of routers in groups, %d pairs of groups are linked", groups, routers, global, len(inside), len(between))
				}
				for pair, n := range between {
					if want := routers * global / (groups - 1); n != want {
						t.Errorf("%d x %d, %d: %d links between groups %v, want %d", groups, routers, global, n, pair, want)
					}
				}
				for _, n := range ports {
					if n > global {
						t.Errorf("%d x %d, %d: a router has %d global links", groups, routers, global, n)
					}
				}
			}
		}
	}
}

func TestJellyfish(t *testing.T) {
	f, err := Jellyfish(6, 3, 1, 1)
	f = must(t, f, err)
	if got, want := describe(f, "h6-0"), "12 host h6-0 10.100.5.2 0:eth0:0"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	again, _ := Jellyfish(6, 3, 1, 1)
	if !reflect.DeepEqual(f, again) {
		t.Error("the same seed draws another graph")
	}
	drawn := map[string]bool{}
	for seed := range uint64(50) {
		if f, err := Jellyfish(8, 3, 1, seed); err == nil {
			drawn[strings.Join(linkNames(f), " ")] = true
		}
	}
	if len(drawn) < 40 {
		t.Errorf("50 seeds draw %d graphs", len(drawn))
	}
	_, err = Jellyfish(100, 2, 1, 1)
	if want := "a graph in pieces"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("100 switches in circles: %v, want %s", err, want)
	}
}

// TestJellyfishRegular: every switch has its degree, to different switches, whatever the
// numbers, the complete graph included.
func TestJellyfishRegular(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	whole := 0
	for range 300 {
		n := 3 + r.IntN(20)
		degree := 2 + r.IntN(n-2)
		if r.IntN(10) == 0 {
			degree = n - 1
		}
		if n*degree%2 != 0 {
			continue
		}
		f, err := Jellyfish(n, degree, 1, r.Uint64())
		if err != nil {
			if degree > 2 && !strings.Contains(err.Error(), "in pieces") {
				t.Errorf("%d switches, degree %d: %v", n, degree, err)
			}
			continue
		}
		whole++
		for s := range n {
			seen := map[int]bool{s: true}
			for _, p := range f.Nodes[s].Ports[1:] {
				if p.Peer.Node >= n || seen[p.Peer.Node] {
					t.Fatalf("%d switches, degree %d: %s", n, degree, describe(f, f.Nodes[s].Name))
				}
				seen[p.Peer.Node] = true
			}
			if len(seen) != degree+1 {
				t.Fatalf("%d switches, degree %d: %s", n, degree, describe(f, f.Nodes[s].Name))
			}
		}
	}
	if whole < 50 {
		t.Errorf("only %d graphs", whole)
	}
}

// TestInsert: nearly every drawing comes to its end, since what is left over finds a place.
func TestInsert(t *testing.T) {
	for _, c := range [][2]int{{6, 3}, {20, 17}, {100, 4}} {
		ended := 0
		for seed := range 100 {
			d := drawing{n: c[0], rand: stat.Rand(seed)}
			if d.draw(c[1]) {
				ended++
			}
		}
		if ended < 95 {
			t.Errorf("%d switches of degree %d: %d of 100 drawings came to their end", c[0], c[1], ended)
		}
	}
}

func TestBuilderErrors(t *testing.T) {
	of := func(_ *Fabric, err error) error { return err }
	for want, err := range map[string]error{
		"1 leaves: a spine joins 2 to 256":                        of(LeafSpine(1, 1, 1)),
		"257 leaves: a spine joins 2 to 256":                      of(LeafSpine(257, 1, 1)),
		"0 spines: a leaf has 1 to 255":                           of(LeafSpine(2, 0, 1)),
		"0 hosts: a leaf has 1 to 255":                            of(LeafSpine(2, 1, 0)),
		"128 spines and 129 hosts: a leaf has at most 256 ports":  of(LeafSpine(2, 128, 129)),
		"2 switches: a jellyfish has 3 to 1000":                   of(Jellyfish(2, 2, 1, 0)),
		"degree 1: each of 4 switches is linked to 2 to 3 others": of(Jellyfish(4, 1, 1, 0)),
		"degree 4: each of 4 switches is linked to 2 to 3 others": of(Jellyfish(4, 4, 1, 0)),

		"5 switches of degree 3: an odd number of ports, which cannot be joined in pairs; change one of them": of(Jellyfish(5, 3, 1, 0)),

		"60 links to others and 200 hosts: a switch has at most 256 ports":                                of(Jellyfish(100, 60, 200, 0)),
		"0 routers: a group has at least 1":                                                               of(Dragonfly(2, 0, 1, 1)),
		"0 global links: a router has 1 to 255":                                                           of(Dragonfly(2, 1, 1, 0)),
		"4 groups: 2 routers with 1 global links each join 2 to 3":                                        of(Dragonfly(4, 2, 1, 1)),
		"1 groups: 2 routers with 1 global links each join 2 to 3":                                        of(Dragonfly(1, 2, 1, 1)),
		"20 hosts and 20 global links and 217 other routers in its group: a router has at most 256 ports": of(Dragonfly(2, 218, 20, 20)),
		"300 groups of 20 routers: 6000 routers, at most 2000":                                            of(Dragonfly(300, 20, 1, 20)),
		"2000 routers with 40 hosts each: 82000 nodes, at most 65535":                                     of(Dragonfly(100, 20, 40, 5)),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// small is h1 at s1, h2 at s2, and s1, s2, s3 in a circle.
func small(t *testing.T) *Fabric {
	t.Helper()
	f, err := Explicit([]ExplicitNode{{"s1", Switch, false}, {"s2", Switch, false}, {"s3", Switch, false}, {"h1", Host, false}, {"h2", Host, false}},
		[][2]string{{"h1", "s1"}, {"h2", "s2"}, {"s1", "s2"}, {"s2", "s3"}, {"s3", "s1"}})
	return must(t, f, err)
}

func TestRewire(t *testing.T) {
	for _, c := range []struct {
		changes []Change
		want    string
	}{
		{nil, "h1--s1 h2--s2 s1--s2 s2--s3 s3--s1"},
		{[]Change{{Remove: "s2--s1"}}, "h1--s1 h2--s2 s2--s3 s3--s1"},
		{[]Change{{Add: "s2--s1"}}, "h1--s1 h2--s2 s1--s2 s2--s3 s3--s1 s2--s1#2"},
		{[]Change{{Add: "s1--s2"}, {Remove: "s2--s1"}, {Add: "s1--s2"}, {Remove: "s1--s2#2"}}, "h1--s1 h2--s2 s2--s3 s3--s1 s1--s2"},
		{[]Change{{Swap: [2]string{"h1--s1", "h2--s2"}}}, "h1--s2 h2--s1 s1--s2 s2--s3 s3--s1"},
		{[]Change{{Swap: [2]string{"h1--s1", "s2--s3"}}}, "h1--s3 h2--s2 s1--s2 s2--s1#2 s3--s1"},
		{[]Change{{Swap: [2]string{"h1--s1", "s3--s2"}}}, "h1--s2 h2--s2 s1--s2 s3--s1 s3--s1#2"},
		{[]Change{{Remove: "h1--s1"}, {Add: "s3--h1"}}, "h2--s2 s1--s2 s2--s3 s3--s1 s3--h1"},
	} {
		f, err := Rewire(small(t), c.changes)
		f = must(t, f, err)
		var names []string
		for l, link := range f.Links {
			names = append(names, link.Name)
			for _, e := range []End{link.A, link.B} {
				if f.Nodes[e.Node].Ports[e.Port].Link != l {
					t.Errorf("%+v: port %d of %s is not at %s", c.changes, e.Port, f.Nodes[e.Node].Name, link.Name)
				}
			}
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%+v:\ngot  %s\nwant %s", c.changes, got, c.want)
		}
	}
}

// TestRewireSubnets: a switch keeps its subnet, one with its first host gets another.
func TestRewireSubnets(t *testing.T) {
	f, err := Rewire(fatTree(t, 4), []Change{{Swap: [2]string{"h0-0-0--edge0-0", "h3-1-1--edge3-1"}}, {Remove: "h1-0-0--edge1-0"}, {Add: "core0--h1-0-0"}})
	f = must(t, f, err)
	wantNodes(t, f, map[string]string{
		"h0-0-0": "21 host h0-0-0 10.3.1.2 0:eth0:0",
		"h3-1-1": "36 host h3-1-1 10.0.0.3 0:eth0:3",
		"core0":  "1 switch core0 0:to-agg0-0:2 1:to-agg1-0:2 2:to-agg2-0:2 3:to-agg3-0:2 4:to-h1-0-0:0 10.100.8.0",
		"h1-0-0": "25 host h1-0-0 10.100.8.2 0:eth0:4",
		"h1-0-1": "26 host h1-0-1 10.1.0.2 0:eth0:0",
	})
}

func TestRewireErrors(t *testing.T) {
	var full []Change
	for range 253 {
		full = append(full, Change{Add: "s3--s1"})
	}
	for want, changes := range map[string][]Change{
		`change 0: no link is called "s1--s2#2"; those of s1 are h1--s1, s1--s2, s3--s1`:      {{Remove: "s1--s2#2"}},
		`change 1: no link is called "s2--s1"; those of s2 are h2--s2, s2--s3`:                {{Remove: "s1--s2"}, {Remove: "s2--s1"}},
		`change 0: "s1--s9": no node is called "s9"`:                                          {{Remove: "s1--s9"}},
		`change 0: "s1": no node is called ""`:                                                {{Add: "s1"}},
		`change 0: "s1" is linked to itself`:                                                  {{Add: "s1--s1"}},
		`change 0: "h1" and "h2" are hosts: a host is linked to a switch`:                     {{Swap: [2]string{"h1--s1", "s2--h2"}}},
		`change 0: host "h1" gets another link: it keeps the number that it has, here h1--s1`: {{Add: "s2--h1"}},
		`change 0: no link is called "s1--s2"; those of s1 are h1--s1, s3--s1`:                {{Swap: [2]string{"s1--s2", "s1--s2"}}},
		`change 253: switch "s1" has no port left: it has 256 links, the most there can be`:   append(slices.Clone(full), Change{Add: "s2--s1"}),
		// Whole again after the second, and for good in pieces after the third.
		`change 2: "h1" is no longer connected to "s1": all nodes of a fabric are`: {{Remove: "h1--s1"}, {Add: "h1--s1"}, {Remove: "s1--h1"}, {Remove: "s1--s2"}},
		`change 1000: 1001 changes: at most 1000`:                                  make([]Change, 1001),
	} {
		_, err := Rewire(small(t), changes)
		var at *ChangeError
		if !errors.As(err, &at) || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// randomBuilt is a small fabric of one of the builders, rewired at random.
func randomBuilt(t *testing.T, r *rand.Rand) *Fabric {
	t.Helper()
	var f *Fabric
	var err error
	switch r.IntN(4) {
	case 0:
		f, err = LeafSpine(2+r.IntN(4), 1+r.IntN(3), 1)
	case 1:
		f, err = Dragonfly(2+r.IntN(3), 2+r.IntN(2), 1, 2)
	case 2:
		f, err = Ring(3+r.IntN(6), 1)
	default:
		for err = errors.New("none yet"); err != nil; {
			f, err = Jellyfish(4+2*r.IntN(4), 3, 1, r.Uint64())
		}
	}
	f = must(t, f, err)
	for range r.IntN(4) {
		links := linkNames(f)
		a, z := links[r.IntN(len(links))], links[r.IntN(len(links))]
		changes := []Change{{Remove: a}, {Add: a}, {Swap: [2]string{a, z}}}
		if rewired, err := Rewire(f, changes[r.IntN(3):][:1]); err == nil {
			f = rewired
		}
	}
	return f
}

// TestBuiltRoutes: what route.go says of all fabrics is so for these.
func TestBuiltRoutes(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	kinds := map[string]int{}
	for range 100 {
		f := randomBuilt(t, r)
		kinds[fmt.Sprint(f.Nodes[0].Name[0])]++
		fast, slow := NewTable(f), newSlow(f)
		for s := range f.Switches() {
			for dst, sub := range f.Subnets {
				if got, want := fast.Group(s, dst), slow.group(s, sub.Switch); got != want {
					t.Fatalf("%s to the hosts of %s over %v: got %b, want %b", f.Nodes[s].Name, f.Nodes[sub.Switch].Name, f.Links, got, want)
				}
			}
		}
		checkPaths(t, r, f, fast, slow)
	}
	if len(kinds) < 2 {
		t.Errorf("only these fabrics: %v", kinds)
	}
}
