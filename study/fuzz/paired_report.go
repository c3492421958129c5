package fuzz

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"softswitch/internal/stat"
	"softswitch/unit"
)

// PairedReport holds detectors against each other that had the same cases.
type PairedReport struct {
	Seed  uint64 `json:"seed"`
	Mode  Mode   `json:"mode"`
	Cases int    `json:"cases"`
	// Resamples is how many samples each bootstrap drew.
	Resamples int         `json:"resamples"`
	Detectors []PairedRow `json:"detectors"` // in the order given
	Pairs     []Pair      `json:"pairs"`     // of the first detector with each other one

	all []PairedOutcome
}

// PairedRow is a detector.
type PairedRow struct {
	Detector string `json:"detector"`
	Invalid  int    `json:"invalid"`
	// Found are the deadlocks that were declared, of those that had to be. Those of one case are not
	// independent of each other, as its interval takes them to be.
	Found stat.Share `json:"found"`
	// False are valid cases with a declaration that never came true, Premature those with one that
	// came true later, and Right those in which all deadlocks that had to be declared were, and
	// nothing falsely or prematurely.
	False     stat.Share `json:"with_false_positives"`
	Premature stat.Share `json:"with_premature"`
	Right     stat.Share `json:"right"`
	// Latency is of the cases whose first deadlock was declared, nil if there is none.
	Latency *PairedLatency `json:"latency_laps"`
	// ControlFrames is the control frames of all cases divided by the number of deadlocks.
	ControlFrames float64 `json:"control_frames_per_deadlock"`
	StateBytes    int     `json:"state_bytes"` // the most of any case
	FrameHops     uint64  `json:"frame_hops"`
}

// PairedLatency is the latencies of the first deadlocks of cases, in laps: the median with its bootstrap
// interval of 95 %, and two percentiles.
type PairedLatency struct {
	Median
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
}

// Median is that of a figure over some cases. Interval is the bootstrap's of 95 %, nil of fewer cases than
// stat.BootstrapLeast.
type Median struct {
	Cases    int         `json:"cases"`
	P50      float64     `json:"p50"`
	Interval *[2]float64 `json:"p50_interval"`
}

// medianOf is the median of sorted figures, of which there is at least one, in units of one.
func medianOf[T int64 | float64](x []T, one float64, seed uint64) Median {
	m := Median{Cases: len(x), P50: float64(stat.Median(x)) / one}
	if len(x) >= stat.BootstrapLeast {
		low, high := stat.BootstrapMedian(x, seed)
		m.Interval = &[2]float64{float64(low) / one, float64(high) / one}
	}
	return m
}

// String is the median with its interval, "1.33 (1.25-1.45)".
func (m Median) String() string {
	if m.Interval == nil {
		return fmt.Sprintf("%.2f (-)", m.P50)
	}
	return fmt.Sprintf("%.2f (%.2f-%.2f)", m.P50, m.Interval[0], m.Interval[1])
}

// Pair is two detectors on the cases that were valid with both.
type Pair struct {
	First  string `json:"first"`
	Second string `json:"second"`
	Cases  int    `json:"cases"`
	// BothRight and so on are cases by which detector was right.
	BothRight  int `json:"both_right"`
	OnlyFirst  int `json:"only_first_right"`
	OnlySecond int `json:"only_second_right"`
	Neither    int `json:"neither_right"`
	// P is McNemar's exact two-sided p of OnlyFirst and OnlySecond.
	P float64 `json:"mcnemar_p"`
	// Ratio is of the cases whose first deadlock both declared, nil if there is none.
	Ratio *PairedRatio `json:"latency_ratio"`
}

// PairedRatio is the latencies of the second detector, each divided by that of the first in the same
// case: the median with its bootstrap interval of 95 %.
type PairedRatio struct {
	Median
	// OtherOnset are the cases in which the first deadlock formed at another time with the second: what
	// a detector sends, or does, changes the traffic.
	OtherOnset int `json:"other_onset"`
}

// pairedReport is the report of all cases of r's part.
func (r *Run) pairedReport(all []PairedOutcome) *PairedReport {
	p := &PairedReport{Seed: r.Seed, Mode: r.Mode, Cases: len(all), Resamples: stat.Resamples, Pairs: []Pair{}, all: all}
	for i, name := range r.detectors() {
		p.Detectors = append(p.Detectors, p.row(i, name))
		if i > 0 {
			p.Pairs = append(p.Pairs, p.pair(i))
		}
	}
	return p
}

// row is detector i.
func (p *PairedReport) row(i int, name string) PairedRow {
	s := PairedRow{Detector: name}
	var laps []int64
	control := 0
	for k := range p.all {
		run := &p.all[k].Runs[i]
		s.FrameHops += run.Frames
		if run.Invalid != "" {
			s.Invalid++
			continue
		}
		s.Found.N, s.Found.Of = s.Found.N+run.Found, s.Found.Of+run.Deadlocks
		s.False.Add(run.FalsePositives > 0)
		s.Premature.Add(run.Premature > 0)
		s.Right.Add(run.right())
		s.StateBytes = max(s.StateBytes, run.State)
		control += run.Control
		if _, ok := run.latency(); ok {
			laps = append(laps, run.First.Laps)
		}
	}
	if s.Found.Of > 0 {
		s.ControlFrames = float64(control) / float64(s.Found.Of)
	}
	if slices.Sort(laps); len(laps) > 0 {
		at := func(percent int) float64 { return float64(laps[stat.NearestRank(len(laps), percent)]) / 1000 }
		s.Latency = &PairedLatency{medianOf(laps, 1000, p.Seed), at(90), at(99)}
	}
	return s
}

// pair is the first detector and detector i.
func (p *PairedReport) pair(i int) Pair {
	s := Pair{First: p.Detectors[0].Detector, Second: p.Detectors[i].Detector}
	var ratios []float64
	moved := 0
	for k := range p.all {
		a, b := &p.all[k].Runs[0], &p.all[k].Runs[i]
		if a.Invalid != "" || b.Invalid != "" {
			continue
		}
		s.Cases++
		switch {
		case a.right() && b.right():
			s.BothRight++
		case a.right():
			s.OnlyFirst++
		case b.right():
			s.OnlySecond++
		default:
			s.Neither++
		}
		l, found := a.latency()
		m, too := b.latency()
		if found && too {
			ratios = append(ratios, float64(max(m, 1))/float64(max(l, 1))) // 1 ns for 0, whose rank it has
			count(&moved, a.First.Onset != b.First.Onset)
		}
	}
	s.P = stat.McNemar(s.OnlyFirst, s.OnlySecond)
	if slices.Sort(ratios); len(ratios) > 0 {
		s.Ratio = &PairedRatio{medianOf(ratios, 1, p.Seed), moved}
	}
	return s
}

// Clean reports whether every case could be played and no detector made a mistake.
func (p *PairedReport) Clean() bool {
	return !slices.ContainsFunc(p.Detectors, func(s PairedRow) bool { return s.Invalid > 0 || s.Right.N < s.Right.Of })
}

// WriteRows writes a row of each case and detector, case by case.
func (p *PairedReport) WriteRows(w io.Writer) error {
	n := len(p.Detectors)
	return writeRows(w, detectorColumns, n*len(p.all), func(i int) detectorRow {
		o := &p.all[i/n]
		return detectorRow{p.Seed, i / n, p.Mode, o.Shape, p.Detectors[i%n].Detector, &o.Runs[i%n]}
	})
}

// WriteText writes the report for people.
func (p *PairedReport) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "mode %s, seed %d, %s, each with %s\nshares in per cent, with their 95 %% intervals\n\n", p.Mode, p.Seed, unit.Count(p.Cases, "case"), unit.Count(len(p.Detectors), "detector"))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "detector\tdeadlocks\tfound\tfalse\tpremature\tright\tlatency\tp90\tp99\tframes\tstate\tinvalid\n")
	for _, s := range p.Detectors {
		latency := "-\t-\t-"
		if l := s.Latency; l != nil {
			latency = fmt.Sprintf("%v\t%.2f\t%.2f", l.Median, l.P90, l.P99)
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%.1f\t%d\t%d\n", s.Detector, s.Found.Of, inTenths(s.Found), inTenths(s.False), inTenths(s.Premature), inTenths(s.Right),
			latency, s.ControlFrames, s.StateBytes, s.Invalid)
	}
	if len(p.Pairs) > 0 {
		first := p.Detectors[0].Detector
		fmt.Fprintf(t, "\nbeside %s\tcases\tboth right\tonly %s\tonly the other\tneither\tp\tboth found\tlatency ratio\tother onset\n", first, first)
		for _, s := range p.Pairs {
			ratio := "0\t-\t0"
			if r := s.Ratio; r != nil {
				ratio = fmt.Sprintf("%d\t%v\t%d", r.Cases, r.Median, r.OtherOnset)
			}
			fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s\n", s.Second, s.Cases, s.BothRight, s.OnlyFirst, s.OnlySecond, s.Neither, chance(s.P), ratio)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, `
deadlocks      that had to be declared; found: of them. Those of one case are not independent
false          cases with a declaration that never came true; premature: with one that came true later
right          cases in which all deadlocks that had to be declared were, and nothing falsely or
               prematurely
latency        of the first deadlock of a case, in laps: median; its interval is a bootstrap's, and
               not told of fewer than %d cases
frames         control frames for each deadlock
state          bytes, in the switch that has most
%s`, stat.BootstrapLeast, p.legendOfPairs())
	return err
}

// legendOfPairs explains the table of pairs, if there is one.
func (p *PairedReport) legendOfPairs() string {
	if len(p.Pairs) == 0 {
		return fmt.Sprintf("bootstrap      percentiles of %d samples\n", p.Resamples)
	}
	return fmt.Sprintf(`p              McNemar's exact test, two-sided, of the cases in which only one is right
latency ratio  of the other by %s's, in cases whose first deadlock both found: median; its
               interval is a bootstrap's
other onset    of these cases, those in which the first deadlock formed at another time with the other
bootstrap      percentiles of %d samples; no p and no interval is corrected for their number
`, p.Detectors[0].Detector, p.Resamples)
}

// inTenths is a share in per cent to a tenth, with its interval: "56.3 (49.9-62.0)"; "-" without a case.
func inTenths(s stat.Share) string {
	if s.Of == 0 {
		return "-"
	}
	low, high := s.Interval()
	return fmt.Sprintf("%.1f (%.1f-%.1f)", 100*float64(s.N)/float64(s.Of), 100*low, 100*high)
}

// chance is a p for people.
func chance(p float64) string {
	if p < 0.0001 {
		return "<0.0001"
	}
	return fmt.Sprintf("%.4f", p)
}
