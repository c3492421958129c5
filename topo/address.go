package topo

import (
	"fmt"

	"softswitch/unit"
)

// maxInterfaceName is IFNAMSIZ - 1 of Linux.
const maxInterfaceName = 15

// namePorts names the ports of node i and gives them their addresses. The port of a
// host is "eth0". A port of a switch is called "to-" and its peer if that is short
// enough for a network interface and no other port of the switch leads there, else "p"
// and its number.
func (f *Fabric) namePorts(i int) {
	n := &f.Nodes[i]
	parallel := map[int]int{}
	for _, p := range n.Ports {
		parallel[p.Peer.Node]++
	}
	for j := range n.Ports {
		p := &n.Ports[j]
		p.MAC = PortMAC(i, j)
		p.Name = "to-" + f.Nodes[p.Peer.Node].Name
		if n.Kind == Host {
			p.Name = fmt.Sprintf("eth%d", j)
		} else if parallel[p.Peer.Node] > 1 || len(p.Name) > maxInterfaceName {
			p.Name = fmt.Sprintf("p%d", j)
		}
	}
}

// PortMAC is the address of a port of a node, numbers from 0. It is locally administered: 02, the
// node's number from 1 in three bytes, 00, the port. Port 3 of node 17 has 02:00:00:12:00:03.
func PortMAC(node, port int) unit.MAC { return 0x02<<40 | unit.MAC(node+1)<<16 | unit.MAC(port) }

// address assigns each switch with hosts its subnet, and the hosts their addresses.
func (f *Fabric) address(subnet func(i, n int) unit.Addr) {
	f.subnetOf = make([]int, len(f.Nodes))
	for i := range f.Nodes {
		f.subnetOf[i] = -1
	}
	bits := 24
	for i := range f.Switches() {
		if hosts := f.hostsOf(i).Len(); hosts > 253 { // beside the network, the gateway and the broadcast
			bits = 23
		}
	}
	for i := range f.Switches() {
		s := Subnet{Switch: i, Bits: bits, Ports: f.hostsOf(i)}
		if s.Ports.Empty() {
			continue
		}
		n := len(f.Subnets)
		s.Addr = subnet(i, n<<(24-bits))
		s.Gateway = s.Addr + 1
		f.subnetOf[i] = n
		for j := range s.Ports.Len() {
			h := f.Nodes[i].Ports[s.Ports.Nth(j)].Peer.Node
			f.Nodes[h].Addr = s.Gateway + 1 + unit.Addr(j)
			f.subnetOf[h] = n
		}
		f.Subnets = append(f.Subnets, s)
	}
}

// hostsOf is the ports of a switch that lead to hosts.
func (f *Fabric) hostsOf(i int) (ports unit.PortSet) {
	for j, p := range f.Nodes[i].Ports {
		if f.Nodes[p.Peer.Node].Kind == Host {
			ports.Add(unit.Port(j))
		}
	}
	return ports
}

// inOrder numbers subnets in the order of their switches: 10.100.0.0/24, 10.100.1.0/24,
// ..., 250 per second byte; those of 512 addresses take two numbers.
func inOrder(_, n int) unit.Addr {
	return 10<<24 | unit.Addr(100+n/250)<<16 | unit.Addr(n%250)<<8
}
