package check

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/internal/lists"
	"softswitch/scenario"
	"softswitch/unit"
)

// Report is the cyclic buffer dependencies of a scenario.
type Report struct {
	Scenario string `json:"scenario"`
	// Answer is the result in a sentence, with what it rests on.
	Answer string `json:"answer"`
	// Routing is the file's topology.routing, FileRoutes how many routes the file has of its own.
	Routing    string `json:"routing"`
	FileRoutes int    `json:"file_routes"`
	// WithoutBackups is what there would be if no route had a backup; nil if none has one, there
	// is no cycle, or routing is another than backups.
	WithoutBackups *WithoutBackups `json:"without_backups,omitempty"`
	// Down are the links that are down in every case, in addition to what fails in it.
	Down     []string `json:"down"`
	Switches int      `json:"switches"`
	Hosts    int      `json:"hosts"`   // that may send
	Links    int      `json:"links"`   // between switches
	Subnets  int      `json:"subnets"` // that frames are for
	// Failures is how many links fail at once, at most, in addition to those that the file has
	// fail, and Cases how many cases that makes. Cyclic is how many of them have a cycle.
	Failures int `json:"failures"`
	Cases    int `json:"cases"`
	Cyclic   int `json:"cases_with_cycle"`
	// Counts is how many cycles there are, by what has to be down for them.
	Counts []Count `json:"counts"`
	// Shapes are the cycles that are listed, those that are alike as one.
	Shapes []Shape `json:"shapes"`
	// Cycles are the likeliest first: those of no failure or the file's own, of one and of
	// two; among these those that the file's flows close; and short ones before long ones.
	// More is how many more there are.
	Cycles []Cycle `json:"cycles"`
	More   int     `json:"more"`
	// Bounds are those that were reached, so that there may be other cycles than these.
	Bounds []string `json:"bounds"`
	// Warnings are what the file is warned of, such as headroom with which lossless frames can be
	// lost without any cycle.
	Warnings []string `json:"warnings"`
	// Headroom is that of the ends of all links at which a priority is lossless, and PoolsShort are the switches
	// whose pool of headroom is less than all their groups can need at once.
	Headroom   []LinkEnd `json:"headroom"`
	PoolsShort []string  `json:"pools_short"`
	// Cures are what takes all cycles away, if that was asked for.
	Cures []Cure `json:"cures,omitempty"`
}

// beside tells of preventions that leave cycles of buffers as they are, so that a check lists them.
func beside(s *scenario.Scenario) (what []string) {
	v := s.Prevention
	if v != nil && v.GFC != nil {
		what = append(what, "prevention.gfc: no switch pauses another, so that cycles slow down and do not lock; they are listed as if it did")
	}
	if v != nil && v.Bubble != nil {
		what = append(what, "prevention.bubble: a cycle that is one of its rings does not fill, and does not lock; it is listed as if it did")
	}
	return what
}

// Count is how many cycles there are with what has to be down for them.
type Count struct {
	When   string `json:"when"`
	Cycles int    `json:"cycles"`
}

// WithoutBackups is what a check of the same routes without their backups finds.
type WithoutBackups struct {
	Cycles int `json:"cycles"`
	Cyclic int `json:"cases_with_cycle"`
	// ValleyFree says that such routes never lead down and up again, whatever fails.
	ValleyFree bool `json:"valley_free"`
}

// LinkEnd is the headroom of each priority group at an end of a link, and what it needs, in bytes.
type LinkEnd struct {
	Link  string `json:"link"`
	At    string `json:"at"` // a switch or a host
	Has   int    `json:"has_bytes"`
	Needs int    `json:"needs_bytes"`
}

// Cure is what takes all cycles away, in the cases that were checked.
type Cure struct {
	// Name is "routes", or the name of a prevention: "tagger", "no-flood".
	Name string `json:"name"`
	Why  string `json:"why"`  // there is none, "" if there is
	Left int    `json:"left"` // cycles that are left: 0 of a cure
	// Routes are those to change; Exact says that no fewer would do.
	Routes []Route `json:"routes"`
	Exact  bool    `json:"exact"`
	// Priorities are those of Tagger's tags, and the lossy one behind them.
	Priorities []int `json:"priorities"`
}

// Route is one of a scenario file's routes.
type Route struct {
	At     string   `json:"at"`
	To     string   `json:"to"`
	Ports  []string `json:"ports"`
	Backup []string `json:"backup"`
}

// Cycle is hops that can end up waiting for one another, the last for the first.
type Cycle struct {
	// When is what has to be down: "no failure", "the file's failures", "one failure" or
	// "two failures". Failures are examples, at most three, each the links that are down;
	// Cases is how many there are.
	When     string     `json:"when"`
	Failures [][]string `json:"failures"`
	Cases    int        `json:"cases"`
	// Flows are those of the file that close it, Priorities the priorities in which it can close.
	// Without flows hosts could close it: see Turns.
	Flows      []string `json:"flows"`
	Priorities []int    `json:"priorities"`
	// RoutingLoop: frames for one subnet go round it until their TTL ends.
	RoutingLoop bool `json:"routing_loop"`
	// NeedsBackup: frames take some of its turns by backups alone, in the first of Failures.
	NeedsBackup bool   `json:"needs_backup"`
	Hops        []Hop  `json:"hops"`
	Turns       []Turn `json:"turns"` // from each hop to the next, in the first of Failures
	// Witness is the result of the search for a scenario in which it deadlocks, nil if there
	// was no search.
	Witness *Witness `json:"witness,omitempty"`

	merged *merged
}

// Hop is the frames of a priority on a link, in the direction of its name: "agg2-0--core1".
type Hop struct {
	Link     string `json:"link"`
	Priority int    `json:"priority"`
	// Members is how many links act as one with this one, which stands for all of them: the cycle can
	// close by any. 0 is none.
	Members int `json:"members,omitempty"`

	Queues []unit.NodePort `json:"-"` // the port that sends into the link, and those of the other members
}

// Turn is why a hop waits for the next one.
type Turn struct {
	Switch string   `json:"switch"`
	Flows  []string `json:"flows"` // of the file that take it
	// From and To are hosts of which one could send to the other; Subnets is for how many
	// subnets frames take the turn, and Flooded that they are flooded.
	From    string `json:"from"`
	To      string `json:"to"`
	Subnets int    `json:"subnets"`
	Flooded bool   `json:"flooded"`
}

// Witness is a scenario that deadlocks in a cycle, or that none was found.
type Witness struct {
	File  string    `json:"file"`     // "" if none was found
	Tries int       `json:"tries"`    // scenarios that were played
	Onset unit.Time `json:"onset_ns"` // of the deadlock, from the start of the scenario
}

// Clean reports whether no cycle was found.
func (r *Report) Clean() bool { return len(r.Cycles) == 0 }

// Report makes the report of the results of all cases with up to this many failures. It takes their cycles.
func (c *Checker) Report(results []*Result, failures int) *Report {
	m := c.newMerger()
	for _, r := range results {
		m.add(r)
	}
	r := c.list(m, failures)
	explain([]*Checker{c}, r.Cycles, func(int) error { return nil })
	return r
}

// list is the report of all cases, without the turns of its cycles.
func (c *Checker) list(m *merger, failures int) *Report {
	r := &Report{
		Warnings: append(append([]string{}, c.plan.Warnings...), beside(c.plan.Scenario)...),
		Scenario: c.plan.Scenario.Name, Switches: len(c.switches), Links: c.between, Subnets: len(c.dests),
		Failures: failures, Cases: m.cases, Cyclic: m.cyclic, Cycles: []Cycle{}, Bounds: []string{}, Down: c.linkNames(c.supposed),
	}
	sends := map[int]bool{}
	for s, ports := range c.from {
		for _, p := range ports {
			sends[c.plan.Fabric.Nodes[s].Ports[p].Peer.Node] = true
		}
	}
	r.Hosts = len(sends)
	if m.bounded > 0 {
		r.Bounds = append(r.Bounds, fmt.Sprintf("in %s only %s were kept", unit.Count(m.bounded, "case"), unit.Count(maxOfCase, "cycle")))
	}
	kept := m.kept()
	r.Counts = c.count(kept, failures)
	all := m.sorted(kept, maxCycles)
	if r.More = len(kept) - len(all); r.More > 0 {
		r.Bounds = append(r.Bounds, fmt.Sprintf("only the likeliest %d of %d cycles are listed", maxCycles, len(kept)))
	}
	r.Cycles = append(r.Cycles, lists.Map(all, c.describe)...)
	return r
}

// describe puts a cycle in words.
func (c *Checker) describe(m *merged) Cycle {
	out := Cycle{
		Failures: lists.Map(m.cases, func(i int) []string { return c.Name(c.Case(i)) }), Cases: m.count,
		Flows: []string{}, Priorities: []int{}, Hops: []Hop{}, Turns: make([]Turn, len(m.edges)), merged: m,
	}
	first := c.Case(m.cases[0])
	out.When = c.when(m.rank)
	if first.Kind == FileFailure {
		out.When = first.Kind.String()
	}
	for _, e := range m.edges {
		n := c.tail(e)
		h := Hop{Link: c.linkName(n), Priority: int(c.priorities[c.priorityOf(n)]), Queues: c.membersUp(first, n)}
		if c.plan.Fabric.LAGOf(int(c.portOf(n).link)) >= 0 {
			h.Members = len(h.Queues)
		}
		out.Hops = append(out.Hops, h)
	}
	if !c.alike {
		out.Priorities = lists.Map(out.Hops, func(h Hop) int { return h.Priority })
		slices.Sort(out.Priorities)
		out.Priorities = slices.Compact(out.Priorities)
		return out
	}
	for _, p := range c.lossless {
		if m.priorities == 0 || m.priorities.Has(p) {
			out.Priorities = append(out.Priorities, int(p))
		}
	}
	for i := range out.Hops {
		out.Hops[i].Priority = out.Priorities[0]
	}
	return out
}

// linkName is the link of a hop in the direction of its frames.
func (c *Checker) linkName(n node) string {
	f, at := c.plan.Fabric, c.portOf(n)
	l := f.Links[at.link]
	a, b := f.Nodes[l.A.Node].Name, f.Nodes[l.B.Node].Name
	if l.B.Node == int(at.sw) && l.B.Port == at.n {
		return l.Name
	}
	return b + "--" + a + strings.TrimPrefix(l.Name, a+"--"+b)
}
