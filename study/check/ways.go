package check

import (
	"slices"

	"softswitch/host"
	"softswitch/scenario"
	"softswitch/unit"
)

// Way is how frames can be sent so that they take a turn of a cycle.
type Way struct {
	Turn     int // index in the cycle's Turns
	From, To int // hosts, nodes of the fabric
	// NIC is that of From, ToNIC that of To.
	NIC, ToNIC unit.Port
	Priority   unit.Priority
	TTL        int
	// Via is the switches on the way, in order, nil for frames that never arrive: they go
	// where they go.
	Via []int
}

// Down are the links that are down in the first of a cycle's failures.
func (c *Checker) Down(cy *Cycle) []int { return c.Case(cy.merged.cases[0]).Links }

// Own reports whether a cycle takes no failures but the file's.
func (c *Checker) Own(cy *Cycle) bool { return cy.merged.rank == 0 }

// candidates limits from how many switches, for a turn and a subnet, a way is chosen.
const candidates = 16

// Ways are up to this number of ways for each turn of a cycle of this checker's report, in the
// first of its failures, between hosts that have as little else to send and receive as can be.
// They will be flows with the numbers from first on: with these numbers, ways without Via take
// their turn, if any do.
func (c *Checker) Ways(cy *Cycle, each, first int) (ways []Way) {
	k := c.Case(cy.merged.cases[0])
	c.setLinks(k.Links, false)
	defer c.setLinks(k.Links, true)
	edges := cy.merged.edges
	options := make([][]Way, len(edges))
	for d := range c.dests {
		all := c.walk(d, nil)
		for j, e := range edges {
			if slices.Contains(all, e) {
				options[j] = append(options[j], c.through(d, all, e, j)...)
			}
		}
	}
	if c.alike {
		for _, o := range options {
			for i := range o {
				o[i].Priority = unit.Priority(cy.Priorities[0])
			}
		}
	}
	sends, takes := make([]int, len(c.plan.Fabric.Nodes)), make([]int, len(c.plan.Fabric.Nodes))
	for range each {
		for j, e := range edges {
			cost := func(w *Way) int { return 1000*(sends[w.From]+takes[w.To]) + len(w.Via) }
			slices.SortStableFunc(options[j], func(a, b Way) int { return cost(&a) - cost(&b) })
			if len(options[j]) == 0 {
				continue
			}
			best := max(0, slices.IndexFunc(options[j], func(w Way) bool { return w.Via != nil || c.takes(&w, first+len(ways), e) }))
			w := options[j][best]
			sends[w.From]++
			takes[w.To]++
			ways = append(ways, w)
			options[j] = slices.Delete(options[j], best, best+1)
		}
	}
	return ways
}

// takes reports whether a way takes edge e if it is the flow of a number.
func (c *Checker) takes(w *Way, number int, e edge) bool {
	f := scenario.Flow{From: w.From, To: w.To, NIC: w.NIC, ToNIC: w.ToNIC, Priority: w.Priority, Stream: host.Stream{TTL: w.TTL}}
	way, _ := c.followAs(f, c.plan.HashAs(f, number))
	return slices.Contains(way, e)
}

// through are ways for destination d, whose edges of this case are all, that take edge e.
func (c *Checker) through(d int, all []edge, e edge, turn int) (ways []Way) {
	f := c.plan.Fabric
	tail := c.tail(e)
	onward := c.onward(d, all, e)
	next := map[node]edge{} // by node: the edge towards tail
	queue := []node{tail}
	for i := 0; i < len(queue) && len(ways) < candidates; i++ {
		n := queue[i]
		if first := &c.ports[c.portOf(n).peer]; c.walker.start[n] >= 0 && c.walker.seen[n] == c.walker.walk {
			for _, from := range c.from[first.sw] {
				if !c.switches[first.sw].LinkUp(from) {
					continue
				}
				sender := f.Nodes[first.sw].Ports[from].Peer
				w := Way{Turn: turn, From: sender.Node, NIC: sender.Port, Priority: c.priorities[c.priorityOf(n)], TTL: c.ttl}
				hops := 1
				via := []int{int(first.sw), int(c.portOf(n).sw)}
				for at := n; at != tail; hops++ {
					at = c.head(next[at])
					via = append(via, int(c.portOf(at).sw))
				}
				if c.bands {
					w.TTL = c.lastOf(c.priorityOf(tail)) + hops
				}
				if onward != nil {
					w.Via = append(via, onward...)
				}
				ways = append(ways, c.receivers(w, d, e)...)
			}
		}
		for _, to := range all {
			if c.head(to) != n {
				continue
			}
			from := c.tail(to)
			if _, met := next[from]; !met && from != tail {
				next[from] = to
				queue = append(queue, from)
			}
		}
	}
	return ways
}

// lastOf is the greatest TTL of the frames in a priority, with TTL bands.
func (c *Checker) lastOf(priority int) int {
	bands := len(c.plan.Scenario.PFC.Lossless)
	if priority == 0 || priority >= bands { // that of some ports alone is of no band
		return usualTTL
	}
	return c.plan.Scenario.Prevention.TTLBand * (bands - priority)
}

// onward is the switches on a shortest way of frames for d from the head of e to where d
// is, empty if they are flooded, and nil if they never come there.
func (c *Checker) onward(d int, all []edge, e edge) []int {
	if c.portOf(c.tail(e)).sw == c.dests[d].owner {
		return []int{}
	}
	before := map[node]edge{}
	queue := []node{c.head(e)}
	for i := 0; i < len(queue); i++ {
		n := queue[i]
		if _, there := c.plan.Fabric.Subnets[d].OwnedBy(int(c.portOf(n).sw)); there {
			var way []int
			for ; n != c.head(e); n = c.tail(before[n]) {
				way = append(way, int(c.portOf(n).sw))
			}
			way = append(way, int(c.portOf(n).sw))
			slices.Reverse(way)
			return way
		}
		for _, out := range all {
			to := c.head(out)
			if _, met := before[to]; !met && c.tail(out) == n && to != queue[0] {
				before[to] = out
				queue = append(queue, to)
			}
		}
	}
	return nil
}

// receivers are w to each host of destination d whose frames take e.
func (c *Checker) receivers(w Way, d int, e edge) (ways []Way) {
	f, to := c.plan.Fabric, c.dests[d]
	flooded := c.portOf(c.tail(e)).sw == to.owner
	for ports := f.Subnets[d].Ports; !ports.Empty(); ports.Pop() {
		peer := f.Nodes[f.Subnets[d].Switch].Ports[ports.First()].Peer
		if w.To, w.ToNIC = peer.Node, peer.Port; f.Nodes[w.To].Shared {
			w.ToNIC = 0
		}
		if w.To != w.From && (!flooded || uint32(f.Nodes[w.To].Addr) == to.dead) {
			ways = append(ways, w)
		}
	}
	return ways
}
