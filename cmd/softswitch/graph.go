package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"softswitch/internal/graph"
	"softswitch/lab"
)

func labGraph(name *string) *cobra.Command {
	var dot, mermaid, svg bool
	c := &cobra.Command{
		Use:   "graph [FILE]",
		Short: "Draw the topology of a scenario file, or of the lab that is up",
		Long: `Draw the topology of a scenario file or, without one, of the lab that is up, and
write it to standard output: for Graphviz (--dot, the default), for Mermaid in
Markdown, or as an SVG picture. Levels are rows, hosts at the bottom. Links that are
down are dashed: in a lab now, in a file those that its events take down.`,
		Example: "  softswitch lab graph scenarios/fattree-on-loop.yaml --svg > fabric.svg\n" +
			"  softswitch lab graph scenarios/pause.yaml --dot | dot -Tpdf > fabric.pdf\n" +
			"  softswitch lab graph --name ss --mermaid",
		Args:              arguments(cobra.MaximumNArgs(1)),
		ValidArgsFunction: upTo(1, yamlFiles),
		RunE: func(_ *cobra.Command, args []string) error {
			var g *graph.Graph
			if len(args) > 0 {
				plan, err := readPlan(args[0], instead{})
				if err != nil {
					return err
				}
				g = plan.Graph()
			} else {
				st, err := lab.Load(*name)
				if err != nil {
					return err
				}
				g = lab.Graph(st)
			}
			draw := g.DOT
			switch {
			case mermaid:
				draw = g.Mermaid
			case svg:
				draw = g.SVG
			}
			_, err := io.WriteString(os.Stdout, draw())
			return err
		},
	}
	c.Flags().BoolVar(&dot, "dot", false, "for Graphviz (the default)")
	c.Flags().BoolVar(&mermaid, "mermaid", false, "for Mermaid")
	c.Flags().BoolVar(&svg, "svg", false, "as a picture")
	c.MarkFlagsMutuallyExclusive("dot", "mermaid", "svg")
	return c
}
