package topo

import (
	"fmt"
	"math"
	"slices"

	"softswitch/unit"
)

// Group is the ports to which a switch sends the frames of one subnet: one of Ports,
// or, while all of them are down, one of Backup. All lead to switches, and no port is
// in both.
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

// NewTable computes the routes of every switch.
//
// Let d(x) be the number of links on a shortest path over switches from x to a switch
// that owns the subnet, the nearest if there are several. The group of a switch s is
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
	r := newRouter(f)
	for _, dst := range dsts {
		r.aim(&f.Subnets[dst])
		for s := range f.Switches() {
			if !fn(s, dst, Group{Ports: r.ports[s], Backup: r.backup(s)}) {
				return
			}
		}
	}
}

// router computes groups for one destination after the other.
type router struct {
	out   [][]neighbour // by switch: its ports to switches, in ascending order
	d     []int32       // by switch: links to the destination
	ports []unit.PortSet
	queue []int32

	owners int // of the destination
}

// neighbour is what is at the other end of one of a switch's ports.
type neighbour struct {
	port unit.Port
	in   unit.PortSet // the port of the far end, with all of its LAG
	node int32        // the switch there
	back unit.PortSet // its ports that lead back here
}

// unreachable is the distance of a switch without a path.
const unreachable = math.MaxInt32 / 2

func newRouter(f *Fabric) *router {
	n := f.Switches()
	r := &router{out: make([][]neighbour, n), d: make([]int32, n), ports: make([]unit.PortSet, n)}
	for s := range n {
		back := map[int]unit.PortSet{}
		for _, p := range f.Nodes[s].Ports {
			set := back[p.Peer.Node]
			set.Add(p.Peer.Port)
			back[p.Peer.Node] = set
		}
		for j, p := range f.Nodes[s].Ports {
			if p.Peer.Node < n {
				r.out[s] = append(r.out[s], neighbour{unit.Port(j), f.Nodes[p.Peer.Node].LAG(p.Peer.Port), int32(p.Peer.Node), back[p.Peer.Node]})
			}
		}
	}
	return r
}

// aim computes every switch's distance to the nearest owner of dst, and its Ports.
func (r *router) aim(dst *Subnet) {
	for i := range r.d {
		r.d[i] = unreachable
	}
	r.d[dst.Switch] = 0
	r.queue = append(r.queue[:0], int32(dst.Switch))
	for _, o := range dst.Others {
		r.d[o.Switch] = 0
		r.queue = append(r.queue, int32(o.Switch))
	}
	r.owners = len(r.queue)
	for i := 0; i < len(r.queue); i++ {
		s := r.queue[i]
		for _, n := range r.out[s] {
			if r.d[n.node] == unreachable {
				r.d[n.node] = r.d[s] + 1
				r.queue = append(r.queue, n.node)
			}
		}
	}
	for s, out := range r.out {
		r.ports[s] = unit.PortSet{}
		for _, n := range out {
			if r.d[n.node] == r.d[s]-1 {
				r.ports[s].Add(n.port)
			}
		}
	}
}

// backup computes the Backup of switch s.
func (r *router) backup(s int) (backup unit.PortSet) {
	if r.ports[s].Empty() && (r.d[s] > 0 || r.owners == 1) { // an unreachable subnet, or its own alone
		return unit.PortSet{}
	}
	for _, n := range r.out[s] {
		switch r.d[n.node] - r.d[s] {
		case 0:
			backup.Add(n.port)
		case 1:
			onward := r.ports[n.node].Without(n.in)
			if !onward.Empty() && onward.And(n.back).Empty() {
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
