package fuzz

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/detect/catalog"
	"softswitch/detect/itsy"
	"softswitch/detect/respond"
	"softswitch/internal/testkit"
)

var responseDetector = catalog.Detector{Name: itsy.Name, New: itsy.New, NamesLoops: true}

func chosen(t *testing.T, names ...string) (all []respond.Choice) {
	t.Helper()
	for _, name := range names {
		p, err := respond.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, respond.Choice{Name: name, Policy: p})
	}
	return all
}

// responseRun is a run of mode response.
func responseRun(seed uint64, responses []respond.Choice) *Run {
	return &Run{Seed: seed, Mode: Response, Detectors: []catalog.Detector{responseDetector}, Responses: responses}
}

// played is a report of cases.
func played(t *testing.T, seed uint64, n int, responses ...string) *ResponsesReport {
	t.Helper()
	run := responseRun(seed, chosen(t, responses...))
	r := newResponsesReport(run)
	for i := range n {
		o := playResponses(run, i)
		if o.Invalid != "" {
			t.Errorf("seed %d, case %d is invalid: %s", seed, i, o.Invalid)
		}
		r.Add(i, &o)
	}
	return r
}

// Doing nothing cures nothing, breaking alone little, and cure most, without a flow that is
// policed or a frame that is lost.
func TestPlay(t *testing.T) {
	responses := []string{"none", "drop", "cure", "drop+trigger"}
	r := played(t, testkit.Sized[uint64](20, 5), testkit.Sized(5, 12), responses...)
	if r.Locked < testkit.Sized(3, 4) || r.Found.N == 0 || !r.Clean() {
		t.Fatalf("%d deadlocks, cause found in %v, clean %v", r.Locked, r.Found, r.Clean())
	}
	for i, reserve := range []bool{true, false} {
		at := i * len(responses)
		none, drop, cure, policed := r.Responses[at], r.Responses[at+1], r.Responses[at+2], r.Responses[at+3]
		if cure.Reserve != reserve || none.Cured.N != 0 || 2*drop.Cured.N > r.Locked || 4*cure.Cured.N < 3*r.Locked {
			t.Errorf("reserve %v: of %d, cured: none %v, drop %v, cure %v", reserve, r.Locked, none.Cured, drop.Cured, cure.Cured)
		}
		if cure.Policed.Sum != 0 || cure.Turns.Sum == 0 || cure.Lost != 0 || none.Dropped.at(75) != 0 || cure.Goodput.at(50) <= none.Goodput.at(50) {
			t.Errorf("cure %+v, none %+v", cure, none)
		}
		if policed.Policed.Sum == 0 || policed.Innocents.Value() > policed.Policed.Value() || policed.WithInnocents.Of != r.Found.N {
			t.Errorf("drop+trigger %+v", policed)
		}
		// Those that are policed lose frames too, and so do others.
		if policed.Hit.Value() < policed.Innocents.Value() || policed.WithHit.N == 0 || policed.WithHit.Of != r.Found.N || policed.Robbed.at(75) <= 0 || policed.Robbed.at(75) >= 1 {
			t.Errorf("drop+trigger %+v", policed)
		}
	}
}

// A poor case has the same thresholds, and lends nothing.
func TestPoor(t *testing.T) {
	lent := map[bool]int{}
	for i := range testkit.Sized(2, 6) {
		for _, poor := range []bool{false, true} {
			_, v, err := newCase(5, i, poor).run(itsy.Name, respond.New(itsy.New, chosen(t, "cure")[0].Policy))
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range v.Actions {
				if m.Action == detect.ActionExtra.String() {
					lent[poor]++
				}
			}
		}
		_, rich, err := newCase(5, i, false).run(catalog.None, detect.NewNone)
		if err != nil {
			t.Fatal(err)
		}
		_, poor, err := newCase(5, i, true).run(catalog.None, detect.NewNone)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(rich.Flows, poor.Flows) || rich.Onset != poor.Onset {
			t.Errorf("case %d is another one without reserve", i)
		}
	}
	if lent[false] == 0 || lent[true] > 0 {
		t.Errorf("lent %d times with reserve, %d without", lent[false], lent[true])
	}
}

// What lends nothing plays the same without reserve, and is not played again.
func TestPoorLendsNothing(t *testing.T) {
	for _, c := range respond.Choices() {
		if c.Policy.Lends() {
			continue
		}
		for i := range testkit.Sized(1, 20) {
			var runs [2]ResponsesRun
			for k, poor := range []bool{false, true} {
				w, v, err := newCase(5, i, poor).run(itsy.Name, respond.New(itsy.New, c.Policy))
				if err != nil {
					t.Fatal(err)
				}
				runs[k] = runOf(w, v, nil)
			}
			if runs[0] != runs[1] {
				t.Errorf("%s, case %d: with reserve %+v, without %+v", c.Name, i, runs[0], runs[1])
			}
		}
	}
}

// Every case is the same again, flows never stop, and the report counts each once.
func TestResponsesReport(t *testing.T) {
	for _, f := range newCase(5, 0, false).Flows {
		if f.Stop != 0 {
			t.Errorf("flow %+v stops", f)
		}
	}
	run := responseRun(5, chosen(t, "cure"))
	if a, b := playResponses(run, 4), playResponses(run, 4); !reflect.DeepEqual(a, b) {
		t.Errorf("once %+v\nagain %+v", a, b)
	}
	r := newResponsesReport(run)
	cured, back := ResponsesRun{Gone: true, Goodput: .5, Received: 90, Dropped: 10, Hit: 3, InnocentDropped: 5, InnocentReceived: 15}, ResponsesRun{Gone: true, Recurrences: 3, Policed: 2, Innocents: 1, Lost: 4, Goodput: 1}
	there := ResponsesRun{Goodput: -1}
	for _, o := range []ResponsesOutcome{
		{},
		{Invalid: "no room", Locked: true, Runs: []ResponsesRun{cured, cured}},
		{Locked: true, Sought: true, Found: true, Single: true, Runs: []ResponsesRun{cured, back}},
		{Locked: true, Sought: true, Found: true, Runs: []ResponsesRun{cured, back}},
		{Locked: true, Sought: true, Runs: []ResponsesRun{there, there}},
	} {
		r.Add(0, &o)
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"cases":5,"locked":3,"invalid":1,"cause_found":{"n":2,"of":3,`, `"single_cause":{"n":1,"of":2,`,
		`{"response":"cure","reserve":true,"cured":{"n":2,"of":3,`, `"innocents_goodput":{"n":2,"p25":0.5,"p50":0.5,"p75":0.5},"innocents_goodput_single_cause":{"n":1,`, `"dropped_share":{"n":2,"p25":0.1,`,
		`{"response":"cure","reserve":false,"cured":{"n":0,"of":3,`, `"recurrences_mean":{"mean":2,"of":3,"low":null,"high":null}`, `"innocents_policed_mean":{"mean":1,"of":2,"low":null,"high":null},"with_innocents_policed":{"n":2,"of":2,`, `"innocents_hit_mean":{"mean":3,"of":2,"low":null,"high":null},"with_innocents_hit":{"n":2,"of":2,`, `"innocents_dropped_share":{"n":2,"p25":0.25,"p50":0.25,"p75":0.25}`, `"lossless_lost":8,"with_lossless_lost":{"n":2,"of":3,`,
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in\n%s", want, b)
		}
	}
	for range 4 {
		r.Add(0, &ResponsesOutcome{Locked: true, Sought: true, Found: true, Runs: []ResponsesRun{cured, back}})
	}
	if b, err = json.Marshal(r); err != nil || !strings.Contains(string(b), `"innocents_goodput":{"n":6,"p25":0.5,"p50":0.5,"p75":0.5,"p50_low":0.5,"p50_high":0.5}`) {
		t.Errorf("no interval of six cases in\n%s", b)
	}
	if r.Clean() {
		t.Error("a report with lost frames is called clean")
	}
	var text strings.Builder
	if err := r.WriteText(&text); err != nil || !strings.Contains(text.String(), "\ncure      yes      86 (") {
		t.Errorf("%v\n%s", err, text.String())
	}
}

// Forced frames come into what the next hop has room for, also where it has more than its
// threshold: an extra one that it was given before ended by time. It once lent all that had been
// asked for above its usual threshold, and frames that it had asked for found its headroom full.
func TestForceLosesNothing(t *testing.T) {
	run := responseRun(20261202, chosen(t, "force"))
	cases := testkit.Sized([]int{81}, []int{81, 162, 204, 300, 301, 302, 303, 304, 305})
	for _, i := range cases {
		o := playResponses(run, i)
		if o.Invalid != "" {
			t.Fatalf("seed %d, case %d is invalid: %s", run.Seed, i, o.Invalid)
		}
		for _, r := range o.Runs {
			if r.Lost > 0 {
				t.Errorf("seed %d, case %d: no room for %d lossless frames", run.Seed, i, r.Lost)
			}
		}
	}
}
