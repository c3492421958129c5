package check

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"softswitch/internal/lists"
	"softswitch/unit"
	"softswitch/view/drawing"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page is what page.html shows.
type page struct {
	Scenario string
	Clean    bool
	Answer   string
	Rows     [][2]string
	Symbol   template.HTML
	Fabric   template.HTML // without marks, where there is no cycle
	Shapes   []pageShape
	More     int // shapes that are not shown
	Cures    []pageCure
	Short    []LinkEnd
	ShortBy  int // further ends that lack headroom
}

type pageShape struct {
	Name, Why, Closed, SuchAs, Witness string
	Drawing                            template.HTML
	Hops                               [][2]string
}

type pageCure struct {
	Name, Text string
	Lines      []string
	Works      bool
}

// shortShown is how many ends of links that lack headroom a page lists.
const shortShown = 50

// WriteHTML writes the report as one file that needs nothing else, with a drawing of each shape.
func (k *Checked) WriteHTML(w io.Writer) error {
	r := k.Report
	base := drawing.NewBase(drawing.OfFabric(r.Scenario, k.plan.Fabric), "fabric")
	p := page{
		Scenario: r.Scenario, Clean: r.Clean(), Answer: capital(r.Answer), Rows: r.rows()[1:], Symbol: template.HTML(base.Symbol()),
		More: len(r.Shapes) - min(len(r.Shapes), shown), Short: r.short(),
	}
	p.ShortBy = max(0, len(p.Short)-shortShown)
	p.Short = p.Short[:len(p.Short)-p.ShortBy]
	if r.Clean() {
		p.Fabric = template.HTML(base.Marked(r.Answer, k.checker.supposed, nil))
	}
	for i := range r.Shapes[:min(len(r.Shapes), shown)] {
		p.Shapes = append(p.Shapes, k.pageShape(base, &r.Shapes[i]))
	}
	for _, c := range r.Cures {
		p.Cures = append(p.Cures, pageCure{Name: c.Name, Text: c.text(), Lines: c.lines(routesShown), Works: c.works()})
	}
	return pageTemplate.Execute(w, p)
}

func (k *Checked) pageShape(base *drawing.Base, s *Shape) pageShape {
	r := k.Report
	c := &r.Cycles[s.Example-1]
	p := pageShape{Name: s.name(r.oneRate()), Why: capital(s.what(c)), Closed: capital(s.closed(c, r.mixed())), Hops: s.hops(c)}
	if s.Count > 1 {
		p.SuchAs = capital(c.suchAs())
	}
	if c.Witness != nil {
		p.Witness = capital(c.Witness.text())
	}
	title := p.Name + ": " + strings.Join(lists.Map(p.Hops, func(h [2]string) string { return h[0] }), ", ")
	p.Drawing = template.HTML(base.Marked(title, k.checker.Down(c), k.arrows(c)))
	return p
}

// arrows are the hops of a cycle in the drawing of the fabric.
func (k *Checked) arrows(cy *Cycle) []drawing.Arrow {
	return lists.Map(cy.merged.edges, func(e edge) drawing.Arrow {
		at := k.checker.portOf(k.checker.tail(e))
		b := k.plan.Fabric.Links[at.link].B
		return drawing.Arrow{Link: int(at.link), Back: b.Node != int(at.sw) || b.Port != at.n}
	})
}

// what is how many cycles of a shape there are and what they need: of a single one, cy, exactly.
func (s *Shape) what(cy *Cycle) string {
	if s.Count == 1 {
		return cy.needs()
	}
	return unit.Count(s.Count, "cycle") + "; " + s.why()
}

// short are the ends of links that have less headroom than they need.
func (r *Report) short() []LinkEnd {
	return lists.Where(r.Headroom, func(e LinkEnd) bool { return e.Has < e.Needs })
}

// WriteMarkdown writes the report as Markdown, with a drawing of each shape's example in Mermaid.
func (k *Checked) WriteMarkdown(w io.Writer) error {
	r := k.Report
	var b strings.Builder
	fmt.Fprintf(&b, "# What could lock %s\n\n**%s.**\n\n", r.Scenario, capital(r.Answer))
	for _, row := range r.rows()[1:] {
		fmt.Fprintf(&b, "- *%s*: %s\n", row[0], row[1])
	}
	for i := range r.Shapes[:min(len(r.Shapes), shown)] {
		k.writeShape(&b, i)
	}
	if n := len(r.Shapes) - shown; n > 0 {
		fmt.Fprintf(&b, "\n%s; `--json` has them all.\n", unit.Count(n, "more shape"))
	}
	for i, c := range r.Cures {
		if i == 0 {
			b.WriteString("\n## Cures\n\nThe cheapest first.\n")
		}
		fmt.Fprintf(&b, "\n%s: %s\n", c.Name, c.text())
		if lines := c.lines(routesShown); lines != nil {
			fmt.Fprintf(&b, "\n```yaml\n%s\n```\n", strings.Join(lines, "\n"))
		}
	}
	if short := r.short(); short != nil {
		b.WriteString("\n## Headroom\n\n| link | at | has (bytes) | needs (bytes) |\n| --- | --- | ---: | ---: |\n")
		for _, e := range short {
			fmt.Fprintf(&b, "| %s | %s | %d | %d |\n", e.Link, e.At, e.Has, e.Needs)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (k *Checked) writeShape(b *strings.Builder, i int) {
	r := k.Report
	s := &r.Shapes[i]
	c := &r.Cycles[s.Example-1]
	fmt.Fprintf(b, "\n## %d. %s\n\n%s. %s.\n", i+1, s.name(r.oneRate()), capital(s.what(c)), capital(s.closed(c, r.mixed())))
	if c.Witness != nil {
		fmt.Fprintf(b, "%s.\n", capital(c.Witness.text()))
	}
	if s.Count > 1 {
		fmt.Fprintf(b, "%s:\n", capital(c.suchAs()))
	}
	b.WriteString("\n| hop | who goes on to the next |\n| --- | --- |\n")
	for _, h := range s.hops(c) {
		fmt.Fprintf(b, "| %s | %s |\n", h[0], h[1])
	}
	k.writeMermaid(b, c)
}

// writeMermaid draws the hops of a cycle, and the links between its switches that are down.
func (k *Checked) writeMermaid(b *strings.Builder, cy *Cycle) {
	var nodes []int
	id := func(node int) string {
		if !slices.Contains(nodes, node) {
			nodes = append(nodes, node)
		}
		return fmt.Sprintf("n%d[%q]", slices.Index(nodes, node), k.plan.Fabric.Nodes[node].Name)
	}
	b.WriteString("\n```mermaid\nflowchart LR\n")
	for _, e := range cy.merged.edges {
		at := k.checker.portOf(k.checker.tail(e))
		fmt.Fprintf(b, "  %s ==> %s\n", id(int(k.checker.ports[at.peer].sw)), id(int(at.sw)))
	}
	for _, l := range k.checker.Down(cy) {
		if link := k.plan.Fabric.Links[l]; slices.Contains(nodes, link.A.Node) && slices.Contains(nodes, link.B.Node) {
			fmt.Fprintf(b, "  %s -.-x|down| %s\n", id(link.A.Node), id(link.B.Node))
		}
	}
	b.WriteString("```\n")
}

// capital is a text with a capital letter at its beginning.
func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
