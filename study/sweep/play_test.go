package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/scenario/load"
)

// ring is a scenario that deadlocks, in a few milliseconds of processor time. Its seeds
// differ by the jitter.
const ring = `name: ring
topology: {ring: {switches: 3, hosts_per_switch: 1}, rate: 1Gbit/s, jitter: 3us}
routes:
  - {at: s1, to: s3, ports: [s2]}
  - {at: s2, to: s1, ports: [s3]}
  - {at: s3, to: s2, ports: [s1]}
flows:
  - {name: a, from: h1-0, to: h3-0}
  - {name: b, from: h2-0, to: h1-0}
  - {name: c, from: h3-0, to: h2-0}
duration: 3ms
`

// ringPlan makes plans of the ring.
func ringPlan() (*scenario.Plan, error) {
	return load.Plan("ring.yaml", []byte(ring), load.Instead{})
}

// repeated is the summary of n runs of the ring with seeds from 5.
func repeated(t *testing.T, n, workers int) *verdict.Summary {
	t.Helper()
	p, err := ringPlan()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Repeat(t.Context(), p.Scenario.Duration, Seeds{From: 5, Times: n, Workers: workers}, io.Discard, ringPlan)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRepeat: one worker and three come to the same summary, of runs in the order of their
// seeds, which are others.
func TestRepeat(t *testing.T) {
	one, err1 := json.Marshal(repeated(t, 6, 1))
	three, err2 := json.Marshal(repeated(t, 6, 3))
	if err1 != nil || err2 != nil || !bytes.Equal(one, three) {
		t.Errorf("%v, %v: it matters how many workers there are:\n%s\n%s", err1, err2, one, three)
	}
	s := repeated(t, 6, 2)
	for i, v := range s.Runs {
		if v.Seed != uint64(5+i) {
			t.Errorf("run %d has seed %d", i, v.Seed)
		}
	}
	if latency := s.Times("latency_ns"); s.Count("deadlock") != 6 || latency.Samples != 6 || latency.Min == latency.Max {
		t.Errorf("%v deadlocks, latency %+v; want 6, of several latencies", s.Count("deadlock"), latency)
	}
}

// TestRepeatErrors: a run that cannot be played ends all, as the end of the context does.
func TestRepeatErrors(t *testing.T) {
	fault := errors.New("no plan")
	seeds := Seeds{Times: 100, Workers: 2}
	if _, err := Repeat(t.Context(), 1, seeds, io.Discard, func() (*scenario.Plan, error) { return nil, fault }); !errors.Is(err, fault) {
		t.Errorf("%v, want %v", err, fault)
	}
	ctx, end := context.WithCancel(t.Context())
	_, err := Repeat(ctx, 1, seeds, io.Discard, func() (*scenario.Plan, error) {
		end()
		return ringPlan()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
	for want, s := range map[string]Seeds{"--repeat: 0": {Workers: 1}, "--repeat: 100001": {Times: MaxRuns + 1, Workers: 1}, "--workers: 0": {Times: 1}, "--workers: 1025": {Times: 1, Workers: 1025}} {
		if _, err := Repeat(t.Context(), 1, s, io.Discard, ringPlan); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", s, err, want)
		}
	}
}

// still is the ring without jitter, and drawn the same with starts that are drawn.
var (
	still = strings.Replace(ring, ", jitter: 3us", "", 1)
	drawn = strings.Replace(still, "to: h1-0}", "to: h1-0, start: 200us±100us}", 1)
)

// TestEqualRuns: a scenario that draws nothing is played once, one whose draws make no difference is told as
// one run, and with random starts there are several.
func TestEqualRuns(t *testing.T) {
	const (
		nothing = "equal runs  all runs are the same: this scenario draws nothing; give flows a spread, such as start: 500ms±1ms\n"
		same    = "equal runs  whatever their seed, the 4 runs are the same, n = 1\n"
	)
	unheard := strings.Replace(still, "rate: 1Gbit/s", "rate: 1Gbit/s, duplicate: 0.01%", 1) + "events: []\n"
	unheard = strings.Replace(unheard, "duration: 3ms", "duration: 1us", 1)
	for _, c := range []struct {
		name, file, said, row string
		runs, samples, rows   int
	}{
		{"jitter of links", ring, "", "\n     8 ", 4, 4, 4},
		{"random starts", drawn, "", "\n     8 ", 4, 4, 4},
		{"nothing", still, nothing, "\n     5 ", 1, 1, 2},
		{"draws that do nothing", unheard, same, "\n   5-8 ", 4, 0, 4},
	} {
		plan := func() (*scenario.Plan, error) { return load.Plan("ring.yaml", []byte(c.file), load.Instead{}) }
		s, err := Repeat(t.Context(), 1, Seeds{From: 5, Times: 4, Workers: 2}, io.Discard, plan)
		if err != nil {
			t.Fatal(err)
		}
		var text, show, rows bytes.Buffer
		if err := s.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text.String(), c.said) || strings.Contains(text.String(), "equal runs") != (c.said != "") || !strings.Contains(text.String(), c.row) {
			t.Errorf("%s:\n%s\nwant %q and %q", c.name, &text, c.said, c.row)
		}
		if s.Equal != (c.said != "") || len(s.Runs) != c.runs || s.Times("onset_ns").Samples != c.samples || strings.Contains(text.String(), "p90") != (c.samples > 1) {
			t.Errorf("%s: equal %v, %d runs, %d onsets; want %d, %d\n%s", c.name, s.Equal, len(s.Runs), s.Times("onset_ns").Samples, c.runs, c.samples, &text)
		}
		sweep := Sweep{
			File: "ring.yaml", Data: []byte(c.file), Seeds: Seeds{From: 1, Times: 2, Workers: 2}, Show: &show,
			Axes: []Axis{{Path: "detector", Values: []string{"itsy", "none"}}},
		}
		checked, err := sweep.Check(t.Context())
		if err == nil {
			err = checked.Play(t.Context(), &rows, CSV)
		}
		told := fmt.Sprintf("equal runs: in 2 of 2 combinations all runs are the same, n = 1; those that draw nothing, %d, have one row", 4-c.rows)
		if n := strings.Count(rows.String(), "\n") - 1; err != nil || n != c.rows || strings.Contains(show.String(), told) != (c.said != "") || strings.Contains(show.String(), "equal") != (c.said != "") {
			t.Errorf("%s: a sweep has %d rows, want %d, and says %q, want %q; %v", c.name, n, c.rows, &show, told, err)
		}
	}
}
