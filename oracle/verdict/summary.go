package verdict

import (
	"fmt"
	"io"
	"reflect"
	"slices"

	"softswitch/internal/stat"
	"softswitch/unit"
)

// Summary is several runs of one scenario. Counts are sums over the runs.
type Summary struct {
	Scenario string     `json:"scenario"`
	World    string     `json:"world"`
	Detector string     `json:"detector"`
	Runs     []*Verdict `json:"runs"`
	// Equal: simulated runs that differ in nothing but their seed, for nothing is drawn. Quantiles are
	// then of one run.
	Equal bool `json:"equal"`

	Deadlocks int `json:"deadlocks"` // runs with one
	Detected  int `json:"detected"`  // of those, runs with a true detection
	// FalseNegatives are runs with a deadlock that nobody declared while it lived.
	FalseNegatives int `json:"false_negatives"`
	FalsePositives int `json:"false_positives"`
	Premature      int `json:"premature"`
	Late           int `json:"late"`
	LosslessLost   int `json:"lossless_lost"`
	// LosslessLostBy is LosslessLost by reason, as in a verdict.
	LosslessLostBy map[string]int `json:"lossless_lost_by"`
	// ResponseDropped and Policed are frames dropped on purpose, as in a verdict.
	ResponseDropped int `json:"response_dropped"`
	Policed         int `json:"policed"`
	// DroppedOfNamed and DroppedOfOthers are those of flows that a cause names, and of others.
	DroppedOfNamed  int `json:"dropped_of_named"`
	DroppedOfOthers int `json:"dropped_of_others"`
	Recovered       int `json:"recovered"` // runs
	Recurrences     int `json:"recurrences"`
	Met             int `json:"expected_met"` // runs
	Invalid         int `json:"invalid"`      // runs

	// Latency is of the first true detection of each run, Onset of the runs with a deadlock,
	// Recovery of those that recovered, and Pauses of all: XOFF frames.
	Latency  Quantiles   `json:"latency_ns"`
	Onset    Quantiles   `json:"onset_ns"`
	Recovery Quantiles   `json:"recovery_ns"`
	Pauses   Spread[int] `json:"xoff"`
	// Completion is of the flows of all runs together, nil if none has an end.
	Completion *Completion `json:"completion,omitempty"`
}

// Quantiles are those of times.
type Quantiles = Spread[unit.Time]

// Spread is how far a number of samples are spread, by nearest rank; all 0 if there are no
// samples.
type Spread[T int | unit.Time] struct {
	Samples int `json:"samples"`
	P50     T   `json:"p50"`
	P90     T   `json:"p90"`
	Min     T   `json:"min"`
	Max     T   `json:"max"`
}

// Summarize summarises runs of one scenario; at least one.
func Summarize(runs []*Verdict) Summary {
	s := Summary{Scenario: runs[0].Scenario, World: runs[0].World, Detector: runs[0].Detector, Runs: runs, LosslessLostBy: map[string]int{}}
	s.Equal = equal(runs)
	var latencies, onsets, recoveries []unit.Time
	var pauses []int
	for _, v := range runs {
		s.Deadlocks += count(v.Deadlock)
		s.FalseNegatives += count(v.FalseNegatives > 0)
		s.FalsePositives += v.FalsePositives
		s.Premature += v.Premature
		s.Late += v.Late
		s.LosslessLost += v.LosslessLost
		for _, l := range v.LosslessLostAt {
			s.LosslessLostBy[l.Reason] += l.Frames
		}
		s.ResponseDropped += v.ResponseDropped
		s.Policed += v.Policed
		named, _ := v.Dropped(true)
		others, _ := v.Dropped(false)
		s.DroppedOfNamed, s.DroppedOfOthers = s.DroppedOfNamed+int(named), s.DroppedOfOthers+int(others)
		s.Recovered += count(v.Recovered)
		s.Recurrences += v.Recurrences
		s.Met += count(v.ExpectedMet)
		s.Invalid += count(v.Invalid != "")
		if i := slices.IndexFunc(v.Detections, func(d Detection) bool { return d.TruePositive }); i >= 0 {
			s.Detected++
			latencies = append(latencies, v.Detections[i].Latency)
		}
		if v.Deadlock {
			onsets = append(onsets, v.Onset)
		}
		if v.Recovered {
			recoveries = append(recoveries, v.Recovery)
		}
		pauses = append(pauses, v.PFC.XOFF)
	}
	if s.Equal {
		latencies, onsets, recoveries, pauses = latencies[:min(1, len(latencies))], onsets[:min(1, len(onsets))], recoveries[:min(1, len(recoveries))], pauses[:1]
	}
	s.Latency, s.Onset, s.Recovery, s.Pauses = QuantilesOf(latencies), QuantilesOf(onsets), QuantilesOf(recoveries), QuantilesOf(pauses)
	if s.Completion = completion(runs); s.Completion != nil {
		for _, v := range runs {
			if v.Completion != nil {
				s.Completion.Paused += v.Completion.Paused
			}
		}
	}
	return s
}

// equal reports whether several simulated runs differ in nothing but their seed. Then the seed drew nothing,
// and quantiles over them would suggest samples that are not there.
func equal(runs []*Verdict) bool {
	if len(runs) < 2 || runs[0].World != "sim" {
		return false
	}
	return !slices.ContainsFunc(runs[1:], func(v *Verdict) bool { return !v.Same(runs[0]) })
}

// Same reports whether two runs of a scenario differ in nothing but their seed.
func (v *Verdict) Same(as *Verdict) bool {
	other := *as
	other.Seed = v.Seed
	return reflect.DeepEqual(*v, other)
}

// QuantilesOf computes the quantiles of t, which it sorts: P50 is the median, P90 by nearest
// rank.
func QuantilesOf[T int | unit.Time](t []T) Spread[T] {
	if len(t) == 0 {
		return Spread[T]{}
	}
	slices.Sort(t)
	return Spread[T]{Samples: len(t), P50: stat.Median(t), P90: t[stat.NearestRank(len(t), 90)], Min: t[0], Max: t[len(t)-1]}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// writeMachine writes how late the machine of live runs was.
func (s *Summary) writeMachine(t *table) {
	var most Headroom
	for _, v := range s.Runs {
		if h := v.Headroom; h != nil {
			most = Headroom{Slack: max(most.Slack, h.Slack), Used: max(most.Used, h.Used), Late: max(most.Late, h.Late)}
		}
	}
	if s.World == "live" {
		t.line("machine     up to %s ms late in a run; up to %d bytes of slack, %d of it used", ms(most.Late), most.Slack, most.Used)
	}
}

// lossText is the loss for people, by reason, the biggest first: "36 headroom_full, 3 wire".
func (s *Summary) lossText() string {
	var all Verdict
	for _, reason := range append(lossReasons(), WireLoss) {
		all.lose("", reason, s.LosslessLostBy[reason])
	}
	all.sortLosses()
	return all.lossText()
}

// AllMet reports whether every run met its expectation and can be trusted.
func (s *Summary) AllMet() bool { return s.Met == len(s.Runs) && s.Invalid == 0 }

// WriteText writes a line per run, and the summary, for people.
func (s *Summary) WriteText(w io.Writer) error {
	var t table
	t.line("%s: %s, detector %s, %d runs", s.Scenario, s.World, orNone(s.Detector), len(s.Runs))
	number := "run"
	if s.World == "sim" {
		number = "seed"
	}
	rows := [][]string{{number, "onset ms", "true", "latency ms", "false", "premature", "missed", "lost", "trigger", "expectation"}}
	for i, v := range s.Runs {
		run, onset, latency, trigger, met := uint64(i+1), "-", "-", "-", "met"
		if s.World == "sim" {
			run = v.Seed
		}
		if v.Deadlock {
			onset = ms(v.Onset)
		}
		if k := slices.IndexFunc(v.Detections, func(d Detection) bool { return d.TruePositive }); k >= 0 {
			latency, trigger = ms(v.Detections[k].Latency), v.Detections[k].Trigger.Node
		}
		switch {
		case v.Invalid != "":
			met = "run not valid: " + v.Invalid
		case !v.ExpectedMet && v.Expected:
			met = "NOT met"
		case !v.ExpectedMet:
			met = "NOT lossless"
		case !v.Expected:
			met = "nothing expected"
		}
		rows = append(rows, []string{
			fmt.Sprint(run), onset, fmt.Sprint(v.truePositives()), latency, fmt.Sprint(v.FalsePositives), fmt.Sprint(v.Premature),
			fmt.Sprint(v.FalseNegatives), fmt.Sprint(v.LosslessLost), trigger, met,
		})
	}
	t.line("")
	t.rows(rows, "rrrrrrrrll", func(int) {})
	if s.Completion != nil {
		s.Completion.writeSizes(&t)
	}
	t.line("")
	if s.Equal {
		t.line("equal runs  nothing is drawn: they are one, n = 1; start: 500ms±1ms of a flow draws")
	}
	t.line("deadlocks   in %d of %d runs; %d detected, %d missed", s.Deadlocks, len(s.Runs), s.Detected, s.FalseNegatives)
	for _, q := range []struct {
		name string
		Quantiles
	}{{"onset", s.Onset}, {"latency", s.Latency}, {"recovery", s.Recovery}} {
		switch {
		case q.Samples > 0 && s.Equal:
			t.line("%-11s %s ms", q.name, ms(q.P50))
		case q.Samples > 0:
			t.line("%-11s median %s ms, p90 %s ms, from %s to %s ms", q.name, ms(q.P50), ms(q.P90), ms(q.Min), ms(q.Max))
		}
	}
	if s.Deadlocks > 0 {
		t.line("recovered   %d runs; %d recurrences", s.Recovered, s.Recurrences)
	}
	t.line("alarms      %d false, %d premature, %d late", s.FalsePositives, s.Premature, s.Late)
	t.line("lossless    %d frames lost; dropped to break a deadlock %d, to handle its trigger %d", s.LosslessLost, s.ResponseDropped, s.Policed)
	if s.DroppedOfNamed+s.DroppedOfOthers > 0 {
		t.line("dropped of  flows that a cause names %d, of others %d", s.DroppedOfNamed, s.DroppedOfOthers)
	}
	if s.Equal {
		t.line("pauses      %d XOFF", s.Pauses.P50)
	} else {
		t.line("pauses      median %d XOFF, p90 %d, from %d to %d", s.Pauses.P50, s.Pauses.P90, s.Pauses.Min, s.Pauses.Max)
	}
	if s.Completion != nil {
		s.Completion.writeLine(&t)
	}
	s.writeMachine(&t)
	switch lossy := len(s.Runs) - s.Met; {
	case s.Runs[0].Expected:
		t.line("expectation met in %d runs; %d runs not valid", s.Met, s.Invalid)
	case lossy > 0:
		t.line("NOT lossless: %d lossless frames lost in %d runs: %s; %d runs not valid", s.LosslessLost, lossy, s.lossText(), s.Invalid)
	default:
		t.line("nothing expected; %d runs not valid", s.Invalid)
	}
	_, err := io.WriteString(w, t.String())
	return err
}
