package verdict

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/scenario"
	"softswitch/unit"
)

const us = unit.Microsecond

// TestQuantiles: the nearest rank is the least sample that p percent of the
// samples do not exceed; the median of two in the middle lies between these.
func TestQuantiles(t *testing.T) {
	for _, c := range []struct {
		samples []unit.Time
		want    Quantiles
	}{
		{nil, Quantiles{}},
		{[]unit.Time{7}, Quantiles{1, 7, 7, 7, 7}},
		{[]unit.Time{9, 1}, Quantiles{2, 5, 9, 1, 9}},
		{[]unit.Time{3, 1, 2}, Quantiles{3, 2, 3, 1, 3}},
		{[]unit.Time{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, Quantiles{10, 5, 9, 1, 10}},
		{[]unit.Time{11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, Quantiles{11, 6, 10, 1, 11}},
	} {
		if got := QuantilesOf(slices.Clone(c.samples)); got != c.want {
			t.Errorf("quantiles of %v: %+v, want %+v", c.samples, got, c.want)
		}
	}
}

// TestQuantilesByCounting compares with the definition, sample by sample.
func TestQuantilesByCounting(t *testing.T) {
	seed := testkit.Seed(t)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		samples := make([]unit.Time, 1+random.IntN(40))
		for i := range samples {
			samples[i] = unit.Time(random.IntN(30))
		}
		slow := func(percent int) unit.Time {
			for value := unit.Time(0); ; value++ {
				below := 0
				for _, s := range samples {
					below += count(s <= value)
				}
				if below*100 >= percent*len(samples) {
					return value
				}
			}
		}
		other := func(percent int) unit.Time { // the greatest that so many percent reach
			for value := unit.Time(29); ; value-- {
				above := 0
				for _, s := range samples {
					above += count(s >= value)
				}
				if above*100 >= percent*len(samples) {
					return value
				}
			}
		}
		want := Quantiles{len(samples), (slow(50) + other(50)) / 2, slow(90), slices.Min(samples), slices.Max(samples)}
		if got := QuantilesOf(slices.Clone(samples)); got != want {
			t.Fatalf("quantiles of %v: %+v, want %+v", samples, got, want)
		}
	}
}

// fourRuns are a run that was detected, twice truly; one that was missed; one
// without a deadlock but with false alarms; and one that is not valid.
func fourRuns() []*Verdict {
	trigger := FoundTrigger{Node: "agg0-0", Kind: "switch", OnLoop: true}
	head := Verdict{Scenario: "fattree-on-loop", World: "live", Detector: "itsypaper", Expected: true}
	detected, missed, quiet, invalid := head, head, head, head
	detected.Deadlock, detected.Onset, detected.ExpectedMet, detected.Premature = true, 565_866*us, true, 1
	detected.Detections = []Detection{
		{Switch: "agg2-0"},
		{Switch: "core0", TruePositive: true, Latency: 236 * us, Trigger: trigger},
		{Switch: "core1", TruePositive: true, Latency: 100 * us},
	}
	missed.Deadlock, missed.Onset, missed.FalseNegatives, missed.LosslessLost = true, 600_000*us, 2, 3
	quiet.FalsePositives, quiet.ExpectedMet = 2, true
	quiet.Detections = []Detection{{Switch: "core0"}, {Switch: "core0"}}
	invalid.Deadlock, invalid.Onset, invalid.ExpectedMet, invalid.Invalid = true, 570_000*us, true, "s1 was starved: 120 ms late"
	invalid.LosslessLost = 4
	invalid.Detections = []Detection{{TruePositive: true, Latency: 1500 * us, Trigger: FoundTrigger{Node: "core1", Kind: "switch"}}}
	detected.Recovered, detected.Recovery, detected.Recurrences, detected.Late = true, 9*us, 3, 2
	detected.ResponseDropped, missed.Policed = 5, 6
	detected.PFC.XOFF, missed.PFC.XOFF, quiet.PFC.XOFF, invalid.PFC.XOFF = 20, 40, 10, 30
	detected.Headroom, missed.Headroom = &Headroom{Slack: 900, Late: 2000 * us}, &Headroom{Slack: 500, Used: 7, Late: 1000 * us}
	return []*Verdict{&detected, &missed, &quiet, &invalid}
}

func TestSummarize(t *testing.T) {
	got := Summarize(fourRuns())
	if len(got.Runs) != 4 {
		t.Errorf("%d runs", len(got.Runs))
	}
	got.Runs = nil
	want := Summary{
		Scenario: "fattree-on-loop", World: "live", Detector: "itsypaper",
		LosslessLostBy: map[string]int{}, Met: 3,
		Sums: Sums{
			"deadlock": 3, "detected": 2, "false_negatives": 1, "false_positives": 2, "premature": 1, "late": 2, "lossless_lost": 7,
			"response_dropped": 5, "response_dropped_bytes": 0, "policed": 6, "dropped_of_named": 0, "dropped_of_others": 0,
			"recovered": 1, "recurrences": 3, "invalid": 1, "control_messages": 0, "detector_bytes_per_switch": 0, "counter_bytes_per_switch": 0,
			// The first true detection of a run counts, the others do not.
			"latency_ns":  Quantiles{Samples: 2, P50: 868 * us, P90: 1500 * us, Min: 236 * us, Max: 1500 * us},
			"onset_ns":    Quantiles{Samples: 3, P50: 570_000 * us, P90: 600_000 * us, Min: 565_866 * us, Max: 600_000 * us},
			"recovery_ns": Quantiles{Samples: 1, P50: 9 * us, P90: 9 * us, Min: 9 * us, Max: 9 * us},
			"xoff":        Spread[int]{Samples: 4, P50: 25, P90: 40, Min: 10, Max: 40},
		},
	}
	a, err1 := json.Marshal(got)
	b, err2 := json.Marshal(want)
	if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
		t.Errorf("%v, %v: summary\n%s\nwant\n%s", err1, err2, a, b)
	}
}

const wantSummary = `fattree-on-loop: live, detector itsypaper, 4 runs

  run  onset ms  true  latency ms  false  premature  missed  lost  trigger  expectation
    1   565.866     2       0.236      0          1       0     0  agg0-0   met
    2   600.000     0           -      0          0       2     3  -        NOT met
    3         -     0           -      2          0       0     0  -        met
    4   570.000     1       1.500      0          0       0     4  core1    run not valid: s1 was starved: 120 ms late

deadlocks   in 3 of 4 runs; 2 detected, 1 missed
onset       median 570.000 ms, p90 600.000 ms, from 565.866 to 600.000 ms
latency     median 0.868 ms, p90 1.500 ms, from 0.236 to 1.500 ms
recovery    median 0.009 ms, p90 0.009 ms, from 0.009 to 0.009 ms
recovered   1 run; 3 recurrences
alarms      2 false, 1 premature, 2 late
lossless    7 frames lost; dropped to break a deadlock 5, to handle its trigger 6
pauses      median 25 XOFF, p90 40, from 10 to 40
machine     up to 2.000 ms late in a run; up to 900 bytes of slack, 7 of it used
expectation met in 3 runs; 1 run not valid
`

// TestMachineTable: how late the machine was, and whose slack there was.
func TestMachineTable(t *testing.T) {
	h := Headroom{Bytes: 30720, Slack: 606780, Used: 12, Scaled: true, Lasts: 51_002 * us, Lateness: 503 * us, Late: 1200 * us}
	for want, h := range map[string]*Headroom{
		"": nil,
		"machine     0.13 processors used; up to 0.503 ms late before the run, 1.200 ms late in it\n" +
			"headroom    30720 bytes and 606780 of slack, 12 of it used; both last 51.002 ms\n": &h,
		"machine     0.13 processors used; up to 2.000 ms late in it\n" +
			"headroom    30720 bytes and 0 of slack, as the scenario says; both last 2.460 ms\n": {Bytes: 30720, Lasts: 2460 * us, Late: 2000 * us},
	} {
		var got table
		if (&Verdict{Cores: 0.13, Headroom: h}).writeMachine(&got); got.String() != want {
			t.Errorf("%q, want %q", got.String(), want)
		}
	}
}

func TestSummaryTable(t *testing.T) {
	var got strings.Builder
	s := Summarize(fourRuns())
	if err := s.WriteText(&got); err != nil {
		t.Fatal(err)
	}
	if got.String() != wantSummary {
		t.Errorf("table:\n%s\nwant:\n%s", got.String(), wantSummary)
	}
}

// TestSummaryTableOfSeeds: simulated runs are told by their seeds.
func TestSummaryTableOfSeeds(t *testing.T) {
	runs := fourRuns()
	for i, v := range runs {
		v.World, v.Seed = "sim", uint64(40+i)
	}
	var got strings.Builder
	s := Summarize(runs)
	if err := s.WriteText(&got); err != nil {
		t.Fatal(err)
	}
	if text := got.String(); !strings.Contains(text, "\n  seed  onset ms ") || !strings.Contains(text, "\n    42         - ") {
		t.Errorf("table:\n%s", text)
	}
}

// TestSummaryTableWithoutLatency: no run was detected, so there is no latency to
// tell of.
func TestSummaryTableWithoutLatency(t *testing.T) {
	var got strings.Builder
	s := Summarize(fourRuns()[1:3])
	if err := s.WriteText(&got); err != nil {
		t.Fatal(err)
	}
	if text := got.String(); strings.Contains(text, "latency     ") || !strings.Contains(text, "deadlocks   in 1 of 2 runs; 0 detected, 1 missed\n") {
		t.Errorf("table:\n%s", text)
	}
}

// The keys are a promise to programs that read them.
func TestSummaryJSONKeys(t *testing.T) {
	text, err := json.Marshal(Summarize(fourRuns()))
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	wantKeys(t, m, "scenario", "world", "detector", "runs", "equal", "deadlocks", "detected", "false_negatives", "false_positives",
		"premature", "late", "lossless_lost", "lossless_lost_by", "response_dropped", "policed", "dropped_of_named", "dropped_of_others", "recovered", "recurrences", "expected_met", "invalid",
		"latency_ns", "onset_ns", "recovery_ns", "xoff", "response_dropped_bytes", "control_messages", "detector_bytes_per_switch", "counter_bytes_per_switch")
	wantKeys(t, m["latency_ns"].(map[string]any), "samples", "p50", "p90", "min", "max")
	if runs := m["runs"].([]any); len(runs) != 4 || runs[0].(map[string]any)["onset_ns"] != 565_866_000.0 {
		t.Errorf("runs %v", runs)
	}
}

// TestSummaryOfLoss: runs that lost lossless frames of which the scenario does not speak are not
// met, and the summary says why.
func TestSummaryOfLoss(t *testing.T) {
	clean, lossy := &Verdict{}, &Verdict{}
	lossy.lose("h2", "headroom_full", 2)
	lossy.lose("s1", "no_route", 5)
	for _, v := range []*Verdict{clean, lossy} {
		v.check(scenario.Expect{})
	}
	s := Summarize([]*Verdict{clean, lossy, lossy})
	var text strings.Builder
	if err := s.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	want := "NOT lossless: 14 lossless frames lost in 2 runs: 10 no_route, 4 headroom_full; 0 runs not valid\n"
	if s.AllMet() || !strings.HasSuffix(text.String(), want) {
		t.Errorf("all met %t, text:\n%s\nwant at its end: %s", s.AllMet(), text.String(), want)
	}
	if s := Summarize([]*Verdict{clean}); !s.AllMet() {
		t.Error("a run that lost nothing is not met")
	}
}
