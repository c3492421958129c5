package check

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"softswitch/internal/lists"
	"softswitch/unit"
)

// Report is the cyclic buffer dependencies of a scenario.
type Report struct {
	Scenario string `json:"scenario"`
	Switches int    `json:"switches"`
	Hosts    int    `json:"hosts"`   // that may send
	Links    int    `json:"links"`   // between switches
	Subnets  int    `json:"subnets"` // that frames are for
	// Failures is how many links fail at once, at most, in addition to those that the file has
	// fail, and Cases how many cases that makes. Cyclic is how many of them have a cycle.
	Failures int `json:"failures"`
	Cases    int `json:"cases"`
	Cyclic   int `json:"cases_with_cycle"`
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
	// Cures are what takes all cycles away, if that was asked for.
	Cures []Cure `json:"cures,omitempty"`
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
	RoutingLoop bool   `json:"routing_loop"`
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
		Warnings: append([]string{}, c.plan.Warnings...),
		Scenario: c.plan.Scenario.Name, Switches: len(c.switches), Links: c.between, Subnets: len(c.dests),
		Failures: failures, Cases: m.cases, Cyclic: m.cyclic, Cycles: []Cycle{}, Bounds: []string{},
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
	all, of := m.sorted(maxCycles)
	if r.More = of - len(all); r.More > 0 {
		r.Bounds = append(r.Bounds, fmt.Sprintf("only the likeliest %d of %d cycles are listed", maxCycles, of))
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
	out.When = [...]string{"no failure", "one failure", "two failures"}[m.rank]
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

// shown is how many cycles WriteText shows.
const shown = 20

// WriteText writes the report for people.
func (r *Report) WriteText(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "fabric\t%s, %s between them, %s that may send, %s\n", unit.Count(r.Switches, "switch"), unit.Count(r.Links, "link"), unit.Count(r.Hosts, "host"), unit.Count(r.Subnets, "subnet"))
	for _, text := range r.Warnings {
		fmt.Fprintf(w, "warning\t%s\n", text)
	}
	fmt.Fprintf(w, "cases\t%d: %s; %d of them with a cycle\n", r.Cases, r.span(), r.Cyclic)
	if r.Clean() {
		fmt.Fprintf(w, "cycles\tnone: no buffer can come to wait for itself\n")
		return w.Flush()
	}
	fmt.Fprintf(w, "cycles\t%d\n", len(r.Cycles)+r.More)
	for _, b := range r.Bounds {
		fmt.Fprintf(w, "bound\t%s\n", b)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i, c := range r.Cycles[:min(len(r.Cycles), shown)] {
		c.writeText(w, i+1)
	}
	if n := len(r.Cycles) - shown; n > 0 {
		fmt.Fprintf(w, "\n%d more; --json has them all\n", n)
	}
	for i, c := range r.Cures {
		if i == 0 {
			fmt.Fprint(w, "\ncures\n")
		}
		c.writeText(w)
	}
	return w.Flush()
}

// routesShown is how many routes to change WriteText shows.
const routesShown = 20

func (c *Cure) writeText(w io.Writer) {
	switch {
	case c.Why != "":
		fmt.Fprintf(w, "  %s\tno: %s\n", c.Name, c.Why)
	case c.Left > 0:
		fmt.Fprintf(w, "  %s\tno: %s left\n", c.Name, unit.Count(c.Left, "cycle"))
	case c.Name == "routes":
		how := map[bool]string{true: "no fewer do", false: "found step by step; fewer may do"}[c.Exact]
		fmt.Fprintf(w, "  %s\t%d to change; %s; checked: no cycle is left\n", c.Name, len(c.Routes), how)
		for _, r := range c.Routes[:min(len(c.Routes), routesShown)] {
			fmt.Fprintf(w, "\t  - {at: %s, to: %s, ports: [%s], backup: [%s]}\n", r.At, r.To, strings.Join(r.Ports, ", "), strings.Join(r.Backup, ", "))
		}
		if n := len(c.Routes) - routesShown; n > 0 {
			fmt.Fprintf(w, "\t  %d more; --json has them all\n", n)
		}
	case c.Name == "tagger":
		last := len(c.Priorities) - 1
		fmt.Fprintf(w, "  %s\tpriorities %s, then %d, which is lossy; checked: no cycle is left\n", c.Name, priorities(c.Priorities[:last]), c.Priorities[last])
	default:
		fmt.Fprintf(w, "  %s\tchecked: no cycle is left\n", c.Name)
	}
}

func (r *Report) span() string {
	return [...]string{
		"no failure, and the file's own",
		"no failure, the file's own, every link and every switch",
		"no failure, the file's own, every link, every switch and every pair of links",
	}[r.Failures]
}

func (c *Cycle) writeText(w io.Writer, n int) {
	fmt.Fprintf(w, "\n%d\t%s", n, c.When)
	if down := c.Failures[0]; len(down) > 0 {
		fmt.Fprintf(w, ": %s", strings.Join(down, " and "))
	}
	if c.Cases == 2 {
		fmt.Fprint(w, "; 1 other case")
	} else if c.Cases > 2 {
		fmt.Fprintf(w, "; %s", unit.Count(c.Cases-1, "other case"))
	}
	fmt.Fprintln(w)
	closed := "hosts could close it"
	if len(c.Flows) > 0 {
		closed = "the flows " + some(c.Flows) + " close it"
	}
	fmt.Fprintf(w, "\t%s, in %s%s\n", closed, inPriorities(c.Priorities), map[bool]string{true: "; a routing loop"}[c.RoutingLoop])
	if c.Witness != nil {
		fmt.Fprintf(w, "\t%s\n", c.Witness.text())
	}
	for i, h := range c.Hops {
		fmt.Fprintf(w, "\t  %s\t%s\n", c.hopText(h), c.Turns[i].text(len(c.Flows) > 0))
	}
}

func (w *Witness) text() string {
	if w.File == "" {
		return fmt.Sprintf("no witness found in %d tries", w.Tries)
	}
	return fmt.Sprintf("witness: %s deadlocks at %s", w.File, w.Onset)
}

// hopText names a hop, with its priority where the cycle has several.
func (c *Cycle) hopText(h Hop) string {
	text := h.Link
	if h.Members > 0 {
		text += fmt.Sprintf(", one of %s", unit.Count(h.Members, "member"))
	}
	if slices.ContainsFunc(c.Hops, func(o Hop) bool { return o.Priority != h.Priority }) {
		return fmt.Sprintf("%s priority %d", text, h.Priority)
	}
	return text
}

func (t *Turn) text(flows bool) string {
	switch {
	case flows:
		return some(t.Flows)
	case t.Flooded:
		return fmt.Sprintf("%s to %s, flooded by %s", t.From, t.To, t.Switch)
	case t.Subnets > 1:
		return fmt.Sprintf("such as %s to %s, of %d subnets", t.From, t.To, t.Subnets)
	}
	return fmt.Sprintf("such as %s to %s", t.From, t.To)
}

// some names flows: of more than a line holds, the first; JSON has all.
func some(flows []string) string {
	const most = 9
	if len(flows) <= most {
		return strings.Join(flows, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(flows[:most-1], ", "), len(flows)-most+1)
}

func inPriorities(all []int) string {
	if len(all) == 1 {
		return fmt.Sprintf("priority %d", all[0])
	}
	return "priorities " + priorities(all)
}

func priorities(all []int) string {
	return strings.Join(lists.Map(all, strconv.Itoa), ", ")
}
