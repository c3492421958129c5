package fuzz

import (
	"slices"

	"softswitch/detect"
	"softswitch/internal/stat"
)

// CausesReport sums up the outcomes of many cases.
type CausesReport struct {
	Seed  uint64 `json:"seed"`
	Mode  Mode   `json:"mode"`
	Cases int    `json:"cases"`
	// Locked cases have a deadlock without a detector; all else is about them, but for
	// Controls, in which nothing was planted and nothing must be declared.
	Locked   int `json:"locked"`
	Controls int `json:"controls"`
	Invalid  int `json:"invalid"`
	// Single: one host or flow alone prevents the deadlock; of random cases.
	Single stat.Share `json:"single_cause"`
	// Yields are how many fabrics and plants it took.
	Yields []Yield `json:"yields"`
	// Types are the columns of System.Planted.
	Types   []string  `json:"types"`
	Systems []*System `json:"systems"`
	// Failures are the files of the cases in which a detector did not name what was
	// planted, in the order of cases.
	Failures []string `json:"failures"`
}

// Yield is how many fabrics and plants were tried for the cases of a planting.
type Yield struct {
	Planting Planting `json:"planted"`
	Cases    int      `json:"cases"`
	Locked   int      `json:"locked"`
	Fabrics  int      `json:"fabrics"`
	Tries    int      `json:"tries"`
}

// System is what a detector or a baseline named, and what was true of it.
type System struct {
	Name     string `json:"name"`
	Baseline bool   `json:"baseline"`
	// Elsewhere are cases in which its run has no deadlock at the place of the run
	// without a detector, or one in a control. They are in nothing else.
	Elsewhere int `json:"elsewhere"`
	// FalseAlarms are controls in which it declared something and no deadlock came.
	FalseAlarms int `json:"false_alarms"`
	// Declared, Answered, Found, Guessed, Among3 and TypeRight are of all locked cases, Chance
	// is of the controls of answers. Guessed is Found of the loop controls.
	Declared  stat.Share `json:"declared"`
	Answered  stat.Share `json:"answered"`
	Found     stat.Share `json:"found"`
	Guessed   stat.Share `json:"loop_control_found"`
	Among3    stat.Share `json:"found_among_3"`
	Both      stat.Share `json:"both_of_two_among_3"` // of those with two plants that are both needed
	Chance    stat.Share `json:"control_found"`
	Answers   stat.Mean  `json:"answers_mean"`
	TypeRight stat.Share `json:"type_right"`
	// Causal and Sufficient are of the answers and of their loop controls, and what is of
	// controls, as Chance, of those that there are: none where there are not as many other flows.
	Causal            stat.Share `json:"causal"`
	Control           stat.Share `json:"control_causal"`
	Sufficient        stat.Share `json:"sufficient"`
	ControlSufficient stat.Share `json:"control_sufficient"`
	Loop              stat.Share `json:"loop_control_causal"`
	LoopSufficient    stat.Share `json:"loop_control_sufficient"`
	// Turn is how often the declared turn alone is causal.
	Turn stat.Share `json:"declared_turn_causal"`
	// OnLoop and OffLoop are how often it says so, of those where it is so.
	OnLoop  stat.Share `json:"on_loop_right"`
	OffLoop stat.Share `json:"off_loop_right"`
	// Innocent are answers with a flow that has no part in what was planted; Flows and
	// Innocents are the means of what an answer names.
	Innocent  stat.Share `json:"with_innocents"`
	Flows     stat.Mean  `json:"flows_mean"`
	Innocents stat.Mean  `json:"innocents_mean"`
	// Hops are the mean distance of wrong answers from what was planted.
	Hops stat.Mean `json:"hops_off_mean"`
	// Several: it says that there is no single cause where none prevents the deadlock;
	// NotSeveral: it does not say so where one does. Of the answers in random cases.
	Several    stat.Share `json:"no_single_cause_said"`
	NotSeveral stat.Share `json:"single_cause_not_denied"`
	// Planted is by what was planted, Named by what the system said.
	Planted []CausesRow `json:"planted"`
	Named   []CausesRow `json:"named"`
}

// CausesRow is a part of the cases.
type CausesRow struct {
	Name      string     `json:"name"`
	Cases     int        `json:"cases"`
	Types     []int      `json:"types,omitempty"` // answers by Report.Types, of Planted
	Found     stat.Share `json:"found"`
	Guessed   stat.Share `json:"loop_control_found"`
	TypeRight stat.Share `json:"type_right"`
	Causal    stat.Share `json:"causal"`
	Control   stat.Share `json:"control_causal"`
	Loop      stat.Share `json:"loop_control_causal"`
}

func newCausesReport(run *Run) *CausesReport {
	r := &CausesReport{Seed: run.Seed, Mode: run.Mode, Types: Types(), Failures: []string{}, Yields: []Yield{}}
	for i, name := range append(run.detectors(), Baselines...) {
		s := &System{Name: name, Baseline: i >= len(run.Detectors), Planted: []CausesRow{}, Named: []CausesRow{}}
		if r.Mode == Cause {
			for _, p := range Plantings {
				s.Planted = append(s.Planted, CausesRow{Name: string(p), Types: make([]int, len(r.Types))})
			}
		}
		for _, t := range r.Types {
			s.Named = append(s.Named, CausesRow{Name: t})
		}
		r.Systems = append(r.Systems, s)
	}
	if r.Mode == Cause {
		for _, p := range Plantings {
			r.Yields = append(r.Yields, Yield{Planting: p})
		}
	}
	return r
}

// Add counts the outcome of a case.
func (r *CausesReport) Add(_ int, o *CausesOutcome) {
	r.Cases++
	r.Failures = append(r.Failures, o.Files...)
	if o.Invalid != "" {
		r.Invalid++
		return
	}
	if i := slices.Index(Plantings, o.Planting); i >= 0 {
		y := &r.Yields[i]
		y.Cases, y.Fabrics, y.Tries = y.Cases+1, y.Fabrics+o.Fabrics, y.Tries+o.Tries
		count(&y.Locked, o.Locked)
	}
	switch {
	case o.Locked:
		r.Locked++
		if o.Planting == "" {
			r.Single.Add(o.Single)
		}
	case o.Planting == Control:
		r.Controls++
	}
	for i := range o.Systems {
		r.Systems[i].add(r, o, &o.Systems[i])
	}
}

func (s *System) add(r *CausesReport, o *CausesOutcome, j *Judged) {
	column := slices.Index(r.Types, j.Type)
	if j.Elsewhere {
		s.Elsewhere++
		return
	}
	if !o.Locked {
		count(&s.FalseAlarms, j.Declared)
		row := s.row(o.Planting)
		row.Cases++
		row.Types[column]++
		return
	}
	answered := j.Type != NoAnswer
	s.Declared.Add(j.Declared)
	s.Answered.Add(answered)
	rows := []*CausesRow{&s.Named[column]}
	if o.Planting != "" {
		s.Found.Add(j.Found)
		s.Guessed.Add(j.Loop.Found)
		s.Among3.Add(j.Among3)
		if j.Two {
			s.Both.Add(j.Both)
		}
		s.TypeRight.Add(j.TypeRight)
		row := s.row(o.Planting)
		row.Types[column]++
		rows = append(rows, row)
	}
	for _, row := range rows {
		row.add(o, j)
	}
	if !answered {
		return
	}
	s.Causal.Add(j.Causal)
	s.Sufficient.Add(j.Sufficient)
	s.Loop.Add(j.Loop.Causal)
	s.LoopSufficient.Add(j.Loop.Sufficient)
	if j.Control.Done {
		s.Control.Add(j.Control.Causal)
		s.ControlSufficient.Add(j.Control.Sufficient)
		if o.Planting != "" {
			s.Chance.Add(j.Control.Found)
		}
	}
	if j.Turn.Done {
		s.Turn.Add(j.Turn.Causal)
	}
	s.Answers.Add(j.Answers)
	s.Flows.Add(j.Flows)
	if o.Planting == "" {
		said := j.Type == detect.CauseSeveral.String()
		if o.Single {
			s.NotSeveral.Add(!said)
		} else {
			s.Several.Add(said)
		}
		return
	}
	s.Innocent.Add(j.Innocents > 0)
	s.Innocents.Add(j.Innocents)
	switch {
	case j.Known && j.OnLoop:
		s.OnLoop.Add(j.Said)
	case j.Known:
		s.OffLoop.Add(!j.Said)
	}
	if !j.Found && j.Hops >= 0 {
		s.Hops.Add(j.Hops)
	}
}

func (s *System) row(p Planting) *CausesRow { return &s.Planted[slices.Index(Plantings, p)] }

func (r *CausesRow) add(o *CausesOutcome, j *Judged) {
	r.Cases++
	if o.Planting != "" {
		r.Found.Add(j.Found)
		r.Guessed.Add(j.Loop.Found)
		r.TypeRight.Add(j.TypeRight)
	}
	if j.Type == NoAnswer {
		return
	}
	r.Causal.Add(j.Causal)
	r.Loop.Add(j.Loop.Causal)
	if j.Control.Done {
		r.Control.Add(j.Control.Causal)
	}
}

// Clean reports whether every case could be played and no detector declared anything in
// a control. That causes are named wrongly is no fault of the run.
func (r *CausesReport) Clean() bool {
	return r.Invalid == 0 && !slices.ContainsFunc(r.Systems, func(s *System) bool { return s.FalseAlarms > 0 })
}
