package drawing

import (
	"fmt"
	"slices"
	"strings"
)

// DOT is the graph in the language of Graphviz: levels are ranks, the highest on top.
func (g *Graph) DOT() string {
	var b strings.Builder
	fmt.Fprintf(&b, "graph %q {\n  ranksep=1.2\n  node [shape=box]\n", g.Name)
	for _, row := range slices.Backward(g.rows()) {
		b.WriteString("  { rank=same;")
		for _, i := range row {
			fmt.Fprintf(&b, " %q", g.Nodes[i].Name)
			if g.Nodes[i].Host {
				b.WriteString(" [shape=ellipse]")
			}
			b.WriteString(";")
		}
		b.WriteString(" }\n")
	}
	levels := g.levels()
	for _, l := range g.Links {
		from, to := l.downwards(levels)
		fmt.Fprintf(&b, "  %q -- %q%s\n", g.Nodes[from].Name, g.Nodes[to].Name, l.dotStyle())
	}
	b.WriteString("}\n")
	return b.String()
}

func (l Link) dotStyle() string {
	var style []string
	if l.Down {
		style = append(style, "style=dashed, color=red")
	}
	if l.Note != "" {
		style = append(style, fmt.Sprintf("label=%q", l.Note))
	}
	if style == nil {
		return ""
	}
	return " [" + strings.Join(style, ", ") + "]"
}

// Mermaid is the graph as a flow chart of Mermaid, for Markdown.
func (g *Graph) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart TB\n")
	for i, n := range g.Nodes {
		if n.Host {
			fmt.Fprintf(&b, "  n%d([%q])\n", i, n.Name)
		} else {
			fmt.Fprintf(&b, "  n%d[%q]\n", i, n.Name)
		}
	}
	levels := g.levels()
	for _, l := range g.Links {
		from, to := l.downwards(levels)
		line := map[bool]string{true: "-.-", false: "---"}[l.Down]
		if l.Note != "" {
			line += fmt.Sprintf("|%q|", l.Note)
		}
		fmt.Fprintf(&b, "  n%d %s n%d\n", from, line, to)
	}
	return b.String()
}
