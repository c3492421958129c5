package verdict

import (
	"fmt"
	"io"
	"slices"

	"softswitch/unit"
)

// Summary is several runs of one scenario. Counts are sums over the runs.
type Summary struct {
	Scenario string     `json:"scenario"`
	World    string     `json:"world"`
	Detector string     `json:"detector"`
	Runs     []*Verdict `json:"runs"`

	Deadlocks int `json:"deadlocks"` // runs with one
	Detected  int `json:"detected"`  // of those, runs with a true detection
	// FalseNegatives are runs with a deadlock that nobody declared while it lived.
	FalseNegatives int `json:"false_negatives"`
	FalsePositives int `json:"false_positives"`
	Premature      int `json:"premature"`
	LosslessLost   int `json:"lossless_lost"`
	Met            int `json:"expected_met"` // runs
	Invalid        int `json:"invalid"`      // runs

	// Latency is of the first true detection of each run.
	Latency Quantiles `json:"latency_ns"`
}

// Quantiles are of a number of samples, by nearest rank; all 0 if there are no samples.
type Quantiles struct {
	Samples int       `json:"samples"`
	P50     unit.Time `json:"p50"`
	P90     unit.Time `json:"p90"`
	Min     unit.Time `json:"min"`
	Max     unit.Time `json:"max"`
}

// Summarize summarises runs of one scenario; at least one.
func Summarize(runs []*Verdict) Summary {
	s := Summary{Scenario: runs[0].Scenario, World: runs[0].World, Detector: runs[0].Detector, Runs: runs}
	var latencies []unit.Time
	for _, v := range runs {
		s.Deadlocks += count(v.Deadlock)
		s.FalseNegatives += count(v.FalseNegatives > 0)
		s.FalsePositives += v.FalsePositives
		s.Premature += v.Premature
		s.LosslessLost += v.LosslessLost
		s.Met += count(v.ExpectedMet)
		s.Invalid += count(v.Invalid != "")
		if i := slices.IndexFunc(v.Detections, func(d Detection) bool { return d.TruePositive }); i >= 0 {
			s.Detected++
			latencies = append(latencies, v.Detections[i].Latency)
		}
	}
	s.Latency = QuantilesOf(latencies)
	return s
}

// QuantilesOf computes the quantiles of t, which it sorts.
func QuantilesOf(t []unit.Time) Quantiles {
	if len(t) == 0 {
		return Quantiles{}
	}
	slices.Sort(t)
	rank := func(percent int) unit.Time { return t[(len(t)*percent+99)/100-1] }
	return Quantiles{Samples: len(t), P50: rank(50), P90: rank(90), Min: t[0], Max: t[len(t)-1]}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// AllMet reports whether every run met its expectation and can be trusted.
func (s *Summary) AllMet() bool { return s.Met == len(s.Runs) && s.Invalid == 0 }

// WriteText writes a line per run, and the summary, for people.
func (s *Summary) WriteText(w io.Writer) error {
	var t table
	t.line("%s: %s, detector %s, %d runs", s.Scenario, s.World, orNone(s.Detector), len(s.Runs))
	rows := [][]string{{"run", "onset ms", "true", "latency ms", "false", "premature", "missed", "lost", "trigger", "expectation"}}
	for i, v := range s.Runs {
		onset, latency, trigger, met := "-", "-", "-", "met"
		if v.Deadlock {
			onset = ms(v.Onset)
		}
		if k := slices.IndexFunc(v.Detections, func(d Detection) bool { return d.TruePositive }); k >= 0 {
			latency, trigger = ms(v.Detections[k].Latency), v.Detections[k].Trigger.Node
		}
		switch {
		case v.Invalid != "":
			met = "run not valid: " + v.Invalid
		case !v.Expected:
			met = "nothing expected"
		case !v.ExpectedMet:
			met = "NOT met"
		}
		rows = append(rows, []string{
			fmt.Sprint(i + 1), onset, fmt.Sprint(v.truePositives()), latency, fmt.Sprint(v.FalsePositives), fmt.Sprint(v.Premature),
			fmt.Sprint(v.FalseNegatives), fmt.Sprint(v.LosslessLost), trigger, met,
		})
	}
	t.line("")
	t.rows(rows, "rrrrrrrrll", func(int) {})
	t.line("")
	t.line("deadlocks   in %d of %d runs; %d detected, %d missed", s.Deadlocks, len(s.Runs), s.Detected, s.FalseNegatives)
	t.line("alarms      %d false, %d premature", s.FalsePositives, s.Premature)
	t.line("lossless    %d frames lost", s.LosslessLost)
	if q := s.Latency; q.Samples > 0 {
		t.line("latency     median %s ms, p90 %s ms, from %s to %s ms", ms(q.P50), ms(q.P90), ms(q.Min), ms(q.Max))
	}
	if s.Runs[0].Expected {
		t.line("expectation met in %d runs; %d runs not valid", s.Met, s.Invalid)
	} else {
		t.line("nothing expected; %d runs not valid", s.Invalid)
	}
	_, err := io.WriteString(w, t.String())
	return err
}
