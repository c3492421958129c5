package runner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"testing"

	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/internal/testlong"
	"softswitch/internal/testseed"
	"softswitch/sim/fuzz"
	"softswitch/sim/fuzz/clocked"
	"softswitch/sim/fuzz/naming"
	"softswitch/sim/fuzz/response"
	"softswitch/sim/fuzz/runner"
	"softswitch/sim/shard"
	"softswitch/sim/shard/shardtest"
)

// TestShards: in every mode, what the shards of a run come to is what the whole run prints.
func TestShards(t *testing.T) {
	seed := testseed.New(t)
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		mode     fuzz.Mode
		detector string
		n, of    int
	}{
		{fuzz.Usual, "itsypaper", 40, 7}, // which misses some
		{fuzz.Loss, "itsy", 15, 4},
		{fuzz.RDMA, "itsy", 10, 3},
		{fuzz.Usual, "itsy", 3, 5}, // more shards than cases
		{fuzz.Cause, "none", testlong.Of(2, 3), 2},
		{naming.ModeRandom, "itsy", testlong.Of(4, 8), 3},
		{response.Mode, "itsy", testlong.Of(3, 6), 4},
		{clocked.Mode, "itsy", testlong.Of(10, 30), 4},
		{fuzz.Attack, "itsy", 6, 4},
	} {
		if testing.Short() && c.mode != fuzz.Usual { // the others play many cases for each
			continue
		}
		if testing.Short() {
			c.n = min(c.n, 14)
		}
		t.Run(string(c.mode), func(t *testing.T) {
			d, err := catalog.Named("test", c.detector)
			if err != nil {
				t.Fatal(err)
			}
			seed := seed
			if c.mode == fuzz.Cause { // of other seeds a case may take hundreds of plays to be found
				seed = testlong.Of(18, seed)
			}
			play := func(p shard.Part) runner.Report {
				r := runner.Run{
					N: c.n, Seed: seed, Mode: c.mode, Part: p, Detectors: []catalog.Detector{d}, Responses: respond.Choices()[:2],
					Workers: 2, Out: "failed", Progress: io.Discard,
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
			whole := play(shard.Part{})
			clean := true
			w := shardtest.Join(t, c.of, func(p shard.Part) shardtest.Written {
				s := play(p)
				clean = clean && s.Clean()
				return s
			})
			merged, err := runner.Merge(w)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := printed(t, merged), printed(t, whole); got != want {
				t.Errorf("merged\n%s\nwhole\n%s", got, want)
			}
			if merged.Clean() != whole.Clean() || clean != whole.Clean() {
				t.Errorf("clean: shards %v, merged %v, whole %v", clean, merged.Clean(), whole.Clean())
			}
		})
	}
}

// printed is a report for people and as JSON.
func printed(t *testing.T, r runner.Report) string {
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
