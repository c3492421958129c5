package check

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"softswitch/internal/lists"
	"softswitch/internal/progress"
	"softswitch/scenario"
	"softswitch/topo"
	"softswitch/unit"
)

// MaxExact is of how many routes a set may be that is shown to be smallest.
const MaxExact = 4

// Other bounds of the search for a cure by routes: how many cases are checked for a smallest
// set; how often the cycles that are left are looked at to find any set; and how many cases
// times routes a set may have that is tried to be made smaller.
const (
	maxTried  = 20_000
	maxRounds = 20
	maxSpared = 20_000
)

// cures is the search for what takes all cycles away.
type cures struct {
	k        *Checked
	ctx      context.Context
	out      io.Writer
	work     *progress.Work // of the search for a smallest set
	parse    func() (*scenario.Scenario, error)
	computed *topo.Table // without the file's routes
	delivers []bool      // by subnet, with the file's routes
	tried    int
}

// Cures finds what takes all the cycles of a report away: routes to change, Tagger's rules
// and, where frames are flooded, no flooding. Each is checked as the file was. parse reads
// the scenario again. A progress bar is drawn on out.
func (k *Checked) Cures(ctx context.Context, parse func() (*scenario.Scenario, error), out io.Writer) error {
	if k.Report.Clean() {
		return nil
	}
	c := cures{k: k, ctx: ctx, out: out, parse: parse, computed: topo.NewTable(k.plan.Fabric), delivers: k.checker.Delivers()}
	routes, err := c.routes()
	if err != nil {
		return err
	}
	k.Report.Cures = append(k.Report.Cures, routes)
	for _, name := range []string{"tagger", "no-flood"} {
		if name == "no-flood" && len(k.plan.Scenario.Dead) == 0 {
			continue
		}
		cure, err := c.prevention(name)
		if err != nil {
			return err
		}
		k.Report.Cures = append(k.Report.Cures, cure)
	}
	slices.SortStableFunc(k.Report.Cures, func(a, b Cure) int { return cmp.Compare(a.price(), b.price()) })
	return nil
}

// price orders cures: those that work first, and of these what is one setting, then what is some routes, then
// what needs rules in every switch and another lossless priority.
func (c *Cure) price() int {
	if !c.works() {
		return 3
	}
	return slices.Index([]string{"no-flood", "routes", "tagger"}, c.Name)
}

// works reports whether c leaves no cycle.
func (c *Cure) works() bool { return c.Why == "" && c.Left == 0 }

// prevention checks the scenario with a prevention.
func (c *cures) prevention(name string) (Cure, error) {
	cure := Cure{Name: name, Routes: []Route{}, Priorities: []int{}}
	s, err := c.parse()
	if err != nil {
		return cure, err
	}
	var plan *scenario.Plan
	if err = s.Prevent(name); err == nil {
		plan, err = scenario.Compile(s)
	}
	if err != nil {
		cure.Why = err.Error()
		return cure, nil
	}
	k, err := CheckAll(c.ctx, plan, c.k.options(), c.out)
	if err != nil {
		return cure, err
	}
	cure.Left = len(k.Report.Cycles) + k.Report.More
	if plan.Tagging != nil {
		cure.Priorities = lists.Map(append(slices.Clone(plan.Tagging.Tags), plan.Tagging.Lossy), func(p unit.Priority) int { return int(p) })
	}
	return cure, nil
}

// routes finds a set of routes to change.
func (c *cures) routes() (Cure, error) {
	cure := Cure{Name: "routes", Routes: []Route{}, Priorities: []int{}}
	some, err := c.greedy()
	if err != nil {
		return cure, err
	}
	c.work = progress.New(c.ctx, c.out, "cases with fewer other routes", maxTried)
	defer c.work.Close()
	if some, err = c.spare(some); err != nil {
		return cure, err
	}
	least, exact, err := c.least(some)
	if err != nil {
		return cure, err
	}
	if least == nil {
		cure.Why = fmt.Sprintf("no set of routes was found that breaks every cycle and lets frames arrive, among those of up to %d routes and by taking out what breaks most", MaxExact)
		return cure, nil
	}
	cure.Exact = exact
	overrides, _ := Overrides(c.k.plan, c.computed, least)
	cure.Routes = append(cure.Routes, lists.Map(overrides, c.route)...)
	return cure, nil
}

// route names an override.
func (c *cures) route(o scenario.Override) Route {
	f := c.k.plan.Fabric
	sub := f.Subnets[o.To[0]]
	r := Route{At: f.Nodes[o.At].Name, To: fmt.Sprintf("%s/%d", sub.Addr, sub.Bits), Ports: []string{}, Backup: []string{}}
	for j, p := range f.Nodes[o.At].Ports {
		name := f.Nodes[p.Peer.Node].Name
		switch {
		case slices.Contains(r.Ports, name) || slices.Contains(r.Backup, name): // by another link
		case o.Ports.Has(unit.Port(j)):
			r.Ports = append(r.Ports, name)
		case o.Backup.Has(unit.Port(j)):
			r.Backup = append(r.Backup, name)
		}
	}
	return r
}

// greedy breaks the cycles that there are by the removals that break most for their number
// of routes, and looks again, until none is left. It is nil if that leads nowhere.
func (c *cures) greedy() ([]Removal, error) {
	var chosen []Removal
	k := c.k
	for range maxRounds {
		more, ok, err := c.cover(k, chosen)
		if err != nil || !ok {
			return nil, err
		}
		chosen = more
		if k, err = c.try(chosen, false); err != nil || k == nil {
			return nil, err
		}
		if k.Report.Clean() {
			return chosen, nil
		}
	}
	return nil, nil
}

// cover adds to chosen removals by which each cycle of a report loses a turn; ok is false
// if that would leave a route without a port.
func (c *cures) cover(k *Checked, chosen []Removal) (more []Removal, ok bool, err error) {
	cuts, keys := make([][][]Removal, len(k.Report.Cycles)), make([][]string, len(k.Report.Cycles))
	work := progress.New(c.ctx, c.out, "cycles", int64(len(cuts)))
	defer work.Close()
	for i := range cuts {
		cuts[i] = k.checker.Cuts(&k.Report.Cycles[i])
		keys[i] = lists.Map(cuts[i], keyOf)
		if err := work.Add(1); err != nil {
			return nil, false, err
		}
	}
	have := map[Removal]bool{}
	for _, r := range chosen {
		have[r] = true
	}
	broken := make([]bool, len(cuts))
	for {
		order := c.weigh(cuts, keys, have, broken)
		if len(order) == 0 {
			return chosen, true, nil
		}
		if more = c.best(order, cuts, have, chosen); more == nil {
			return nil, false, nil
		}
		for _, r := range more[len(chosen):] {
			have[r] = true
		}
		chosen = more
	}
}

// best adds to chosen the first of cuts in order that leaves every route a port; nil if
// none does.
func (c *cures) best(order []*weight, cuts [][][]Removal, have map[Removal]bool, chosen []Removal) []Removal {
	for _, w := range order {
		more := slices.Concat(chosen, lists.Where(cuts[w.cycle][w.turn], func(r Removal) bool { return !have[r] }))
		if _, ok := Overrides(c.k.plan, c.computed, more); ok {
			return more
		}
	}
	return nil
}

// weight is what it costs to take a turn away, and how many cycles have it.
type weight struct{ cycle, turn, cost, cycles int }

// weigh weighs the turns of the cycles that are not broken, and notes which are. The best
// come first.
func (c *cures) weigh(cuts [][][]Removal, keys [][]string, have map[Removal]bool, broken []bool) (order []*weight) {
	by := map[string]*weight{} // by the key of the cut
	for i, turns := range cuts {
		for j, cut := range turns {
			w := &weight{cycle: i, turn: j}
			for _, r := range cut {
				if have[r] {
					continue
				}
				w.cost++
				if !c.k.checker.Spare(r) { // it is in use while nothing fails
					w.cost += 100
				}
			}
			if w.cost == 0 {
				broken[i] = true
				break
			}
			if by[keys[i][j]] == nil {
				by[keys[i][j]] = w
				order = append(order, w)
			}
			by[keys[i][j]].cycles++
		}
	}
	order = slices.DeleteFunc(order, func(w *weight) bool { return broken[w.cycle] })
	slices.SortStableFunc(order, func(a, b *weight) int { return cmp.Compare(b.cycles*a.cost, a.cycles*b.cost) })
	return order
}

// spare takes from a set, which breaks every cycle, the removals that it can do without.
func (c *cures) spare(set []Removal) ([]Removal, error) {
	if len(set)*c.k.Report.Cases > maxSpared {
		return set, nil
	}
	for i := 0; i < len(set); {
		less := slices.Delete(slices.Clone(set), i, i+1)
		k, err := c.try(less, true)
		if err != nil {
			return nil, err
		}
		if k != nil && k.Report.Clean() {
			set = less
		} else {
			i++
		}
	}
	return set, nil
}

// least finds a smallest set of removals, one that is smaller than some or some itself.
// exact says that there is none smaller.
func (c *cures) least(some []Removal) (set []Removal, exact bool, err error) {
	fewer := len(routesOf(some)) - 1
	if some == nil {
		fewer = MaxExact
	}
	c.tried = 0
	for size := 1; size <= min(fewer, MaxExact); size++ {
		seen := map[string]bool{}
		set, whole, err := c.within(nil, size, seen)
		if err != nil || set != nil {
			return set, err == nil, err
		}
		if !whole {
			return some, false, nil
		}
	}
	return some, some != nil && fewer <= MaxExact, nil
}

// within finds a set of removals that contains has, from up to size routes; whole says that
// all were tried.
func (c *cures) within(has []Removal, size int, seen map[string]bool) (set []Removal, whole bool, err error) {
	key := keyOf(has)
	if seen[key] {
		return nil, true, nil
	}
	seen[key] = true
	if c.tried > maxTried {
		return nil, false, nil
	}
	k := c.k
	if len(has) > 0 {
		if k, err = c.try(has, true); err != nil {
			return nil, false, err
		}
		if k == nil { // more removals do not bring a port back
			return nil, true, nil
		}
		if k.Report.Clean() {
			return has, true, nil
		}
	}
	whole = true
	for _, step := range k.checker.Steps(&k.Report.Cycles[0]) {
		more := append(slices.Clone(has), step)
		if slices.Contains(has, step) || len(routesOf(more)) > size {
			continue
		}
		set, all, err := c.within(more, size, seen)
		if err != nil || set != nil {
			return set, true, err
		}
		whole = whole && all
	}
	return nil, whole, nil
}

// routesOf are the routes, by switch and subnet, that removals change.
func routesOf(set []Removal) map[[2]int]bool {
	routes := map[[2]int]bool{}
	for _, r := range set {
		routes[[2]int{r.At, r.To}] = true
	}
	return routes
}

func keyOf(set []Removal) string {
	all := lists.Map(set, func(r Removal) string { return fmt.Sprint(r.At, " ", r.To, " ", r.Out) })
	slices.Sort(all)
	return strings.Join(all, ",")
}

// try checks the plan with removals: all of it, or, to know whether there is a cycle, up to
// the first case that has one. It is nil if a route is left without a port, or frames
// arrive no longer.
func (c *cures) try(removals []Removal, first bool) (*Checked, error) {
	overrides, ok := Overrides(c.k.plan, c.computed, removals)
	if !ok {
		return nil, nil
	}
	s := *c.k.plan.Scenario
	s.Routes = append(slices.Clone(s.Routes), overrides...)
	for i := range s.Flows { // they go where they go now
		if len(s.Flows[i].Via) > 0 {
			s.Flows = slices.Clone(s.Flows)
			s.Flows[i].Via = nil
		}
	}
	plan, err := scenario.Compile(&s)
	if err != nil {
		return nil, err
	}
	k, err := c.check(plan, first)
	if err != nil {
		return nil, err
	}
	if k.Report.Clean() && !c.arrives(k) {
		return nil, nil
	}
	return k, nil
}

// perPlan is how many cases take as long as a plan and its checker.
const perPlan = 10

// check checks a plan as the file was, or up to the first case with a cycle.
func (c *cures) check(plan *scenario.Plan, first bool) (*Checked, error) {
	failures := c.k.Report.Failures
	if !first {
		return CheckAll(c.ctx, plan, c.k.options(), c.out)
	}
	ch, err := New(plan, nil)
	if err != nil {
		return nil, err
	}
	ch.Suppose(c.k.checker.supposed)
	c.tried += perPlan
	var results []*Result
	for i := range ch.Cases(failures) {
		if slices.Contains(ch.Phases(failures), i) {
			ch.Know(results)
		}
		results = append(results, ch.Check(i))
		c.tried++
		if err := c.work.Add(1); err != nil {
			return nil, err
		}
		if results[i].Cyclic {
			break
		}
	}
	return &Checked{Report: ch.Report(results, failures), plan: plan, checker: ch}, nil
}

// arrives reports whether frames arrive, while nothing fails, for each subnet for which
// they do with the file's routes.
func (c *cures) arrives(k *Checked) bool {
	for d, is := range k.checker.Delivers() {
		if !is && c.delivers[d] {
			return false
		}
	}
	return true
}
