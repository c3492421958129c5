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
	for s := range spines {
		b.node(Switch, "spine%d", s)
	}
	b.withHosts("leaf%d", leaves, 0, hosts)
	for l := range leaves {
		for s := range spines {
			b.link(s, spines+l)
		}
	}
	return b.done(inOrder), nil
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
