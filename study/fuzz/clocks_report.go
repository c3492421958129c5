package fuzz

import (
	"fmt"
	"io"
	"text/tabwriter"

	"softswitch/internal/stat"
	"softswitch/unit"
)

// ClocksReport sums up the outcomes of many cases.
type ClocksReport struct {
	Seed     uint64 `json:"seed"`
	Detector string `json:"detector"`
	Cases    int    `json:"cases"`
	Invalid  int    `json:"invalid"`
	Steps    int    `json:"cases_with_a_step"`
	Findings int    `json:"findings"`
	// Wrong are findings that are judged other than by one clock, and WrongMissed deadlocks
	// that are wrongly said to be missed, or not to be.
	Wrong       int `json:"wrong"`
	WrongMissed int `json:"wrong_missed"`
	// Undecided of all findings, and of those whose time is known to less than a hop.
	Undecided     stat.Share `json:"undecided"`
	NearUndecided stat.Share `json:"undecided_below_a_hop"`
	// Of the deadlocks that are missed those that are found to be; UndecidedDeadlocks are how
	// many possible ones there are of which it is not known, missed or not.
	Deadlocks          int        `json:"deadlocks"`
	MissedFound        stat.Share `json:"missed_found"`
	UndecidedDeadlocks int        `json:"undecided_deadlocks"`
	// Naive is how many findings and missed deadlocks are wrong if logs are merged by
	// constant offsets.
	Naive int `json:"naive_wrong"`
	// BelowHop are the cases in which the bounds of what is logged are, in the median, apart
	// by less than a hop; Bounds are the medians of all cases that have one, in hops.
	BelowHop stat.Share `json:"bound_below_a_hop"`
	Bounds   Quantiles  `json:"bound_hops"`
	// Wrongs say what is wrong, case by case.
	Wrongs []string `json:"wrongs"`
}

func newClocksReport(r *Run) *ClocksReport {
	return &ClocksReport{Seed: r.Seed, Detector: r.detector().Name, Bounds: Quantiles{low: 10, high: 90}, Wrongs: []string{}}
}

// Add counts the outcome of case number i.
func (r *ClocksReport) Add(i int, o *ClocksOutcome) {
	r.Cases++
	if o.Invalid != "" {
		r.Invalid++
		return
	}
	count(&r.Steps, o.Steps)
	stat.Add(r, o)
	addShare(&r.Undecided, o.Undecided, o.Findings)
	addShare(&r.NearUndecided, o.NearUndecided, o.Near)
	addShare(&r.MissedFound, o.MissedFound, o.Missed)
	r.BelowHop.Add(o.Typical < o.Hop)
	if o.Typical < unit.Never {
		r.Bounds.of = append(r.Bounds.of, float64(o.Typical)/float64(o.Hop))
	}
	if o.Why != "" {
		r.Wrongs = append(r.Wrongs, fmt.Sprintf("seed %d, case %d: %s", r.Seed, i, o.Why))
	}
}

func addShare(s *stat.Share, n, of int) {
	for i := range of {
		s.Add(i < n)
	}
}

// Clean reports whether every case could be played and nothing was wrong.
func (r *ClocksReport) Clean() bool { return r.Invalid+r.Wrong+r.WrongMissed == 0 }

// percent is a share and how far it is known.
func percent(s stat.Share) string {
	if s.Of == 0 {
		return "-"
	}
	low, high := s.Interval()
	return fmt.Sprintf("%.1f %% (%.1f-%.1f)", 100*float64(s.N)/float64(s.Of), 100*low, 100*high)
}

// WriteText writes the report for people.
func (r *ClocksReport) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "mode %s, detector %s, seed %d, %s, a clock steps in %d; %d invalid\n\n", Clocks, r.Detector, r.Seed, unit.Count(r.Cases, "case"), r.Steps, r.Invalid)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "findings\t%d\t\n", r.Findings)
	fmt.Fprintf(t, "wrong\t%d\tjudged other than by one clock\n", r.Wrong)
	fmt.Fprintf(t, "undecided\t%d\t%s of all\n", r.Undecided.N, percent(r.Undecided))
	fmt.Fprintf(t, "\t%d\t%s of the %d whose time is known to less than a hop\n", r.NearUndecided.N, percent(r.NearUndecided), r.NearUndecided.Of)
	fmt.Fprintf(t, "deadlocks\t%d\t%d of them missed\n", r.Deadlocks, r.MissedFound.Of)
	fmt.Fprintf(t, "wrong\t%d\tsaid to be missed, or not to be\n", r.WrongMissed)
	fmt.Fprintf(t, "found missed\t%d\t%s of those that are\n", r.MissedFound.N, percent(r.MissedFound))
	fmt.Fprintf(t, "undecided\t%d\tpossible deadlocks, missed or not\n", r.UndecidedDeadlocks)
	fmt.Fprintf(t, "naive merge\t%d\tfindings and missed deadlocks wrong, by constant offsets\n", r.Naive)
	fmt.Fprintf(t, "bound\t%.2f\thops in the median case; p10 %.2f, p90 %.2f; none in %d cases\n", r.Bounds.at(50), r.Bounds.at(10), r.Bounds.at(90), r.Cases-r.Invalid-len(r.Bounds.of))
	fmt.Fprintf(t, "\t%d\tcases with one below a hop, %s\n", r.BelowHop.N, percent(r.BelowHop))
	if err := t.Flush(); err != nil {
		return err
	}
	for _, why := range r.Wrongs {
		if _, err := fmt.Fprintln(w, why); err != nil {
			return err
		}
	}
	return nil
}
