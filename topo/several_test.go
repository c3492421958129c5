package topo

import (
	"fmt"
	"slices"
	"testing"

	"softswitch/internal/lists"
	"softswitch/unit"
)

// TestDualHomed: both leaves of a pair own the subnet of their hosts, which have one address; every
// switch aims at the nearest of them, and each of them at the other for a host to which its link is down.
func TestDualHomed(t *testing.T) {
	f, err := DualHomed(4, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(f.Subnets); n != 2 {
		t.Fatalf("%d subnets, want one for each pair", n)
	}
	h, other := mustNode(t, f, "h0-1"), mustNode(t, f, "h1-2")
	leaf0, leaf1, spine0 := mustNode(t, f, "leaf0"), mustNode(t, f, "leaf1"), mustNode(t, f, "spine0")
	owners := lists.Map(f.Subnets[f.SubnetOf(h)].Owners(), func(o Owner) int { return o.Switch })
	if !slices.Equal(owners, []int{leaf0, leaf1}) {
		t.Errorf("owners %v, want %v", owners, []int{leaf0, leaf1})
	}
	n := f.Nodes[h]
	if len(n.Ports) != 2 || n.Ports[0].Addr != n.Addr || n.Ports[1].Addr != n.Addr || n.Ports[0].MAC != n.Ports[1].MAC {
		t.Errorf("host %+v, want one address at both ports", n)
	}
	if f.GatewayMAC(h, 0) != f.GatewayMAC(h, 1) {
		t.Error("the gateway has two MAC addresses")
	}
	table, dst := NewTable(f), f.SubnetOf(h)
	if g := table.Group(spine0, dst); g.Ports != unit.PortsOf(0, 1) {
		t.Errorf("spine0 aims at %v, want both leaves", g.Ports)
	}
	if g := table.Group(leaf0, dst); !g.Ports.Empty() || g.Backup != unit.PortsOf(3, 4) {
		t.Errorf("leaf0 has %+v, want both spines as a backup", g)
	}

	cut := f.Nodes[h].Ports[0].Link // to leaf0
	for hash := range uint32(64) {
		whole, err := table.Path(End{Node: other}, End{Node: h}, hash, 64, func(int) bool { return false })
		if err != nil || len(whole) != 3 {
			t.Fatalf("hash %d: %s, %v", hash, f.String(whole), err)
		}
		path, err := table.Path(End{Node: other}, End{Node: h}, hash, 64, func(l int) bool { return l == cut })
		if err != nil || path[len(path)-1].Node != leaf1 {
			t.Errorf("hash %d: without its link to leaf0 the host is reached by %s, %v", hash, f.String(path), err)
		}
		if first := whole[2].Node == leaf0; first != (len(path) == 5) {
			t.Errorf("hash %d: %s, and %s without the link", hash, f.String(whole), f.String(path))
		}
	}
}

// TestRails: NIC i of every host is at rail i, with an address in the subnet of that rail.
func TestRails(t *testing.T) {
	f, err := Rails(8, 4, 16)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[unit.Addr]bool{}
	for j := range 16 {
		h := f.Nodes[mustNode(t, f, fmt.Sprintf("h%d", j))]
		for i, p := range h.Ports {
			sub := f.Subnets[f.SubnetAt(mustNode(t, f, h.Name), unit.Port(i))]
			if f.Nodes[p.Peer.Node].Name != fmt.Sprintf("rail%d", i) || sub.Switch != p.Peer.Node || p.Addr != sub.Gateway+1+unit.Addr(j) || seen[p.Addr] {
				t.Errorf("%s NIC %d: %+v in %+v", h.Name, i, p, sub)
			}
			seen[p.Addr] = true
		}
	}
	a, b := mustNode(t, f, "h3"), mustNode(t, f, "h4")
	table, up := NewTable(f), func(int) bool { return false }
	for _, c := range []struct{ from, to, hops int }{{2, 2, 1}, {2, 5, 3}} {
		path, err := table.Path(End{a, unit.Port(c.from)}, End{b, unit.Port(c.to)}, 7, 64, up)
		if err != nil || len(path) != c.hops {
			t.Errorf("NIC %d to %d: %s, %v", c.from, c.to, f.String(path), err)
		}
	}
}

// TestSeveralFaults: a host with one address has no two links to one switch, and frames do not go through
// a host.
func TestSeveralFaults(t *testing.T) {
	nodes := []ExplicitNode{{"s1", Switch, false}, {"s2", Switch, false}, {"h", Host, true}}
	_, err := Explicit(nodes, [][2]string{{"s1", "h"}, {"s1", "h"}, {"s1", "s2"}})
	if want := `node 2: host "h" has two links to "s1": with one address at all links, each leads to another switch`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = Explicit(nodes, [][2]string{{"s1", "h"}, {"s2", "h"}})
	if want := `node 1: "s2" is not connected to "s1": all nodes of a fabric are`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
