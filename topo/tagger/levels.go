package tagger

import (
	"errors"
	"fmt"

	"softswitch/topo"
	"softswitch/unit"
)

// Levels is the level of every switch of f: 0 for one with hosts, and for any other the
// number of links to the nearest switch with hosts. In a fat-tree edge switches have
// level 0, aggregation switches 1 and cores 2.
//
// The error names the link that prevents levels: one between two switches of the same
// level leads neither up nor down.
func Levels(f *topo.Fabric) ([]int, error) {
	const unknown = -1
	levels := make([]int, f.Switches())
	var queue []int
	for s := range levels {
		levels[s] = unknown
		if f.SubnetOf(s) >= 0 {
			levels[s] = 0
			queue = append(queue, s)
		}
	}
	if len(queue) == 0 {
		return nil, errors.New("topology without levels: no switch has a host")
	}
	for ; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		for _, p := range f.Nodes[s].Ports {
			if n := p.Peer.Node; n < len(levels) && levels[n] == unknown {
				levels[n] = levels[s] + 1
				queue = append(queue, n)
			}
		}
	}
	for _, l := range f.Links {
		a, b := l.A.Node, l.B.Node
		if a < len(levels) && b < len(levels) && levels[a] == levels[b] {
			return nil, fmt.Errorf("topology without levels: link %s joins two switches of level %d, where a switch with hosts has level 0 and others their distance from one; use a fat-tree or another Clos network",
				l.Name, levels[a])
		}
	}
	return levels, nil
}

// upPorts returns the ports of switch s that lead to a higher level.
func upPorts(f *topo.Fabric, levels []int, s int) (up unit.PortSet) {
	for j, p := range f.Nodes[s].Ports {
		if n := p.Peer.Node; n < len(levels) && levels[n] > levels[s] {
			up.Add(unit.Port(j))
		}
	}
	return up
}
