package compare

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"softswitch/oracle/verdict"
)

// said is the result, a statement a line.
func said(c *Comparison) string {
	r := c.result()
	lines := []string{r.First}
	for _, s := range r.Statements {
		lines = append(lines, s.What+": "+s.List())
	}
	return strings.Join(lines, "\n")
}

// TestResult: every system is counted under what is true of it, and one that was played
// nowhere under nothing.
func TestResult(t *testing.T) {
	want := `Scenarios that deadlock without a system: 2 of 2. A system is counted where it could be played. Pairs that could not be played though they should have been: 2 of 12.
Every deadlock was gone at the end, and none came back (scenarios): itsy+drop (2 of 2)
A deadlock was left at the end, or came back (scenarios): none (2 of 2), itsy (2 of 2)
Every deadlock was declared while it lived (runs with one, and the share of all seeds in per cent): itsy (6 of 6: 100 (61-100)), itsy+drop (6 of 6: 100 (61-100))
No alarm was false or early, in any scenario: itsy, itsy+drop
Price of the systems that broke or prevented deadlocks, beside no system (frames lost, dropped to break a deadlock, policed): none (18, 0, 0), itsy+drop (0, 102, 0)`
	if got := said(played(t, 2)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// figures are of some runs, with these sums.
func figures(runs int, equal bool, sums verdict.Sums) *Figures {
	f := &Figures{Runs: runs, Equal: equal, Sums: verdict.SumsOf(nil)}
	maps.Copy(f.Sums, sums)
	return f
}

// TestResultOfOtherRows: alarms, deadlocks that nobody declared, and none that came about;
// three runs that are equal count as one.
func TestResultOfOtherRows(t *testing.T) {
	c := &Comparison{World: "sim", Rows: []Row{
		{Scenario: "locks", System: "none", Figures: figures(3, false, verdict.Sums{"deadlock": 3, "false_negatives": 3})},
		{Scenario: "locks", System: "itsypaper", Figures: figures(3, false, verdict.Sums{"deadlock": 3, "detected": 1, "false_negatives": 2, "false_positives": 4, "premature": 1})},
		{Scenario: "locks", System: "tagger", Figures: figures(3, false, verdict.Sums{})},
		{Scenario: "locks always", System: "none", Figures: figures(3, true, verdict.Sums{"deadlock": 3, "false_negatives": 3})},
		{Scenario: "locks always", System: "itsypaper", Figures: figures(3, true, verdict.Sums{"deadlock": 3, "false_negatives": 3})},
		{Scenario: "locks always", System: "tagger", Figures: figures(3, true, verdict.Sums{})},
		{Scenario: "open", System: "none", Figures: figures(3, false, verdict.Sums{})},
		{Scenario: "open", System: "itsypaper", Figures: figures(3, false, verdict.Sums{"false_positives": 7})},
		{Scenario: "open", System: "tagger", NotApplicable: "topology without levels"},
	}}
	want := `Scenarios that deadlock without a system: 2 of 3. A system is counted where it could be played.
No deadlock formed (scenarios): tagger (2 of 2)
A deadlock was left at the end, or came back (scenarios): none (2 of 2), itsypaper (2 of 2)
A deadlock was not declared while it lived (runs, of those with a deadlock, and the share of all seeds in per cent): itsypaper (3 of 4: 75 (30-95))
Alarms were false or early, in any scenario (how many): itsypaper (12)
Price of the systems that broke or prevented deadlocks, beside no system (frames lost, dropped to break a deadlock, policed): none (0, 0, 0), tagger (0, 0, 0)`
	if got := said(c); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	c.Rows = slices.DeleteFunc(c.Rows, func(r Row) bool { return r.System == "none" })
	if got := said(c); !strings.HasPrefix(got, "Scenarios that deadlock with any of the systems: 2 of 3.") {
		t.Errorf("without the system none: %s", got)
	}
}

// TestResultComesFirst: it stands before the matrix, or the lines of the rows.
func TestResultComesFirst(t *testing.T) {
	c := played(t, 2)
	var page, markdown, words bytes.Buffer
	for _, err := range []error{c.WriteHTML(&page, nil), c.WriteMarkdown(&markdown, nil), c.WriteText(&words)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range []struct{ name, text, table string }{
		{"page", page.String(), `<table class="matrix">`},
		{"Markdown", markdown.String(), "| scenario |"},
		{"text", words.String(), "scenario  "},
	} {
		table := strings.Index(w.text, w.table)
		for _, what := range append(strings.Split("itsy+drop (2 of 2)|Scenarios that deadlock", "|"), c.result().Statements[0].What) {
			if at := strings.Index(strings.ReplaceAll(w.text, "&#43;", "+"), what); at < 0 || at > table {
				t.Errorf("%s: %q stands at %d, the table at %d", w.name, what, at, table)
			}
		}
	}
}
