package verdict

import (
	"cmp"
	"fmt"
	"io"
	"reflect"
	"slices"

	"softswitch/internal/stat"
	"softswitch/unit"
)

// Summary is several runs of one scenario.
type Summary struct {
	Scenario string     `json:"scenario"`
	World    string     `json:"world"`
	Detector string     `json:"detector"`
	Runs     []*Verdict `json:"runs"`
	// Equal: simulated runs of several seeds that differ in nothing but their seed. Quantiles are then of
	// one run. A scenario that draws nothing is played once, and Runs has that run alone.
	Equal bool `json:"equal"`

	Sums `json:"-"`
	// LosslessLostBy is the lossless frames lost by reason, as in a verdict.
	LosslessLostBy map[string]int `json:"lossless_lost_by"`
	Met            int            `json:"expected_met"` // runs
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

// MarshalJSON puts what sums there were first where they always were, and others at the end.
func (s Summary) MarshalJSON() ([]byte, error) {
	type plain Summary // without this method
	return s.JSON(plain(s), `scenario world detector runs equal deadlock:deadlocks detected false_negatives false_positives premature late
		lossless_lost lossless_lost_by response_dropped policed dropped_of_named dropped_of_others recovered recurrences expected_met invalid
		latency_ns onset_ns recovery_ns xoff completion`)
}

// Summarize summarises runs of one scenario; at least one.
func Summarize(runs []*Verdict) Summary {
	s := Summary{
		Scenario: runs[0].Scenario, World: runs[0].World, Detector: runs[0].Detector, Runs: runs, Equal: equal(runs),
		Sums: SumsOf(runs), LosslessLostBy: map[string]int{}, Completion: completion(runs),
	}
	for _, v := range runs {
		for _, l := range v.LosslessLostAt {
			s.LosslessLostBy[l.Reason] += l.Frames
		}
		s.Met += count(v.ExpectedMet)
		if v.Completion != nil {
			s.Completion.Paused += v.Completion.Paused
		}
	}
	if s.Equal {
		one := SumsOf(runs[:1])
		for _, f := range Summed() {
			if _, counts := one[f.Key].(int); !counts {
				s.Sums[f.Key] = one[f.Key]
			}
		}
	}
	return s
}

// equal reports whether several simulated runs differ in nothing but their seed. Then what it drew made no
// difference, and quantiles over them would suggest samples that are not there.
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
func (s *Summary) AllMet() bool { return s.Met == len(s.Runs) && s.Count("invalid") == 0 }

// WriteText writes a line per run, and the summary, for people.
func (s *Summary) WriteText(w io.Writer) error {
	var t table
	t.line("%s: %s, detector %s, %s", s.Scenario, s.World, cmp.Or(s.Detector, "none"), unit.Count(len(s.Runs), "run"))
	rows := [][]string{{or("run", s.World == "sim", "seed"), "onset ms", "true", "latency ms", "false", "premature", "missed", "lost", "trigger", "expectation"}}
	shown := s.Runs
	if s.Equal {
		shown = shown[:1]
	}
	for i, v := range shown {
		run, met, d := fmt.Sprint(i+1), "met", v.first()
		switch {
		case s.Equal && len(s.Runs) > 1:
			run = fmt.Sprintf("%d-%d", v.Seed, s.Runs[len(s.Runs)-1].Seed)
		case s.World == "sim":
			run = fmt.Sprint(v.Seed)
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
		rows = append(rows, cells(run, or("-", v.Deadlock, ms(v.Onset)), v.truePositives(), or("-", d.TruePositive, ms(d.Latency)),
			v.FalsePositives, v.Premature, v.FalseNegatives, v.LosslessLost, or("-", d.TruePositive, d.Trigger.Node), met))
	}
	t.line("")
	t.rows(rows, "rrrrrrrrll", func(int) {})
	if s.Completion != nil {
		s.Completion.writeSizes(&t)
	}
	t.line("")
	switch {
	case s.Equal && len(s.Runs) == 1:
		t.line("equal runs  all runs are the same: this scenario draws nothing; give flows a spread, such as start: 500ms±1ms")
	case s.Equal:
		t.line("equal runs  whatever their seed, the %s are the same, n = 1", unit.Count(len(s.Runs), "run"))
	}
	t.line("deadlocks   in %d of %d runs; %d detected, %d missed", s.Count("deadlock"), len(s.Runs), s.Count("detected"), s.Count("false_negatives"))
	for _, name := range []string{"onset", "latency", "recovery"} {
		switch q := s.Times(name + "_ns"); {
		case q.Samples > 0 && s.Equal:
			t.line("%-11s %s ms", name, ms(q.P50))
		case q.Samples > 0:
			t.line("%-11s median %s ms, p90 %s ms, from %s to %s ms", name, ms(q.P50), ms(q.P90), ms(q.Min), ms(q.Max))
		}
	}
	if s.Count("deadlock") > 0 {
		t.line("recovered   %s; %s", unit.Count(s.Count("recovered"), "run"), unit.Count(s.Count("recurrences"), "recurrence"))
	}
	t.line("alarms      %d false, %d premature, %d late", s.Count("false_positives"), s.Count("premature"), s.Count("late"))
	t.line("lossless    %s lost; dropped to break a deadlock %d, to handle its trigger %d", unit.Count(s.Count("lossless_lost"), "frame"), s.Count("response_dropped"), s.Count("policed"))
	if named, others := s.Count("dropped_of_named"), s.Count("dropped_of_others"); named+others > 0 {
		t.line("dropped of  flows that a cause names %d, of others %d", named, others)
	}
	if q := s.Sums["xoff"].(Spread[int]); s.Equal {
		t.line("pauses      %d XOFF", q.P50)
	} else {
		t.line("pauses      median %d XOFF, p90 %d, from %d to %d", q.P50, q.P90, q.Min, q.Max)
	}
	if s.Completion != nil {
		s.Completion.writeLine(&t)
	}
	s.writeMachine(&t)
	switch lossy, invalid := len(s.Runs)-s.Met, s.Count("invalid"); {
	case s.Runs[0].Expected:
		t.line("expectation met in %d runs; %s not valid", s.Met, unit.Count(invalid, "run"))
	case lossy > 0:
		t.line("NOT lossless: %s lost in %d runs: %s; %s not valid", unit.Count(s.Count("lossless_lost"), "lossless frame"), lossy, s.lossText(), unit.Count(invalid, "run"))
	default:
		t.line("nothing expected; %s not valid", unit.Count(invalid, "run"))
	}
	_, err := io.WriteString(w, t.String())
	return err
}
