package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"softswitch/scenario"
	"softswitch/scenario/load"
	"softswitch/topo/tagger"
	"softswitch/unit"
)

func taggerCommand() *cobra.Command {
	var tags int
	var without []string
	c := &cobra.Command{
		Use:   "tagger FILE",
		Short: "Show Tagger's rules for a scenario and prove that no deadlock can form",
		Long: `Compute Tagger's rules for the topology of a scenario file, and look for a cycle of
buffer dependencies under them, over every possible route and all tags. Show the
class in which each flow leaves each switch on its way.

Exit status: 0 there is no cycle; 1 there is one, which is shown; 2 the rules could
not be made, such as for a topology without levels.`,
		Example:           "  softswitch tagger scenarios/fattree-on-loop.yaml\n  softswitch tagger scenarios/fattree-on-loop.yaml --tags 1\n  softswitch tagger scenarios/fattree-on-loop.yaml --without agg0-0",
		Args:              arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: oneYAMLFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			plan, err := taggedPlan(args[0], tags, cmd.Flags().Changed("tags"))
			if err != nil {
				return err
			}
			if err := takeOut(plan, without); err != nil {
				return err
			}
			return writeTagging(os.Stdout, plan)
		},
	}
	c.Flags().IntVar(&tags, "tags", 0, "lossless tags (default: the file's, or as many as its flows need, at least 2)")
	c.Flags().StringSliceVar(&without, "without", nil, "switches whose rules to take out")
	return c
}

// taggedPlan reads a scenario file and puts Tagger on it.
func taggedPlan(file string, tags int, chosen bool) (*scenario.Plan, error) {
	data, err := readFile(file)
	if err != nil {
		return nil, err
	}
	s, err := load.Scenario(file, data)
	if err != nil {
		return nil, err
	}
	switch {
	case chosen && (tags < 1 || tags > len(s.PFC.Lossless)):
		return nil, fmt.Errorf("--tags: %d; valid: 1 to %d, the lossless classes of %s", tags, len(s.PFC.Lossless), file)
	case chosen:
		s.Prevention = &scenario.Prevention{Tags: tags}
	case s.Prevention == nil || s.Prevention.Tags == 0:
		if err := s.Prevent("tagger"); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return scenario.Compile(s)
}

// takeOut takes the rules of switches out.
func takeOut(p *scenario.Plan, switches []string) error {
	for _, name := range switches {
		i, ok := p.Fabric.Node(name)
		if !ok || i >= p.Fabric.Switches() {
			return fmt.Errorf("--without: no switch is called %q", name)
		}
		p.Tagging.Rules[i] = nil
	}
	return nil
}

func writeTagging(out io.Writer, p *scenario.Plan) error {
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
			fmt.Fprintf(w, "  %s\t%s\tclass %s\n", p.Fabric.Nodes[s].Name, portNames(p, s, rules[0].In), strings.Join(changes, ", "))
		}
	}
	writeTaggedFlows(w, p)
	var lossless unit.ClassSet
	for _, c := range p.Scenario.PFC.Lossless {
		lossless.Add(unit.Priority(c))
	}
	cycle := tagger.Check(p.Fabric, lossless, g.Rules)
	if cycle == nil {
		fmt.Fprint(w, "\nproof\tno buffer can come to wait for itself, by any route, in any class\n")
		return w.Flush()
	}
	fmt.Fprintf(w, "\ncycle\t%s\n", cycle.Text(p.Fabric))
	return cmp.Or(w.Flush(), errUnmet)
}

func portNames(p *scenario.Plan, s int, ports unit.PortSet) string {
	var names []string
	for ; ports != 0; ports &= ports - 1 {
		names = append(names, p.Fabric.Nodes[p.Fabric.Nodes[s].Ports[ports.First()].Peer.Node].Name)
	}
	return strings.Join(names, " ")
}

// writeTaggedFlows writes the class in which each flow leaves each switch.
func writeTaggedFlows(w io.Writer, p *scenario.Plan) {
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
