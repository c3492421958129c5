package scenario

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"softswitch/internal/lists"
	"softswitch/internal/strictyaml"
	"softswitch/topo"
	"softswitch/topo/tagger"
	"softswitch/unit"
)

// WithTagger is the plan of s with Tagger: with the given number of lossless tags if
// chosen, else with those of the file, or as many as its flows need.
func (s *Scenario) WithTagger(file string, tags int, chosen bool) (*Plan, error) {
	switch {
	case chosen && (tags < 1 || tags > len(s.PFC.Lossless)):
		return nil, fmt.Errorf("--tags: %d; valid: 1 to %d, the lossless priorities of %s", tags, len(s.PFC.Lossless), file)
	case chosen:
		s.Prevention = &Prevention{Tags: tags}
	case s.Prevention == nil || s.Prevention.Tags == 0:
		if err := s.Prevent("tagger"); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return Compile(s)
}

// TakeOutRules removes the rules of the named switches.
func (p *Plan) TakeOutRules(switches []string) error {
	for _, name := range switches {
		i, ok := p.Fabric.Node(name)
		if !ok || i >= p.Fabric.Switches() {
			names := lists.Map(p.Fabric.Nodes[:p.Fabric.Switches()], func(n topo.Node) string { return n.Name })
			return fmt.Errorf("--without: no switch is called %q%s; there are %s", name, strictyaml.DidYouMean(name, names), span(names))
		}
		p.Tagging.Rules[i] = nil
	}
	return nil
}

// TaggingReport is the effect of Tagger on a plan: its rules, the priorities of the flows,
// and whether buffers can still end up waiting for one another.
type TaggingReport struct {
	Tags  []unit.Priority `json:"tags"`  // the priority of each lossless tag, the first tag first
	Lossy unit.Priority   `json:"lossy"` // the priority of frames with no tag left
	Rules []TaggingSwitch `json:"rules"` // of the switches that have any
	Flows []TaggedFlow    `json:"flows"`
	Cycle string          `json:"cycle,omitempty"` // of buffer dependencies, "" if there is none
}

// TaggingSwitch is the rules of a switch: a frame that comes in by one of Ports, which
// are named for their neighbours, and leaves by another changes its priority.
type TaggingSwitch struct {
	Switch     string          `json:"switch"`
	Ports      []string        `json:"ports"`
	Priorities []TaggingChange `json:"priorities"`
}

// TaggingChange is a priority and what it becomes.
type TaggingChange struct {
	From unit.Priority `json:"from_priority"`
	To   unit.Priority `json:"to_priority"`
}

// TaggedFlow is a flow's path and the priority in which it leaves each switch on it.
type TaggedFlow struct {
	Flow     string      `json:"flow"`
	Lossless bool        `json:"stays_lossless"`
	Arrives  bool        `json:"arrives"`
	Hops     []TaggedHop `json:"path"` // the first 16
}

// TaggedHop is a switch that a flow leaves in a priority.
type TaggedHop struct {
	Switch   string        `json:"switch"`
	Priority unit.Priority `json:"priority"`
}

// hopsShown limits the hops of a flow in a report: a routing loop has many.
const hopsShown = 16

// ReportTagging is the report of a plan with Tagger.
func (p *Plan) ReportTagging() *TaggingReport {
	g := p.Tagging
	r := &TaggingReport{Tags: g.Tags, Lossy: g.Lossy, Rules: []TaggingSwitch{}, Flows: []TaggedFlow{}}
	for s, rules := range g.Rules {
		if len(rules) == 0 {
			continue
		}
		change := func(rule tagger.Rule) TaggingChange { return TaggingChange{From: rule.Priority, To: rule.To} }
		r.Rules = append(r.Rules, TaggingSwitch{p.Fabric.Nodes[s].Name, p.portNames(s, rules[0].In), lists.Map(rules, change)})
	}
	for i := range p.Flows {
		r.Flows = append(r.Flows, p.taggedFlow(i))
	}
	var lossless unit.PrioritySet
	for _, c := range p.Scenario.Lossless() {
		lossless.Add(unit.Priority(c))
	}
	if cycle := tagger.Check(p.Fabric, lossless, g.Rules); cycle != nil {
		r.Cycle = cycle.Text(p.Fabric)
	}
	return r
}

func (p *Plan) portNames(s int, ports unit.PortSet) []string {
	return lists.Map(list(ports), func(j int) string { return p.Fabric.Nodes[p.Fabric.Nodes[s].Ports[j].Peer.Node].Name })
}

func (p *Plan) taggedFlow(i int) TaggedFlow {
	f := p.Flows[i]
	priorities := p.Tagging.Priorities(f.Hops, p.Scenario.Flows[i].Priority)
	t := TaggedFlow{
		Flow: p.Scenario.Flows[i].Name, Lossless: !slices.Contains(priorities, p.Tagging.Lossy), Arrives: f.Err == nil,
		Hops: []TaggedHop{},
	}
	for j, h := range f.Hops[:min(len(f.Hops), hopsShown)] {
		t.Hops = append(t.Hops, TaggedHop{Switch: p.Fabric.Nodes[h.Node].Name, Priority: priorities[j]})
	}
	return t
}

// WriteText writes the report for people.
func (r *TaggingReport) WriteText(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "tags\t")
	for i, priority := range r.Tags {
		fmt.Fprintf(w, "%d: priority %d, ", i+1, priority)
	}
	fmt.Fprintf(w, "then priority %d, which is lossy\n\nrules\tfor what comes in by one of these ports and leaves by one of them\n", r.Lossy)
	for _, sw := range r.Rules {
		changes := lists.Map(sw.Priorities, func(c TaggingChange) string { return fmt.Sprintf("%d to %d", c.From, c.To) })
		fmt.Fprintf(w, "  %s\t%s\tpriority %s\n", sw.Switch, strings.Join(sw.Ports, " "), strings.Join(changes, ", "))
	}
	if len(r.Flows) > 0 {
		fmt.Fprint(w, "\nflows\tthe priority in which each leaves each switch\n")
	}
	for _, f := range r.Flows {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", f.Flow, f.outcome(), f.way())
	}
	if r.Cycle == "" {
		fmt.Fprint(w, "\nproof\tno buffer can come to wait for itself, by any route, in any priority\n")
	} else {
		fmt.Fprintf(w, "\ncycle\t%s\n", r.Cycle)
	}
	return w.Flush()
}

func (f *TaggedFlow) outcome() string {
	how := "lossless"
	if !f.Lossless {
		how = "not lossless"
	}
	if !f.Arrives {
		how += ", and does not arrive"
	}
	return how
}

func (f *TaggedFlow) way() string {
	return strings.Join(lists.Map(f.Hops, func(h TaggedHop) string { return fmt.Sprintf("%s %d", h.Switch, h.Priority) }), ", ")
}
