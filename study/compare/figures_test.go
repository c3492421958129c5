package compare

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"softswitch/oracle/verdict"
	"softswitch/study/sweep"
)

// TestFigureIsOneLine: a figure that is added to the list is a column of a sweep, a key of a summary and of a
// row, which is read as it was written, and a column of the tables of rows.
func TestFigureIsOneLine(t *testing.T) {
	figures := verdict.Figures
	t.Cleanup(func() { verdict.Figures = figures })
	frames := slices.IndexFunc(figures, func(f verdict.Figure) bool { return f.Key == "lossless_lost" })
	times := slices.IndexFunc(figures, func(f verdict.Figure) bool { return f.Key == "onset_ns" })
	verdict.Figures = append(slices.Clone(figures),
		verdict.Figure{Key: "rewrites", Text: "frames that were written anew", Sum: figures[frames].Sum, Of: func(*verdict.Verdict) any { return 21 }},
		verdict.Figure{Key: "idle_ns", Text: "for how long nothing moved", Sum: figures[times].Sum, Of: func(v *verdict.Verdict) any { return v.Duration }})

	const text = "name: x\ntopology: {switches: [s1], hosts: [a, b], links: [a--s1, b--s1], rate: 1Gbit/s, delay: 1us}\nflows: [{name: f, from: a, to: b}]\nduration: 1ms\n"
	s := sweep.Sweep{File: "x.yaml", Data: []byte(text), Seeds: sweep.Seeds{From: 1, Times: 1, Workers: 1}, Show: &bytes.Buffer{}}
	c, err := s.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var rows bytes.Buffer
	if err := c.Play(t.Context(), &rows, sweep.CSV); err != nil {
		t.Fatal(err)
	}
	if head, row, _ := strings.Cut(rows.String(), "\n"); !strings.Contains(head, "cnps,rewrites,idle_ns,throughput_bps.f") || !strings.Contains(row, ",21,1000000,") {
		t.Errorf("sweep writes\n%s", &rows)
	}

	runs := []*verdict.Verdict{quiet(), quiet()}
	const want = `"rewrites":42,"idle_ns":{"samples":2,`
	if summary, err := json.Marshal(verdict.Summarize(runs)); err != nil || !strings.Contains(string(summary), want) {
		t.Errorf("%v, summary %s\nwant in it %s", err, summary, want)
	}
	row := Row{Scenario: "x", System: "none", Figures: &Figures{Runs: 2, Sums: verdict.SumsOf(runs)}}
	written, err := json.Marshal(row)
	if err != nil || !strings.HasSuffix(string(written), `,"rewrites":42,"idle_ns":{"samples":2,"p50":0,"p90":0,"min":0,"max":0}}`) {
		t.Errorf("%v, row %s\nwant at its end %s", err, written, want)
	}
	var read Row
	if err := json.Unmarshal(written, &read); err != nil || !reflect.DeepEqual(read, row) {
		t.Errorf("%v, written %+v\nread %+v", err, row.Figures, read.Figures)
	}
	cells := map[string]string{}
	for _, col := range columnsOf(&row) {
		cells[col.Head] = col.Cell(row.Figures)
	}
	if cells["rewrites"] != "42" || cells["idle_ns"] != "0.000" {
		t.Errorf("cells %v", cells)
	}
}
