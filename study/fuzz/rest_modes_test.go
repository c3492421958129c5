package fuzz

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/detect/catalog"
	"softswitch/internal/stat"
	"softswitch/internal/testkit"
	"softswitch/scenario"
	"softswitch/scenarios"
	"softswitch/sim"
	"softswitch/sim/simtest"
	"softswitch/unit"
)

// truthCases are cases of each kind that make test plays; make long plays the first 300. In those but
// of static thresholds an oracle, or itsy, that knew the thresholds of an instant alone was wrong.
var truthCases = []struct {
	mode  Mode
	cases []int
}{
	{TruthStatic, []int{1, 3, 4, 5, 6, 7, 11, 12}},
	{TruthOffset, []int{4, 211}},
	{TruthJumbo, []int{28, 135, 226}},
	{TruthDynamic, []int{5, 119, 147, 282}},
	{TruthFailures, []int{30, 115, 226, 229, 249}},
	{TruthSONiC, []int{32, 101, 145}},
	{TruthCells, []int{3, 11, 20, 31}},
}

// truthRun is a run of a mode with a detector.
func truthRun(seed uint64, mode Mode, d catalog.Detector) *Run {
	return &Run{Seed: seed, Mode: mode, Detectors: []catalog.Detector{d}}
}

// TestTruth: in every kind of cases what the oracle and itsy say is what never moves.
func TestTruth(t *testing.T) {
	d := detectorOf(t, "itsy")
	for _, x := range truthCases {
		t.Run(string(x.mode), func(t *testing.T) {
			t.Parallel()
			run := truthRun(restSeed, x.mode, d)
			report := newTruthReport(run)
			cases := x.cases
			if testkit.Long() {
				cases = slices.Collect(upTo(300))
			}
			for _, i := range cases {
				o := playTruth(run, i)
				report.Add(i, &o)
				if why := o.Invalid + o.Lost + o.Why; why != "" {
					t.Errorf("case %d: %s", i, why)
				}
			}
			var text strings.Builder
			if err := report.WriteText(&text); err != nil {
				t.Fatal(err)
			}
			t.Logf("%s", &text)
			if !report.Clean() {
				t.Error("the report is not clean")
			}
			if report.AtRest == 0 || report.Claims == 0 {
				t.Errorf("of %d instants %d have frames that never move, with %d claims; both should be common", report.Instants, report.AtRest, report.Claims)
			}
		})
	}
}

// TestInstantLongAfterTheEnd: what was declared is flushed after the instant, too, where nothing has moved
// for long before it. A knot that hangs on it opens by that.
func TestInstantLongAfterTheEnd(t *testing.T) {
	o := playTruth(truthRun(20261203, TruthDynamic, detectorOf(t, "itsy")), 1188)
	if o.Hanging == 0 || o.Faulty() {
		t.Errorf("%d knots hang on declared ones; %s", o.Hanging, o.Why)
	}
}

// TestTrustingPGsGetTheirTurn: priority groups that take what they wait for to be declared verify it now and
// then, and put that off where another verification passes. It may not be put off ever longer.
func TestTrustingPGsGetTheirTurn(t *testing.T) {
	o := playTruth(truthRun(20261204, TruthFailures, detectorOf(t, "itsy")), 1796)
	if o.Knots == 0 || o.Faulty() {
		t.Errorf("%d knots; %s", o.Knots, o.Why)
	}
}

// TestTruthShipped: in the scenarios that are shipped, too, what the oracle and itsy say at some
// instants is what never moves.
func TestTruthShipped(t *testing.T) {
	quick := []string{"hu-fig4", "itsy-fig3", "shpiner-fig4", "w12-expired-pause", "w20-dynamic-threshold"}
	for _, name := range testkit.Sized(quick, scenarios.Names()) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := simtest.Shipped(t, name, "itsy")
			if s.Detector != "itsy" && s.Detector != "none" {
				t.Skipf("it is about %s", s.Detector)
			}
			s.Detector, s.Response = "itsy", "none"
			plan, err := scenario.Compile(s)
			if err != nil {
				t.Fatal(err)
			}
			d := detectorOf(t, "itsy")
			first, err := playFirst(plan, sim.Options{Seed: 1, Detectors: map[string]detect.Factory{d.Name: d.New}})
			if err != nil {
				t.Fatal(err)
			}
			random := stat.Rand(1)
			o := first.truth(first.instants(s.Duration, &random), theOracle)
			if o.Lost != "" && s.Expect.MayLose() > 0 {
				t.Skipf("it loses frames, and then nothing is compared: %s", o.Lost)
			}
			if why := o.Invalid + o.Lost + o.Why; why != "" {
				t.Error(why)
			}
			t.Logf("%d instants, %d claims, %d declared, %d true, %d late, %d knots", o.Instants, o.Claims, o.Declared, o.True, o.Late, o.Knots)
		})
	}
}

// TestTruthRandom: with static thresholds nothing is wrong in cases of any seed.
func TestTruthRandom(t *testing.T) {
	testkit.LongOnly(t)
	seed, d := testkit.Seed(t), detectorOf(t, "none")
	for i := range 300 {
		if o := playTruth(truthRun(seed, TruthStatic, d), i); o.Invalid != "" || o.Lost != "" || o.Faulty() {
			t.Errorf("seed %d, case %d: %s%s%s", seed, i, o.Invalid, o.Lost, o.Why)
		}
	}
}

func upTo(n int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// TestTruthFile: a case in which something is wrong is written with its sources stopped, made smaller,
// and is wrong when it is played from the file. The judge claims nothing.
func TestTruthFile(t *testing.T) {
	d, blind := detectorOf(t, "none"), truthCanaries[0].judge
	const i = 7
	c := New(restSeed, i, TruthStatic)
	o := c.truth(d, blind)
	var sizes []int // flows
	for _, small := range []bool{false, true} {
		r := Run{N: 300, Seed: restSeed, Mode: TruthStatic, Detectors: []catalog.Detector{d}, Workers: 1, Out: t.TempDir(), Progress: io.Discard}
		all := []failure{{failed{i, r.fileOf(i, "-"+o.Worst.String())}, i, small}}
		if err := r.write(t.Context(), all, func(f failure) (*Case, string) { return r.wrongCase(t.Context(), f, &o, blind) }); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(all[0].File)
		if err != nil {
			t.Fatal(err)
		}
		s, err := scenario.Parse("test.yaml", text, scenario.Known{Detectors: []string{d.Name}})
		if err != nil {
			t.Fatal(err)
		}
		last := unit.Time(0)
		for _, f := range s.Flows {
			if last = max(last, f.Stop); f.Stop == 0 || f.Stop > s.Duration-30*unit.Second/1000 {
				t.Errorf("flow %s stops at %d, the end is at %d", f.Name, f.Stop, s.Duration)
			}
		}
		if r := playText(t, string(text), last, d, blind); len(r.left) == 0 {
			t.Errorf("everything moves in\n%s", text)
		}
		sizes = append(sizes, len(s.Flows))
	}
	if sizes[1] >= sizes[0] {
		t.Errorf("%d flows, made smaller %d", sizes[0], sizes[1])
	}
}
