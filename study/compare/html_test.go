package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"softswitch/oracle/verdict"
)

// document is a page, parsed.
func document(t *testing.T, c *Comparison) *html.Node {
	t.Helper()
	var b bytes.Buffer
	if err := c.WriteHTML(&b, []string{"A note with <tags> & signs."}); err != nil {
		t.Fatal(err)
	}
	doc, err := html.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// all are the elements below n of a name, in order.
func all(n *html.Node, name string) (found []*html.Node) {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && d.Data == name {
			found = append(found, d)
		}
	}
	return found
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// text is what a reader sees of n.
func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.TrimSpace(b.String())
}

// cells are the texts of the cells of a row.
func cells(row *html.Node) (texts []string) {
	for c := range row.ChildNodes() {
		if c.Type == html.ElementNode {
			texts = append(texts, text(c))
		}
	}
	return texts
}

// tables are the tables of a class.
func tables(doc *html.Node, class string) (found []*html.Node) {
	for _, t := range all(doc, "table") {
		if attribute(t, "class") == class {
			found = append(found, t)
		}
	}
	return found
}

// shown is a column of the tables: which figures of the JSON it shows, in units of
// unit. A cell "2/3" has two.
var shown = map[string]struct {
	unit float64
	keys []string
}{
	"deadlock: runs with":          {1, []string{"deadlock", "runs"}},
	"deadlock: detected":           {1, []string{"detected", "deadlock"}},
	"deadlock: missed":             {1, []string{"false_negatives", "deadlock"}},
	"latency ms: p50":              {1e6, []string{"latency_ns.p50"}},
	"latency ms: p90":              {1e6, []string{"latency_ns.p90"}},
	"latency ms: max":              {1e6, []string{"latency_ns.max"}},
	"alarms: false":                {1, []string{"false_positives"}},
	"alarms: early":                {1, []string{"premature"}},
	"alarms: late":                 {1, []string{"late"}},
	"recovery: runs":               {1, []string{"recovered", "deadlock"}},
	"recovery: p50 ms":             {1e6, []string{"recovery_ns.p50"}},
	"recovery: max ms":             {1e6, []string{"recovery_ns.max"}},
	"recovery: again":              {1, []string{"recurrences"}},
	"frames: lost":                 {1, []string{"lossless_lost"}},
	"frames: dropped":              {1, []string{"response_dropped"}},
	"frames: kB":                   {1e3, []string{"response_dropped_bytes"}},
	"frames: policed":              {1, []string{"policed"}},
	"innocent flows: end Mbit/s":   {1e6, []string{"innocent.final_bps"}},
	"innocent flows: stalled":      {1, []string{"innocent.stalled"}},
	"innocent flows: touched":      {1, []string{"innocent_touched", "innocent.flows"}},
	"innocent flows: lost":         {1, []string{"innocent_dropped"}},
	"innocent flows: of treated %": {0.01, []string{"innocent_of_treated"}},
	"cost: messages":               {1, []string{"control_messages"}},
	"cost: state B":                {1, []string{"detector_bytes_per_switch"}},
}

// lookUp is a number of a row of the JSON by its path.
func lookUp(t *testing.T, row map[string]any, path string) float64 {
	t.Helper()
	var v any = row
	for key := range strings.SplitSeq(path, ".") {
		v = v.(map[string]any)[key]
	}
	n, ok := v.(float64)
	if !ok {
		t.Fatalf("%s is %v in %v", path, v, row)
	}
	return n
}

// checkCell compares a cell with the JSON's figures, to half a unit of its last
// digit.
func checkCell(t *testing.T, where, column, cell string, row map[string]any) {
	t.Helper()
	want := shown[column]
	if cell == nothing {
		for _, key := range want.keys[len(want.keys)-1:] {
			if n := lookUp(t, row, key); n != 0 && column != "innocent flows: stalled" {
				t.Errorf("%s: nothing is shown, %s is %g", where, key, n)
			}
		}
		return
	}
	parts := strings.Split(cell, "/")
	for i, key := range want.keys {
		got, err := strconv.ParseFloat(parts[i], 64)
		if err != nil {
			t.Errorf("%s: %q is no number", where, cell)
			return
		}
		_, fraction, _ := strings.Cut(parts[i], ".")
		last := math.Pow(10, -float64(len(fraction)))
		if n := lookUp(t, row, key) / want.unit; math.Abs(got-n) > last/2+1e-9 {
			t.Errorf("%s: shows %q, %s is %g", where, cell, key, n)
		}
	}
}

// TestHTMLHasTheFiguresOfTheJSON reads both and compares every cell.
func TestHTMLHasTheFiguresOfTheJSON(t *testing.T) {
	c := played(t, 2)
	doc := document(t, c)
	raw, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var figures struct{ Rows []map[string]any }
	if err := json.Unmarshal(raw, &figures); err != nil {
		t.Fatal(err)
	}
	byName := map[string]map[string]any{}
	for _, r := range figures.Rows {
		byName[fmt.Sprint(r["scenario"], " ", r["system"])] = r
	}

	var names []string
	for _, col := range columns {
		names = append(names, col.Group+": "+col.Head)
	}
	compared, rows := 0, 0
	for _, table := range tables(doc, "figures") {
		heads := all(table, "tr")
		if got := cells(heads[1]); len(got) != len(names) {
			t.Fatalf("columns %q, want %q", got, names)
		}
		for _, tr := range heads[2:] {
			rows++
			got := cells(tr)
			where := attribute(table, "data-scenario") + " " + got[0]
			row := byName[where]
			if row == nil {
				t.Fatalf("%s is in the page and not in the JSON", where)
			}
			if len(got) == 2 {
				if why := fmt.Sprint(row["not_applicable"], row["failed"]); !strings.Contains(why, strings.SplitN(got[1], ": ", 2)[1]) {
					t.Errorf("%s: %q, the JSON says %q", where, got[1], why)
				}
				continue
			}
			for i, name := range names {
				if got[i+1] == "" {
					t.Errorf("%s: an empty cell in column %q", where, name)
				}
				if _, ok := shown[name]; ok {
					checkCell(t, where+", "+name, name, got[i+1], row)
					compared++
				}
			}
		}
	}
	if rows != len(figures.Rows) || compared != 6*len(shown) {
		t.Errorf("%d rows and %d figures were compared; want %d and %d", rows, compared, len(figures.Rows), 6*len(shown))
	}
}

// withConnections is played, and its second scenario has connections, of which all but one
// came to their end.
func withConnections(t *testing.T) *Comparison {
	t.Helper()
	c := played(t, 2)
	for _, r := range c.of("second") {
		if r.Figures == nil {
			continue
		}
		r.Connections = &Connections{Again: 42, Timeouts: 7, Failed: 1, Goodput: 1_500_000, Completion: &verdict.Completion{All: verdict.Completed{Flows: 9, Done: 8, Slowdown: verdict.Tail[float64]{P50: 1.5, P95: 3, P99: 7.125, Max: 8}}}}
		if r.System == "none" {
			r.Connections.Completion = nil
		}
	}
	return c
}

// TestHTMLOfConnections: a scenario with connections has more columns, the others have none
// of them.
func TestHTMLOfConnections(t *testing.T) {
	doc := document(t, withConnections(t))
	for _, table := range tables(doc, "figures") {
		for i, tr := range all(table, "tr") {
			got := cells(tr)
			with, n := attribute(table, "data-scenario") == "second", len(columns)
			if with {
				n += 8
			}
			switch last := strings.Join(got[max(0, len(got)-8):], "|"); {
			case i == 0:
				if strings.HasSuffix(last, "|connections") != with {
					t.Errorf("groups %q", got)
				}
			case i == 1:
				if len(got) != n || strings.HasSuffix(last, "slowdown p99|again|timeouts|gave up|Mbit/s|lost") != with {
					t.Errorf("heads %q", got)
				}
			case len(got) == 2:
				if span := attribute(all(tr, "td")[0], "colspan"); span != strconv.Itoa(n) {
					t.Errorf("%q is as wide as %s columns of %d", got, span, n)
				}
			case with && got[0] == "none" && last != "–|–|–|42|7|1|1.5|–", with && got[0] != "none" && last != "8/9|1.50|7.12|42|7|1|1.5|–", len(got) != n+1:
				t.Errorf("%d cells, the last of them %s", len(got), last)
			}
		}
	}
	if legend := text(all(doc, "dl")[len(all(doc, "dl"))-1]); !strings.Contains(legend, "connections: again") {
		t.Errorf("no word on the columns in %s", legend)
	}
}

// A figure that is not the JSON's is noticed.
func TestHTMLAlarm(t *testing.T) {
	row := map[string]any{"latency_ns": map[string]any{"p50": 45678.0}, "deadlock": 2.0, "runs": 3.0}
	for _, c := range []struct {
		column, cell string
		wrong        bool
	}{
		{"latency ms: p50", "0.046", false},
		{"latency ms: p50", "0.045", true},
		{"latency ms: p50", nothing, true},
		{"latency ms: p50", "soon", true},
		{"deadlock: runs with", "2/3", false},
		{"deadlock: runs with", "2/2", true},
	} {
		var probe testing.T
		checkCell(&probe, "here", c.column, c.cell, row)
		if probe.Failed() != c.wrong {
			t.Errorf("%s %q: noticed %t, want %t", c.column, c.cell, probe.Failed(), c.wrong)
		}
	}
}

func TestHTMLMatrix(t *testing.T) {
	c := played(t, 2)
	doc := document(t, c)
	rows := all(tables(doc, "matrix")[0], "tr")
	if got := strings.Join(cells(rows[0]), "|"); got != "scenario|none|itsy|itsy+drop|itsy+force|itsy+bubble|tagger" {
		t.Errorf("heads: %s", got)
	}
	for i, name := range []string{"first", "second"} {
		if got := strings.Join(cells(rows[i+1]), "|"); got != name+"|missed0 %|found85 %|gone85 %|n/a|failed|n/a" {
			t.Errorf("row %d: %s", i, got)
		}
	}
	totals := all(tables(doc, "totals")[0], "tr")
	if len(totals) != 1+6 {
		t.Errorf("%d rows of totals, want a head and 6", len(totals))
	}
	for i, tr := range totals {
		if got, want := strings.Join(cells(tr), "|"), strings.Join(c.totalRows()[i], "|"); got != want {
			t.Errorf("totals: %s, want %s", got, want)
		}
	}
}

// The page needs nothing but itself: it names no other address.
func TestHTMLIsSelfContained(t *testing.T) {
	doc := document(t, played(t, 2))
	for d := range doc.Descendants() {
		if d.Type != html.ElementNode {
			continue
		}
		switch d.Data {
		case "script", "link", "img", "iframe", "object":
			t.Errorf("the page has a <%s>", d.Data)
		}
		for _, a := range d.Attr {
			if strings.Contains(a.Val, "//") || a.Key == "src" || a.Key == "href" {
				t.Errorf("<%s %s=%q>", d.Data, a.Key, a.Val)
			}
		}
	}
	style := text(all(doc, "style")[0])
	if strings.Contains(style, "url(") || strings.Contains(style, "@import") {
		t.Error("the style sheet loads something")
	}
	if !strings.Contains(style, "@media print") {
		t.Error("the style sheet has nothing for paper")
	}
}

func TestCharts(t *testing.T) {
	charts := played(t, 2).charts()
	if len(charts) != 4 {
		t.Fatalf("%d charts", len(charts))
	}
	latency := charts[0]
	for i, want := range []struct {
		system, text string
		marks        int
	}{
		{"none", "never declared", 0},
		{"itsy", "median 0.091, n = 2", 2},
		{"itsy+drop", "median 0.247, n = 2", 2},
		{"itsy+force", "not played", 0},
		{"itsy+bubble", "not played", 0},
		{"tagger", "not played", 0},
	} {
		l := latency.Lines[i]
		if l.System != want.system || l.Text != want.text || len(l.Marks) != want.marks {
			t.Errorf("line %d: %+v, want %+v", i, l, want)
		}
		for _, m := range l.Marks {
			if x, err := strconv.ParseFloat(m.X, 64); err != nil || x < fieldLeft || x > fieldRight {
				t.Errorf("%s: a mark at %s", l.System, m.X)
			}
		}
	}
	if got := latency.Lines[1].Marks[0].Title; got != "first: 0.091 ms" {
		t.Errorf("a mark says %q", got)
	}
}

// TestChartsAreReadable: no text of a chart is smaller than 14 px on a screen, and what marks
// stand for is told by their shapes.
func TestChartsAreReadable(t *testing.T) {
	doc := document(t, played(t, 2))
	style := text(all(doc, "style")[0])
	for _, want := range []string{"svg text { font: 14px ", fmt.Sprintf("svg.chart { width: 100%%; min-width: %dpx; }", chartWidth)} {
		if !strings.Contains(style, want) {
			t.Errorf("no %q in the style sheet", want)
		}
	}
	shapes := [][]string{{"circle"}, {"rect"}, {"path", "circle"}, {"circle"}}
	charts := 0
	for _, svg := range all(doc, "svg") {
		if attribute(svg, "class") != "chart" {
			continue
		}
		if box := attribute(svg, "viewbox") + attribute(svg, "viewBox"); !strings.HasPrefix(box, fmt.Sprintf("0 0 %d ", chartWidth)) {
			t.Errorf("chart %d: %q; a unit is to be a pixel or more", charts, box)
		}
		for _, shape := range shapes[charts] {
			if len(all(svg, shape)) == 0 {
				t.Errorf("chart %d has no %s", charts, shape)
			}
		}
		charts++
	}
	if charts != len(shapes) {
		t.Errorf("%d charts, want %d", charts, len(shapes))
	}
}

// What a logarithmic axis shows lies in its field, and in order; zeros have a place
// of their own.
func TestLogAxis(t *testing.T) {
	a := logAxis([][]value{{{v: 0}, {v: 0.02}}, {{v: 300}}})
	if a.low != 0.01 || a.high != 1000 {
		t.Errorf("from %g to %g, want 0.01 to 1000", a.low, a.high)
	}
	last := float64(fieldLeft)
	for _, v := range []float64{0, 0.01, 0.02, 1, 300, 1000} {
		if x := a.x(v); x <= last || x > fieldRight {
			t.Errorf("%g stands at %g, the one before at %g", v, x, last)
		} else {
			last = x
		}
	}
	if n := len(a.ticks()); n != 7 {
		t.Errorf("%d ticks, want 0 and 0.01 to 1000", n)
	}
	if got := len(logAxis([][]value{{{v: 0}}}).ticks()); got < 2 {
		t.Errorf("%d ticks of zeros alone", got)
	}
	if got := len(logAxis(nil).ticks()); got < 2 {
		t.Errorf("%d ticks of nothing", got)
	}
}
