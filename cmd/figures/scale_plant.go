package main

import (
	"fmt"
	"slices"
	"strconv"

	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/link/impair"
	"softswitch/node/config"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/topo"
	"softswitch/unit"
)

// scaleSwitch returns the configuration of the switches of the large fabrics: the defaults, except for
// an XON far below XOFF, so that a ring of pauses closes within 1 ms.
func scaleSwitch(link scenario.LinkSpeed) dataplane.Config {
	c := config.Switch{Name: "any", ID: 1, Ports: []config.Port{{Rate: link.Rate}}}
	c.Fill()
	built := c.Build(detect.NewNone, 1, 0)
	built.Buffer.Profile.XONOffset = 38912
	return built
}

var scaleLink = scenario.LinkSpeed{Rate: 40e9, Faults: impair.Faults{Delay: unit.Microsecond}}

const scaleDuration = unit.Millisecond

// plantFatTree plants rings of four in a fat-tree, k from 24 on: an aggregation switch
// in each of two pods, and two cores. Traffic from two hosts of each of these pods goes
// one hop too far round the ring and leaves it for another pod.
func plantFatTree(k int) (*sim.Large, int, error) {
	rings := k / 8
	f, err := topo.FatTree(k)
	if err != nil {
		return nil, 0, err
	}
	l := &sim.Large{Name: fmt.Sprintf("fat-tree k=%d", k), Fabric: f, Link: scaleLink, Duration: scaleDuration}
	node := func(format string, args ...any) int {
		i, ok := f.Node(fmt.Sprintf(format, args...))
		if !ok {
			panic("no node " + fmt.Sprintf(format, args...))
		}
		return i
	}
	for r := range rings {
		pod := 6 * r
		agg := [2]int{node("agg%d-%d", pod, r), node("agg%d-%d", pod+1, r)}
		core := [2]int{node("core%d", r*k/2), node("core%d", r*k/2+1)}
		for i := range 4 {
			from, to := i/2, pod+2+i
			l.Flows = append(l.Flows, sim.LargeFlow{
				From: node("h%d-%d-0", pod+from, i%2), To: node("h%d-0-0", to), Priority: 3,
				Via: []int{
					node("edge%d-%d", pod+from, i%2), agg[from], core[from], agg[1-from], core[1-from],
					node("agg%d-%d", to, r), node("edge%d-0", to),
				},
			})
		}
	}
	// The others run between pods, through edges and to subnets that are part of no
	// ring.
	for i := range 4 * k {
		l.Flows = append(l.Flows, sim.LargeFlow{From: node("h%d-%d-1", i%k, 2+i/k), To: node("h%d-%d-1", (i+17)%k, 8+i/k), Priority: 3})
	}
	return l, rings, nil
}

// plantRings plants rings in a fabric of the given number of switches, at least 200.
// Each switch is linked to up to 31 others, at the given distances further on. A ring
// is m switches in a row and the link from the last back to the first. Every switch of
// it sends all the way round to the one before it.
func plantRings(switches int) (*sim.Large, int, error) {
	sizes := []int{3, 4, 5, 7, 9, 12, 4, 3} // of the rings, each with one link more than a distance
	near := slices.IndexFunc(distances, func(d int) bool { return 2*d >= switches })
	if near < 0 {
		near = len(distances)
	}
	f, err := circulant(switches, distances[:near], 2)
	if err != nil {
		return nil, 0, err
	}
	l := &sim.Large{Name: unit.Count(switches, "switch"), Fabric: f, Link: scaleLink, Duration: scaleDuration}
	host := func(s, i int) int {
		h, _ := f.Node(fmt.Sprintf("h%d-%d", s%switches, i))
		return h
	}
	for r, m := range sizes {
		first := r * switches / 10
		for i := range m {
			flow := sim.LargeFlow{From: host(first+i, 0), To: host(first+(i+m-1)%m, 0), Priority: 3}
			for j := range m {
				flow.Via = append(flow.Via, first+(i+j)%m)
			}
			l.Flows = append(l.Flows, flow)
		}
	}
	for i := range switches / 39 {
		l.Flows = append(l.Flows, sim.LargeFlow{From: host(100+39*i, 1), To: host(100+39*i+switches/2-50, 1), Priority: 3})
	}
	return l, len(sizes), nil
}

// distances grow by about a third, so that few hops lead anywhere.
var distances = []int{
	1, 2, 3, 4, 6, 8, 11, 15, 20, 27, 36, 47, 62, 82, 108, 142, 187, 246, 324, 426, 560, 737, 970, 1276, 1679, 2209, 2906, 3400, 3824, 4421, 4877,
}

// circulant returns n switches s0, s1, ..., each linked to the switches at the given distances further
// on, and each with the given number of hosts, h0-0, h0-1, ...
func circulant(n int, distances []int, hosts int) (*topo.Fabric, error) {
	var nodes []topo.ExplicitNode
	var links [][2]string
	name := func(i int) string { return "s" + strconv.Itoa(i%n) }
	for i := range n {
		nodes = append(nodes, topo.ExplicitNode{Name: name(i), Kind: topo.Switch})
		for j := range hosts {
			h := fmt.Sprintf("h%d-%d", i, j)
			nodes = append(nodes, topo.ExplicitNode{Name: h, Kind: topo.Host})
			links = append(links, [2]string{name(i), h})
		}
	}
	for _, d := range distances {
		for i := range n {
			links = append(links, [2]string{name(i), name(i + d)})
		}
	}
	return topo.Explicit(nodes, links)
}
