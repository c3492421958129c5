package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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

// TestEqualRuns: runs in which nothing is random are told as one, and with random starts they are several.
func TestEqualRuns(t *testing.T) {
	for file, equal := range map[string]bool{ring: false, still: true, drawn: false} {
		plan := func() (*scenario.Plan, error) { return load.Plan("ring.yaml", []byte(file), load.Instead{}) }
		s, err := Repeat(t.Context(), 1, Seeds{From: 5, Times: 4, Workers: 2}, io.Discard, plan)
		if err != nil {
			t.Fatal(err)
		}
		want := 4
		if equal {
			want = 1
		}
		var text, show bytes.Buffer
		if err := s.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		told := strings.Contains(text.String(), "equal runs  nothing in the scenario is random") && strings.Contains(text.String(), "\n   5-8 ") && !strings.Contains(text.String(), "p90")
		if s.Equal != equal || s.Count("deadlock") != 4 || s.Times("onset_ns").Samples != want || s.Sums["xoff"].(verdict.Spread[int]).Samples != want || told != equal {
			t.Errorf("%s\nequal %v, want %v\n%s", file, s.Equal, equal, &text)
		}
		sweep := Sweep{
			File: "ring.yaml", Data: []byte(file), Seeds: Seeds{Times: 2, Workers: 2}, Show: &show,
			Axes: []Axis{{Path: "detector", Values: []string{"itsy", "none"}}},
		}
		c, err := sweep.Check(t.Context())
		if err == nil {
			err = c.Play(t.Context(), io.Discard, CSV)
		}
		if err != nil || strings.Contains(show.String(), "equal runs: nothing is random in 2 of 2 combinations; there the 2 runs are one") != equal {
			t.Errorf("%s\na sweep says %q, %v", file, &show, err)
		}
	}
}
