// Package tagger makes rules that keep a Clos network free of PFC deadlocks
// whatever its routes do, and proves that they do.
//
// It is the Clos chapter of Tagger (Hu et al., "Tagger: Practical PFC Deadlock
// Prevention in Data Center Networks"): a tag is a lossless class. A frame begins
// with tag 1 and goes up and then down. Each switch that turns it up again, which
// no route does while all links are up, gives it the next tag. There are k of
// them; a frame that turns up once too often goes on in a lossy class.
//
//	       core0                core1
//	      /     \              /     \
//	  agg0       \            /       agg1        agg2 turns a frame up again:
//	tag 1 ^       v tag 1    ^ tag 2              class Tags[0] -> class Tags[1]
//	              '-- agg2 --'
//
// Between two turns a frame goes up and then down, so the buffers of one tag
// wait for one another in no ring; and tags only grow, so those of several tags
// do not either. A switch accounts a frame to the class in which it came, which
// is the one that it may have to pause, and queues it in the class in which it
// leaves.
//
// Read in this order: Rule, New (this file), levels.go (what is up), check.go
// (the proof, which knows rules and links and nothing of levels or tags).
//
// Invariants:
//   - local: a rule needs the class and the two ports of a frame and nothing else;
//   - monotonic: a frame's tag never falls, and from the lossy class no rule leads
//     back;
//   - every lossless class is covered: one that is no tag has no turn to spare.
//
// What it does not do: it forwards nothing, and it makes no rules for topologies
// without levels, of which the same authors' general algorithm takes care.
package tagger

import (
	"fmt"
	"slices"

	"softswitch/topo"
	"softswitch/unit"
)

// Rule is what a switch does with a frame that came in class Class by a port of In
// and leaves by a port of Out: it leaves in class To.
type Rule struct {
	Class   unit.Priority
	In, Out unit.PortSet
	To      unit.Priority
}

// Rules are a switch's. No two of them have a class and a pair of ports in common.
type Rules []Rule

// Class is the class in which a frame leaves: To of its rule, or the one in which
// it came.
func (r Rules) Class(class unit.Priority, in, out unit.Port) unit.Priority {
	for _, rule := range r {
		if rule.Class == class && rule.In.Has(in) && rule.Out.Has(out) {
			return rule.To
		}
	}
	return class
}

// Tagging is the rules of a fabric.
type Tagging struct {
	Levels []int           // by switch; 0 is an edge switch
	Tags   []unit.Priority // the class of tag i+1
	Lossy  unit.Priority   // the class of frames that turned up too often
	Rules  []Rules         // by switch
}

// New makes the rules for f with k tags, the first k of the classes lossless, of
// which frames begin with the first. A frame that begins with a later one has
// fewer turns to spare, and one of a class beyond them none. The lossy class is
// the lowest that is not in lossless.
//
// The error says that k is not from 1 to the number of lossless classes, that no
// class is lossy, or why f has no levels.
func New(f *topo.Fabric, lossless []unit.Priority, k int) (*Tagging, error) {
	if k < 1 || k > len(lossless) {
		return nil, fmt.Errorf("%d lossless classes for tags, of %v: use 1 to %d", k, lossless, len(lossless))
	}
	lossy, ok := lowestWithout(lossless)
	if !ok {
		return nil, fmt.Errorf("all %d classes are lossless: leave one for frames that turn up more than %d times", unit.Priorities, k-1)
	}
	levels, err := Levels(f)
	if err != nil {
		return nil, err
	}
	t := &Tagging{Levels: levels, Tags: slices.Clone(lossless[:k]), Lossy: lossy}
	for s := range f.Switches() {
		t.Rules = append(t.Rules, t.turns(lossless, upPorts(f, levels, s)))
	}
	return t, nil
}

// turns are the rules of a switch whose ports up lead up: what came from above
// and goes up again takes the next tag.
func (t *Tagging) turns(lossless []unit.Priority, up unit.PortSet) (rules Rules) {
	if up == 0 {
		return nil
	}
	for i, class := range lossless {
		to := t.Lossy
		if i+1 < len(t.Tags) {
			to = t.Tags[i+1]
		}
		rules = append(rules, Rule{Class: class, In: up, Out: up, To: to})
	}
	return rules
}

func lowestWithout(classes []unit.Priority) (unit.Priority, bool) {
	for c := range unit.Priority(unit.Priorities) {
		if !slices.Contains(classes, c) {
			return c, true
		}
	}
	return 0, false
}

// Classes are the classes in which a frame leaves each of the switches hops, if it
// comes to the first in class.
func (t *Tagging) Classes(hops []topo.Hop, class unit.Priority) (classes []unit.Priority) {
	for _, h := range hops {
		class = t.Rules[h.Node].Class(class, h.In, h.Out)
		classes = append(classes, class)
	}
	return classes
}
