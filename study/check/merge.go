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
	cases      []int    // the first ones of that rank
	count      int      // of that rank
	last       int      // the last one counted, + 1
	failed     []string // of that rank: what fails, by roles
}

// merge puts the same cycles of different cases together, those that differ in members of LAGs alone among
// them, and keeps those of the fewest failures. What flows close stands apart from what hosts could close, unless that takes
// no fewer failures. The result is in the order of a report.
func (c *Checker) merge(results []*Result) (all []*merged) {
	index := map[string]*merged{}
	roles := rolesOf(c.plan.Fabric)
	for i, r := range results {
		if len(r.cycles) == 0 {
			continue
		}
		k := c.failing(i)
		rank, failed := k.Kind.rank(), c.failed(k, roles)
		for _, f := range r.cycles {
			key := key(c.ofLAGs(f.edges))
			if f.priorities != 0 {
				key = "f" + key
			}
			m := index[key]
			if m == nil {
				m = &merged{edges: f.edges, rank: rank}
				index[key] = m
				all = append(all, m)
			}
			if m.rank != rank {
				continue // results are in the order of their ranks
			}
			m.priorities |= f.priorities
			if at, found := slices.BinarySearch(m.failed, failed); failed != "" && !found {
				m.failed = slices.Insert(m.failed, at, failed)
			}
			if m.last == i+1 { // by other members of LAGs, in the same case
				continue
			}
			m.last = i + 1
			m.count++
			if len(m.cases) < maxExamples {
				m.cases = append(m.cases, i)
			}
		}
	}
	all = slices.DeleteFunc(all, func(m *merged) bool {
		by := index["f"+key(c.ofLAGs(m.edges))]
		return m.priorities == 0 && by != nil && by.rank <= m.rank
	})
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
