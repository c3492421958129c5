package compare

import (
	_ "embed"
	"html/template"
	"io"
	"strings"

	"softswitch/internal/lists"
)

//go:embed page.html
var pageText string

// pageTemplate may break a system's name after each part of it.
var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"parts": func(name string) []string { return strings.SplitAfter(name, "+") },
}).Parse(pageText))

// page is what page.html shows.
type page struct {
	World       string
	Runs        int
	Result      result
	Systems     []System
	Notes       []string
	Innocent    string // who is
	Touched     string // and what is said of them
	Outcomes    any
	Matrix      []matrixRow
	Replays     bool       // there are some, or reasons why not
	NotReplayed []string   // why, and what
	Totals      [][]string // the heads first
	Deadlocking int
	Charts      []chart
	Columns     []column // of all tables
	Tables      []scenarioTable
}

type matrixRow struct {
	Scenario string
	Cells    []matrixCell
}

type matrixCell struct {
	Outcome Outcome
	AtEnd   string
	Replay  replay
}

// group is the heading above columns that belong together.
type group struct {
	Name string
	Span int
}

type scenarioTable struct {
	Scenario string
	Groups   []group
	Columns  []column
	Rows     []scenarioRow
}

// scenarioRow has cells, or says why it has none.
type scenarioRow struct {
	System string
	Cells  []string
	Why    string
}

// WriteHTML writes the comparison as one file that needs nothing else. notes are
// sentences on how it was played.
func (c *Comparison) WriteHTML(w io.Writer, notes []string) error {
	p := page{
		World: c.World, Result: c.result(), Systems: c.described(), Notes: notes, Innocent: innocentNote, Touched: touchedNote, Outcomes: outcomes, Totals: c.totalRows(),
		Deadlocking: len(c.deadlocking()), Charts: c.charts(),
	}
	for i := range c.Rows {
		if f := c.Rows[i].Figures; f != nil {
			p.Runs = max(p.Runs, f.Runs)
		}
	}
	p.Replays, p.NotReplayed = c.replays != nil, c.notReplayed()
	replays := c.replaysByRow()
	var all []*Row
	for _, s := range c.scenarios() {
		rows := c.of(s)
		all = append(all, rows...)
		m, t := matrixRow{Scenario: s}, scenarioTable{Scenario: s, Columns: columnsOf(rows...)}
		t.Groups = groups(t.Columns)
		for _, r := range rows {
			outcome, atEnd := r.brief()
			m.Cells = append(m.Cells, matrixCell{outcome, atEnd, replays[r]})
			t.Rows = append(t.Rows, tableRow(r, t.Columns))
		}
		p.Matrix, p.Tables = append(p.Matrix, m), append(p.Tables, t)
	}
	p.Columns = columnsOf(all...)
	return pageTemplate.Execute(w, p)
}

// groups are those of the columns.
func groups(columns []column) (all []group) {
	for _, col := range columns {
		if n := len(all); n == 0 || all[n-1].Name != col.Group {
			all = append(all, group{Name: col.Group})
		}
		all[len(all)-1].Span++
	}
	return all
}

func tableRow(r *Row, columns []column) scenarioRow {
	row := scenarioRow{System: r.System}
	if r.Figures == nil {
		row.Why = r.why()
		return row
	}
	row.Cells = lists.Map(columns, func(col column) string { return col.Cell(r.Figures) })
	return row
}

// described are the systems that were compared.
func (c *Comparison) described() (systems []System) {
	for _, name := range c.systems() {
		systems = append(systems, lists.Where(Systems(), func(s System) bool { return s.Name == name })...)
	}
	return systems
}
