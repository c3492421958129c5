package fuzz

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"softswitch/internal/stat"
	"softswitch/unit"
)

// ResponsesReport sums up the outcomes of many cases.
type ResponsesReport struct {
	Seed     uint64 `json:"seed"`
	Detector string `json:"detector"`
	Cases    int    `json:"cases"`
	// Locked cases deadlock without a detector; all else is about them.
	Locked  int `json:"locked"`
	Invalid int `json:"invalid"`
	// Found: of the cases in which the smallest cause was sought, those in which there is
	// one. Single: of these, one host or flow is enough.
	Found     stat.Share      `json:"cause_found"`
	Single    stat.Share      `json:"single_cause"`
	Responses []*ResponsesRow `json:"responses"`
	// Pairs are of the first response with each other one, of runs with rows.
	Pairs []*ResponsesPair `json:"pairs,omitempty"`

	rows bool
	all  []lockedCase // of runs with rows
}

// ResponsesRow is a response, with or without reserve.
type ResponsesRow struct {
	Response string `json:"response"`
	Reserve  bool   `json:"reserve"`
	// Cured: no deadlock came back, and none is there at the end.
	Cured       stat.Share `json:"cured"`
	Recurrences stat.Mean  `json:"recurrences_mean"`
	Turns       stat.Mean  `json:"lossy_turns_mean"`
	Policed     stat.Mean  `json:"flows_policed_mean"`
	// Innocents are the mean of innocent flows that are policed, and WithInnocents cases
	// that have one, of those with a known cause.
	Innocents     stat.Mean  `json:"innocents_policed_mean"`
	WithInnocents stat.Share `json:"with_innocents_policed"`
	// Hit is the mean of innocent flows of which frames were dropped on purpose, WithHit cases that
	// have one, and Robbed these frames as a share of them and of what arrived of innocent flows, by
	// case; all of those with a known cause.
	Hit     stat.Mean  `json:"innocents_hit_mean"`
	WithHit stat.Share `json:"with_innocents_hit"`
	Robbed  Quantiles  `json:"innocents_dropped_share"`
	// Goodput of innocents as a share of what they get when the cause is handled from the
	// start; SingleGoodput of the cases with a single cause.
	Goodput       Quantiles `json:"innocents_goodput"`
	SingleGoodput Quantiles `json:"innocents_goodput_single_cause"`
	// Lost are lossless frames for which there was no room, LostIn the cases with one.
	Lost   int        `json:"lossless_lost"`
	LostIn stat.Share `json:"with_lossless_lost"`
	// Dropped is frames dropped on purpose, as a share of those and what arrived, by case.
	Dropped Quantiles `json:"dropped_share"`
}

func newResponsesReport(run *Run) *ResponsesReport {
	r := &ResponsesReport{Seed: run.Seed, Detector: run.detector().Name}
	if r.rows = run.Rows; r.rows {
		r.Pairs = pairs(run)
	}
	quartiles := Quantiles{low: 25, high: 75}
	for _, reserve := range []bool{true, false} {
		for _, c := range run.Responses {
			row := ResponsesRow{Response: c.Name, Reserve: reserve, Robbed: quartiles, Goodput: quartiles, SingleGoodput: quartiles, Dropped: quartiles}
			r.Responses = append(r.Responses, &row)
		}
	}
	return r
}

// Add counts the outcome of a case.
func (r *ResponsesReport) Add(number int, o *ResponsesOutcome) {
	r.Cases++
	if o.Invalid != "" {
		r.Invalid++
		return
	}
	if !o.Locked {
		return
	}
	r.Locked++
	if o.Sought {
		r.Found.Add(o.Found)
	}
	if o.Found {
		r.Single.Add(o.Single)
	}
	for i := range o.Runs {
		r.Responses[i].add(&o.Runs[i], o.Found, o.Single)
	}
	if r.rows {
		r.addPairs(number, o)
	}
}

func (s *ResponsesRow) add(r *ResponsesRun, known, single bool) {
	s.Cured.Add(r.Cured())
	s.LostIn.Add(r.Lost > 0)
	s.Recurrences.Add(r.Recurrences)
	s.Turns.Add(r.Turns)
	s.Policed.Add(r.Policed)
	s.Lost += r.Lost
	if all := r.Dropped + r.Received; all > 0 {
		s.Dropped.of = append(s.Dropped.of, float64(r.Dropped)/float64(all))
	}
	if !known {
		return
	}
	s.Innocents.Add(r.Innocents)
	s.WithInnocents.Add(r.Innocents > 0)
	s.Hit.Add(r.Hit)
	s.WithHit.Add(r.Hit > 0)
	if all := r.InnocentDropped + r.InnocentReceived; all > 0 {
		s.Robbed.of = append(s.Robbed.of, float64(r.InnocentDropped)/float64(all))
	}
	if r.Goodput < 0 { // there are no innocents, or they get nothing anyway
		return
	}
	s.Goodput.of = append(s.Goodput.of, r.Goodput)
	if single {
		s.SingleGoodput.of = append(s.SingleGoodput.of, r.Goodput)
	}
}

// Clean reports whether every case could be played, and no lossless frame was lost for
// want of room.
func (r *ResponsesReport) Clean() bool {
	return r.Invalid == 0 && !slices.ContainsFunc(r.Responses, func(s *ResponsesRow) bool { return s.Lost > 0 })
}

// WriteText writes the report for people.
func (r *ResponsesReport) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "mode %s, detector %s, seed %d, %s: %s; %d invalid\n", Response, r.Detector, r.Seed, unit.Count(r.Cases, "case"), unit.Count(r.Locked, "deadlock"), r.Invalid)
	fmt.Fprintf(w, "a smallest cause was found in %s %%, a single host or flow in %s %% of those\nshares in per cent, means and medians, with their 95 %% intervals\n\n", r.Found, r.Single)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "response\treserve\tcured\trecurrences\tlossy turns\tpoliced\tinnocents\tin cases\tinnocents hit\tin cases\tlost of theirs\tquartiles\tgoodput of innocents\tquartiles\tsingle cause\tquartiles\tdropped\tquartiles\tno room")
	for _, s := range r.Responses {
		reserve := "yes"
		if !s.Reserve {
			reserve = "none"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\n", s.Response, reserve, s.Cured, s.Recurrences, s.Turns, s.Policed,
			s.Innocents, s.WithInnocents, s.Hit, s.WithHit, s.Robbed.text(100, 1), s.Goodput.text(1, 2), s.SingleGoodput.text(1, 2), s.Dropped.text(100, 1), s.Lost)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprint(w, `
cured        no deadlock came back, and none is there at the end
recurrences  mean; lossy turns and flows policed too
innocents    mean of innocent flows that are policed, and the cases that have one
hit          mean of innocent flows of which frames were dropped on purpose, by whatever action,
             and the cases that have one
lost         of theirs: these frames, in per cent of them and of what arrived of innocent flows:
             median of cases
goodput      of innocents, as a share of what they get when the cause is handled from the start:
             median, and that of the cases in which a single host or flow is the cause
dropped      frames dropped on purpose, in per cent of them and of what arrived: median of cases
no room      lossless frames for which there was no room
`)
	if err != nil {
		return err
	}
	return r.writePairs(w)
}
