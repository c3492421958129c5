package scenario

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"softswitch/topo/tagger"
	"softswitch/unit"
)

// WithTagger is the plan of s with Tagger: with so many lossless tags if they are chosen,
// else with those of the file, or as many as its flows need.
func (s *Scenario) WithTagger(file string, tags int, chosen bool) (*Plan, error) {
	switch {
	case chosen && (tags < 1 || tags > len(s.PFC.Lossless)):
		return nil, fmt.Errorf("--tags: %d; valid: 1 to %d, the lossless classes of %s", tags, len(s.PFC.Lossless), file)
	case chosen:
		s.Prevention = &Prevention{Tags: tags}
	case s.Prevention == nil || s.Prevention.Tags == 0:
		if err := s.Prevent("tagger"); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return Compile(s)
}

// TakeOutRules takes the rules of switches out.
func (p *Plan) TakeOutRules(switches []string) error {
	for _, name := range switches {
		i, ok := p.Fabric.Node(name)
		if !ok || i >= p.Fabric.Switches() {
			return fmt.Errorf("--without: no switch is called %q", name)
		}
		p.Tagging.Rules[i] = nil
	}
	return nil
}

// WriteTagging shows the rules of a plan with Tagger, and what they make of its flows, and
// looks for a cycle of buffer dependencies under them.
func (p *Plan) WriteTagging(out io.Writer) (found bool, err error) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	g := p.Tagging
	fmt.Fprint(w, "tags\t")
	for i, class := range g.Tags {
		fmt.Fprintf(w, "%d: class %d, ", i+1, class)
	}
	fmt.Fprintf(w, "then class %d, which is lossy\n\nrules\tfor what comes in by one of these ports and leaves by one of them\n", g.Lossy)
	for s, rules := range g.Rules {
		var changes []string
		for _, r := range rules {
			changes = append(changes, fmt.Sprintf("%d to %d", r.Class, r.To))
		}
		if len(rules) > 0 {
			fmt.Fprintf(w, "  %s\t%s\tclass %s\n", p.Fabric.Nodes[s].Name, p.portNames(s, rules[0].In), strings.Join(changes, ", "))
		}
	}
	p.writeTaggedFlows(w)
	var lossless unit.ClassSet
	for _, c := range p.Scenario.PFC.Lossless {
		lossless.Add(unit.Priority(c))
	}
	cycle := tagger.Check(p.Fabric, lossless, g.Rules)
	if cycle == nil {
		fmt.Fprint(w, "\nproof\tno buffer can come to wait for itself, by any route, in any class\n")
		return false, w.Flush()
	}
	fmt.Fprintf(w, "\ncycle\t%s\n", cycle.Text(p.Fabric))
	return true, w.Flush()
}

func (p *Plan) portNames(s int, ports unit.PortSet) string {
	var names []string
	for ; ports != 0; ports &= ports - 1 {
		names = append(names, p.Fabric.Nodes[p.Fabric.Nodes[s].Ports[ports.First()].Peer.Node].Name)
	}
	return strings.Join(names, " ")
}

// writeTaggedFlows writes the class in which each flow leaves each switch.
func (p *Plan) writeTaggedFlows(w io.Writer) {
	if len(p.Flows) > 0 {
		fmt.Fprint(w, "\nflows\tthe class in which each leaves each switch\n")
	}
	for i, f := range p.Flows {
		class := p.Scenario.Flows[i].Class
		classes := p.Tagging.Classes(f.Hops, class)
		var hops []string
		for j, h := range f.Hops[:min(len(f.Hops), 16)] {
			hops = append(hops, fmt.Sprintf("%s %d", p.Fabric.Nodes[h.Node].Name, classes[j]))
		}
		how := "lossless"
		if slices.Contains(classes, p.Tagging.Lossy) {
			how = "not lossless"
		}
		if f.Err != nil {
			how += ", and does not arrive"
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\n", p.Scenario.Flows[i].Name, how, strings.Join(hops, ", "))
	}
}
