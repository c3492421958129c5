package check

import (
	"cmp"
	"slices"

	"softswitch/internal/lists"
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
	failed     []string // of that rank: what fails, by roles
}

// merger puts the same cycles of different cases together, those that differ in members of LAGs alone among
// them, and keeps those of the fewest failures. What flows close stands apart from what hosts could close, unless
// that takes no fewer failures. It keeps millions of cycles, so they are without pointers.
type merger struct {
	c     *Checker
	all   []keptCycle
	edges []edge           // of all
	last  map[uint64]int32 // by a hash of cycles: index in all of the last one, + 1
	flows bool             // some are closed by flows

	roles  []string // of nodes
	failed []string // by bit of keptCycle.failed: what fails, by roles

	cases, cyclic, bounded int
}

// keptCycle is a cycle that a merger keeps.
type keptCycle struct {
	at         int32 // index in edges of its first one
	length     int32
	priorities unit.PrioritySet
	rank       uint8
	cases      [maxExamples]int32
	count      int32
	seen       int32  // the last case that was counted, + 1
	failed     uint64 // what fails in its cases, by roles: see merger.kind
	before     int32  // index in all of the one before with the same hash, + 1
}

// maxKinds is how many kinds of failures a merger tells apart, the bits of keptCycle.failed; the last stands for all others.
const maxKinds = 64

func (c *Checker) newMerger() *merger {
	return &merger{c: c, last: map[uint64]int32{}, roles: rolesOf(c.plan.Fabric)}
}

// kind is the bit of what fails in a case, 0 for nothing and for the file's failures.
func (g *merger) kind(k Case) uint64 {
	failed := g.c.failed(k, g.roles)
	if failed == "" {
		return 0
	}
	at := slices.Index(g.failed, failed)
	if at < 0 && len(g.failed) == maxKinds-1 {
		failed = "other failures"
	}
	if at < 0 && len(g.failed) < maxKinds {
		g.failed = append(g.failed, failed)
	}
	if at < 0 {
		at = len(g.failed) - 1
	}
	return 1 << at
}

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
	k := g.c.failing(i)
	rank, kind := uint8(k.Kind.rank()), g.kind(k)
	for _, f := range r.cycles {
		g.flows = g.flows || f.priorities != 0
		m, h := g.find(f.edges, f.priorities != 0)
		if m == nil {
			m = g.keep(h, f, rank)
		}
		if m.rank != rank {
			continue // cases are in the order of their ranks
		}
		m.priorities |= f.priorities
		m.failed |= kind
		if m.seen == int32(i+1) { // by other members of LAGs, in the same case
			continue
		}
		m.seen = int32(i + 1)
		if m.count < maxExamples {
			m.cases[m.count] = int32(i)
		}
		m.count++
	}
	r.cycles = nil
}

// find is the cycle that is kept of these edges, nil if there is none, and the hash of it. byFlows says which of the two
// it is, the one that flows close or the one that hosts could.
func (g *merger) find(edges []edge, byFlows bool) (*keptCycle, uint64) {
	of := g.c.ofLAGs(edges)
	h := hash(of)
	if byFlows {
		h++
	}
	for i := g.last[h]; i > 0; i = g.all[i-1].before {
		if m := &g.all[i-1]; byFlows == (m.priorities != 0) && slices.Equal(g.c.ofLAGs(g.edgesOf(m)), of) {
			return m, h
		}
	}
	return nil, h
}

// keep keeps a new cycle under its hash.
func (g *merger) keep(h uint64, f found, rank uint8) *keptCycle {
	g.all = append(g.all, keptCycle{at: int32(len(g.edges)), length: int32(len(f.edges)), rank: rank, priorities: f.priorities, before: g.last[h]})
	g.edges = append(g.edges, f.edges...)
	g.last[h] = int32(len(g.all))
	return &g.all[len(g.all)-1]
}

func (g *merger) edgesOf(m *keptCycle) []edge { return g.edges[m.at:][:m.length] }

// kept are the cycles of a report, in no order.
func (g *merger) kept() []keptCycle {
	if !g.flows {
		return g.all
	}
	return lists.Where(g.all, func(m keptCycle) bool {
		by, _ := g.find(g.edgesOf(&m), true)
		return m.priorities != 0 || by == nil || by.rank > m.rank
	})
}

// sorted are the likeliest of kept cycles in the order of a report, at most so many.
func (g *merger) sorted(kept []keptCycle, most int) (all []*merged) {
	order := make([]int32, len(kept))
	for i := range order {
		order[i] = int32(i)
	}
	byHosts := func(m *keptCycle) int {
		if m.priorities == 0 {
			return 1
		}
		return 0
	}
	slices.SortFunc(order, func(i, j int32) int {
		a, b := &kept[i], &kept[j]
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(byHosts(a), byHosts(b)), cmp.Compare(a.length, b.length), cmp.Compare(b.count, a.count), cmp.Compare(i, j))
	})
	for _, i := range order[:min(most, len(order))] {
		m := &kept[i]
		cases := lists.Map(m.cases[:min(m.count, maxExamples)], func(i int32) int { return int(i) })
		all = append(all, &merged{edges: slices.Clone(g.edgesOf(m)), priorities: m.priorities, rank: int(m.rank), cases: cases, count: int(m.count), failed: g.failures(m.failed)})
	}
	return all
}

// failures are what bits stand for, in order.
func (g *merger) failures(kinds uint64) (failed []string) {
	for i, name := range g.failed {
		if kinds>>i&1 != 0 {
			failed = append(failed, name)
		}
	}
	slices.Sort(failed)
	return failed
}
