package topo

import (
	"math/rand/v2"
	"slices"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/unit"
)

// announced is a path as a switch announces it in BGP: its switches, the owner last, and the ports by which
// it was told onwards from the owner, which order paths of one length.
type announced struct {
	path, told []int
}

// slowBGP tells announcements from switch to switch until nothing changes, and returns the ports of each
// switch for a subnet.
func slowBGP(f *Fabric, dst int, down []bool, as []int) []unit.PortSet {
	n := f.Switches()
	best := make([]*announced, n)
	for i, o := range f.Subnets[dst].Owners() {
		for j := range o.Ports.Len() {
			if !down[f.Nodes[o.Switch].Ports[o.Ports.Nth(j)].Link] {
				best[o.Switch] = &announced{[]int{o.Switch}, []int{i}}
			}
		}
	}
	takes := func(s int, p Port) bool {
		by := p.Peer.Node
		return by < n && !down[p.Link] && best[by] != nil && !slices.ContainsFunc(best[by].path, func(x int) bool { return as[x] == as[s] })
	}
	for changed := true; changed; {
		changed = false
		next := slices.Clone(best)
		for s := range n {
			if best[s] != nil && len(best[s].path) == 1 {
				continue
			}
			next[s] = nil
			for _, p := range f.Nodes[s].Ports {
				if !takes(s, p) {
					continue
				}
				a := &announced{append([]int{s}, best[p.Peer.Node].path...), append(slices.Clone(best[p.Peer.Node].told), int(p.Peer.Port))}
				if next[s] == nil || len(a.path) < len(next[s].path) || len(a.path) == len(next[s].path) && slices.Compare(a.told, next[s].told) < 0 {
					next[s] = a
				}
			}
			if (next[s] == nil) != (best[s] == nil) || next[s] != nil && !slices.Equal(next[s].told, best[s].told) {
				changed = true
			}
		}
		best = next
	}
	ports := make([]unit.PortSet, n)
	for s := range n {
		for j, p := range f.Nodes[s].Ports {
			if best[s] != nil && takes(s, p) && len(best[p.Peer.Node].path) == len(best[s].path)-1 {
				ports[s].Add(unit.Port(j))
			}
		}
	}
	return ports
}

// randomRouting gives a fabric IGP or BGP, with the numbers of RFC 7938 or random ones, and returns the numbers.
func randomRouting(r *rand.Rand, f *Fabric) (as []int) {
	n := f.Switches()
	as = make([]int, n)
	for s := range as {
		as[s] = s
	}
	switch r.IntN(3) {
	case 0:
		f.Routing = Routing{Protocol: IGP}
	case 1:
		f.Routing = Routing{Protocol: BGP}
		for _, group := range SharedAS(f) {
			for _, s := range group {
				as[s] = group[0]
			}
		}
	default:
		groups := make([][]int, 1+r.IntN(n))
		for s := range n {
			g := r.IntN(len(groups))
			groups[g] = append(groups[g], s)
		}
		f.Routing = Routing{Protocol: BGP, SharedAS: slices.DeleteFunc(groups, func(g []int) bool { return len(g) == 0 })}
		for _, group := range f.Routing.SharedAS {
			for _, s := range group {
				as[s] = group[0]
			}
		}
	}
	return as
}

// TestRoutingAgainstSlowTwin: the routes of IGP and BGP, with any links down, are those of announcements
// that are told from switch to switch. IGP is a BGP in which each switch has its own number.
func TestRoutingAgainstSlowTwin(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	refused := 0
	for range 400 {
		f := randomFabric(t, r)
		if r.IntN(2) == 0 {
			f = randomBuilt(t, r)
		}
		n, as := f.Switches(), randomRouting(r, f)
		router := NewRouter(f)
		down := make([]bool, len(f.Links))
		for range 3 {
			for l := range down {
				down[l] = r.IntN(6) == 0
				router.SetLink(l, !down[l])
			}
			for dst := range f.Subnets {
				router.Aim(dst)
				want := slowBGP(f, dst, down, as)
				plain := f.Routing
				for s := range n {
					if got := router.Group(s); got.Ports != want[s] || !got.Backup.Empty() {
						t.Fatalf("%v: %s to subnet %d over %v, down %v: got %b, want %b", plain, f.Nodes[s].Name, dst, f.Links, down, got, want[s])
					}
					if want[s].Empty() {
						refused++
					}
				}
			}
		}
	}
	if refused == 0 {
		t.Error("every switch reached everything: nothing was refused")
	}
}

// TestUniform: where the ways of every switch are uniform, links that fail and leave each switch a port take no more
// from routes than themselves. Where they are not, such links can change other routes.
func TestUniform(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	kept, others := 0, 0
	for range 400 {
		f := randomFabric(t, r)
		if r.IntN(2) == 0 {
			f = randomBuilt(t, r)
		}
		randomRouting(r, f)
		router := NewRouter(f)
		for dst := range f.Subnets {
			router.Aim(dst)
			uniform := router.Uniform()
			left := make([]unit.PortSet, f.Switches())
			for s := range left {
				left[s] = router.Group(s).Ports
			}
			var down []int
			for range 4 {
				l := r.IntN(len(f.Links))
				ends := [2]End{f.Links[l].A, f.Links[l].B}
				if slices.ContainsFunc(ends[:], func(e End) bool { return e.Node >= len(left) || left[e.Node] == e.Port.Set() }) {
					continue
				}
				for _, e := range ends {
					left[e.Node].Remove(e.Port)
				}
				down = append(down, l)
				router.SetLink(l, false)
			}
			router.Aim(dst)
			for s, want := range left {
				switch got := router.Group(s).Ports; {
				case uniform && got != want:
					t.Fatalf("%v: %s to subnet %d over %v, down %v: got %b, want %b", f.Routing, f.Nodes[s].Name, dst, f.Links, down, got, want)
				case uniform && len(down) > 0:
					kept++
				case got != want:
					others++
				}
			}
			for _, l := range down {
				router.SetLink(l, true)
			}
		}
	}
	if kept < 1000 || others == 0 {
		t.Errorf("%d routes that are uniform, %d others that change: too few to tell", kept, others)
	}
}

// TestNoValley: with the numbers of RFC 7938 no way of a fat-tree leads down and up again, whichever links
// are down. With one number each it does.
func TestNoValley(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	valleys := func(f *Fabric) (n int) {
		tier := tiers(f)
		router := NewRouter(f)
		for range 20 {
			for l := range f.Links {
				router.SetLink(l, r.IntN(4) > 0)
			}
			for dst := range f.Subnets {
				router.Aim(dst)
				for s := range f.Switches() {
					into := router.Group(s).Ports
					for i := range into.Len() {
						at := f.Nodes[s].Ports[into.Nth(i)].Peer.Node
						onward := router.Group(at).Ports
						for j := range onward.Len() {
							if to := f.Nodes[at].Ports[onward.Nth(j)].Peer.Node; tier[s] > tier[at] && tier[to] > tier[at] {
								n++
							}
						}
					}
				}
			}
		}
		return n
	}
	f := fatTree(t, 4)
	f.Routing = Routing{Protocol: BGP}
	if n := valleys(f); n > 0 {
		t.Errorf("%d ways down and up again", n)
	}
	f.Routing.SharedAS = [][]int{}
	if valleys(f) == 0 {
		t.Error("no way down and up again where every switch has a number of its own: nothing was tested")
	}
}

// TestSharedAS: cores have one number, the aggregation switches of a pod one, edges one each.
func TestSharedAS(t *testing.T) {
	f := fatTree(t, 4)
	got := SharedAS(f)
	var names [][]string
	for _, group := range got {
		var n []string
		for _, s := range group {
			n = append(n, f.Nodes[s].Name)
		}
		names = append(names, n)
	}
	want := [][]string{{"agg0-0", "agg0-1"}, {"agg1-0", "agg1-1"}, {"agg2-0", "agg2-1"}, {"agg3-0", "agg3-1"}, {"core0", "core1", "core2", "core3"}}
	if !slices.EqualFunc(names, want, slices.Equal) {
		t.Errorf("got %v, want %v", names, want)
	}
}
