package conform

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"softswitch/unit"
)

// Report is what a session has come to.
type Report struct {
	Format  string `json:"format"` // "conform/1"
	Profile string `json:"profile"`
	World   string `json:"world,omitempty"` // "live" or "sim"; "" of records
	Seed    uint64 `json:"seed,omitempty"`
	// Version is that of the program that played it.
	Version string `json:"softswitch,omitempty"`
	// Machine is what was tested with: versions, interfaces, stamps; Before and After what the tester
	// could do. All three only of a live test.
	Machine []string     `json:"machine,omitempty"`
	Before  *Calibration `json:"before,omitempty"`
	After   *Calibration `json:"after,omitempty"`
	Cases   []Outcome    `json:"cases"`
	// Honours and Sends are the priorities of pauses that the DUT was seen to honour and to send, Not those
	// that it was seen not to.
	Honours    []int `json:"honours"`
	HonoursNot []int `json:"honours_not"`
	Sends      []int `json:"sends"`
	SendsNot   []int `json:"sends_not"`
	// Cut is why the test ended before all cases were played, "" if it did not.
	Cut string `json:"cut,omitempty"`
}

// What a DUT was seen to do about a priority, as names of values.
const (
	honours = "honours"
	sends   = "sends"
)

// does reports whether the DUT honours, or sends, the pauses of a priority.
func (j *Judge) does(what string, c unit.Priority, is bool) {
	n := 0.0
	if is {
		n = 1
	}
	j.verdict.Does = append(j.verdict.Does, Value{j.id, fmt.Sprintf("%s %d", what, c), n, n, ""})
}

// seen is the priorities of which a session has seen that the DUT does something, or does not.
func (r *Report) seen(what string) (does, not []int) {
	does, not = []int{}, []int{}
	for c := range unit.Priorities {
		name, is, known := fmt.Sprintf("%s %d", what, c), true, false
		for i := range r.Cases {
			for _, v := range r.Cases[i].Does {
				if v.Name == name {
					known, is = true, is && v.Lo > 0
				}
			}
		}
		switch {
		case known && is:
			does = append(does, c)
		case known:
			not = append(not, c)
		}
	}
	return does, not
}

// NoPFC reports whether the DUT was seen to be no PFC switch at all.
func (r *Report) NoPFC() bool {
	return len(r.Honours)+len(r.Sends) == 0 && len(r.HonoursNot) > 0 && len(r.SendsNot) > 0
}

// Report is the report of all cases that have ended.
func (s *Session) Report() *Report {
	r := ReportOf(s.task.Profile, s.results)
	if r.Seed = s.task.Seed; s.task.Live {
		r.World = "live"
	} else {
		r.World = "sim"
	}
	return r
}

// ReportOf is the report of cases that were judged.
func ReportOf(p *Profile, cases []Outcome) *Report {
	r := &Report{Format: "conform/1", Profile: p.Name, Cases: cases}
	r.Honours, r.HonoursNot = r.seen(honours)
	r.Sends, r.SendsNot = r.seen(sends)
	return r
}

// Number is how many cases ended with a result.
func (r *Report) Number(of Result) (n int) {
	for i := range r.Cases {
		if r.Cases[i].Result == of {
			n++
		}
	}
	return n
}

// ExitCode is 0 if all passed that were played, 1 if one failed, 2 if one could not be played, and 3 if
// some are undecided and none is worse.
func (r *Report) ExitCode() int {
	switch {
	case r.Number(Fail) > 0, r.NoPFC():
		return 1
	case r.Number(Broken) > 0, r.Cut != "":
		return 2
	case r.Number(Undecided) > 0:
		return 3
	}
	return 0
}

// deciding is the check that a line of the report shows: the first of the worst ones.
func (v *Verdict) deciding() (c Check, ok bool) {
	for _, c := range v.Checks {
		if c.Result == v.Result {
			return c, true
		}
	}
	return c, false
}

// WriteText writes a line for each case, and what the results come to.
func (r *Report) WriteText(w io.Writer) error {
	if r.NoPFC() {
		fmt.Fprintln(w, r.pfc())
	}
	for _, line := range r.Machine {
		fmt.Fprintf(w, "%s\n", line)
	}
	if r.Before != nil {
		fmt.Fprintf(w, "before: %v\n", r.Before)
	}
	if r.After != nil {
		fmt.Fprintf(w, "after:  %v\n", r.After)
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i := range r.Cases {
		o := &r.Cases[i]
		line := o.Reason
		if o.Result == Pass {
			if c, ok := o.deciding(); ok {
				line = fmt.Sprintf("%s: %s (%s)", c.What, c.Measured, c.Bound)
			}
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", o.ID, o.Result, o.Title, line)
		for _, v := range o.Values {
			fmt.Fprintf(tw, "\t\t\tfound: %s %s\n", v.Name, v)
		}
		for _, n := range o.Notes {
			fmt.Fprintf(tw, "\t\t\tnote: %s\n", n)
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if len(r.Honours)+len(r.Sends)+len(r.HonoursNot)+len(r.SendsNot) > 0 && !r.NoPFC() {
		fmt.Fprintf(w, "PFC: %s\n", r.pfc())
	}
	if r.Cut != "" {
		fmt.Fprintf(w, "not played to its end: %s\n", r.Cut)
	}
	_, err := fmt.Fprintln(w, r.Answer())
	return err
}

// Answer is the report in a line: how many cases ended how.
func (r *Report) Answer() string {
	var parts []string
	for _, of := range []Result{Pass, Fail, Undecided, Skipped, Broken} {
		if n := r.Number(of); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, of))
		}
	}
	return fmt.Sprintf("%s: %s", r.Profile, strings.Join(parts, ", "))
}

// listed is priorities in words.
func listed(priorities []int) string {
	var s unit.PrioritySet
	for _, c := range priorities {
		s.Add(unit.Priority(c))
	}
	return s.String()
}
