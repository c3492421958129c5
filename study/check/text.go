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

// shown is how many shapes WriteText shows.
const shown = 20

// WriteText writes the report for people.
func (r *Report) WriteText(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range r.rows() {
		fmt.Fprintf(w, "%s\t%s\n", row[0], row[1])
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i := range r.Shapes[:min(len(r.Shapes), shown)] {
		r.writeShape(w, i)
	}
	if n := len(r.Shapes) - shown; n > 0 {
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

// rows are what the report says of the whole fabric: a word, and what there is to say.
func (r *Report) rows() (rows [][2]string) {
	add := func(word, text string) { rows = append(rows, [2]string{word, text}) }
	add("answer", r.Answer)
	add("routes", r.routes())
	add("lossless", r.lossless())
	add("fabric", fmt.Sprintf("%s, %s between them, %s that may send, %s", unit.Count(r.Switches, "switch"), unit.Count(r.Links, "link"), unit.Count(r.Hosts, "host"), unit.Count(r.Subnets, "subnet")))
	add("cases", fmt.Sprintf("%d: %s; %d of them with a cycle", r.Cases, r.span(), r.Cyclic))
	for _, b := range r.Bounds {
		add("bound", b)
	}
	for _, text := range r.Warnings {
		add("warning", text)
	}
	return rows
}

// routings is what the routes of each topology.routing are.
var routings = map[string]string{
	"backups": "shortest paths, and others while all links of these are down",
	"igp":     "shortest paths of what a failure leaves",
	"bgp":     "shortest paths of what a failure leaves, without those on which an AS number comes twice",
}

// routes is what the routes are.
func (r *Report) routes() string {
	text := r.Routing + ": " + routings[r.Routing]
	if r.FileRoutes > 0 {
		text += fmt.Sprintf("; %s of the file", unit.Count(r.FileRoutes, "route"))
	}
	if b := r.WithoutBackups; b != nil {
		left := "no cycle"
		if b.Cycles > 0 {
			left = fmt.Sprintf("%s, in %s", unit.Count(b.Cycles, "cycle"), unit.Count(b.Cyclic, "case"))
		}
		text += "; without the backups: " + left
	}
	return text
}

// writeShape writes shape i with its example.
func (r *Report) writeShape(w io.Writer, i int) {
	s := &r.Shapes[i]
	c := &r.Cycles[s.Example-1]
	fmt.Fprintf(w, "\n%d\t%s; %s\n", i+1, s.name(r.oneRate()), s.what(c))
	fmt.Fprintf(w, "\t%s\n", s.closed(c, r.mixed()))
	if s.Count > 1 {
		fmt.Fprintf(w, "\t%s\n", c.suchAs())
	}
	if c.Witness != nil {
		fmt.Fprintf(w, "\t%s\n", c.Witness.text())
	}
	for _, h := range s.hops(c) {
		fmt.Fprintf(w, "\t  %s\t%s\n", h[0], h[1])
	}
}

// hops are those of the example of s, the first of its roles first, and who takes the turn behind each.
func (s *Shape) hops(c *Cycle) (rows [][2]string) {
	for i := range c.Hops {
		j := (s.first + i) % len(c.Hops)
		rows = append(rows, [2]string{c.hopText(c.Hops[j]), c.Turns[j].text(len(c.Flows) > 0)})
	}
	return rows
}

// mixed reports whether some cycles need backups and others do not.
func (r *Report) mixed() bool {
	needs := lists.Once(r.Shapes, func(s Shape) []bool { return []bool{s.NeedsBackup} })
	return len(needs) > 1
}

// oneRate reports whether all hops of all shapes are of one rate.
func (r *Report) oneRate() bool {
	rates := lists.Once(r.Shapes, func(s Shape) []unit.Rate { return s.Rates })
	return len(rates) < 2
}

// routesShown is how many routes to change WriteText shows.
const routesShown = 20

func (c *Cure) writeText(w io.Writer) {
	fmt.Fprintf(w, "  %s\t%s\n", c.Name, c.text())
	for _, line := range c.lines(routesShown) {
		fmt.Fprintf(w, "\t  %s\n", line)
	}
}

// text is what a cure is, or why it is none.
func (c *Cure) text() string {
	const proven = "checked: no cycle is left"
	switch {
	case c.Why != "":
		return "no: " + c.Why
	case c.Left > 0:
		return fmt.Sprintf("no: %s left", unit.Count(c.Left, "cycle"))
	case c.Name == "routes":
		how := map[bool]string{true: "no fewer do", false: "found step by step; fewer may do"}[c.Exact]
		return fmt.Sprintf("%d to change; %s; %s", len(c.Routes), how, proven)
	case c.Name == "tagger":
		last := len(c.Priorities) - 1
		return fmt.Sprintf("priorities %s, then %d, which is lossy; %s", priorities(c.Priorities[:last]), c.Priorities[last], proven)
	}
	return proven
}

// lines are the routes of a cure as a file has them, most of them at most.
func (c *Cure) lines(most int) (lines []string) {
	for _, r := range c.Routes[:min(len(c.Routes), most)] {
		lines = append(lines, fmt.Sprintf("- {at: %s, to: %s, ports: [%s], backup: [%s]}", r.At, r.To, strings.Join(r.Ports, ", "), strings.Join(r.Backup, ", ")))
	}
	if n := len(c.Routes) - most; n > 0 {
		lines = append(lines, fmt.Sprintf("%d more; --json has them all", n))
	}
	return lines
}

// span is which cases were checked.
func (r *Report) span() string {
	if len(r.Down) > 0 {
		return [...]string{"no further failure, and the file's own", "no further failure, the file's own, every link and every switch", "no further failure, the file's own, every link, every switch and every pair of links"}[r.Failures]
	}
	return [...]string{
		"no failure, and the file's own",
		"no failure, the file's own, every link and every switch",
		"no failure, the file's own, every link, every switch and every pair of links",
	}[r.Failures]
}

// suchAs introduces a cycle as an example.
func (c *Cycle) suchAs() string {
	text := "such as"
	if down := c.Failures[0]; len(down) > 0 {
		text += " with " + strings.Join(down, " and ") + " down"
	}
	if c.Cases > 1 {
		text += ", and in " + unit.Count(c.Cases-1, "other case")
	}
	return text
}

// needs is what has to be down for a cycle: the first of its failures.
func (c *Cycle) needs() string {
	text := c.When
	if down := c.Failures[0]; len(down) > 0 {
		text += ": " + strings.Join(down, " and ")
	}
	if c.Cases > 1 {
		text += "; " + unit.Count(c.Cases-1, "other case")
	}
	return text
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
