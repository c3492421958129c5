package fuzz_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/internal/testkit"
	"softswitch/scenario/load"
	"softswitch/study/fuzz"
	"softswitch/study/shard"
	"softswitch/study/shard/shardtest"
)

// Seeds of which the first cases deadlock, and take a tenth of the time of most: found by trying
// those from 1 on. With the first one planting finds its cases soon; of others it may take hundreds
// of plays.
const (
	plantedSeed = 18
	lightSeed   = 10
)

// division is a run and into how many parts it is divided.
type division struct {
	mode     fuzz.Mode
	detector string
	n, of    int
	seed     uint64 // with which it comes to something; 0: a random one
}

// divisions are runs of every mode.
func divisions() []division {
	return []division{
		{fuzz.Usual, "itsypaper", testkit.Sized(14, 40), 7, 0}, // which misses some
		{fuzz.Usual, "none", 4, 3, 3},                          // which misses all
		{fuzz.Usual, "itsy", 3, 5, 0},                          // more parts than cases
		{fuzz.Loss, "itsy", testkit.Sized(3, 15), testkit.Sized(2, 4), 0},
		{fuzz.Expiry, "itsy", testkit.Sized(3, 15), testkit.Sized(2, 4), 0},
		{fuzz.Jumbo, "itsy", testkit.Sized(3, 15), testkit.Sized(2, 4), 0},
		{fuzz.RDMA, "itsy", testkit.Sized(3, 10), testkit.Sized(2, 3), 0},
		{fuzz.Long, "none", testkit.Sized(1, 4), 2, testkit.Sized[uint64](lightSeed, 0)},
		{fuzz.Built, "itsy", testkit.Sized(3, 15), testkit.Sized(2, 4), 0},
		{fuzz.Cause, "none", testkit.Sized(1, 4), 2, plantedSeed},
		{fuzz.Cause, "none", testkit.Sized(0, 3), 2, 0},
		{fuzz.RandomCause, "itsy", testkit.Sized(5, 8), 3, testkit.Sized[uint64](lightSeed, 0)},
		{fuzz.Response, "itsy", testkit.Sized(3, 6), testkit.Sized(2, 4), testkit.Sized[uint64](lightSeed, 0)},
		{fuzz.Clocks, "itsy", testkit.Sized(3, 30), testkit.Sized(2, 4), 0},
		{fuzz.Attack, "itsypaper", 2, 2, 1}, // which is not right in either
		{fuzz.Attack, "itsy", testkit.Sized(2, 6), testkit.Sized(2, 4), 0},
		{fuzz.Lossless, "itsy", testkit.Sized(3, 30), testkit.Sized(2, 4), 0},
		{fuzz.TruthStatic, "itsy", testkit.Sized(2, 6), testkit.Sized(2, 4), testkit.Sized[uint64](lightSeed, 0)},
		{fuzz.TruthOffset, "itsy", testkit.Sized(2, 6), testkit.Sized(2, 4), testkit.Sized[uint64](lightSeed, 0)},
		{fuzz.TruthJumbo, "none", testkit.Sized(1, 6), testkit.Sized(2, 4), testkit.Sized[uint64](lightSeed, 0)},
		{fuzz.TruthDynamic, "itsy", testkit.Sized(4, 30), testkit.Sized(3, 4), testkit.Sized[uint64](lightSeed, 0)},
		{fuzz.TruthFailures, "itsy", testkit.Sized(4, 30), testkit.Sized(3, 4), testkit.Sized[uint64](lightSeed, 0)},
		{fuzz.TruthSONiC, "none", testkit.Sized(1, 6), testkit.Sized(2, 4), testkit.Sized[uint64](lightSeed, 0)},
		{fuzz.TruthCells, "itsy", testkit.Sized(2, 30), testkit.Sized(2, 4), testkit.Sized[uint64](lightSeed, 0)},
		{fuzz.TruthBuilt, "itsy", testkit.Sized(1, 6), testkit.Sized(2, 4), 0},
	}
}

// TestDivision: in every mode, one worker that plays the whole run and three that play its parts
// print the same report and write the same files.
func TestDivision(t *testing.T) {
	random := testkit.Seed(t)
	t.Chdir(t.TempDir())
	var played []string
	for _, c := range divisions() {
		if c.n == 0 {
			continue
		}
		// Of the other modes, which play many cases for each, make test plays a fifth.
		if played = append(played, string(c.mode)); c.mode != fuzz.Usual && (testing.Short() || !testkit.Long() && (uint64(len(played))+random)%5 != 0) {
			continue
		}
		t.Run(string(c.mode)+" "+c.detector, func(t *testing.T) { c.wantSame(t, random) })
	}
	for _, mode := range strings.Split(fuzz.ModeNames(), ", ") {
		if !slices.Contains(played, mode) {
			t.Errorf("mode %s is not played", mode)
		}
	}
}

// wantSame wants the parts of the run to come to what the whole of it does.
func (c division) wantSame(t *testing.T, random uint64) {
	known := c.seed != 0
	if !known {
		c.seed = random
	}
	whole := c.play(t, 1, shard.Part{})
	files := takeFailed(t)
	c.wantPlayable(t, files)
	if known {
		c.wantSome(t, whole, files)
	}
	clean := true
	merged, err := fuzz.Merge(shardtest.Join(t, c.of, func(p shard.Part) shardtest.Written {
		s := c.play(t, 3, p)
		clean = clean && s.Clean()
		return s
	}))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := printed(t, merged), printed(t, whole); got != want {
		t.Errorf("seed %d: %d parts come to\n%s\nthe whole\n%s", c.seed, c.of, got, want)
	}
	if merged.Clean() != whole.Clean() || clean != whole.Clean() {
		t.Errorf("seed %d: clean: parts %v, merged %v, whole %v", c.seed, clean, merged.Clean(), whole.Clean())
	}
	if got := takeFailed(t); !maps.Equal(got, files) {
		t.Errorf("seed %d: the parts write files %q, or not the same in them as in %q", c.seed, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(files)))
	}
}

// play plays a part of the run.
func (c division) play(t *testing.T, workers int, p shard.Part) fuzz.Report {
	t.Helper()
	d, err := catalog.Named("test", c.detector)
	if err != nil {
		t.Fatal(err)
	}
	r := fuzz.Run{
		N: c.n, Seed: c.seed, Mode: c.mode, Part: p, Detectors: []catalog.Detector{d}, Responses: respond.Choices()[:2],
		Workers: workers, Out: "failed", Progress: io.Discard,
	}
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	report, err := r.Play(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// wantPlayable wants files of failures that the commands take which play scenarios.
func (c division) wantPlayable(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		s, err := load.Scenario(name, []byte(text))
		if err != nil || s.Detector != c.detector {
			t.Errorf("%s: %v", name, err)
		}
		if c.mode == fuzz.Cause && !strings.Contains(text, "\n# planted: ") {
			t.Errorf("%s does not say what was planted:\n%s", name, text)
		}
	}
}

// wantSome wants deadlocks in the run, and a file of each failure.
func (c division) wantSome(t *testing.T, whole fuzz.Report, files map[string]string) {
	t.Helper()
	switch r := whole.(type) {
	case *fuzz.DetectionReport:
		if len(files) == 0 || len(files) != len(r.Failures) || r.Clean() {
			t.Errorf("%d files of %d failures, want some", len(files), len(r.Failures))
		}
	case *fuzz.AttackReport:
		if len(files) == 0 || len(files) != len(r.Failures) || r.Clean() {
			t.Errorf("%d files of %d failures, want some", len(files), len(r.Failures))
		}
	case *fuzz.CausesReport:
		want := 0
		if c.mode == fuzz.Cause {
			want = r.Locked
		}
		if r.Locked == 0 || r.Invalid > 0 || len(files) != want || len(r.Failures) != want {
			t.Errorf("%d deadlocks, %d cases invalid, %d files of %d failures", r.Locked, r.Invalid, len(files), len(r.Failures))
		}
	case *fuzz.ResponsesReport:
		if r.Locked == 0 {
			t.Errorf("no deadlock: %+v", r)
		}
	}
}

// takeFailed takes away the files of failures, and returns what is in them.
func takeFailed(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("failed/*")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(data)
	}
	if err := os.RemoveAll("failed"); err != nil {
		t.Fatal(err)
	}
	return texts
}

// printed is a report for people and as JSON.
func printed(t *testing.T, r fuzz.Report) string {
	t.Helper()
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return text.String() + string(data)
}
