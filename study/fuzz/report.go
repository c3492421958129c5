package fuzz

import (
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"text/tabwriter"

	"softswitch/internal/stat"
	"softswitch/unit"
)

// DetectionReport sums up the outcomes of many cases.
type DetectionReport struct {
	Seed     uint64 `json:"seed"`
	Mode     Mode   `json:"mode"`
	Detector string `json:"detector"`
	Counts
	// Latency is from a deadlock's onset to its first declaration.
	Latency Laps `json:"latency_laps"`
	// Declarers per detected deadlock. ControlFrames is the control frames of all cases
	// (messages, and pauses repeated early) divided by the number of deadlocks.
	Declarers     float64 `json:"declarers_per_deadlock"`
	ControlFrames float64 `json:"control_frames_per_deadlock"`
	// Failures are the files of the cases with a false positive, a premature
	// declaration or a false negative, in the order of cases.
	Failures []string `json:"failures"`
}

// Counts are how often each thing happened.
type Counts struct {
	Cases int `json:"cases"`
	Dead  int `json:"cases_with_deadlock"`
	// Deadlocks that had to be declared. Young ones, which nobody declared and which
	// were a knot for too short a time, are not included.
	Deadlocks      int `json:"deadlocks"`
	Detected       int `json:"detected"`
	TruePositives  int `json:"true_positives"`
	FalsePositives int `json:"false_positives"`
	Premature      int `json:"premature"`
	// Late declarations came less than 32 hops after the end of a deadlock, before any
	// detector can know of it.
	Late           int    `json:"late"`
	FalseNegatives int    `json:"false_negatives"`
	ByKind         Kinds  `json:"by_kind"`
	MissedByKind   Kinds  `json:"missed_by_kind"`
	Young          int    `json:"young"`
	Invalid        int    `json:"invalid"`
	FrameHops      uint64 `json:"frame_hops"`
}

// Tally is what a report of some cases is made of. Tallies of different cases add up to that
// of all of them: a latency is counted, for quantiles cannot be added.
type Tally struct {
	Counts
	Laps      map[int64]int `json:"laps"` // detected deadlocks by their latency, in thousandths of a lap
	Declarers int           `json:"declarers"`
	Control   int           `json:"control_frames"`
}

// Laps are quantiles of a latency, in laps.
type Laps struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// Kinds counts deadlocks: with a cycle of strong edges, without one, and, whatever
// their edges, with flooded frames.
type Kinds struct {
	Strong   int `json:"strong"`
	Split    int `json:"split"`
	Flooding int `json:"flooding"`
}

func (k *Kinds) add(of Knot) {
	switch of.kind() {
	case "flooding":
		k.Flooding++
	case "strong":
		k.Strong++
	default:
		k.Split++
	}
}

// kind is its kind in a word, as reports have it.
func (k *Knot) kind() string {
	switch {
	case k.Flooded:
		return "flooding"
	case k.Strong:
		return "strong"
	}
	return "split"
}

// Add counts the outcome of one case.
func (t *Tally) Add(o *Outcome) {
	t.Cases++
	t.FrameHops += o.Frames
	if o.Invalid != "" {
		t.Invalid++
		return
	}
	t.TruePositives += o.True
	t.FalsePositives += o.FalsePositives
	t.Premature += o.Premature
	t.Late += o.Late
	t.Control += o.Control
	count(&t.Dead, slices.ContainsFunc(o.Knots, func(k Knot) bool { return !k.Young }))
	for _, k := range o.Knots {
		if k.Young {
			t.Young++
			continue
		}
		t.Deadlocks++
		t.ByKind.add(k)
		if k.Missed {
			t.FalseNegatives++
			t.MissedByKind.add(k)
			continue
		}
		t.Detected++
		t.Declarers += k.Declarers
		if t.Laps == nil {
			t.Laps = map[int64]int{}
		}
		t.Laps[k.Latency]++
	}
}

// Plus adds the tally of other cases.
func (t *Tally) Plus(o *Tally) {
	stat.Add(t, o)
	if t.Laps == nil {
		t.Laps = map[int64]int{}
	}
	for _, latency := range slices.Sorted(maps.Keys(o.Laps)) {
		t.Laps[latency] += o.Laps[latency]
	}
}

// Report is the report of the cases of a seed, a mode and a detector. failures are the files
// of those that failed.
func (t *Tally) Report(seed uint64, mode Mode, detector string, failures []string) *DetectionReport {
	r := &DetectionReport{Seed: seed, Mode: mode, Detector: detector, Counts: t.Counts, Failures: failures}
	if t.Detected > 0 {
		r.Latency = Laps{t.latency(50), t.latency(90), t.latency(99), t.latency(100)}
		r.Declarers = float64(t.Declarers) / float64(t.Detected)
	}
	if t.Deadlocks > 0 {
		r.ControlFrames = float64(t.Control) / float64(t.Deadlocks)
	}
	return r
}

// latency is a quantile of the latencies, of which there is at least one, in laps.
func (t *Tally) latency(percent int) float64 {
	rank := stat.LowerRank(t.Detected, percent)
	for _, l := range slices.Sorted(maps.Keys(t.Laps)) {
		if rank -= t.Laps[l]; rank < 0 {
			return float64(l) / 1000
		}
	}
	panic("fuzz: there are fewer latencies than detected deadlocks")
}

// Clean reports whether every case could be played and the detector made no mistake.
func (r *DetectionReport) Clean() bool {
	return r.FalsePositives+r.Premature+r.FalseNegatives+r.Invalid == 0
}

// WriteText writes the report for people.
func (r *DetectionReport) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "detector %s, mode %s, seed %d, %s\n\n", r.Detector, r.Mode, r.Seed, unit.Count(r.FrameHops, "frame-hop"))
	fmt.Fprintf(t, "cases\t%d\t%d with a deadlock, %d invalid\n", r.Cases, r.Dead, r.Invalid)
	fmt.Fprintf(t, "deadlocks\t%d\tstrong %d, split %d, flooding %d; %d more were knots too briefly to be missed\n",
		r.Deadlocks, r.ByKind.Strong, r.ByKind.Split, r.ByKind.Flooding, r.Young)
	fmt.Fprintf(t, "detected\t%d\n", r.Detected)
	fmt.Fprintf(t, "false negatives\t%d\tstrong %d, split %d, flooding %d\n", r.FalseNegatives, r.MissedByKind.Strong, r.MissedByKind.Split, r.MissedByKind.Flooding)
	fmt.Fprintf(t, "true positives\t%d\n", r.TruePositives)
	fmt.Fprintf(t, "false positives\t%d\tnever true\n", r.FalsePositives)
	fmt.Fprintf(t, "premature\t%d\ttrue later\n", r.Premature)
	fmt.Fprintf(t, "late\t%d\tover for less than 32 hops\n", r.Late)
	if r.Detected > 0 {
		fmt.Fprintf(t, "latency\t%.2f\tlaps at p50; p90 %.2f, p99 %.2f, at most %.2f\n", r.Latency.P50, r.Latency.P90, r.Latency.P99, r.Latency.Max)
		fmt.Fprintf(t, "declarers\t%.2f\tper detected deadlock\n", r.Declarers)
	} else {
		fmt.Fprintf(t, "latency\t-\tnothing was detected\n")
	}
	fmt.Fprintf(t, "control frames\t%.1f\tper deadlock\n", r.ControlFrames)
	if err := t.Flush(); err != nil {
		return err
	}
	where := ""
	if len(r.Failures) > 0 {
		where = " in " + path.Dir(r.Failures[0])
	}
	_, err := fmt.Fprintf(w, "failures         %s%s\n", unit.Count(len(r.Failures), "file"), where)
	return err
}
