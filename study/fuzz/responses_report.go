package fuzz

import (
	"slices"

	"softswitch/detect/respond"
	"softswitch/internal/stat"
)

// ResponsesReport sums up the outcomes of many cases. Its JSON is the same for the same cases,
// however many were played in parallel.
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
}

// ResponsesRow is a response, with or without reserve.
type ResponsesRow struct {
	Response string `json:"response"`
	Reserve  bool   `json:"reserve"`
	// Cured: no deadlock came back, and none is there at the end.
	Cured       stat.Share `json:"cured"`
	Recurrences float64    `json:"recurrences_mean"`
	Turns       float64    `json:"lossy_turns_mean"`
	Policed     float64    `json:"flows_policed_mean"`
	// Innocents are the mean of innocent flows that are policed, and WithInnocents cases
	// that have one, of those with a known cause.
	Innocents     float64    `json:"innocents_policed_mean"`
	WithInnocents stat.Share `json:"with_innocents_policed"`
	// Hit is the mean of innocent flows of which frames were dropped on purpose, WithHit cases that
	// have one, and Robbed these frames as a share of them and of what arrived of innocent flows, by
	// case; all of those with a known cause.
	Hit     float64            `json:"innocents_hit_mean"`
	WithHit stat.Share         `json:"with_innocents_hit"`
	Robbed  ResponsesQuantiles `json:"innocents_dropped_share"`
	// Goodput of innocents as a share of what they get when the cause is handled from the
	// start; SingleGoodput of the cases with a single cause.
	Goodput       ResponsesQuantiles `json:"innocents_goodput"`
	SingleGoodput ResponsesQuantiles `json:"innocents_goodput_single_cause"`
	// Lost are lossless frames for which there was no room, LostIn the cases with one.
	Lost   int        `json:"lossless_lost"`
	LostIn stat.Share `json:"with_lossless_lost"`
	// Dropped is frames dropped on purpose, as a share of those and what arrived.
	Dropped float64 `json:"dropped_share"`

	recurrences, turns, policed, innocents, hit, known, dropped, received int
	goodput, single, robbed                                               []float64
}

// ResponsesQuantiles are quantiles, over N cases, of a share, which may be above 1.
type ResponsesQuantiles struct {
	N   int     `json:"n"`
	P25 float64 `json:"p25"`
	P50 float64 `json:"p50"`
	P75 float64 `json:"p75"`
}

// NewResponsesReport is the report of no case.
func NewResponsesReport(seed uint64, detector string, responses []respond.Choice) *ResponsesReport {
	r := &ResponsesReport{Seed: seed, Detector: detector}
	for _, reserve := range []bool{true, false} {
		for _, c := range responses {
			r.Responses = append(r.Responses, &ResponsesRow{Response: c.Name, Reserve: reserve})
		}
	}
	return r
}

// Add counts the outcome of one case. Call Finish after the last one.
func (r *ResponsesReport) Add(o *ResponsesOutcome) {
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
}

func (s *ResponsesRow) add(r *ResponsesRun, known, single bool) {
	s.Cured.Add(r.Cured())
	s.LostIn.Add(r.Lost > 0)
	s.recurrences += r.Recurrences
	s.turns += r.Turns
	s.policed += r.Policed
	s.Lost += r.Lost
	s.dropped += r.Dropped
	s.received += r.Received
	if !known {
		return
	}
	s.known++
	s.innocents += r.Innocents
	s.WithInnocents.Add(r.Innocents > 0)
	s.hit += r.Hit
	s.WithHit.Add(r.Hit > 0)
	if all := r.InnocentDropped + r.InnocentReceived; all > 0 {
		s.robbed = append(s.robbed, float64(r.InnocentDropped)/float64(all))
	}
	if r.Goodput < 0 { // there are no innocents, or they get nothing anyway
		return
	}
	s.goodput = append(s.goodput, r.Goodput)
	if single {
		s.single = append(s.single, r.Goodput)
	}
}

// Finish computes means and quantiles.
func (r *ResponsesReport) Finish() {
	for _, s := range r.Responses {
		mean := func(sum, of int) float64 { return float64(sum) / float64(max(of, 1)) }
		s.Recurrences, s.Turns, s.Policed = mean(s.recurrences, r.Locked), mean(s.turns, r.Locked), mean(s.policed, r.Locked)
		s.Innocents, s.Hit = mean(s.innocents, s.known), mean(s.hit, s.known)
		s.Dropped = mean(s.dropped, s.dropped+s.received)
		s.Goodput, s.SingleGoodput, s.Robbed = quantiles(s.goodput), quantiles(s.single), quantiles(s.robbed)
	}
}

func quantiles(x []float64) ResponsesQuantiles {
	if len(x) == 0 {
		return ResponsesQuantiles{}
	}
	slices.Sort(x)
	at := func(percent int) float64 { return x[stat.LowerRank(len(x), percent)] }
	return ResponsesQuantiles{len(x), at(25), at(50), at(75)}
}

// Clean reports whether every case could be played, and no lossless frame was lost for
// want of room.
func (r *ResponsesReport) Clean() bool {
	return r.Invalid == 0 && !slices.ContainsFunc(r.Responses, func(s *ResponsesRow) bool { return s.Lost > 0 })
}
