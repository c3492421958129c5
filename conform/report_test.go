package conform

import (
	"encoding/json"
	"encoding/xml"
	"slices"
	"strings"
	"testing"

	"softswitch/unit"
)

// oneOfEach is a report with a case of each result.
func oneOfEach() *Report {
	r := &Report{Format: "conform/1", Profile: "dut <1>", World: "live", Seed: 7, Machine: []string{"Linux 6 & more"}, Honours: []int{3}, HonoursNot: []int{4}, Sends: []int{3}}
	for i, of := range []struct {
		id     string
		result Result
	}{{"R01", Pass}, {"R04", Fail}, {"R05", Undecided}, {"T01", Skipped}, {"T03", Broken}} {
		c := Find(of.id)
		o := Outcome{ID: of.id, Title: c.Title, Verdict: Verdict{
			Result: of.result, Reason: "because " + of.id,
			Checks: []Check{{Result: Pass, What: "frames", Measured: "0", Bound: "0"}, {Result: of.result, What: "time", Measured: "9ms", Bound: "at most 5ms", Lo: 8e6, Hi: 9e6}},
		}, Played: []Trial{{Title: "trial", End: unit.Time(i+1) * unit.Second}}}
		r.Cases = append(r.Cases, o)
	}
	r.Cases[0].Reason = ""
	return r
}

// TestJUnit: what JUnit's readers count is what there is, and what is undecided is no pass.
func TestJUnit(t *testing.T) {
	var text strings.Builder
	if err := oneOfEach().WriteJUnit(&text); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Skipped  int `xml:"skipped,attr"`
		Suites   []struct {
			Name  string  `xml:"name,attr"`
			Time  float64 `xml:"time,attr"`
			Cases []struct {
				Name    string `xml:"name,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
				} `xml:"failure"`
				Error *struct {
					Type string `xml:"type,attr"`
				} `xml:"error"`
				Skipped *struct{} `xml:"skipped"`
				Output  string    `xml:"system-out"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(text.String()), &got); err != nil {
		t.Fatalf("%v\n%s", err, &text)
	}
	if got.Tests != 5 || got.Failures != 1 || got.Errors != 2 || got.Skipped != 1 || len(got.Suites) != 2 || got.Suites[0].Time != 6 {
		t.Errorf("%+v", got)
	}
	r, u, s := got.Suites[0].Cases[1], got.Suites[0].Cases[2], got.Suites[1].Cases[0]
	if r.Failure == nil || r.Failure.Message != "because R04" || u.Error == nil || u.Error.Type != "undecided" || s.Skipped == nil || !strings.Contains(r.Output, "time: 9ms (at most 5ms)") {
		t.Errorf("%s", &text)
	}
	if first := got.Suites[0].Cases[0]; first.Failure != nil || first.Error != nil || first.Skipped != nil {
		t.Errorf("a pass is %+v", first)
	}
}

// TestText: the report for people has a line for each case, and says at its end what the switch does.
func TestText(t *testing.T) {
	var text strings.Builder
	if err := oneOfEach().WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"R01  pass       ", "frames: 0 (0)\n", "because R04\n", "PFC: honours 3; sends 3; not: 4\n",
		"dut <1>: 1 pass, 1 fail, 1 undecided, 1 skipped, 1 error\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
}

// TestSpanJSON: a span is the list of its ends.
func TestSpanJSON(t *testing.T) {
	text, err := json.Marshal(Span{-3, 5})
	var s Span
	if err != nil || string(text) != "[-3,5]" || json.Unmarshal(text, &s) != nil || s != (Span{-3, 5}) {
		t.Errorf("%s, %v, %v", text, s, err)
	}
	if json.Unmarshal([]byte(`{"Lo":1}`), &s) == nil {
		t.Error("an object is read as a span")
	}
}

// TestCoverage: the cases name tests of others that the table knows, and each row of the table has a case, or
// a reason why it has none.
func TestCoverage(t *testing.T) {
	for _, stray := range Strays() {
		t.Errorf("%s: no such test in the table of coverage.go", stray)
	}
	text, whole := Markdown(Cases()), true
	for _, g := range groups {
		if len(g.Cases) == 0 {
			whole = false // rows of its cases are empty
		} else if !strings.Contains(text, "## "+g.Letter+": "+g.Title+"\n") {
			t.Errorf("no table of group %s", g.Letter)
		}
	}
	for i := range foreignTests {
		f := &foreignTests[i]
		if sourceTitles[f.Source] == "" {
			t.Errorf("%s has no title", f.Source)
		}
		if whole && len(f.Cases()) == 0 && f.Not == "" {
			t.Errorf("%s, %s: no case stands for it, and the table does not say why", f.Source, f.Test)
		}
	}
}

// TestForeignNames: a test is named by its whole name.
func TestForeignNames(t *testing.T) {
	f := &Foreign{Source: ofSnappi, Test: "m2o_oversubscribe_lossless"}
	for text, want := range map[string]bool{
		"snappi m2o_oversubscribe_lossless":                      true,
		"snappi pause_lossy, m2o_oversubscribe_lossless":         true,
		"snappi m2o_oversubscribe_lossless_lossy":                false,
		"snappi x_m2o_oversubscribe_lossless":                    false,
		"pfcwd m2o_oversubscribe_lossless":                       false,
		"RFC 8239 incast; snappi m2o_oversubscribe_lossless":     true,
		"snappi m2o_oversubscribe_lossless_lossy, response_time": false,
	} {
		if got := slices.ContainsFunc(items(text), f.names); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestRounded: a speed that was measured is one that ports have, if it is near it.
func TestRounded(t *testing.T) {
	for speed, want := range map[float64]unit.Rate{
		97e6: 100e6, 103e6: 100e6, 10.2e9: 10e9, 24.1e9: 25e9, 41e6: 40e6, 399e9: 400e9, 63.4e6: 63e6, 88e6: 88e6, 791e9: 800e9,
	} {
		if got := rounded(speed); got != want {
			t.Errorf("%g: %v, want %v", speed, got, want)
		}
	}
}
