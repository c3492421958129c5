package fuzz

import (
	"fmt"
	"io"
	"path"
	"text/tabwriter"

	"softswitch/internal/stat"
	"softswitch/unit"
)

// TruthReport sums up the outcomes of many cases.
type TruthReport struct {
	Seed     uint64 `json:"seed"`
	Mode     Mode   `json:"mode"`
	Detector string `json:"detector"`
	Cases    int    `json:"cases"`
	// Refused cases have thresholds that no scenario may have, and were not played. Of the others
	// Invalid could not be played, and in Lost a lossless frame was lost for want of room.
	Refused   int    `json:"refused"`
	Invalid   int    `json:"invalid"`
	Lost      int    `json:"lost_lossless_frames"`
	FrameHops uint64 `json:"frame_hops"`
	// Locked are cases with S*, or with frames that never move from an instant on.
	Locked   int `json:"cases_with_deadlock"`
	Instants int `json:"instants"`
	AtRest   int `json:"instants_with_rest"`
	// Claims are queues in S*, over all instants; Predicted are queues that rest from an instant on
	// and are in S* only later: the oracle does not predict.
	Claims    int `json:"claims"`
	Predicted int `json:"claimed_later"`
	// Declarations of the detector at instants: of what rests from then on, or soon after. The
	// others dissolve.
	Declared int `json:"declarations"`
	True     int `json:"true_declarations"`
	Soon     int `json:"true_soon"`
	Between  int `json:"true_between"` // of the true ones: late for a deadlock that then closes again, or whose queue waits behind another
	Late     int `json:"true_before"`  // of what rested soon before, and something happened
	// Knots at the ends, and those of which the oracle knows nothing, or not all.
	Knots   int `json:"knots"`
	Unknown int `json:"knots_unknown"`
	// Knots that were not declared: Hanging open when what was declared is flushed, Next share a
	// pool with it and are declared then.
	Hanging int `json:"knots_hanging"`
	Next    int `json:"knots_next"`
	// Faults are what is wrong, by kind.
	Faults []TruthCount `json:"faults"`
	// Failures are the files of the cases in which something is wrong, in the order of cases.
	Failures []string `json:"failures"`
}

// TruthCount is how often a fault is there, and in how many of the cases that were judged.
type TruthCount struct {
	Fault string     `json:"fault"`
	N     int        `json:"n"`
	Cases stat.Share `json:"cases"`
}

func newTruthReport(r *Run) *TruthReport {
	t := &TruthReport{Seed: r.Seed, Mode: r.Mode, Detector: r.detector().Name, Failures: []string{}}
	for f := range TruthFault(truthFaults) {
		t.Faults = append(t.Faults, TruthCount{Fault: f.String()})
	}
	return t
}

// Add counts the outcome of a case.
func (r *TruthReport) Add(_ int, o *TruthOutcome) {
	r.Cases++
	r.FrameHops += o.Frames
	switch {
	case o.Refused:
		r.Refused++
		return
	case o.Invalid != "":
		r.Invalid++
		return
	case o.Lost != "":
		r.Lost++
		return
	}
	count(&r.Locked, o.Locked)
	stat.Add(r, o)
	for f := range r.Faults {
		r.Faults[f].N += o.Faults[f]
		r.Faults[f].Cases.Add(o.Faults[f] > 0)
	}
	if o.Faulty() {
		r.Failures = append(r.Failures, o.File)
	}
}

// Count is how often a fault is there.
func (r *TruthReport) Count(f TruthFault) int { return r.Faults[f].N }

// Clean reports whether every case could be played, no lossless frame was lost and nothing is wrong.
func (r *TruthReport) Clean() bool {
	wrong := r.Invalid + r.Lost
	for _, f := range r.Faults {
		wrong += f.N
	}
	return wrong == 0
}

// WriteText writes the report for people.
func (r *TruthReport) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "mode %s, detector %s, seed %d, %s, %s\n\n", r.Mode, r.Detector, r.Seed, unit.Count(r.Cases, "case"), unit.Count(r.FrameHops, "frame-hop"))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "judged\t%d\t%d with a deadlock; %d invalid, %d with thresholds that are refused, %d that lost lossless frames\n",
		r.Cases-r.Refused-r.Invalid-r.Lost, r.Locked, r.Invalid, r.Refused, r.Lost)
	fmt.Fprintf(t, "instants\t%d\t%d at whose end frames are left\n", r.Instants, r.AtRest)
	fmt.Fprintf(t, "claims\t%d\tqueues in S* at an instant; %d more rest from one on, and are in S* only later\n", r.Claims, r.Predicted)
	if r.Detector != "none" {
		fmt.Fprintf(t, "declared\t%d\t%d true (%d of them late for one that closes again or is behind another), %d true within %s, %d late by less than that\n", r.Declared, r.True, r.Between, r.Soon, unit.Count(soonHops, "hop"), r.Late)
		fmt.Fprintf(t, "knots\t%d\tat the ends; %d of them unknown to the oracle, %d that open with what was declared, %d that are declared once that is open\n", r.Knots, r.Unknown, r.Hanging, r.Next)
	}
	for f := range TruthFault(truthFaults) {
		if c := r.Faults[f]; r.Detector != "none" || f < TrueCondemned {
			fmt.Fprintf(t, "%s\t%d\t%s; in %d cases, %s\n", c.Fault, c.N, faultTexts[f].text, c.Cases.N, percent(c.Cases))
		}
	}
	if n := len(r.Failures); n > 0 {
		fmt.Fprintf(t, "failures\t%d\tfiles in %s\n", n, path.Dir(r.Failures[0]))
	}
	return t.Flush()
}
