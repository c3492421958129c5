package check

import (
	"cmp"
	"slices"

	"softswitch/unit"
)

// maxCycles limits the cycles of a report.
const maxCycles = 10_000

// maxExamples limits the failures that a report gives for a cycle.
const maxExamples = 3

// rank is how many failures a case takes that the file does not have anyway.
func (k Kind) rank() int { return [...]int{0, 0, 1, 1, 2}[k] }

// merged is a cycle of one case or more.
type merged struct {
	edges      []edge
	priorities unit.PrioritySet // of the flows that close it, empty if hosts could
	rank       int
	cases      []int // the first ones of that rank
	count      int   // of that rank
	last       int   // the last one counted, + 1
}

// merger puts the same cycles of different cases together, those that differ in members of LAGs alone among
// them, and keeps those of the fewest failures. What flows close stands apart from what hosts could close, unless
// that takes no fewer failures.
type merger struct {
	c     *Checker
	index map[string]*merged
	all   []*merged
	flows bool // some are closed by flows

	cases, cyclic, bounded int
}

func (c *Checker) newMerger() *merger { return &merger{c: c, index: map[string]*merged{}} }

// add adds the result of the next case, and takes its cycles.
func (g *merger) add(r *Result) {
	i := g.cases
	g.cases++
	if r.Cyclic {
		g.cyclic++
	}
	if r.Bounded {
		g.bounded++
	}
	if len(r.cycles) == 0 {
		return
	}
	rank := g.c.Case(i).Kind.rank()
	for _, f := range r.cycles {
		key := key(g.c.ofLAGs(f.edges))
		if f.priorities != 0 {
			key, g.flows = "f"+key, true
		}
		m := g.index[key]
		if m == nil {
			m = &merged{edges: f.edges, rank: rank}
			g.index[key] = m
			g.all = append(g.all, m)
		}
		if m.rank != rank {
			continue // cases are in the order of their ranks
		}
		m.priorities |= f.priorities
		if m.last == i+1 { // by other members of LAGs, in the same case
			continue
		}
		m.last = i + 1
		m.count++
		if len(m.cases) < maxExamples {
			m.cases = append(m.cases, i)
		}
	}
	r.cycles = nil
}

// sorted are the cycles in the order of a report.
func (g *merger) sorted() []*merged {
	all := g.all
	if g.flows {
		all = slices.DeleteFunc(all, func(m *merged) bool {
			by := g.index["f"+key(g.c.ofLAGs(m.edges))]
			return m.priorities == 0 && by != nil && by.rank <= m.rank
		})
	}
	slices.SortStableFunc(all, func(a, b *merged) int {
		byHosts := func(m *merged) int {
			if m.priorities == 0 {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(byHosts(a), byHosts(b)), cmp.Compare(len(a.edges), len(b.edges)), cmp.Compare(b.count, a.count))
	})
	return all
}
