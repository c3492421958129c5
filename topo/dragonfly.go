package topo

import "fmt"

// maxRouters limits the switches of a dragonfly, so that the routes between all of them
// fit into memory.
const maxRouters = 2000

// Dragonfly makes groups of switches: those of a group are all linked to one another, and
// every two groups are joined by the same number of links (Kim et al., "Technology-Driven,
// Highly-Scalable Dragonfly Topology", ISCA 2008, section 3; there g = groups, a =
// routers, p = hosts and h = global):
//
//	r<g>-<i>      router i of group g
//	h<g>-<i>-<j>  is at r<g>-<i>
//
// All count from 0. The ports of a switch are those to its hosts, to the others of its
// group, and its global ones, which lead to other groups.
//
// The global ports of a group are numbered through: port q of r<g>-<i> is i*global + q. In
// that order they lead to all other groups, group 0 first, then to all of them again, as
// often as there are ports for all of them: the consecutive arrangement (Hastings et al.,
// "Comparing Global Link Arrangements for Dragonfly Networks", CLUSTER 2015). With as many
// groups as can be, a*h+1, there is one link between every two; with fewer there may be
// more, and ports that are left over are not made.
//
// groups must be 2 to routers*global+1, the ports of a switch at most unit.MaxPorts, and there
// may be at most 2000 switches and 65535 nodes.
func Dragonfly(groups, routers, hosts, global int) (*Fabric, error) {
	if routers < 1 {
		return nil, fmt.Errorf("%d routers: a group has at least 1", routers)
	}
	parts := []part{{hosts, "hosts"}, {global, "global links"}}
	if routers > 1 {
		parts = append(parts, part{routers - 1, "other routers in its group"})
	}
	if err := checkPorts("a router", parts...); err != nil {
		return nil, err
	}
	if most := routers*global + 1; groups < 2 || groups > most {
		return nil, fmt.Errorf("%d groups: %d routers with %d global links each join 2 to %d", groups, routers, global, most)
	}
	switch n := groups * routers; {
	case n > maxRouters:
		return nil, fmt.Errorf("%d groups of %d routers: %d routers, at most %d", groups, routers, n, maxRouters)
	case n*(1+hosts) > maxID:
		return nil, fmt.Errorf("%d routers with %d hosts each: %d nodes, at most %d", n, hosts, n*(1+hosts), maxID)
	}
	b := newBuilder()
	b.podNodes(Switch, "r", groups, routers)
	for g := range groups {
		for i := range routers {
			for j := range hosts {
				b.link(g*routers+i, b.node(Host, "h%d-%d-%d", g, i, j))
			}
		}
	}
	for g := range groups {
		for i := range routers {
			for j := i + 1; j < routers; j++ {
				b.link(g*routers+i, g*routers+j)
			}
		}
	}
	// at is the router of group g whose global port leads to group to in a round.
	at := func(g, to, round int) int {
		if to > g {
			to--
		}
		return g*routers + (round*(groups-1)+to)/global
	}
	for round := range routers * global / (groups - 1) {
		for g := range groups {
			for to := g + 1; to < groups; to++ {
				b.link(at(g, to, round), at(to, g, round))
			}
		}
	}
	return b.done(inOrder), nil
}
