package rates

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"softswitch/lab"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/scenario/load"
	"softswitch/scenarios"
	"softswitch/unit"
)

const mbit = unit.Rate(1_000_000)

// TestFlowsAreThoseOfNoLoop: with k=4 at 100 Mbit/s it is fattree-no-loop, but for times and
// what is expected.
func TestFlowsAreThoseOfNoLoop(t *testing.T) {
	data, err := scenarios.FS.ReadFile("fattree-no-loop.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file, err := load.Scenario("fattree-no-loop.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	f := Fabric{K: 4, MTU: 1500, Sends: 1500 * unit.Millisecond}
	got := mustScenario(t, f, 100*mbit)
	if len(got.Flows) != len(file.Flows) {
		t.Fatalf("%d flows, want %d", len(got.Flows), len(file.Flows))
	}
	for i, want := range file.Flows {
		g := got.Flows[i]
		if g.Name != want.Name || g.From != want.From || g.To != want.To || g.Frame != want.Frame || g.Rate != want.Rate || !slices.Equal(g.Via, want.Via) || g.Stop-g.Start != want.Stop-want.Start {
			t.Errorf("flow %+v, want %+v", g, want)
		}
	}
	if *got.Buffer.StaticTh != *file.Buffer.StaticTh || *got.Buffer.XOFF != *file.Buffer.XOFF || got.Buffer.Pool != file.Buffer.Pool || got.Links[0] != file.Links[0] {
		t.Errorf("buffer %+v, want %+v", got.Buffer, file.Buffer)
	}
}

// TestScenarios: every fabric that a lab can be has its flows, at every rate and MTU, and a
// lab plays them.
func TestScenarios(t *testing.T) {
	for _, k := range []int{2, 4, 6, 14} {
		for _, mtu := range []int{1500, 9000, 9216} {
			for _, r := range tried {
				f := Fabric{K: k, MTU: mtu, Sends: unit.Second}
				s := mustScenario(t, f, r*mbit)
				if len(s.Flows) != 2*(k-1) || s.MTU != mtu {
					t.Errorf("k=%d: %d flows, MTU %d", k, len(s.Flows), s.MTU)
				}
				_, err := scenario.Compile(s)
				if err := errors.Join(err, lab.Refuse(s)); err != nil {
					t.Errorf("k=%d, mtu %d: %v", k, mtu, err)
				}
				if k == 14 {
					break // its plan has 931 nodes
				}
			}
		}
	}
}

func TestParseFabric(t *testing.T) {
	for text, want := range map[string]int{"k=2": 2, "k=4": 4, "k=14": 14} {
		if f, err := ParseFabric(text); err != nil || f.K != want {
			t.Errorf("%s: %+v, %v", text, f, err)
		}
	}
	for text, want := range map[string]string{
		"k=5": "k=5; valid: even numbers from 2 to 14", "k=0": "k=0; valid", "k=-2": "k=-2; valid", "k=16": "at most 1000 nodes",
		"4": `"4"; write k=4`, "k=": `"k="; write k=4`, "k=4x": `"k=4x"; write`, "k=4 ": `"k=4 "; write`, "ring=4": `"ring=4"; write`,
	} {
		if _, err := ParseFabric(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

// TestSearch: whatever the machine holds is found, with few runs, and what was not held says
// why. Near the limit the first run does, and a later one does not.
func TestSearch(t *testing.T) {
	const runs = 4
	for holds := unit.Rate(0); holds <= tried[len(tried)-1]; holds += 5 {
		for _, doubtful := range []unit.Rate{0, 60, 700} { // above holds a second run fails
			var f Finding
			played, at := 0, map[unit.Rate]int{}
			err := f.search(runs, func(r unit.Rate) (one Run, err error) {
				at[r]++
				if played++; r > (holds+doubtful)*mbit || r > holds*mbit && at[r] > 1 {
					one.Why = fmt.Sprint(r)
				}
				return one, nil
			})
			var held, not unit.Rate
			for _, r := range tried {
				switch {
				case r <= holds:
					held = r * mbit
				case not == 0:
					not = r * mbit
				}
			}
			why := ""
			if not > 0 {
				why = fmt.Sprint(not)
			}
			if err != nil || f.Held != held || f.NotHeld != not || f.Why != why {
				t.Fatalf("holds %d, in doubt to %d: %d, not %d: %q, %v; want %d, %d", holds, holds+doubtful, f.Held, f.NotHeld, f.Why, err, held, not)
			}
			if held > 0 && at[held] != runs || doubtful == 0 && played > 5+runs-1 {
				t.Fatalf("holds %d: %d runs at it, %d in all", holds, at[held], played)
			}
			for _, s := range f.Steps {
				if len(s.Runs) != at[s.Rate] || s.Held != (s.Rate <= holds*mbit) {
					t.Errorf("holds %d: step %+v, played %d times", holds, s, at[s.Rate])
				}
			}
		}
	}
	f := Finding{}
	fault := errors.New("no lab")
	if err := f.search(3, func(unit.Rate) (Run, error) { return Run{}, fault }); !errors.Is(err, fault) || len(f.Steps) != 0 {
		t.Errorf("error %v, steps %v", err, f.Steps)
	}
}

// TestJudge: each thing that a run may lack is said.
func TestJudge(t *testing.T) {
	f := Fabric{K: 4, MTU: 1500, Sends: 2 * unit.Second}
	r := 100 * mbit
	full := int64(r) * 1500 / 1524 / 3
	for _, c := range []struct {
		want   string
		change func(*verdict.Verdict)
	}{
		{"", func(*verdict.Verdict) {}},
		{"not valid: starved", func(v *verdict.Verdict) { v.Invalid = "starved" }},
		{"lost", func(v *verdict.Verdict) { v.ExpectedMet, v.Reasons = false, []string{"lost"} }},
		{"95.0 % of what the links to the receivers carry arrived, less than 97.0 %", func(v *verdict.Verdict) {
			for i := range v.Flows[3:] {
				v.Flows[3+i].OverTime = steady(full*19/20 + 1)
			}
		}},
		{"", func(v *verdict.Verdict) { v.Flows[0].OverTime, v.Flows[1].OverTime = steady(0), steady(2*full) }},
	} {
		v := &verdict.Verdict{Duration: begins + f.Sends + drains, ExpectedMet: true}
		for i := range 6 {
			v.Flows = append(v.Flows, verdict.FlowResult{To: []string{"h0-0-0", "h3-1-1"}[i/3], OverTime: steady(full + 1)})
		}
		c.change(v)
		if got := f.judge(v, r); got.Why != c.want {
			t.Errorf("%q, want %q", got.Why, c.want)
		}
	}
}

// TestText: the finding for people says what is held, what is not and why.
func TestText(t *testing.T) {
	f := Finding{
		Fabric: Fabric{K: 4, MTU: 9000, Sends: 2 * unit.Second}, Nodes: 36, Held: 400 * mbit, NotHeld: 500 * mbit, Why: "too late", Took: 41 * unit.Second,
		Steps: []Step{
			{Rate: 400 * mbit, Held: true, Runs: []Run{{Arrived: 999, Cores: 1.2, Headroom: &verdict.Headroom{Late: unit.Millisecond}}, {Arrived: 990, Cores: 1.1}}},
			{Rate: 500 * mbit, Runs: []Run{{Arrived: 700, Cores: 1.9, Why: "too late"}}},
		},
	}
	var b strings.Builder
	if err := f.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	want := `a fat-tree of k=4, 36 switches and hosts, two incasts at line rate for 2.0 s a run, frames of 9000 bytes

       rate  runs  good  arrived %  processors  ms late
  400Mbit/s     2     2       99.0        1.20      1.0
  500Mbit/s     1     0       70.0        1.90      0.0

holds 400Mbit/s per link, and not 500Mbit/s: too late; it took 41 s
`
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", &b, want)
	}
	f.Held, f.Why = 0, "one; two; three; four"
	b.Reset()
	f.WriteText(&b)
	if !strings.Contains(b.String(), "holds no rate of those that were tried, and not 500Mbit/s: one; two; and 2 more; it took") {
		t.Errorf("%s", &b)
	}
}

func steady(bps int64) []int64 { return slices.Repeat([]int64{bps}, scenario.Bins) }

func mustScenario(t *testing.T, f Fabric, r unit.Rate) *scenario.Scenario {
	t.Helper()
	s, err := f.Scenario(r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
