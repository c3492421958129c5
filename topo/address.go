package topo

import (
	"fmt"
	"slices"

	"softswitch/internal/lists"
	"softswitch/unit"
)

// maxInterfaceName is IFNAMSIZ - 1 of Linux.
const maxInterfaceName = 15

// namePorts names the ports of node i and gives them their addresses. The ports of a
// host are "eth0", "eth1", ... A port of a switch is called "to-" and its peer if that is short
// enough for a network interface and no other port of the switch leads there, else "p"
// and its number. links is a zero for every node, as it is again afterwards.
func (f *Fabric) namePorts(i int, links []int) {
	n := &f.Nodes[i]
	for _, p := range n.Ports {
		links[p.Peer.Node]++
	}
	for j := range n.Ports {
		p := &n.Ports[j]
		if p.MAC = PortMAC(i, j); n.Shared {
			p.MAC = PortMAC(i, 0)
		}
		p.Name = "to-" + f.Nodes[p.Peer.Node].Name
		if n.Kind == Host {
			p.Name = fmt.Sprintf("eth%d", j)
		} else if links[p.Peer.Node] > 1 || len(p.Name) > maxInterfaceName {
			p.Name = fmt.Sprintf("p%d", j)
		}
	}
	for _, p := range n.Ports {
		links[p.Peer.Node] = 0
	}
}

// PortMAC is the address of a port of a node, numbers from 0. It is locally administered: 02, the
// node's number from 1 in three bytes, 00, the port. Port 3 of node 17 has 02:00:00:12:00:03.
func PortMAC(node, port int) unit.MAC { return 0x02<<40 | unit.MAC(node+1)<<16 | unit.MAC(port) }

// address assigns each switch with hosts its subnet, and the hosts their addresses; then those of
// hosts with one address at several switches.
func (f *Fabric) address(subnet func(i, n int) unit.Addr) {
	f.subnetOf = make([]int, len(f.Nodes))
	for i := range f.Nodes {
		f.subnetOf[i] = -1
	}
	bits := 24
	for i := range f.Switches() {
		if hosts := f.hostsOf(i, false).Or(f.hostsOf(i, true)).Len(); hosts > 253 { // beside the network, the gateway and the broadcast
			bits = 23
		}
	}
	for i := range f.Switches() {
		if ports := f.hostsOf(i, false); !ports.Empty() {
			n := len(f.Subnets)
			f.connect(Subnet{Addr: subnet(i, n<<(24-bits)), Bits: bits, Owner: Owner{i, ports}})
		}
	}
	for _, owners := range f.sharedOwners() {
		n := len(f.Subnets)
		f.connect(Subnet{Addr: subnet(-1, n<<(24-bits)), Bits: bits, Owner: owners[0], Others: owners[1:]})
	}
}

// connect gives the hosts of a subnet their addresses, in the order of the ports of its first owner.
func (f *Fabric) connect(s Subnet) {
	n := len(f.Subnets)
	s.Gateway = s.Addr + 1
	for _, o := range s.Owners() {
		if f.subnetOf[o.Switch] < 0 {
			f.subnetOf[o.Switch] = n
		}
	}
	for j := range s.Ports.Len() {
		peer := f.Nodes[s.Switch].Ports[s.Ports.Nth(j)].Peer
		h := &f.Nodes[peer.Node]
		h.Ports[peer.Port].Addr = s.Gateway + 1 + unit.Addr(j)
		if peer.Port == 0 || h.Shared {
			h.Addr, f.subnetOf[peer.Node] = h.Ports[peer.Port].Addr, n
		}
		for k := range h.Ports {
			if h.Shared {
				h.Ports[k].Addr = h.Addr
			}
		}
	}
	f.Subnets = append(f.Subnets, s)
}

// hostsOf is the ports of a switch that lead to hosts: to those with one address at several ports, or to
// the others.
func (f *Fabric) hostsOf(i int, shared bool) (ports unit.PortSet) {
	for j, p := range f.Nodes[i].Ports {
		if peer := &f.Nodes[p.Peer.Node]; peer.Kind == Host && peer.Shared == shared {
			ports.Add(unit.Port(j))
		}
	}
	return ports
}

// sharedOwners are the owners of each subnet of hosts with one address: the switches of some host, with
// the ports to all hosts that are at the same switches, in the order of the first of these hosts.
func (f *Fabric) sharedOwners() (all [][]Owner) {
	index := map[string]int{}
	for i := f.Switches(); i < len(f.Nodes); i++ {
		h := &f.Nodes[i]
		if !h.Shared {
			continue
		}
		ends := lists.Map(h.Ports, func(p Port) End { return p.Peer })
		slices.SortFunc(ends, func(a, b End) int { return a.Node - b.Node })
		key := fmt.Sprint(lists.Map(ends, func(e End) int { return e.Node }))
		k, ok := index[key]
		if !ok {
			k = len(all)
			index[key] = k
			all = append(all, lists.Map(ends, func(e End) Owner { return Owner{Switch: e.Node} }))
		}
		for o, e := range ends {
			all[k][o].Ports.Add(e.Port)
		}
	}
	return all
}

// inOrder numbers subnets in the order of their switches: 10.100.0.0/24, 10.100.1.0/24,
// ..., 250 per second byte; those of 512 addresses take two numbers.
func inOrder(_, n int) unit.Addr {
	return 10<<24 | unit.Addr(100+n/250)<<16 | unit.Addr(n%250)<<8
}
