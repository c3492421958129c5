package tagger

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/topo"
	"softswitch/unit"
)

// Hop is the frames of one lossless priority on one direction of a link: those that the
// switch Node has received by the port In, and may pause.
type Hop struct {
	Node     int
	In       unit.Port
	Priority unit.Priority
}

// Cycle is hops whose buffers can end up waiting for one another, in the direction of
// frames: each for the next one, the last for the first.
type Cycle []Hop

// Check looks for a cycle of buffer dependencies in f under rules, which are by switch.
// It considers every route possible: a switch may send what comes in by any port out of
// any port, including the same one. It returns nil if there is no cycle, so that no
// traffic can cause a deadlock, and else a cycle with no shorter way round through any
// of its hops.
//
// A hop waits for another if frames accounted to it can be queued for the other: the
// next switch then decides when they leave. A frame queued for a host, or in a lossy
// priority, waits for no hop.
func Check(f *topo.Fabric, lossless unit.PrioritySet, rules []Rules) Cycle {
	c := newChecker(f, lossless, rules)
	for i := range c.state {
		if c.state[i] == unseen && lossless.Has(c.hop(i).Priority) && c.search(i) {
			return c.shortest(c.path)
		}
	}
	return nil
}

// checker walks the graph of hops, which are numbered.
type checker struct {
	f        *topo.Fabric
	lossless unit.PrioritySet
	rules    []Rules
	first    []int // by switch: the number of its port 0
	at       []topo.End
	state    []state // by hop
	path     []int   // hops from the root of the search to the current one
}

type state uint8

const (
	unseen state = iota
	onPath
	done
)

func newChecker(f *topo.Fabric, lossless unit.PrioritySet, rules []Rules) *checker {
	c := &checker{f: f, lossless: lossless, rules: rules}
	for s := range f.Switches() {
		c.first = append(c.first, len(c.at))
		for j := range f.Nodes[s].Ports {
			c.at = append(c.at, topo.End{Node: s, Port: unit.Port(j)})
		}
	}
	c.state = make([]state, len(c.at)*unit.Priorities)
	return c
}

func (c *checker) hop(i int) Hop {
	e := c.at[i/unit.Priorities]
	return Hop{e.Node, e.Port, unit.Priority(i % unit.Priorities)}
}

// each calls fn for every hop that hop i waits for, until it returns false.
func (c *checker) each(i int, fn func(next int) bool) {
	h := c.hop(i)
	for j, p := range c.f.Nodes[h.Node].Ports {
		if p.Peer.Node >= len(c.first) {
			continue
		}
		priority := c.rules[h.Node].Priority(h.Priority, h.In, unit.Port(j))
		if !c.lossless.Has(priority) {
			continue
		}
		if !fn((c.first[p.Peer.Node]+int(p.Peer.Port))*unit.Priorities + int(priority)) {
			return
		}
	}
}

// search continues from hop i, depth first. If it reaches a hop on the current path, it
// cuts path down to the cycle and returns true.
func (c *checker) search(i int) (cycle bool) {
	c.state[i] = onPath
	c.path = append(c.path, i)
	c.each(i, func(next int) bool {
		switch c.state[next] {
		case onPath:
			c.path = c.path[slices.Index(c.path, next):]
			cycle = true
		case unseen:
			cycle = c.search(next)
		}
		return !cycle
	})
	if !cycle {
		c.state[i] = done
		c.path = c.path[:len(c.path)-1]
	}
	return cycle
}

// shortest returns the shortest cycle through any hop of a cycle.
func (c *checker) shortest(cycle []int) (best Cycle) {
	for _, i := range cycle {
		if round := c.round(i); best == nil || len(round) < len(best) {
			best = round
		}
	}
	return best
}

// round returns the shortest path from hop i, which is on a cycle, back to itself.
func (c *checker) round(i int) (round Cycle) {
	const none = -1
	from := make([]int, len(c.state))
	for j := range from {
		from[j] = none
	}
	for queue := []int{i}; from[i] == none; queue = queue[1:] {
		at := queue[0]
		c.each(at, func(next int) bool {
			if from[next] == none {
				from[next] = at
				queue = append(queue, next)
			}
			return from[i] == none
		})
	}
	for at := from[i]; ; at = from[at] {
		round = append(round, c.hop(at))
		if at == i {
			slices.Reverse(round)
			return round
		}
	}
}

// Text lists the hops of c: "core0>agg2-0 priority 3, agg2-0>core1 priority 3".
func (c Cycle) Text(f *topo.Fabric) string {
	var hops []string
	for _, h := range c {
		from := f.Nodes[h.Node].Ports[h.In].Peer.Node
		hops = append(hops, fmt.Sprintf("%s>%s priority %d", f.Nodes[from].Name, f.Nodes[h.Node].Name, h.Priority))
	}
	return strings.Join(hops, ", ")
}
