package fuzz

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"softswitch/internal/stat"
)

// ResponsesPair is two responses on the same cases, by which of them cured. First is the first response of
// the run, with the same reserve.
type ResponsesPair struct {
	First, Second string
	Reserve       bool
	Cured         [2][2]int // cases, by whether the first cured, and the second
}

// p is McNemar's exact two-sided p of the cases that one of them alone cured.
func (s *ResponsesPair) p() float64 { return stat.McNemar(s.Cured[1][0], s.Cured[0][1]) }

// MarshalJSON writes the counts and p.
func (s *ResponsesPair) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		First      string  `json:"first"`
		Second     string  `json:"second"`
		Reserve    bool    `json:"reserve"`
		Both       int     `json:"both_cured"`
		OnlyFirst  int     `json:"only_first_cured"`
		OnlySecond int     `json:"only_second_cured"`
		Neither    int     `json:"neither_cured"`
		P          float64 `json:"mcnemar_p"`
	}{s.First, s.Second, s.Reserve, s.Cured[1][1], s.Cured[1][0], s.Cured[0][1], s.Cured[0][0], s.p()})
}

// pairs are those of a run's responses, of no case.
func pairs(run *Run) (all []*ResponsesPair) {
	for _, reserve := range []bool{true, false} {
		for _, c := range run.Responses[1:] {
			all = append(all, &ResponsesPair{First: run.Responses[0].Name, Second: c.Name, Reserve: reserve})
		}
	}
	return all
}

// addPairs counts a case that deadlocks, and keeps it for its rows.
func (r *ResponsesReport) addPairs(i int, o *ResponsesOutcome) {
	r.all = append(r.all, lockedCase{i, o})
	n := len(o.Runs) / 2 // responses
	for k, s := range r.Pairs {
		of := k / (n - 1) * n // the first response, with reserve or without
		s.Cured[index(o.Runs[of].Cured())][index(o.Runs[of+1+k%(n-1)].Cured())]++
	}
}

func index(is bool) (i int) {
	count(&i, is)
	return i
}

// lockedCase is a case with a deadlock.
type lockedCase struct {
	index int
	*ResponsesOutcome
}

// responseRow is such a case with a response.
type responseRow struct {
	seed               uint64
	index              int
	detector, response string
	reserve, known     bool // known: the smallest cause, and so who is innocent
	*ResponsesRun
}

// responseColumns are those of mode response.
var responseColumns = []column[responseRow]{
	{Column{"seed", "of the run"}, func(r *responseRow) string { return strconv.FormatUint(r.seed, 10) }},
	{Column{"case", "its number, from 0"}, func(r *responseRow) string { return strconv.Itoa(r.index) }},
	{Column{"mode", "`response`"}, func(*responseRow) string { return string(Response) }},
	{Column{"detector", "its name"}, func(r *responseRow) string { return r.detector }},
	{Column{"response", "its name"}, func(r *responseRow) string { return r.response }},
	{Column{"reserve", "whether switches have something to lend"}, func(r *responseRow) string { return strconv.FormatBool(r.reserve) }},
	{Column{"cured", "whether no deadlock came back, and none is there at the end"}, func(r *responseRow) string { return strconv.FormatBool(r.Cured()) }},
	{Column{"gone", "whether no deadlock is there at the end"}, func(r *responseRow) string { return strconv.FormatBool(r.Gone) }},
	{Column{"recurrences", "how often a deadlock came back"}, func(r *responseRow) string { return strconv.Itoa(r.Recurrences) }},
	{Column{"turns", "times that a turn was made lossy"}, func(r *responseRow) string { return strconv.Itoa(r.Turns) }},
	{Column{"flows_policed", "flows"}, func(r *responseRow) string { return strconv.Itoa(r.Policed) }},
	{Column{"lossless_lost", "lossless frames without room"}, func(r *responseRow) string { return strconv.Itoa(r.Lost) }},
	{Column{"dropped", "frames dropped on purpose"}, func(r *responseRow) string { return strconv.Itoa(r.Dropped) }},
	{Column{"received", "frames that arrived"}, func(r *responseRow) string { return strconv.Itoa(r.Received) }},
	{Column{"innocents_goodput", "of innocent flows, as a share of what they get when the cause is handled from the start; this and the next two are empty where it is not known"}, known(func(r *responseRow) string {
		if r.Goodput < 0 {
			return ""
		}
		return strconv.FormatFloat(r.Goodput, 'f', 4, 64)
	})},
	{Column{"innocents_hit", "innocent flows of which frames were dropped on purpose"}, known(func(r *responseRow) string { return strconv.Itoa(r.Hit) })},
	{Column{"innocents_dropped_share", "of these frames and of what arrived of innocent flows"}, known(func(r *responseRow) string {
		all := r.InnocentDropped + r.InnocentReceived
		if all == 0 {
			return ""
		}
		return strconv.FormatFloat(float64(r.InnocentDropped)/float64(all), 'f', 4, 64)
	})},
}

// ResponseColumns are the columns of rows of mode response.
func ResponseColumns() []Column { return columnsOf(responseColumns) }

// known is a column of cases whose smallest cause was found.
func known(of func(r *responseRow) string) func(r *responseRow) string {
	return func(r *responseRow) string {
		if !r.known {
			return ""
		}
		return of(r)
	}
}

// WriteRows writes a row of each case that deadlocks and each response, with reserve and without. There are
// none unless the run asked for rows.
func (r *ResponsesReport) WriteRows(w io.Writer) error {
	n := len(r.Responses)
	return writeRows(w, responseColumns, n*len(r.all), func(i int) responseRow {
		o, s := &r.all[i/n], r.Responses[i%n]
		return responseRow{r.Seed, o.index, r.Detector, s.Response, s.Reserve, o.Found, &o.Runs[i%n]}
	})
}

// writePairs writes the pairs for people.
func (r *ResponsesReport) writePairs(w io.Writer) error {
	if len(r.Pairs) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\nbeside %s\treserve\tboth cured\tonly %s\tonly the other\tneither\tp\n", r.Pairs[0].First, r.Pairs[0].First)
	for _, s := range r.Pairs {
		reserve := "yes"
		if !s.Reserve {
			reserve = "none"
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%d\t%s\n", s.Second, reserve, s.Cured[1][1], s.Cured[1][0], s.Cured[0][1], s.Cured[0][0], chance(s.p()))
	}
	fmt.Fprintf(t, "\np: McNemar's exact test, two-sided, of the cases that one alone cured\n")
	return t.Flush()
}
