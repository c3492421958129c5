package check

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"softswitch/internal/lists"
	"softswitch/node/config"
	"softswitch/scenario"
	"softswitch/topo"
	"softswitch/unit"
)

// Answer completes the report: what the routes and the cycles rest on, the cycles in shapes, the headroom
// of links, and the sentence that sums it up. It draws a progress bar on out.
func (k *Checked) Answer(ctx context.Context, out io.Writer) error {
	r := k.Report
	r.FileRoutes = len(k.plan.Scenario.Routes)
	routing := k.plan.Fabric.Routing.Protocol
	r.Routing = routing.String()
	if routing == topo.Backups && k.plan.Table.HasBackups() && !r.Clean() {
		if err := k.compareWithoutBackups(ctx, out); err != nil {
			return err
		}
	}
	k.setShapes()
	k.setHeadroom()
	r.Answer = r.answer(hasLevels(levelsOf(k.plan.Fabric)))
	return nil
}

// compareWithoutBackups tells which cycles there are by backups alone. In a fabric with levels a cycle leads down and
// up again somewhere. Where no route without its backup does, there is none without; else the
// plan is checked again without them.
func (k *Checked) compareWithoutBackups(ctx context.Context, out io.Writer) error {
	r := k.Report
	r.WithoutBackups = &WithoutBackups{}
	if k.valleyFree() {
		r.WithoutBackups.ValleyFree = true
		r.needBackups()
		return nil
	}
	bare, err := CheckAll(ctx, withoutBackups(k.plan), k.options(), out)
	if err != nil {
		return err
	}
	r.WithoutBackups.Cycles, r.WithoutBackups.Cyclic = len(bare.Report.Cycles)+bare.Report.More, bare.Report.Cyclic
	if bare.Report.Clean() {
		r.needBackups()
		return nil
	}
	return k.findBackups(bare.checker)
}

// needBackups says of all cycles that they need backups.
func (r *Report) needBackups() {
	for i := range r.Cycles {
		r.Cycles[i].NeedsBackup = true
	}
}

// valleyFree reports whether the plan's fabric has levels and no frame is sent down and up again, whatever
// fails, but by backups and by flooding.
func (k *Checked) valleyFree() bool {
	levels := levelsOf(k.plan.Fabric)
	flooded := len(k.plan.Scenario.Dead) > 0 && k.plan.Scenario.FloodAll
	return hasLevels(levels) && !flooded && k.plan.Table.ValleyFree(levels)
}

// withoutBackups is a plan with no backup in its routes.
func withoutBackups(plan *scenario.Plan) *scenario.Plan {
	bare := *plan
	bare.Table = plan.Table.WithoutBackups()
	bare.Switches = slices.Clone(plan.Switches)
	for i := range bare.Switches {
		s := &bare.Switches[i]
		s.Routes = lists.Map(s.Routes, func(r config.Route) config.Route {
			r.Backup = nil
			return r
		})
		s.Subnets = lists.Map(s.Subnets, func(n config.Subnet) config.Subnet {
			n.Backup = nil
			return n
		})
	}
	return &bare
}

// findBackups tells of each cycle whether frames take all of its turns by routes without backups, which bare
// has, in the first of its cases.
func (k *Checked) findBackups(bare *Checker) error {
	var cases lists.Groups[int, *Cycle] // by case
	for i := range k.Report.Cycles {
		cases.Add(k.Report.Cycles[i].merged.cases[0], &k.Report.Cycles[i])
	}
	workers := []*Checker{bare}
	for len(workers) < min(k.workers, len(cases.Keys)) {
		w, err := bare.Clone()
		if err != nil {
			return err
		}
		workers = append(workers, w)
	}
	return each(workers, 0, len(cases.Keys), func(w *Checker, i int) error {
		w.findBackups(w.Case(cases.Keys[i]), cases.Of[cases.Keys[i]])
		return nil
	})
}

// findBackups is that of the cycles of a case. c has no backups.
func (c *Checker) findBackups(k Case, cycles []*Cycle) {
	c.setLinks(k.Links, false)
	c.grow()
	asked := map[edge]bool{} // that frames may take: whether they do
	for _, cy := range cycles {
		for _, e := range cy.merged.edges {
			if c.counts[e] > 0 {
				asked[e] = false
			}
		}
	}
	left := slices.Sorted(maps.Keys(asked))
	for d := 0; d < len(c.dests) && len(left) > 0; d++ {
		taken := c.taken(d, left)
		if len(taken) > 0 && c.change.state[d] != walked && (c.routing.isMoved(d) || c.loses(k, d, 1)) {
			c.walkAnew(d)
			taken = c.taken(d, left)
		}
		for _, e := range taken {
			asked[e] = true
		}
		left = lists.Where(left, func(e edge) bool { return !asked[e] })
	}
	for _, cy := range cycles {
		cy.NeedsBackup = slices.ContainsFunc(cy.merged.edges, func(e edge) bool { return !asked[e] })
	}
	c.restore()
	c.setLinks(k.Links, true)
}

// taken are those of edges, whose hops are up, that frames for destination d take, in the case whose change is counted.
func (c *Checker) taken(d int, edges []edge) []edge {
	for _, e := range c.change.of(d) {
		c.marked[e] = true
	}
	taken := lists.Where(edges, func(e edge) bool { return c.takesEdge(d, e) })
	for _, e := range c.change.of(d) {
		c.marked[e] = false
	}
	return taken
}

// count is how many cycles there are by what has to be down, for all that was checked.
func (c *Checker) count(all []keptCycle, failures int) []Count {
	counts := []Count{{When: c.when(0)}}
	if len(c.file) > 0 {
		counts = append(counts, Count{When: FileFailure.String()})
	}
	for n := 1; n <= failures; n++ {
		counts = append(counts, Count{When: c.when(n)})
	}
	for _, m := range all {
		at := len(counts) - 1 - failures + int(m.rank)
		if m.rank == 0 && c.failing(int(m.cases[0])).Kind == NoFailure {
			at = 0
		}
		counts[at].Cycles++
	}
	return counts
}

// answer is the report in a sentence; levels says that the fabric has levels.
func (r *Report) answer(levels bool) string {
	first := "no cycle"
	if n := r.Counts[0].Cycles; n > 0 {
		first = unit.Count(n, "cycle")
	}
	if len(r.Down) > 0 {
		first = "with " + some(r.Down) + " down: " + first
	} else {
		first += " without failures"
	}
	parts := []string{first}
	for _, n := range r.Counts[1:] {
		count := "none"
		if n.Cycles > 0 {
			count = fmt.Sprint(n.Cycles)
		}
		parts = append(parts, fmt.Sprintf("with %s: %s", n.When, count))
	}
	if r.Clean() {
		return strings.Join(parts, "; ")
	}
	parts = append(parts, r.restsOn(levels)...)
	if n := len(r.Shapes); n < len(r.Cycles) {
		parts = append(parts, "in "+unit.Count(n, "shape"))
	}
	return strings.Join(parts, "; ")
}

// restsOn says of which routes the cycles are; nil where switches could have backups and have none.
func (r *Report) restsOn(levels bool) []string {
	if r.Routing != topo.Backups.String() {
		text := "by routes of " + r.Routing
		if r.FileRoutes > 0 {
			text += " and of the file"
		}
		switch flooded := slices.ContainsFunc(r.Shapes, func(s Shape) bool { return s.Flooded }); {
		case flooded:
			text += " and by flooding"
		case levels:
			text += " that lead down and up again"
		}
		return []string{text}
	}
	if r.WithoutBackups == nil {
		return nil
	}
	n := len(lists.Where(r.Cycles, func(c Cycle) bool { return c.NeedsBackup }))
	switch {
	case r.WithoutBackups.ValleyFree:
		return []string{"only by backup routes that lead down and up again"}
	case r.WithoutBackups.Cycles == 0:
		return []string{"only by backup routes"}
	case n == 0 && r.More == 0:
		return []string{"none needs a backup route"}
	case r.More > 0:
		return []string{fmt.Sprintf("%d of the %d that are listed only by backup routes", n, len(r.Cycles))}
	}
	return []string{fmt.Sprintf("%d of them only by backup routes", n)}
}

// setHeadroom says what the ends of links have of headroom, and what they need, as validate reckons it.
func (k *Checked) setHeadroom() {
	s := k.plan.Scenario
	r := k.Report
	r.Headroom, r.PoolsShort = []LinkEnd{}, append([]string{}, s.PoolsShort()...)
	for _, l := range k.plan.Fabric.Links {
		for _, e := range [2]topo.End{l.A, l.B} {
			if len(s.LosslessAt(e)) > 0 {
				r.Headroom = append(r.Headroom, LinkEnd{Link: l.Name, At: k.plan.Fabric.Nodes[e.Node].Name, Has: s.HasHeadroom(e), Needs: s.NeedsHeadroom(e)})
			}
		}
	}
}

// lossless says which links have less headroom than they need.
func (r *Report) lossless() string {
	if len(r.Headroom) == 0 {
		return "no priority is lossless"
	}
	links := lists.Once(r.Headroom, func(e LinkEnd) []string { return []string{e.Link} })
	ends := r.short()
	short := lists.Once(ends, func(e LinkEnd) []string { return []string{e.Link} })
	text := fmt.Sprintf("%s, each with the headroom that it needs", unit.Count(len(links), "link"))
	if len(short) > 0 {
		have := map[bool]string{true: "has", false: "have"}[len(short) == 1]
		text = fmt.Sprintf("%d of %s %s less headroom than needed: %s", len(short), unit.Count(len(links), "link"), have, shortEnds(ends))
	}
	if len(r.PoolsShort) > 0 {
		text += fmt.Sprintf("; the headroom pool of %s is less than all groups at once can need", some(r.PoolsShort))
	}
	return text
}

// endsShown is how many ends of links that lack headroom the text names.
const endsShown = 3

func shortEnds(ends []LinkEnd) string {
	text := strings.Join(lists.Map(ends[:min(len(ends), endsShown)], func(e LinkEnd) string {
		return fmt.Sprintf("%s at %s %d of %d bytes", e.Link, e.At, e.Has, e.Needs)
	}), ", ")
	if n := len(ends) - endsShown; n > 0 {
		text += fmt.Sprintf(", and %s; --json has them all", unit.Count(n, "more end"))
	}
	return text
}
