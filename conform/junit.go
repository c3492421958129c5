package conform

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"softswitch/unit"
)

// junit is a report as JUnit has it: a testsuite a group. What is undecided is an error, so that nothing
// takes it for a pass.
type junit struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Class   string       `xml:"classname,attr"`
	Name    string       `xml:"name,attr"`
	Time    string       `xml:"time,attr"`
	Failure *junitReason `xml:"failure,omitempty"`
	Error   *junitReason `xml:"error,omitempty"`
	Skipped *junitReason `xml:"skipped,omitempty"`
	Output  string       `xml:"system-out,omitempty"`
}

type junitReason struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr"`
}

// WriteJUnit writes the report as JUnit's XML.
func (r *Report) WriteJUnit(w io.Writer) error {
	all := junit{Name: "softswitch conform " + r.Profile}
	for _, letter := range Groups() {
		s := junitSuite{Name: letter + ": " + GroupTitle(letter)}
		for _, row := range r.Head() {
			s.Properties = append(s.Properties, junitProperty{row[0], row[1]})
		}
		var took unit.Time
		for i := range r.Cases {
			o := &r.Cases[i]
			if o.ID[:1] != letter {
				continue
			}
			c := junitCase{Class: "conform." + letter, Name: o.ID + " " + o.Title, Time: seconds(o.took()), Output: o.text()}
			reason := &junitReason{string(o.Result), o.Reason}
			switch o.Result {
			case Fail:
				c.Failure = reason
				s.Failures++
			case Undecided, Broken:
				c.Error = reason
				s.Errors++
			case Skipped:
				c.Skipped = &junitReason{"", o.Reason}
				s.Skipped++
			}
			took += o.took()
			s.Cases = append(s.Cases, c)
		}
		if s.Tests = len(s.Cases); s.Tests == 0 {
			continue
		}
		s.Time = seconds(took)
		all.Tests, all.Failures, all.Errors, all.Skipped = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors, all.Skipped+s.Skipped
		all.Suites = append(all.Suites, s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func seconds(t unit.Time) string { return fmt.Sprintf("%.3f", float64(t)/float64(unit.Second)) }

// took is how long the trials of a case were.
func (o *Outcome) took() (d unit.Time) {
	for i := range o.Played {
		d += o.Played[i].End
	}
	return d
}

// text is what a case measured, a line for each check, value and note.
func (o *Outcome) text() string {
	var b strings.Builder
	for _, c := range o.Checks {
		fmt.Fprintf(&b, "%s: %s: %s (%s)\n", c.Result, c.What, c.Measured, c.Bound)
	}
	for _, v := range o.Values {
		fmt.Fprintf(&b, "found: %s %s\n", v.Name, v)
	}
	for _, n := range o.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	return b.String()
}

// Head is what a reader is to know of a run besides its cases: names and values.
func (r *Report) Head() (rows [][2]string) {
	world := "in virtual time"
	if r.World == "live" {
		world = "through interfaces"
	}
	rows = append(rows, [2]string{"profile", r.Profile}, [2]string{"played", world}, [2]string{"seed", fmt.Sprint(r.Seed)})
	if r.Version != "" {
		rows = append(rows, [2]string{"softswitch", r.Version})
	}
	for _, line := range r.Machine {
		rows = append(rows, [2]string{"tester", line})
	}
	if r.Before != nil {
		rows = append(rows, [2]string{"before", r.Before.String()})
	}
	if r.After != nil {
		rows = append(rows, [2]string{"after", r.After.String()})
	}
	if r.Cut != "" {
		rows = append(rows, [2]string{"not played to its end", r.Cut})
	}
	return append(rows, [2]string{"PFC", r.pfc()})
}

// pfc is which priorities the DUT was seen to honour and to send, and which it was seen not to.
func (r *Report) pfc() string {
	if r.NoPFC() {
		return fmt.Sprintf("no PFC switch: 0 of %s honour a pause, none is sent", unit.Count(len(r.HonoursNot), "priority"))
	}
	var parts []string
	if len(r.Honours)+len(r.HonoursNot) > 0 {
		parts = append(parts, "honours "+listed(r.Honours))
	}
	if len(r.Sends)+len(r.SendsNot) > 0 {
		parts = append(parts, "sends "+listed(r.Sends))
	}
	var not []int
	for c := range unit.Priorities {
		if (slices.Contains(r.HonoursNot, c) || slices.Contains(r.SendsNot, c)) && !slices.Contains(r.Honours, c) && !slices.Contains(r.Sends, c) {
			not = append(not, c)
		}
	}
	if len(not) > 0 {
		parts = append(parts, "not: "+listed(not))
	}
	if parts == nil {
		return "not tested"
	}
	return strings.Join(parts, "; ")
}
