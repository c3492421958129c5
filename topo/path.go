package topo

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/internal/ether"
	"softswitch/unit"
)

// Hop is a switch on a path: a frame enters it by In and leaves by Out.
type Hop struct {
	Node    int
	In, Out unit.Port
}

// Route chooses the port by which switch s forwards a frame that came in by in
// (unit.NoPort if s made it). It is the switch's own rule:
//
//  1. the candidates are the ports of the group that are up;
//  2. if there are none, the backup ports that are up;
//  3. if there are several and in is among them, in is left out, and with it its LAG, unless all
//     are of that LAG: then in is the choice (split horizon);
//  4. of n candidates in ascending order, of which the lowest of a LAG stands for it, the choice is
//     ether.Pick(hash, seed, n), where the seed is the switch's number;
//  5. of n candidates in the LAG that was chosen, the choice is ether.PickMember(hash, seed, n).
//
// The result is unit.NoPort if every port is down.
func (t *Table) Route(s, dst int, in unit.Port, hash uint32, down func(link int) bool) unit.Port {
	g := t.Group(s, dst)
	up := t.f.up(s, g.Ports, down)
	if up.Empty() {
		up = t.f.up(s, g.Backup, down)
	}
	n := &t.f.Nodes[s]
	if in != unit.NoPort && up.Has(in) && up.Len() > 1 {
		if up = up.Without(n.LAG(in)); up.Empty() {
			return in
		}
	}
	if up.Empty() {
		return unit.NoPort
	}
	first := up
	for ports := up; !ports.Empty(); ports.Pop() {
		rest := n.LAG(ports.First())
		rest.Remove(ports.First())
		first = first.Without(rest)
		ports = ports.Without(rest)
	}
	members := up.And(n.LAG(first.Nth(ether.Pick(hash, uint32(n.ID), first.Len()))))
	return members.Nth(ether.PickMember(hash, uint32(n.ID), members.Len()))
}

func (f *Fabric) up(s int, ports unit.PortSet, down func(link int) bool) (up unit.PortSet) {
	for ; !ports.Empty(); ports.Remove(ports.First()) {
		if p := ports.First(); !down(f.Nodes[s].Ports[p].Link) {
			up.Add(p)
		}
	}
	return up
}

// Path is the path of a flow from a port of one host to a port of another: the switches in order. To a
// host with one address at several ports it ends at any of them. hash is
// ether.FlowHash of the flow's 5-tuple, and down reports which links have failed. A
// switch drops a frame that arrives with TTL 1 and decrements any other, so a frame
// passes ttl-1 switches. An error says where the frame gets stuck; the hops up to there
// are returned with it.
func (t *Table) Path(from, to End, hash uint32, ttl int, down func(link int) bool) ([]Hop, error) {
	f := t.f
	first := f.Nodes[from.Node].Ports[from.Port]
	if down(first.Link) {
		return nil, fmt.Errorf("link %s is down", f.Links[first.Link].Name)
	}
	dst, host := f.SubnetAt(to.Node, to.Port), f.Nodes[to.Node]
	var path []Hop
	for s, in := first.Peer.Node, first.Peer.Port; ; {
		if len(path) >= ttl-1 {
			return path, fmt.Errorf("TTL %d ends on the way %s", ttl, f.String(path))
		}
		last := to.Port
		if host.Shared {
			last = unit.Port(max(0, slices.IndexFunc(host.Ports, func(p Port) bool { return p.Peer.Node == s })))
		}
		out := host.Ports[last].Peer.Port
		arrives := s == host.Ports[last].Peer.Node
		if !arrives || down(host.Ports[last].Link) && !t.Group(s, dst).Backup.Empty() {
			arrives, out = false, t.Route(s, dst, in, hash, down)
		}
		path = append(path, Hop{s, in, out})
		if out == unit.NoPort {
			return path, fmt.Errorf("no port is up from %s to %s", f.Nodes[s].Name, host.Name)
		}
		p := f.Nodes[s].Ports[out]
		if arrives {
			if down(p.Link) {
				return path, fmt.Errorf("link %s is down", f.Links[p.Link].Name)
			}
			return path, nil
		}
		s, in = p.Peer.Node, p.Peer.Port
	}
}

// String lists the switches of a path: "edge0-0 agg0-0 core0". It shows at most 16.
func (f *Fabric) String(path []Hop) string {
	var b strings.Builder
	for i, h := range path {
		if i == 16 {
			fmt.Fprintf(&b, " and %d more", len(path)-i)
			break
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(f.Nodes[h.Node].Name)
	}
	return b.String()
}
