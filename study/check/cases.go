package check

import (
	"slices"

	"softswitch/internal/lists"
	"softswitch/scenario"
	"softswitch/topo"
)

// Kind is what a case is, the likelier first.
type Kind uint8

// Kinds of cases.
const (
	NoFailure     Kind = iota
	FileFailure        // what is down at some time by the file's events
	LinkFailure        // a link between two switches
	SwitchFailure      // all links of a switch
	PairFailure        // two links
)

func (k Kind) String() string {
	return [...]string{"no failure", "the file's failures", "a link", "a switch", "two links"}[k]
}

// Case is what is down at once.
type Case struct {
	Kind   Kind
	Links  []int // of the fabric, ascending
	Switch int   // of SwitchFailure
}

// Singles is the number of cases in which nothing, what the file says, a link or a switch
// fails: the cases 0 to Singles()-1. They come before pairs.
func (c *Checker) Singles() int { return 1 + len(c.file) + len(c.links) + len(c.switches) }

// Cases is the number of cases with up to this many failures: 0, 1 or 2.
func (c *Checker) Cases(failures int) int {
	switch failures {
	case 0:
		return 1 + len(c.file)
	case 1:
		return c.Singles()
	}
	return c.Singles() + len(c.links)*(len(c.links)-1)/2
}

// failing is what fails in the case of a number.
func (c *Checker) failing(i int) Case {
	switch {
	case i == 0:
		return Case{}
	case i <= len(c.file):
		return Case{Kind: FileFailure, Links: c.file[i-1]}
	case i < c.Singles()-len(c.switches):
		return Case{Kind: LinkFailure, Links: c.links[i-1-len(c.file):][:1]}
	case i < c.Singles():
		s := i - (c.Singles() - len(c.switches))
		links := lists.Map(c.plan.Fabric.Nodes[s].Ports, func(p topo.Port) int { return p.Link })
		slices.Sort(links)
		return Case{Kind: SwitchFailure, Links: links, Switch: s}
	}
	a, b := unrank(i-c.Singles(), len(c.links))
	return Case{Kind: PairFailure, Links: []int{c.links[a], c.links[b]}}
}

// unrank is the i-th pair of n things in order: (0, 1), (0, 2), ... (n-2, n-1).
func unrank(i, n int) (a, b int) {
	for left := n - 1; i >= left; left-- {
		i -= left
		a++
	}
	return a, a + 1 + i
}

// singleOf is the case in which the link with this index in links fails.
func (c *Checker) singleOf(link int) int { return 1 + len(c.file) + link }

// fileFailures are the sets of links that are down at once at some time, by a plan's
// events. Events of one instant count together.
func fileFailures(plan *scenario.Plan) (sets [][]int) {
	var down []int
	for i, e := range plan.Events {
		switch e.Do {
		case scenario.Fail:
			if at, found := slices.BinarySearch(down, e.Link); !found {
				down = slices.Insert(down, at, e.Link)
			}
		case scenario.Heal:
			down = slices.DeleteFunc(down, func(l int) bool { return l == e.Link })
		default:
			continue
		}
		if i+1 < len(plan.Events) && plan.Events[i+1].At == e.At || len(down) == 0 {
			continue
		}
		if !slices.ContainsFunc(sets, func(set []int) bool { return slices.Equal(set, down) }) {
			sets = append(sets, slices.Clone(down))
		}
	}
	return sets
}

// Name says what fails: links by their names, or "switch agg1-0".
func (c *Checker) Name(k Case) []string {
	if k.Kind == SwitchFailure {
		return []string{"switch " + c.plan.Fabric.Nodes[k.Switch].Name}
	}
	return c.linkNames(lists.Where(k.Links, func(l int) bool { return !slices.Contains(c.supposed, l) }))
}
