// Package tagger makes rules that keep a Clos network free of PFC deadlocks whatever
// its routes, and checks that they do.
//
// It implements the Clos part of Tagger (Hu et al., "Tagger: Practical PFC Deadlock
// Prevention in Data Center Networks"): a tag is a lossless priority. A frame starts with
// tag 1 and goes up and then down. A switch that turns it up again, which no route does
// while all links are up, gives it the next tag. There are k tags; a frame that turns
// up once too often continues in a lossy priority.
//
//	       core0                core1
//	      /     \              /     \
//	  agg0       \            /       agg1        agg2 turns a frame up again:
//	tag 1 ^       v tag 1    ^ tag 2              priority Tags[0] -> priority Tags[1]
//	              '-- agg2 --'
//
// Between two turns a frame goes up and then down, so the buffers of one tag cannot
// wait for one another in a cycle; and tags only grow, so those of several tags cannot
// either. A switch accounts a frame to the priority in which it came, which is the one
// that it may have to pause, and queues it in the priority in which it leaves.
//
// Read in this order: Rule, New, Levels (what is up), check.go (the
// check, which uses only rules and links, not levels or tags).
//
// Invariants:
//   - local: a rule only needs the priority and the two ports of a frame;
//   - monotonic: a frame's tag never falls, and no rule leads back from the lossy
//     priority;
//   - every lossless priority is covered: one that is not a tag turns lossy at its first
//     turn.
//
// What it does not do: it forwards nothing, and it makes no rules for topologies
// without levels; for these see the authors' general algorithm.
package tagger

import (
	"errors"
	"fmt"
	"slices"

	"softswitch/topo"
	"softswitch/unit"
)

// Rule is what a switch does with a frame that came in priority Priority by a port of In
// and leaves by a port of Out: it leaves in priority To.
type Rule struct {
	Priority unit.Priority
	In, Out  unit.PortSet
	To       unit.Priority
}

// Rules are those of one switch. No two of them have a priority and a pair of ports in
// common.
type Rules []Rule

// Priority is the priority in which a frame leaves: To of its rule, or else the priority in
// which it came.
func (r Rules) Priority(priority unit.Priority, in, out unit.Port) unit.Priority {
	for _, rule := range r {
		if rule.Priority == priority && rule.In.Has(in) && rule.Out.Has(out) {
			return rule.To
		}
	}
	return priority
}

// Tagging is the rules of a fabric.
type Tagging struct {
	Tags  []unit.Priority // the priority of tag i+1
	Lossy unit.Priority   // the priority of frames that turned up too often
	Rules []Rules         // by switch
}

// New makes the rules for f with k tags: the first k priorities of lossless. Frames start
// with the first. A frame that starts with a later one has fewer turns left, and one of
// a further lossless priority has none. The lossy priority is the lowest that is not in
// lossless.
//
// It fails if k is not from 1 to the number of lossless priorities, if no priority is lossy,
// or if f has no levels.
func New(f *topo.Fabric, lossless []unit.Priority, k int) (*Tagging, error) {
	if k < 1 || k > len(lossless) {
		return nil, fmt.Errorf("%d lossless priorities for tags, of %v: use 1 to %d", k, lossless, len(lossless))
	}
	lossy, ok := lowestWithout(lossless)
	if !ok {
		return nil, fmt.Errorf("all %d priorities are lossless: leave one for frames that turn up more than %d times", unit.Priorities, k-1)
	}
	levels, err := Levels(f)
	if err != nil {
		return nil, err
	}
	t := &Tagging{Tags: slices.Clone(lossless[:k]), Lossy: lossy}
	for s := range f.Switches() {
		t.Rules = append(t.Rules, t.turns(lossless, upPorts(f, levels, s)))
	}
	return t, nil
}

// turns returns the rules of a switch with these up ports: a frame that came from above
// and goes up again gets the next tag.
func (t *Tagging) turns(lossless []unit.Priority, up unit.PortSet) (rules Rules) {
	if up.Empty() {
		return nil
	}
	for i, priority := range lossless {
		to := t.Lossy
		if i+1 < len(t.Tags) {
			to = t.Tags[i+1]
		}
		rules = append(rules, Rule{Priority: priority, In: up, Out: up, To: to})
	}
	return rules
}

func lowestWithout(priorities []unit.Priority) (unit.Priority, bool) {
	for c := range unit.Priority(unit.Priorities) {
		if !slices.Contains(priorities, c) {
			return c, true
		}
	}
	return 0, false
}

// Priorities returns the priority in which a frame leaves each of the switches in hops, if it
// reaches the first one in priority.
func (t *Tagging) Priorities(hops []topo.Hop, priority unit.Priority) (priorities []unit.Priority) {
	for _, h := range hops {
		priority = t.Rules[h.Node].Priority(priority, h.In, h.Out)
		priorities = append(priorities, priority)
	}
	return priorities
}

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
