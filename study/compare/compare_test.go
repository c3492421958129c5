package compare

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/study/cause"
	"softswitch/unit"
)

const ring = `
name: ring
topology: {ring: {switches: 3, hosts_per_switch: 1}, rate: 1Gbit/s}
flows:
  - {name: whole, from: h1-0, to: h2-0, frame: 1476, rate: 600Mbit/s}
  - {name: early, from: h2-0, to: h3-0, frame: 976, rate: line, stop: 6ms}
  - {name: bad, from: h3-0, to: h1-0, rate: line}
duration: 10ms
`

// source is the ring of three switches under a name.
func source(name string) Source {
	return Source{Name: name, Parse: func() (*scenario.Scenario, error) {
		return scenario.Parse("ring.yaml", []byte(ring), scenario.Known{Detectors: []string{"itsy"}})
	}}
}

// parsed is the ring.
func parsed(t *testing.T) *scenario.Scenario {
	t.Helper()
	s, err := source("ring").Parse()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// quiet is a run of the ring in which nothing went wrong.
func quiet() *verdict.Verdict {
	return &verdict.Verdict{
		Flows: []verdict.FlowResult{
			{Name: "whole", Throughput: 500e6, Final: 500e6, Innocent: true},
			{Name: "early", Throughput: 800e6, Innocent: true},
			{Name: "bad", Throughput: 900e6, Final: 900e6},
		},
	}
}

// run is quiet, changed.
func run(change func(*verdict.Verdict)) *verdict.Verdict {
	v := quiet()
	change(v)
	return v
}

// locked is a run with a deadlock that was found after so long.
func locked(latency unit.Time) *verdict.Verdict {
	return run(func(v *verdict.Verdict) {
		v.Deadlock = true
		v.Detections = []verdict.Detection{{Latency: latency, TruePositive: true}}
	})
}

// recovered is a run with a deadlock that was found, and gone after so long.
func recovered(after unit.Time) *verdict.Verdict {
	v := locked(after / 10)
	v.Recovered, v.Recovery = true, after
	return v
}

// blameless is a truth with which these flows of the ring are innocent, and no cause.
func blameless(flows ...bool) found { return found{Truth: &Truth{}, innocent: flows} }

// unchanged are runs of which no drops are known.
func unchanged(all ...*verdict.Verdict) (runs []*Played) {
	for _, v := range all {
		runs = append(runs, &Played{Verdict: v})
	}
	return runs
}

func TestAggregate(t *testing.T) {
	const whole, early = 590_400_000, 976_000_000 // what the innocent flows ask for
	line := demand(parsed(t), &parsed(t).Flows[2])
	base := Figures{
		Runs:     1,
		AllFlows: Goodput{Flows: 3, Demand: whole + early + line, Throughput: 2_200e6, AtEnd: 2, FinalDemand: whole + line, Final: 1_400e6},
		Innocent: Goodput{Flows: 2, Demand: whole + early, Throughput: 1_300e6, AtEnd: 1, FinalDemand: whole, Final: 500e6},
		Actions:  []Count{}, Refusals: []Count{},
	}
	flowsOf := func(f *Figures, runs int) {
		f.Runs, f.Sums["xoff"] = runs, verdict.Spread[int]{Samples: runs}
		for _, g := range []*Goodput{&f.AllFlows, &f.Innocent} {
			g.Flows *= runs
			g.AtEnd *= runs
		}
	}
	for _, c := range []struct {
		name string
		runs []*verdict.Verdict
		want func(*Figures)
	}{
		{"nothing happened", []*verdict.Verdict{quiet()}, func(*Figures) {}},
		{"runs that differ", []*verdict.Verdict{locked(30), recovered(5000), locked(10)}, func(f *Figures) {
			flowsOf(f, 3)
			f.Sums["deadlock"], f.Sums["detected"], f.Sums["recovered"] = 3, 3, 1
			f.Sums["onset_ns"] = verdict.Quantiles{Samples: 3}
			f.Sums["latency_ns"] = verdict.Quantiles{Samples: 3, P50: 30, P90: 500, Min: 10, Max: 500}
			f.Sums["recovery_ns"] = verdict.Quantiles{Samples: 1, P50: 5000, P90: 5000, Min: 5000, Max: 5000}
		}},
		{"counts are summed, sizes are not", []*verdict.Verdict{
			run(func(v *verdict.Verdict) {
				v.LosslessLost, v.ResponseDropped, v.ResponseDroppedBytes, v.Policed, v.Late = 1, 2, 3000, 4, 5
				v.PFC = verdict.PFCFrames{XOFF: 6, XON: 7, Refresh: 8}
				v.ControlMessages, v.DetectorBytesPerSwitch, v.CounterBytesPerSwitch = 9, 640, 80
				v.FalsePositives, v.Premature, v.Recurrences = 2, 3, 1
			}),
			run(func(v *verdict.Verdict) {
				v.LosslessLost, v.ResponseDropped, v.ResponseDroppedBytes, v.Policed, v.Late = 10, 20, 30000, 40, 50
				v.PFC = verdict.PFCFrames{XOFF: 60, XON: 70, Refresh: 80}
				v.ControlMessages, v.DetectorBytesPerSwitch, v.CounterBytesPerSwitch = 90, 512, 96
				v.FalseNegatives, v.Invalid, v.Recurrences = 2, "starved", 2
			}),
		}, func(f *Figures) {
			flowsOf(f, 2)
			f.Sums["invalid"] = 1
			f.Sums["lossless_lost"], f.Sums["response_dropped"], f.Sums["response_dropped_bytes"], f.Sums["policed"], f.Sums["late"] = 11, 22, 33000, 44, 55
			f.PFC = verdict.PFCFrames{XOFF: 66, XON: 77, Refresh: 88}
			f.Sums["xoff"] = verdict.Spread[int]{Samples: 2, P50: 33, P90: 60, Min: 6, Max: 60}
			f.Sums["control_messages"], f.Sums["detector_bytes_per_switch"], f.Sums["counter_bytes_per_switch"] = 99, 640, 96
			f.Sums["false_positives"], f.Sums["premature"], f.Sums["recurrences"] = 2, 3, 3
			f.Sums["false_negatives"] = 1 // of two in one run
		}},
		{"what was done and refused", []*verdict.Verdict{
			run(func(v *verdict.Verdict) {
				v.Actions = []verdict.Action{{Action: "drop"}, {Action: "police"}, {Action: "drop"}}
				v.Refusals = []verdict.Refusal{{Why: "port down"}}
			}),
			run(func(v *verdict.Verdict) {
				v.Actions = []verdict.Action{{Action: "avoid"}}
				v.Refusals = []verdict.Refusal{{Why: "held down"}, {Why: "port down"}}
			}),
		}, func(f *Figures) {
			flowsOf(f, 2)
			f.Actions = []Count{{"avoid", 1}, {"drop", 2}, {"police", 1}}
			f.Refusals = []Count{{"held down", 1}, {"port down", 2}}
		}},
		{"an innocent flow that stalled in one of two runs", []*verdict.Verdict{quiet(), run(func(v *verdict.Verdict) { v.Flows[0].Final = 0 })}, func(f *Figures) {
			flowsOf(f, 2)
			f.AllFlows.Final, f.AllFlows.Stalled = 1_150e6, 1
			f.Innocent.Final, f.Innocent.Stalled = 250e6, 1
		}},
		{"an innocent flow that is policed is innocent still", []*verdict.Verdict{quiet(), run(func(v *verdict.Verdict) {
			v.Flows[0].Policed, v.Flows[0].Innocent = true, false
		})}, func(f *Figures) { flowsOf(f, 2) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := base
			want.Sums = verdict.SumsOf(nil)
			flowsOf(&want, 1)
			c.want(&want)
			if got := aggregate(parsed(t), unchanged(c.runs...), slices.Repeat([]found{blameless(true, true, false)}, len(c.runs))); !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

// A flow that is innocent with one seed need not be with another.
func TestInnocentsOfEachSeed(t *testing.T) {
	f := aggregate(parsed(t), unchanged(quiet(), quiet()), []found{blameless(true, true, false), blameless(false, true, false)})
	if want := (Goodput{Flows: 3, Demand: 590_400_000/2 + 976_000_000, Throughput: 1_050e6, AtEnd: 1, FinalDemand: 590_400_000 / 2, Final: 250e6}); f.Innocent != want {
		t.Errorf("got  %+v\nwant %+v", f.Innocent, want)
	}
}

func TestOutcome(t *testing.T) {
	recurred := func(v *verdict.Verdict) *verdict.Verdict {
		v.Recurrences = 1
		return v
	}
	unseen := run(func(v *verdict.Verdict) { v.Deadlock, v.FalseNegatives = true, 1 })
	invalid := run(func(v *verdict.Verdict) { v.Invalid = "starved" })
	for _, c := range []struct {
		want Outcome
		runs []*verdict.Verdict
	}{
		{Clear, []*verdict.Verdict{quiet(), quiet()}},
		{Alarm, []*verdict.Verdict{quiet(), run(func(v *verdict.Verdict) { v.FalsePositives = 1 })}},
		{Gone, []*verdict.Verdict{quiet(), recovered(9)}},
		{Recurs, []*verdict.Verdict{recovered(9), recurred(recovered(9))}},
		{Recurs, []*verdict.Verdict{recurred(locked(9))}},
		{Found, []*verdict.Verdict{recovered(9), locked(9)}},
		{Missed, []*verdict.Verdict{locked(9), unseen}},
		{Missed, []*verdict.Verdict{unseen}},
		{Invalid, []*verdict.Verdict{invalid}},
		{Clear, []*verdict.Verdict{invalid, quiet()}},
	} {
		f := aggregate(parsed(t), unchanged(c.runs...), slices.Repeat([]found{blameless(true, true, false)}, len(c.runs)))
		r := Row{Figures: &f}
		if got := r.Outcome(); got != c.want {
			t.Errorf("%+v: %s, want %s", f, got, c.want)
		}
	}
	for _, c := range []struct {
		row  Row
		want Outcome
	}{{Row{NotApplicable: "a ring"}, NA}, {Row{Failed: "no memory"}, Failed}} {
		if got := c.row.Outcome(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.row, got, c.want)
		}
	}
	for _, o := range []Outcome{Clear, Gone, Alarm, Recurs, Found, Missed, Failed, Invalid, NA} {
		explained := false
		for _, known := range outcomes {
			explained = explained || known.Outcome == o
		}
		if !explained {
			t.Errorf("%s is not explained", o)
		}
	}
}

// played compares two scenarios under some systems with verdicts that depend on
// the scenario, the system and the seed alone.
func played(t *testing.T, parallel int) *Comparison {
	t.Helper()
	m := Matrix{
		World: World{Name: "sim", Parallel: parallel, Play: dropping(func(p *scenario.Plan, seed uint64) (*verdict.Verdict, error) {
			switch s := p.Scenario; {
			case s.Response == "force":
				return nil, NotApplicable("no such thing here")
			case s.Response == "bubble":
				return nil, errors.New("out of memory")
			case s.Response == "drop":
				v := recovered(1_234_567 * unit.Time(seed))
				v.ResponseDropped, v.ResponseDroppedBytes = 17, 25_432
				v.Refusals = []verdict.Refusal{{Why: "held down"}}
				return v, nil
			case s.Detector == "itsy":
				return locked(45_678 * unit.Time(seed)), nil
			}
			return run(func(v *verdict.Verdict) {
				v.Deadlock, v.FalseNegatives, v.LosslessLost, v.Flows[0].Final = true, 1, 3, 0
			}), nil
		}), Truth: badIsToBlame},
		Scenarios: []Source{source("first"), source("second")},
		Runs:      3,
		First:     1,
	}
	for _, s := range Systems() {
		switch s.Name {
		case "none", "itsy", "itsy+drop", "itsy+force", "itsy+bubble", "tagger":
			m.Systems = append(m.Systems, s)
		}
	}
	seen := 0
	m.Progress = func(done, of int, what string) {
		if seen++; done != seen || of != 18 || strings.Contains(what, "seed") != (seen <= 6) || !strings.Contains(what, "  ") {
			t.Errorf("progress %d of %d, %q; want %d of 18, 6 truths first", done, of, what, seen)
		}
	}
	c, err := m.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if seen != 18 {
		t.Errorf("progress was told of %d truths and rows, want 18", seen)
	}
	return c
}

// received is how many frames of each flow arrive in a run.
const received = 1000

// dropping is a world's Play: with response drop, switches drop frames of flow whole on
// purpose and of flow bad, and of flow early one frame finds no room, as without it.
func dropping(play func(*scenario.Plan, uint64) (*verdict.Verdict, error)) func(context.Context, *scenario.Plan, uint64) (*Played, error) {
	return func(_ context.Context, p *scenario.Plan, seed uint64) (*Played, error) {
		v, err := play(p, seed)
		if err != nil {
			return nil, err
		}
		for i := range v.Flows {
			v.Flows[i].OverTime = []int64{v.Flows[i].Throughput, v.Flows[i].Throughput}
			v.Flows[i].Received = received
		}
		drops := []Drops{{}, {Overran: 1}, {}}
		if p.Scenario.Response == "drop" {
			drops[0].OnPurpose, drops[2].OnPurpose = 17, 1
		}
		return &Played{Verdict: v, Drops: drops}, nil
	}
}

// badIsToBlame is a truth of the ring: without flow bad, the others get twice as much.
func badIsToBlame(context.Context, *scenario.Scenario, uint64) (*Truth, error) {
	return &Truth{
		Innocents: &cause.Innocents{Cause: cause.Treatment{Flows: []string{"bad"}}, Single: true, Flows: []bool{true, true, false}, Goodput: 2600e6},
		Drops:     []Drops{{}, {Overran: 1}, {}},
	}, nil
}

// Of the innocent flows, whole is touched by what drops its frames in each run; early
// loses as much without a system. Both get half of what they get without the cause.
func TestInnocentsAreTouched(t *testing.T) {
	for i, want := range map[int]int{0: 0, 1: 0, 2: 3} {
		r := played(t, 1).Rows[i]
		if r.Touched == nil || *r.Touched != want || r.Innocent.Flows != 6 {
			t.Errorf("%s: %d of %d touched, want %d of 6", r.System, *r.Touched, r.Innocent.Flows, want)
		}
		if r.Robbed == nil || *r.Robbed != 17*want || r.RobbedOf != *r.Robbed+3*2*received {
			t.Errorf("%s: %v frames of innocents dropped, of %d; want %d, and those that arrived", r.System, *r.Robbed, r.RobbedOf, 17*want)
		}
		if r.OfTreated == nil || *r.OfTreated != 0.5 {
			t.Errorf("%s: share %v of that without the cause, want 0.5", r.System, r.OfTreated)
		}
	}
}

// Without a cause there is no share; where drops are not known, nothing is said of who
// was touched.
func TestNothingKnown(t *testing.T) {
	f := aggregate(parsed(t), unchanged(quiet()), []found{blameless(true, true, false)})
	if f.Touched != nil || f.OfTreated != nil || f.Robbed != nil {
		t.Errorf("touched %v, share %v, dropped %v; want nothing", f.Touched, f.OfTreated, f.Robbed)
	}
	if got := touched(f.Touched, 2) + wholePercent(f.OfTreated) + lostOf(f.Robbed, 2) + lostShare(f.Robbed, 2); got != nothing+nothing+nothing+nothing {
		t.Errorf("shown as %q", got)
	}
	cold := blameless(true, true, false)
	cold.Drops = make([]Drops, 3)
	f = aggregate(parsed(t), []*Played{{Verdict: quiet(), Drops: []Drops{{Overran: 1}, {}, {OnPurpose: 1}}}}, []found{cold})
	if f.Touched == nil || *f.Touched != 1 || f.Robbed == nil || *f.Robbed != 1 {
		t.Errorf("touched %v, dropped %v; want the flow that found no room and did without a system", f.Touched, f.Robbed)
	}
}

// A small share is not none.
func TestLostShare(t *testing.T) {
	for _, c := range []struct {
		n, of int
		want  string
	}{{0, 10, "0.0"}, {1, 1001, "<0.1"}, {1, 1000, "0.1"}, {123, 1000, "12.3"}, {0, 0, nothing}} {
		if got := lostShare(&c.n, c.of); got != c.want {
			t.Errorf("%d of %d: %s, want %s", c.n, c.of, got, c.want)
		}
	}
}

func TestRun(t *testing.T) {
	c := played(t, 1)
	if got := played(t, 7); !reflect.DeepEqual(got, c) {
		t.Errorf("in parallel: %+v\none after another: %+v", got, c)
	}
	var got []string
	for i := range c.Rows {
		r := &c.Rows[i]
		got = append(got, fmt.Sprintf("%s %s %s", r.Scenario, r.System, r.Outcome()))
	}
	want := []string{}
	for _, s := range []string{"first", "second"} {
		want = append(want, s+" none missed", s+" itsy found", s+" itsy+drop gone", s+" itsy+force n/a", s+" itsy+bubble failed", s+" tagger n/a")
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("rows:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if r := c.Rows[3]; r.NotApplicable != "no such thing here" || r.Figures != nil {
		t.Errorf("a scenario that the world cannot play: %+v", r)
	}
	if r := c.Rows[5]; !strings.Contains(r.NotApplicable, "level") {
		t.Errorf("tagger on a ring: %q; want a word on levels", r.NotApplicable)
	}
	if failed := c.Failed(); len(failed) != 2 || failed[0].Failed != "run 1: out of memory" {
		t.Errorf("failed: %+v", failed)
	}
}

func TestRunIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := Matrix{
		World: World{Name: "sim", Parallel: 2, Truth: badIsToBlame, Play: func(ctx context.Context, _ *scenario.Plan, _ uint64) (*Played, error) {
			cancel()
			return nil, ctx.Err()
		}},
		Scenarios: []Source{source("ring")}, Systems: Systems(), Runs: 1,
	}
	if c, err := m.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v; want %v", c, err, context.Canceled)
	}
}

func TestNamed(t *testing.T) {
	name := func(s System) string { return s.Name }
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"itsy", "bubble"}, `--systems: "bubble" is unknown; valid: none, itsypaper, `},
		{[]string{"tager"}, `--systems: "tager" is unknown (did you mean "tagger"?); valid: none, `},
		{[]string{""}, `--systems: "" is unknown; valid: none, `},
		{[]string{"itsy", "none", "itsy"}, `--systems: "itsy" is there twice`},
	} {
		_, err := Named("systems", c.names, Systems(), name)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.names, err, c.want)
			continue
		}
		for _, s := range Systems() {
			if strings.Contains(c.want, "valid") && !strings.Contains(err.Error(), s.Name) {
				t.Errorf("%q: %v does not offer %s", c.names, err, s.Name)
			}
		}
	}
	got, err := Named("systems", []string{"tagger", "none"}, Systems(), name)
	if err != nil || len(got) != 2 || got[0].Name != "tagger" || got[1].Name != "none" {
		t.Errorf("tagger, none: %+v, %v", got, err)
	}
	if got, err := Named("systems", nil, Systems(), name); err != nil || len(got) != len(Systems()) {
		t.Errorf("nothing named: %d systems, %v; want all", len(got), err)
	}
}

// What is compared if nothing is named: every detector but variants, the default one with
// responses, every prevention, and no PFC.
func TestUsual(t *testing.T) {
	var names []string
	for _, s := range Usual() {
		names = append(names, s.Name)
	}
	want := "none itsypaper itsy itsy+cure itsy+drop itsy+force itsy+bubble itsy+drop+trigger itsy+bubble+trigger " +
		"watchdog watchdog-forward watchdog-juniper sai-dldr loopbreaker deadlockbreaker tagger no-flood ttl-bands limit thresholds " +
		"gfc bubble-injection rc no-pfc-gbn no-pfc-selective"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A row that was not played has its reason, and no figures, not even zeros.
func TestJSON(t *testing.T) {
	text, err := json.Marshal(played(t, 2))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		World string
		Rows  []map[string]any
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.World != "sim" || len(doc.Rows) != 12 {
		t.Fatalf("%s", text)
	}
	if got, want := doc.Rows[3], (map[string]any{"scenario": "first", "system": "itsy+force", "not_applicable": "no such thing here"}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, key := range []string{
		"runs", "deadlock", "detected", "latency_ns", "false_positives", "premature", "late", "false_negatives", "lossless_lost", "response_dropped",
		"response_dropped_bytes", "policed", "recovered", "recovery_ns", "recurrences", "innocent", "innocent_touched", "innocent_dropped", "innocent_dropped_of", "innocent_of_treated", "pfc", "control_messages", "detector_bytes_per_switch", "actions", "refusals",
	} {
		if doc.Rows[2][key] == nil {
			t.Errorf("%q is not in %v", key, doc.Rows[2])
		}
	}
}

// Every usual system has a text, and every text a system.
func TestTexts(t *testing.T) {
	all := texts()
	for _, s := range Usual() {
		if len(all[s.Name]) < 100 {
			t.Errorf("%s: its text is %q", s.Name, all[s.Name])
		}
		delete(all, s.Name)
	}
	for name := range all {
		t.Errorf("there is a text on %q, which is no system", name)
	}
}

func TestMarkdown(t *testing.T) {
	var b bytes.Buffer
	if err := played(t, 2).WriteMarkdown(&b, []string{"A note."}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"World: sim. A note.\n",
		"| scenario | none | itsy | itsy+<br>drop | itsy+<br>force | itsy+<br>bubble | tagger |\n| --- | --- | --- | --- | --- | --- | --- |\n",
		"| first | **missed**<br>0&nbsp;% | **found**<br>85&nbsp;% | gone<br>85&nbsp;% | n/a | **failed** | n/a |\n",
		"- `itsy+force`: no such thing here (all scenarios)\n",
		"- `itsy+bubble`: run 1: out of memory (all scenarios)\n",
		"- `tagger`: topology without levels (all scenarios)\n",
		"| itsy+drop | 2 | 0 | 2 | 0 | 0 | 0 | 0.247 | 2.469 | 0 | 0 | 0 | 102 | 0 | 0 | 85 | 6/12 | 102 | 0.8 | 50 | 0 | 0 |\n",
		"### `tagger`\n\nTagger (Hu et al.",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
	if strings.HasSuffix(b.String(), "\n\n") || !strings.HasSuffix(b.String(), "\n") {
		t.Error("the file does not end with one line end")
	}
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	if err := played(t, 2).WriteText(&b); err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, l := range strings.Split(b.String(), "\n") {
		rows[strings.Join(strings.Fields(l), " ")] = true
	}
	for _, want := range []string{
		"first none missed – – 0 9 0 0 0 %",
		"second itsy+drop gone 0.247 2.469 0 0 51 0 85 %",
		"second itsy+bubble failed – – – – – – run 1: out of memory",
		"itsy 2 0 0 0 2 0 0.091 – 0 0 0 0 0 0 85 0/12 0 0.0 50 0 0",
	} {
		if !rows[want] {
			t.Errorf("no line %q in\n%s", want, b.String())
		}
	}
}

// TestTablesOfConnections: rows with connections stand in a table of their own, which is not
// there without any.
func TestTablesOfConnections(t *testing.T) {
	for name, write := range map[string]func(*Comparison, *bytes.Buffer) error{
		"second none – – – 42 7 1 1.5 –\nsecond itsy 8/9 1.50 7.12 42 7 1 1.5 –\n": func(c *Comparison, b *bytes.Buffer) error { return c.WriteText(b) },
		"| second | none | – | – | – | 42 | 7 | 1 | 1.5 | – |\n| second | itsy | 8/9 | 1.50 | 7.12 | 42 | 7 | 1 | 1.5 | – |\n": func(c *Comparison, b *bytes.Buffer) error {
			return c.WriteMarkdown(b, nil)
		},
	} {
		var with, without bytes.Buffer
		if err := errors.Join(write(withConnections(t), &with), write(played(t, 2), &without)); err != nil {
			t.Fatal(err)
		}
		got := regexp.MustCompile(`[ ]+`).ReplaceAllString(with.String(), " ")
		if !strings.Contains(got, name) || strings.Contains(got, "first itsy 8/9") || strings.Contains(without.String(), "slowdown") {
			t.Errorf("no\n%s\nin\n%s", name, with.String())
		}
	}
}

// TestConnections: what is sent again is of all connections, the rest of those with an end.
func TestConnections(t *testing.T) {
	flow := func(name string, size int64) verdict.FlowResult {
		return verdict.FlowResult{Name: name, Messages: &verdict.MessageResult{Size: size, Again: 3, Completion: unit.Time(size), Slowdown: 2}}
	}
	v := &verdict.Verdict{Flows: []verdict.FlowResult{flow("whole", 1000), flow("early", 0), {Name: "bad"}}}
	f := aggregate(parsed(t), unchanged(v, v), []found{blameless(true, true, true), blameless(true, true, true)})
	if k := f.Connections; k == nil || k.Again != 12 || k.Completion == nil || k.Completion.All.Flows != 2 || k.Completion.All.Slowdown.P99 != 2 {
		t.Errorf("connections %+v", k)
	}
	v.Flows[0].Messages.Size = 0
	f = aggregate(parsed(t), unchanged(v), []found{blameless(true, true, true)})
	if k := f.Connections; k == nil || k.Again != 6 || k.Completion != nil {
		t.Errorf("of connections without an end: %+v", k)
	}
}

// TestFlowsWithASizeDoNotStall: what is over by the last quarter is not asked for then.
func TestFlowsWithASizeDoNotStall(t *testing.T) {
	s, v := parsed(t), quiet()
	s.Flows[0].Size, v.Flows[0].Final = 100_000, 0
	f := aggregate(s, unchanged(v), []found{blameless(true, true, true)})
	if g := f.Innocent; g.AtEnd != 1 || g.Stalled != 0 || g.Final != v.Flows[2].Final {
		t.Errorf("goodput %+v: want that of flow bad alone at the end", g)
	}
}

// Runs of a scenario that draws nothing are said to be one.
func TestEqualRuns(t *testing.T) {
	world, _ := NewWorld("sim", nil)
	sources, err := Scenarios("sim", []string{"pause", "hu-fig4"})
	if err != nil {
		t.Fatal(err)
	}
	m := Matrix{World: world, Scenarios: sources, Systems: Systems()[:1], Runs: 2, First: 1}
	c, err := m.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var text, page bytes.Buffer
	if err := errors.Join(c.WriteText(&text), c.WriteMarkdown(&page, nil)); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{text.String(), page.String()} {
		if !strings.Contains(out, "\nNothing in these scenarios is random, so all runs are one, n = 1: pause.\n") {
			t.Errorf("it is not said that the runs of pause alone are equal:\n%s", out)
		}
	}
}

// TestSeedFrom: the runs of a pair, and the truths of a scenario, have the seeds from the first one on.
func TestSeedFrom(t *testing.T) {
	var played, known []uint64
	m := Matrix{
		World: World{Name: "sim", Parallel: 1, Play: func(_ context.Context, _ *scenario.Plan, seed uint64) (*Played, error) {
			played = append(played, seed)
			return &Played{Verdict: quiet()}, nil
		}, Truth: func(_ context.Context, _ *scenario.Scenario, seed uint64) (*Truth, error) {
			known = append(known, seed)
			return &Truth{}, nil
		}},
		Scenarios: []Source{source("ring")}, Systems: Systems()[:1], Runs: 3, First: 41,
	}
	if _, err := m.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	slices.Sort(known)
	if want := []uint64{41, 42, 43}; !slices.Equal(played, want) || !slices.Equal(known, want) {
		t.Errorf("played with %v, truths of %v; want %v", played, known, want)
	}
	if _, err := (&Choice{World: "sim", Runs: 1, From: -1}).Matrix(nil); err == nil || !strings.HasPrefix(err.Error(), "--seed-from: -1; valid: 0 or above") {
		t.Errorf("a seed below 0: %v", err)
	}
}
