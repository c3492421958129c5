// Package topo is a fabric on paper: named switches and hosts, the links between
// their ports, their addresses, and the routes of every switch.
//
//	FatTree, Ring, LeafSpine, Rails, Rewire,         Set: a route pinned by hand
//	DualHomed, Jellyfish, Dragonfly, Aggregate |             v
//	Explicit ------------------> Fabric --NewTable--> Table --Path--> hops of a flow
//
// Read in this order: Fabric and its parts (this file), fattree.go, ring.go,
// leafspine.go, jellyfish.go, dragonfly.go and explicit.go (builders), rewire.go (a fabric
// with other links), lag.go (links that act as one), address.go (addresses and names), route.go (shortest paths and their
// backups, with the rule written out), path.go (how switches forward a flow).
//
// Invariants:
//   - numbers: Nodes[i].ID is i+1, switches before hosts, each in the order in which
//     the builder names them;
//   - ports: a node's ports are numbered from 0 in the order in which its links were
//     made; both ends of Links[l] refer to l;
//   - hosts: the ports of a host lead to switches; with one address (Node.Shared) each leads to
//     another switch;
//   - subnets: the ports to hosts of a switch share one subnet, but for those of hosts with one
//     address at several ports: those that are at the same switches share one, which all these
//     switches own. Every port of a host is in one.
//
// What it does not do: it has no rates, delays, queues or time, and it does not watch
// links: the caller tells Path which ones are down. Its routes are shortest paths and no
// more: in a fabric without levels (Ring, Jellyfish, Dragonfly, or any that is rewired)
// they need not go up and then down, and can close a cycle of buffers.
package topo

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/unit"
)

// Kind says whether a node is a switch or a host.
type Kind uint8

// Kinds of node.
const (
	Switch Kind = iota
	Host
)

func (k Kind) String() string { return [...]string{"switch", "host"}[k] }

// Fabric is a graph of switches and hosts. It is read-only once it is built.
type Fabric struct {
	Nodes   []Node
	Links   []Link
	Subnets []Subnet // in the order of their switches; then those with several owners
	LAGs    []LAG
	Routing Routing // the zero value is Backups

	byName   map[string]int // of nodes
	subnetOf []int          // by node: the subnet of its hosts or of itself, -1 if none
	switches int
}

// Node is a switch or a host.
type Node struct {
	// ID is the node's number in the fabric, its index + 1. Hosts beyond 65535 have ID
	// 0: nothing on the wire carries the number of a host.
	ID    unit.NodeID
	Name  string
	Kind  Kind
	Ports []Port
	// Addr is a host's IPv4 address, that of its first port; 0 for a switch.
	Addr unit.Addr
	// LAGs are the ports of each LAG of a switch.
	LAGs []unit.PortSet
	// Shared says that a host has one address, and one MAC address, at all of its ports.
	Shared bool
}

// Port is a port of a node, and the other end of its link.
type Port struct {
	Name string // of the network interface, at most 15 characters
	MAC  unit.MAC
	Link int       // index in Links
	Peer End       // the far end
	Addr unit.Addr // of a host's port
}

// End is one end of a link: a port of the node with index Node.
type End struct {
	Node int
	Port unit.Port
}

// Link is a link between two nodes.
type Link struct {
	Name string // "core0--agg0-0"; further links between the same two end in "#2", "#3", ...
	A, B End
}

// Subnet is that of the hosts of one switch, or of hosts with one address at the same switches.
type Subnet struct {
	Addr    unit.Addr // of the prefix
	Bits    int       // of the prefix: 24, or 23 in a fabric with a switch of more than 253 hosts
	Gateway unit.Addr // Addr + 1; hosts have Addr + 2 onwards, in the order of their ports
	Owner             // the first
	Others  []Owner   // further switches that lead to the same hosts
}

// Owner is a switch with ports to the hosts of a subnet.
type Owner struct {
	Switch int // index of the switch
	Ports  unit.PortSet
}

// Owners are all of a subnet.
func (s *Subnet) Owners() []Owner { return append([]Owner{s.Owner}, s.Others...) }

// OwnedBy returns the ports by which switch i leads to the hosts of s; ok is false if it owns it not.
func (s *Subnet) OwnedBy(i int) (ports unit.PortSet, ok bool) {
	if s.Switch == i {
		return s.Ports, true
	}
	for _, o := range s.Others {
		if o.Switch == i {
			return o.Ports, true
		}
	}
	return unit.PortSet{}, false
}

// maxID is the greatest number of a node.
const maxID = 65535

// Node returns the index of the node called name.
func (f *Fabric) Node(name string) (int, bool) {
	i, ok := f.byName[name]
	return i, ok
}

// Link returns the index of the link called name, "core0--agg0-0" or the other
// way round.
func (f *Fabric) Link(name string) (int, bool) {
	pair, number, many := strings.Cut(name, "#")
	first, second, _ := strings.Cut(pair, "--")
	reverse := second + "--" + first
	if many {
		reverse += "#" + number
	}
	a, ok := f.byName[first]
	if !ok {
		return 0, false
	}
	for _, p := range f.Nodes[a].Ports {
		if l := f.Links[p.Link].Name; l == name || l == reverse {
			return p.Link, true
		}
	}
	return 0, false
}

// SubnetOf returns the index of the subnet of node i, a host or a switch with hosts, or
// -1. Of a host with an address at each port it is that of the first.
func (f *Fabric) SubnetOf(i int) int { return f.subnetOf[i] }

// SubnetAt returns the index of the subnet of port p of host i.
func (f *Fabric) SubnetAt(i int, p unit.Port) int {
	if n := &f.Nodes[i]; !n.Shared {
		return f.subnetOf[n.Ports[p].Peer.Node]
	}
	return f.subnetOf[i]
}

// ownSubnet is the subnet of which switch i is the only owner, -1 for none.
func (f *Fabric) ownSubnet(i int) int {
	return slices.IndexFunc(f.Subnets, func(s Subnet) bool { return s.Switch == i && len(s.Others) == 0 })
}

// SubnetsOf returns the indices of the subnets of node i, a host or a switch.
func (f *Fabric) SubnetsOf(i int) (all []int) {
	for k := range f.Subnets {
		_, own := f.Subnets[k].OwnedBy(i)
		for p := range f.Nodes[i].Ports {
			own = own || f.Nodes[i].Kind == Host && f.SubnetAt(i, unit.Port(p)) == k
		}
		if own {
			all = append(all, k)
		}
	}
	return all
}

// GatewayMAC returns the address of the gateway of port p of host i: that of the
// first port of its subnet, at every port of it.
func (f *Fabric) GatewayMAC(i int, p unit.Port) unit.MAC {
	sub := &f.Subnets[f.SubnetAt(i, p)]
	return f.Nodes[sub.Switch].Ports[sub.Ports.First()].MAC
}

// Switches is the number of switches: the nodes 0 to Switches-1.
func (f *Fabric) Switches() int { return f.switches }

// builder collects nodes and links. The caller must keep to the invariants; a mistake
// is a bug and panics.
type builder struct {
	f *Fabric
}

func newBuilder() builder {
	return builder{&Fabric{byName: map[string]int{}}}
}

func (b builder) node(kind Kind, format string, args ...any) int {
	name := fmt.Sprintf(format, args...)
	i := len(b.f.Nodes)
	n := Node{Name: name, Kind: kind}
	if i < maxID {
		n.ID = unit.NodeID(i + 1)
	}
	if _, ok := b.f.byName[name]; ok {
		panic(fmt.Sprintf("topo: two nodes called %q", name))
	}
	if kind == Switch {
		b.f.switches++
	}
	b.f.byName[name] = i
	b.f.Nodes = append(b.f.Nodes, n)
	return i
}

// withHosts adds n switches, numbered from first, then the hosts of each: h<number>-0, h<number>-1, ...
func (b builder) withHosts(name string, n, first, hosts int) {
	at := len(b.f.Nodes)
	for i := range n {
		b.node(Switch, name, first+i)
	}
	for i := range n {
		for j := range hosts {
			b.link(at+i, b.node(Host, "h%d-%d", first+i, j))
		}
	}
}

// link joins the next free ports of x and y.
func (b builder) link(x, y int) {
	l := len(b.f.Links)
	a := End{x, unit.Port(len(b.f.Nodes[x].Ports))}
	z := End{y, unit.Port(len(b.f.Nodes[y].Ports))}
	name, n := b.f.Nodes[x].Name+"--"+b.f.Nodes[y].Name, 1
	for _, p := range b.f.Nodes[x].Ports {
		if p.Peer.Node == y {
			n++
		}
	}
	if n > 1 {
		name += fmt.Sprintf("#%d", n)
	}
	b.f.Nodes[x].Ports = append(b.f.Nodes[x].Ports, Port{Link: l, Peer: z})
	b.f.Nodes[y].Ports = append(b.f.Nodes[y].Ports, Port{Link: l, Peer: a})
	b.f.Links = append(b.f.Links, Link{Name: name, A: a, B: z})
}

// done assigns names and addresses. subnet returns the prefix of the n-th switch that
// has hosts, switch i.
func (b builder) done(subnet func(i, n int) unit.Addr) *Fabric {
	links := make([]int, len(b.f.Nodes))
	for i := range b.f.Nodes {
		b.f.namePorts(i, links)
	}
	b.f.address(subnet)
	return b.f
}
