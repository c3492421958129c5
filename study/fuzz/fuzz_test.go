package fuzz

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"softswitch/detect"
	"softswitch/detect/itsy"
	"softswitch/detect/itsypaper"
	"softswitch/internal/testkit"
	"softswitch/scenario"
	"softswitch/scenario/workload"
	"softswitch/unit"
)

// playMany plays n cases with a number of workers.
func playMany(t *testing.T, seed uint64, n int, mode Mode, workers int, name string, f detect.Factory) *DetectionReport {
	t.Helper()
	outcomes := make([]Outcome, n)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for i := w; i < n; i += workers {
				outcomes[i] = New(seed, i, mode).Play(name, f)
			}
		})
	}
	group.Wait()
	var sum Tally
	for i := range outcomes {
		if why := outcomes[i].Invalid; why != "" {
			t.Errorf("seed %d, case %d, mode %s is invalid: %s", seed, i, mode, why)
		}
		sum.Add(&outcomes[i])
	}
	return sum.Report(seed, mode, name, []string{})
}

// A detector that never speaks misses every deadlock; at least two in five cases
// have one, and there are some of every kind.
func TestSilentMissesAll(t *testing.T) {
	n := testkit.Sized(8, 100)
	// Seeds of which the first few cases have every kind: found by trying those from 5 on.
	few := map[Mode]uint64{Usual: 35, Loss: 27, Expiry: 31}
	for _, mode := range Modes {
		r := playMany(t, testkit.Sized(few[mode], 1), n, mode, 2, "none", detect.NewNone)
		if r.FalseNegatives != r.Deadlocks || r.Detected+r.TruePositives+r.FalsePositives+r.Premature+r.Late != 0 || r.MissedByKind != r.ByKind {
			t.Errorf("mode %s: %+v", mode, r)
		}
		if r.Dead*10 < n*4 || r.ByKind.Strong == 0 || r.ByKind.Split == 0 || r.ByKind.Flooding == 0 {
			t.Errorf("mode %s: %d of %d cases deadlock, %+v", mode, r.Dead, n, r.ByKind)
		}
		if r.Clean() {
			t.Errorf("mode %s: a report with false negatives is called clean", mode)
		}
	}
}

// Connections deadlock as flows do, and itsy makes no mistake.
func TestRDMA(t *testing.T) {
	const drawn = 150
	const known = 12 // of so few cases of a random seed too few may deadlock
	seed := testkit.Seed(t)
	for _, c := range []struct {
		seed uint64
		n    int
	}{{known, 6}, {seed, testkit.Sized(8, drawn)}} {
		r := playMany(t, c.seed, c.n, RDMA, 2, "itsy", itsy.New)
		if few := r.Dead*10 < c.n*2; few && (c.seed == known || c.n == drawn) || r.Detected != r.Deadlocks || !r.Clean() {
			t.Errorf("%+v", r)
		}
	}
	connections, ends, all, controlled := 0, 0, 0, 0
	patterns := map[workload.Pattern]int{}
	for i := range drawn {
		c := New(seed, i, RDMA)
		if c.Congestion.Control != "" {
			controlled++
		}
		for _, w := range c.Workloads {
			patterns[w.Pattern]++
		}
		for _, f := range c.Flows {
			all++
			if f.RC != nil {
				connections++
			}
			if f.Size > 0 {
				ends++
			}
		}
	}
	if connections*10 < all*6 || ends*10 < all*3 || controlled*10 < drawn*5 {
		t.Errorf("of %d flows %d are connections, %d end by themselves; of %d cases %d have congestion control", all, connections, ends, drawn, controlled)
	}
	if len(patterns) != 6 {
		t.Errorf("of 6 patterns of workloads these were drawn: %v", patterns)
	}
}

// loud declares a deadlock whenever a priority group goes XOFF.
type loud struct {
	detect.None
	a detect.Actions
}

func (l loud) XOFF(_ unit.Time, b detect.PG, cause detect.Queue) {
	l.a.Report(detect.Finding{PG: b, Queue: cause})
}

// A detector that always speaks is wrong most of the time.
func TestLoudIsWrong(t *testing.T) {
	r := playMany(t, 1, testkit.Sized(15, 60), Usual, 2, "loud", func(_ detect.View, a detect.Actions) detect.Detector { return loud{a: a} })
	if r.FalsePositives == 0 || r.Premature == 0 || r.Clean() {
		t.Errorf("%+v", r)
	}
}

// The detector of the paper misses deadlocks and declares some that are none: this
// is known of it, so a run that does not find it is broken.
func TestPaperFails(t *testing.T) {
	r := playMany(t, 1, testkit.Sized(20, 150), Usual, 2, "itsypaper", itsypaper.New)
	if r.FalseNegatives == 0 || r.Premature == 0 || r.FalsePositives == 0 || r.Detected == 0 {
		t.Errorf("%+v", r)
	}
}

// The exact detector says nothing that is not true.
func TestExactIsNeverWrong(t *testing.T) {
	for _, mode := range append(slices.Clone(Modes), Jumbo) {
		r := playMany(t, 3, testkit.Sized(6, 80), mode, 2, "itsy", itsy.New)
		if r.FalsePositives+r.Premature != 0 {
			t.Errorf("mode %s: %+v", mode, r)
		}
	}
}

// The same cases give the same report, however many are played at a time; another
// seed gives another.
func TestSameSeedSameReport(t *testing.T) {
	text := func(seed uint64, workers int) string {
		b, err := json.Marshal(playMany(t, seed, testkit.Sized(4, 40), Loss, workers, "itsypaper", itsypaper.New))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	one, again, two, other := text(4, 1), text(4, 1), text(4, 2), text(5, 1)
	if one != again || one != two {
		t.Errorf("once   %s\nagain  %s\ntwo    %s", one, again, two)
	}
	if one == strings.Replace(other, `"seed":5`, `"seed":4`, 1) {
		t.Error("seeds 4 and 5 give the same report")
	}
}

// Every case is a scenario that Parse and Compile accept, with every shape among
// them, and no two are alike.
func TestCasesAreScenarios(t *testing.T) {
	texts, seen, longest := map[string]bool{}, map[string]bool{}, map[Mode]int{}
	for i := range testkit.Sized(40, 300) {
		for _, mode := range append(slices.Clone(Modes), Jumbo) {
			c := New(7, i, mode)
			text := c.Text("none", "a comment\n\nof two parts")
			s, err := scenario.Parse(c.Name(), text, scenario.Known{})
			if err == nil {
				_, err = scenario.Compile(s)
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if again := New(7, i, mode).Text("none", "a comment\n\nof two parts"); string(again) != string(text) {
				t.Fatalf("%s: made twice, it differs", c.Name())
			}
			_, body, _ := strings.Cut(string(text), "detector:")
			if texts[body] {
				t.Errorf("%s is the same as another case", c.Name())
			}
			texts[body], seen[c.Shape] = true, true
			for _, f := range c.Flows {
				longest[mode] = max(longest[mode], f.Frame)
			}
			if n := len(c.Switches); n < 2 || n > 14 {
				t.Errorf("%s has %d switches", c.Name(), n)
			}
		}
	}
	if want := (map[Mode]int{Usual: 1514, Loss: 1514, Expiry: 1514, Jumbo: 9230}); !maps.Equal(longest, want) {
		t.Errorf("the longest frames are %v, want %v", longest, want)
	}
	for _, s := range shapes {
		if !seen[s.name] {
			t.Errorf("no case has the shape %s", s.name)
		}
	}
}

func TestReport(t *testing.T) {
	var all, rest Tally
	strong, split, flooded := Knot{}, Knot{}, Knot{}
	strong.Strong, flooded.Flooded, flooded.Strong = true, true, true
	strong.Declarers, strong.Latency = 1, 1500
	split.Missed = true
	flooded.Declarers, flooded.Latency = 2, 500
	all.Add(&Outcome{Frames: 10, Knots: []Knot{strong, split}, True: 1, Control: 5})
	rest.Add(&Outcome{Frames: 10, Knots: []Knot{flooded, {Young: true}}, True: 2, Premature: 1, Control: 4})
	rest.Add(&Outcome{Frames: 10, Invalid: "no room", True: 9, Knots: []Knot{strong}})
	all.Plus(&rest)
	r := all.Report(0, "", "", nil)
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"seed":0,"mode":"","detector":"","cases":3,"cases_with_deadlock":2,"deadlocks":3,"detected":2,"true_positives":3,"false_positives":0,` +
		`"premature":1,"late":0,"false_negatives":1,"by_kind":{"strong":1,"split":1,"flooding":1},` +
		`"missed_by_kind":{"strong":0,"split":1,"flooding":0},"young":1,"invalid":1,"frame_hops":30,` +
		`"latency_laps":{"p50":0.5,"p90":0.5,"p99":0.5,"max":1.5},` +
		`"declarers_per_deadlock":1.5,"control_frames_per_deadlock":3,"failures":null}`
	if string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
	for _, tc := range []struct {
		o    Outcome
		want Failure
	}{
		{Outcome{}, ""},
		{Outcome{Knots: []Knot{split}}, FalseNegative},
		{Outcome{Knots: []Knot{split}, Premature: 1}, Premature},
		{Outcome{Knots: []Knot{split}, Premature: 1, FalsePositives: 1}, FalsePositive},
		{Outcome{Knots: []Knot{split}, Invalid: "x"}, ""},
		{Outcome{Late: 1}, ""},
	} {
		if got := tc.o.Failure(); got != tc.want {
			t.Errorf("failure of %v is %q, want %q", &tc.o, got, tc.want)
		}
	}
	var table strings.Builder
	if err := r.WriteText(&table); err != nil || !strings.Contains(table.String(), "false negatives") {
		t.Errorf("%v\n%s", err, table.String())
	}
}
