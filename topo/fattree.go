package topo

import (
	"fmt"

	"softswitch/unit"
)

// FatTree makes a fat-tree of k-port switches in k pods (Al-Fares et al., "A Scalable,
// Commodity Data Center Network Architecture", section 3):
//
//	core0 .. core(k²/4-1)
//	agg<p>-<i>    joins cores i·k/2 to i·k/2+k/2-1 and every edge of pod p
//	edge<p>-<e>   has subnet 10.p.e.0/24
//	h<p>-<e>-<i>  has address 10.p.e.(2+i)
//
// p runs from 0 to k-1, i and e from 0 to k/2-1. Down ports come before up ports. k
// must be even and from 2 to 64; k = 4 has 20 switches and 16 hosts, k = 64 has 5120 and
// 65536.
func FatTree(k int) (*Fabric, error) {
	const most = 64 // from 230 on there are more switches than numbers of nodes
	if k < 2 || k > most || k%2 != 0 {
		return nil, fmt.Errorf("k = %d: a fat-tree has an even k from 2 to %d", k, most)
	}
	b, half := newBuilder(), k/2
	for c := range half * half {
		b.node(Switch, "core%d", c)
	}
	aggs := b.podNodes(Switch, "agg", k, half)
	edges := b.podNodes(Switch, "edge", k, half)
	for p := range k {
		for e := range half {
			for i := range half {
				b.link(edges+p*half+e, b.node(Host, "h%d-%d-%d", p, e, i))
			}
		}
		for e := range half {
			for i := range half {
				b.link(aggs+p*half+i, edges+p*half+e)
			}
		}
		for i := range half {
			for j := range half {
				b.link(i*half+j, aggs+p*half+i)
			}
		}
	}
	return b.done(func(i, _ int) unit.Addr {
		p, e := (i-edges)/half, (i-edges)%half
		return 10<<24 | unit.Addr(p)<<16 | unit.Addr(e)<<8
	}), nil
}

// podNodes adds half nodes to each of k pods and returns the index of the first.
func (b builder) podNodes(kind Kind, name string, k, half int) int {
	first := len(b.f.Nodes)
	for p := range k {
		for i := range half {
			b.node(kind, "%s%d-%d", name, p, i)
		}
	}
	return first
}
