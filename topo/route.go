package topo

import (
	"fmt"
	"math"
	"slices"

	"softswitch/unit"
)

// Group is the ports to which a switch sends the frames of one subnet: one of Ports,
// or, while all of them are down, one of Backup, which only Backups has. All lead to switches,
// and no port is in both.
type Group struct {
	Ports, Backup unit.PortSet
}

// Table is the routes of every switch of a fabric: one for each subnet that is
// not the switch's own. Equal groups of a switch are stored once.
type Table struct {
	f      *Fabric
	groups [][]Group  // by switch; group 0 is the empty one
	index  [][]uint16 // by switch and subnet: index in groups
}

// NewTable computes the routes of every switch, as f.Routing has them, with all links up.
//
// Let d(x) be the number of links on a shortest path over switches from x to a switch
// that owns the subnet, the nearest if there are several. With Backups the group of a switch s is
//
//	Ports   every port whose far end n has d(n) = d(s) - 1
//	Backup  every port not in Ports whose far end n still delivers what s sends
//	        it, without s, given that n does not send a frame out of the port by
//	        which it came while its own group has another (split horizon)
//
// Beyond n a frame only takes shortest paths, so d falls at every hop, and the second
// condition comes down to two cases:
//
//	d(n) = d(s)      n is one: its ports lead to switches nearer than s (the
//	                 loop-free alternate of equal distance, RFC 5286, inequality 1)
//	d(n) = d(s) + 1  n is one if its Ports, without the one by which the frame
//	                 came, is not empty and none of it leads to s
//
// A neighbour at d(s) - 1 is in Ports, and none can be farther than d(s) + 1. In a
// fat-tree the second case is a core that lost its one link into a pod: it hands the
// frame down to the aggregation switch of another pod, whose group is its cores, and
// split horizon sends the frame to the next core. Every neighbour is assumed to have
// all its links: s cannot know which of them fail too, and this is how the backups of
// two switches can form a loop.
//
// Of a LAG all ports are in a group, or none: it is a way as long as one of its links is up. The port by
// which a frame came stands for all of its LAG.
//
// IGP has Ports alone, and BGP those of them that lead to what the far end announces: see BGP.
//
// A subnet that a switch cannot reach has the empty group. So has, without Ports, its owner; where
// there are several, the Backup of each leads to the others, for hosts to which its own link is down.
func NewTable(f *Fabric) *Table {
	n := f.Switches()
	t := &Table{f: f, groups: make([][]Group, n), index: make([][]uint16, n)}
	for i := range n {
		t.groups[i] = []Group{{}}
		t.index[i] = make([]uint16, len(f.Subnets))
	}
	dsts := make([]int, len(f.Subnets))
	for dst := range dsts {
		dsts[dst] = dst
	}
	EachGroup(f, dsts, func(s, dst int, g Group) bool {
		t.Set(s, dst, g)
		return true
	})
	return t
}

// EachGroup calls fn with the group of every switch for each of the subnets dsts, as
// NewTable computes it, in the order of dsts: for fabrics too large to keep the routes
// to every subnet. It ends when fn returns false.
func EachGroup(f *Fabric, dsts []int, fn func(s, dst int, g Group) bool) {
	r := NewRouter(f)
	for _, dst := range dsts {
		r.Aim(dst)
		for s := range f.Switches() {
			if !fn(s, dst, r.Group(s)) {
				return
			}
		}
	}
}

// Router computes groups for one destination after the other: Aim, then Group. With links down these are
// what the protocol comes to once it knows of them.
type Router struct {
	f     *Fabric
	out   [][]neighbour // by switch: its ports to switches, in ascending order
	far   [][]farPorts  // by switch and place in out
	down  []bool        // by link
	as    []int32       // by switch, of BGP
	d     []int32       // by switch: links to the destination
	from  []int32       // by switch, of BGP: whose announcement it passes on, -1 at an owner
	ports []unit.PortSet
	queue []int32

	owners int // of the destination
}

// neighbour is what is at the other end of one of a switch's ports. It is short: Aim reads those of all
// switches for every destination.
type neighbour struct {
	node, link int32 // the switch there, and the link to it
	port       unit.Port
}

// farPorts are ports of a neighbour: that of the link, with all of its LAG, and those that lead back.
type farPorts struct{ in, back unit.PortSet }

// unreachable is the distance of a switch without a path.
const unreachable = math.MaxInt32 / 2

// NewRouter returns a router of f, with all links up.
func NewRouter(f *Fabric) *Router {
	n := f.Switches()
	r := &Router{
		f: f, out: make([][]neighbour, n), far: make([][]farPorts, n), down: make([]bool, len(f.Links)),
		d: make([]int32, n), from: make([]int32, n), ports: make([]unit.PortSet, n),
	}
	if f.Routing.Protocol == BGP {
		r.as = f.Routing.numbers(f)
	}
	back := make([]unit.PortSet, n) // of the neighbours of one switch at a time
	for s := range n {
		ports := f.Nodes[s].Ports
		r.out[s], r.far[s] = make([]neighbour, 0, len(ports)), make([]farPorts, 0, len(ports))
		for j, p := range ports {
			if p.Peer.Node < n {
				r.out[s] = append(r.out[s], neighbour{int32(p.Peer.Node), int32(p.Link), unit.Port(j)})
				back[p.Peer.Node].Add(p.Peer.Port)
			}
		}
		for _, x := range r.out[s] {
			in := f.Nodes[x.node].LAG(ports[x.port].Peer.Port)
			r.far[s] = append(r.far[s], farPorts{in, back[x.node]})
		}
		for _, x := range r.out[s] {
			back[x.node] = unit.PortSet{}
		}
	}
	return r
}

// SetLink sets whether link l is up, for the next Aim.
func (r *Router) SetLink(l int, up bool) { r.down[l] = !up }

// Group is the group of switch s for the subnet last aimed at.
func (r *Router) Group(s int) Group {
	g := Group{Ports: r.ports[s]}
	if r.f.Routing.Protocol == Backups {
		g.Backup = r.backup(s)
	}
	return g
}

// Aim computes every switch's distance to the nearest owner of subnet dst, and its Ports. Without
// Backups an owner all of whose ports to the subnet are down does not count.
func (r *Router) Aim(dst int) {
	for i := range r.d {
		r.d[i], r.from[i] = unreachable, -1
	}
	r.queue = r.queue[:0]
	owners := r.f.Subnets[dst].Owners()
	for _, o := range owners {
		if r.announces(o) {
			r.d[o.Switch] = 0
			r.queue = append(r.queue, int32(o.Switch))
		}
	}
	r.owners = len(owners)
	for i := 0; i < len(r.queue); i++ {
		s := r.queue[i]
		for _, n := range r.out[s] {
			if r.d[n.node] == unreachable && r.takes(n.node, s, n.link) {
				r.d[n.node], r.from[n.node] = r.d[s]+1, s
				r.queue = append(r.queue, n.node)
			}
		}
	}
	for s, out := range r.out {
		r.ports[s] = unit.PortSet{}
		for _, n := range out {
			if r.d[n.node] == r.d[s]-1 && r.takes(int32(s), n.node, n.link) {
				r.ports[s].Add(n.port)
			}
		}
	}
}

// announces reports whether owner o tells others of its subnet.
func (r *Router) announces(o Owner) bool {
	if r.f.Routing.Protocol == Backups {
		return true
	}
	for n := range o.Ports.Len() {
		if !r.down[r.f.Nodes[o.Switch].Ports[o.Ports.Nth(n)].Link] {
			return true
		}
	}
	return false
}

// takes reports whether switch s takes what switch by announces over link l: of BGP a path without s's own
// number.
func (r *Router) takes(s, by, l int32) bool { return !r.down[l] && (r.as == nil || r.isNew(s, by)) }

// isNew reports whether what switch by announces is without the number of switch s.
func (r *Router) isNew(s, by int32) bool {
	for ; by >= 0; by = r.from[by] {
		if r.as[by] == r.as[s] {
			return false
		}
	}
	return true
}

// Uniform reports whether the ways by all ports of a switch have the same AS numbers, at every switch and for the
// subnet last aimed at. Then links that fail change no route but that it lacks them, as long as every switch that
// has a route keeps a port of it: what a switch announces stays the same, whichever port it is by.
func (r *Router) Uniform() bool {
	if r.as == nil {
		return true
	}
	for s, out := range r.out {
		for _, n := range out {
			if r.ports[s].Has(n.port) && !r.sameAS(n.node, r.from[s]) {
				return false
			}
		}
	}
	return true
}

// sameAS reports whether what two switches announce has the same AS numbers.
func (r *Router) sameAS(a, b int32) bool {
	for a != b {
		if a < 0 || b < 0 || r.as[a] != r.as[b] {
			return false
		}
		a, b = r.from[a], r.from[b]
	}
	return true
}

// backup computes the Backup of switch s.
func (r *Router) backup(s int) (backup unit.PortSet) {
	if r.ports[s].Empty() && (r.d[s] > 0 || r.owners == 1) { // an unreachable subnet, or its own alone
		return unit.PortSet{}
	}
	for i, n := range r.out[s] {
		switch r.d[n.node] - r.d[s] {
		case 0:
			backup.Add(n.port)
		case 1:
			far := &r.far[s][i]
			onward := r.ports[n.node].Without(far.in)
			if !onward.Empty() && onward.And(far.back).Empty() {
				backup.Add(n.port)
			}
		}
	}
	return backup
}

// Group is the group of switch s for the subnet with index dst. It is empty for unreachable ones and
// for the switch's own subnet, but for the Backup of one with several owners.
func (t *Table) Group(s, dst int) Group { return t.groups[s][t.index[s][dst]] }

// Set replaces the group of switch s for the subnet dst.
func (t *Table) Set(s, dst int, g Group) {
	i := slices.Index(t.groups[s], g)
	if i < 0 {
		if i = len(t.groups[s]); i > math.MaxUint16 {
			panic(fmt.Sprintf("topo: switch %q has more than %d different groups", t.f.Nodes[s].Name, math.MaxUint16))
		}
		t.groups[s] = append(t.groups[s], g)
	}
	t.index[s][dst] = uint16(i)
}
