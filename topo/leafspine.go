package topo

import (
	"fmt"

	"softswitch/unit"
)

// LeafSpine makes two tiers of switches, every leaf linked to every spine, and hosts at
// the leaves:
//
//	spine<s>   joins all leaves
//	leaf<l>    joins all spines
//	h<l>-<i>   is at leaf<l>
//
// All count from 0. The ports to the hosts come before those to the spines. leaves must
// be 2 to unit.MaxPorts, the ports of a spine; spines and hosts, those of each leaf, at
// least 1 and together at most unit.MaxPorts.
func LeafSpine(leaves, spines, hosts int) (*Fabric, error) {
	if leaves < 2 || leaves > unit.MaxPorts {
		return nil, fmt.Errorf("%d leaves: a spine joins 2 to %d", leaves, unit.MaxPorts)
	}
	if err := checkPorts("a leaf", part{spines, "spines"}, part{hosts, "hosts"}); err != nil {
		return nil, err
	}
	b := newBuilder()
	b.tiers("", 0, spines)
	b.withHosts("leaf%d", leaves, 0, hosts)
	b.mesh(leaves, spines)
	return b.done(inOrder), nil
}

// DualHomed makes a LeafSpine whose leaves are pairs: hosts of a pair are at both of its leaves, with one
// address:
//
//	h<p>-<i>   is at leaf<2p> and leaf<2p+1>
//
// leaves must be even; hosts are those of each pair.
func DualHomed(leaves, spines, hosts int) (*Fabric, error) {
	if leaves%2 != 0 {
		return nil, fmt.Errorf("%d leaves: pairs are of an even number", leaves)
	}
	if leaves < 2 || leaves > unit.MaxPorts {
		return nil, fmt.Errorf("%d leaves: a spine joins 2 to %d", leaves, unit.MaxPorts)
	}
	if err := checkPorts("a leaf", part{spines, "spines"}, part{hosts, "hosts"}); err != nil {
		return nil, err
	}
	b := newBuilder()
	b.tiers("leaf%d", leaves, spines)
	for p := range leaves / 2 {
		for i := range hosts {
			h := b.node(Host, "h%d-%d", p, i)
			b.f.Nodes[h].Shared = true
			b.link(spines+2*p, h)
			b.link(spines+2*p+1, h)
		}
	}
	b.mesh(leaves, spines)
	return b.done(inOrder), nil
}

// Rails makes a fabric of rails, as clusters of GPUs have: NIC i of every host is at switch rail<i>, and
// spines join the rails:
//
//	spine<s>   joins all rails
//	rail<i>    joins all spines, and all hosts
//	h<j>       is at all rails, with an address at each
//
// All count from 0. rails must be 2 to 16, spines and hosts at least 1 and together at most the ports of a
// switch.
func Rails(rails, spines, hosts int) (*Fabric, error) {
	if rails < 2 || rails > MaxNICs {
		return nil, fmt.Errorf("%d rails: a host has 2 to %d NICs", rails, MaxNICs)
	}
	if err := checkPorts("a rail's switch", part{spines, "spines"}, part{hosts, "hosts"}); err != nil {
		return nil, err
	}
	b := newBuilder()
	b.tiers("rail%d", rails, spines)
	for j := range hosts {
		h := b.node(Host, "h%d", j)
		for i := range rails {
			b.link(spines+i, h)
		}
	}
	b.mesh(rails, spines)
	return b.done(inOrder), nil
}

// tiers adds spines, then n leaves with this name.
func (b builder) tiers(leaf string, n, spines int) {
	for s := range spines {
		b.node(Switch, "spine%d", s)
	}
	for l := range n {
		b.node(Switch, leaf, l)
	}
}

// mesh links every one of n leaves to every spine.
func (b builder) mesh(n, spines int) {
	for l := range n {
		for s := range spines {
			b.link(s, spines+l)
		}
	}
}

// part is how many ports of a switch lead to the same kind of peers.
type part struct {
	n    int
	what string
}

// checkPorts requires at least one port for each part, and not more in all than a switch
// has.
func checkPorts(who string, parts ...part) error {
	sum, all := 0, ""
	for i, p := range parts {
		if p.n < 1 || p.n >= unit.MaxPorts {
			return fmt.Errorf("%d %s: %s has 1 to %d", p.n, p.what, who, unit.MaxPorts-1)
		}
		if sum += p.n; i > 0 {
			all += " and "
		}
		all += fmt.Sprintf("%d %s", p.n, p.what)
	}
	if sum > unit.MaxPorts {
		return fmt.Errorf("%s: %s has at most %d ports", all, who, unit.MaxPorts)
	}
	return nil
}
