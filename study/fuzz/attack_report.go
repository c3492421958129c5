package fuzz

import (
	"fmt"
	"io"
	"text/tabwriter"

	"softswitch/internal/stat"
	"softswitch/unit"
)

// AttackReport sums up the outcomes of many cases.
type AttackReport struct {
	Seed     uint64    `json:"seed"`
	Detector string    `json:"detector"`
	Response string    `json:"response"`
	Cases    int       `json:"cases"`
	Invalid  int       `json:"invalid"`
	Attacks  int       `json:"attacks"`
	Strict   AttackSum `json:"strict"`
	Open     AttackSum `json:"without_authentication"`
	// Failures are the files of the cases in which something went wrong on strict links.
	Failures []string `json:"failures"`
}

// AttackSum is that of all runs with links of a mode. The counts of cases are of those in which it
// happened at least once.
type AttackSum struct {
	Frames     uint64 `json:"frame_hops"`
	Deadlocks  int    `json:"deadlocks"`
	Suppressed int    `json:"suppressed"`
	True       int    `json:"true_positives"`
	Late       int    `json:"late"`
	False      int    `json:"false_positives"`
	Premature  int    `json:"premature"`
	Unfounded  int    `json:"unfounded_actions"`
	Acted      int    `json:"cases_with_unfounded_actions"`
	Lost       int    `json:"lossless_lost"`
	Losing     int    `json:"cases_with_lossless_lost"`
	Refused    int    `json:"refused"`
	OfHosts    int    `json:"of_hosts_ignored"`
	OverBudget int    `json:"over_budget"`
}

func (s *AttackSum) add(r *AttackRun) {
	stat.Add(s, r)
	count(&s.Acted, r.Unfounded > 0)
	count(&s.Losing, r.Lost > 0)
}

func newAttackReport(r *Run) *AttackReport {
	return &AttackReport{Seed: r.Seed, Detector: r.detector().Name, Response: attackResponse, Failures: []string{}}
}

// Add counts the outcome of case number i.
func (r *AttackReport) Add(_ int, o *AttackOutcome) {
	r.Cases++
	if o.Invalid != "" {
		r.Invalid++
		return
	}
	r.Attacks += o.Attacks
	r.Strict.add(&o.Strict)
	r.Open.add(&o.Open)
	if o.Strict.Faults() != "" {
		r.Failures = append(r.Failures, o.File)
	}
}

// Clean reports whether every case could be played and nothing went wrong on strict links.
func (r *AttackReport) Clean() bool {
	s := &r.Strict
	return r.Invalid+s.Suppressed+s.False+s.Premature+s.Unfounded+s.Lost == 0
}

// WriteText writes the report for people.
func (r *AttackReport) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "mode %s, detector %s, response %s, seed %d, %s, %s; %d invalid\n\n", Attack, r.Detector, r.Response, r.Seed, unit.Count(r.Cases, "case"), unit.Count(r.Attacks, "attack"), r.Invalid)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	a, b := &r.Strict, &r.Open
	fmt.Fprintf(t, "\tstrict links\twithout authentication\t\n")
	for _, row := range []struct {
		name     string
		strict   int
		open     int
		comments string
	}{
		{"deadlocks", a.Deadlocks, b.Deadlocks, "that had to be declared"},
		{"suppressed", a.Suppressed, b.Suppressed, "of those, that nobody declared"},
		{"true positives", a.True, b.True, ""},
		{"late", a.Late, b.Late, "over for less than 32 hops"},
		{"false positives", a.False, b.False, "never true"},
		{"premature", a.Premature, b.Premature, "true later"},
		{"unfounded actions", a.Unfounded, b.Unfounded, fmt.Sprintf("before a deadlock was declared rightly: in %d and %s", a.Acted, unit.Count(b.Acted, "case"))},
		{"lossless lost", a.Lost, b.Lost, fmt.Sprintf("frames for which there was no room: in %d and %s", a.Losing, unit.Count(b.Losing, "case"))},
		{"refused", a.Refused, b.Refused, "control frames that were not believed"},
		{"of hosts, ignored", a.OfHosts, b.OfHosts, "messages and labels"},
		{"over the budget", a.OverBudget, b.OverBudget, "control frames"},
	} {
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\n", row.name, row.strict, row.open, row.comments)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, f := range r.Failures {
		if _, err := fmt.Fprintln(w, "failed on strict links:", f); err != nil {
			return err
		}
	}
	return nil
}
