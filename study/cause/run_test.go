package cause

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/sim/simtest"
)

// TestWorkersExplainAlike: one worker and three come to the same report, and so does a second try.
func TestWorkersExplainAlike(t *testing.T) {
	var reports [][]byte
	for _, workers := range testkit.Sized([]int{1, 3}, []int{1, 3, 3}) {
		r, err := ExplainScenario(context.Background(), simtest.Shipped(t, "w4-transient-trigger", "itsy"), 1, workers, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		report, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		reports = append(reports, report)
		if s := r.Smallest; !s.Single || s.Sets[s.LeastHarm].Treatment.String() != "host h7" {
			t.Errorf("smallest sets: %+v, want that host h7 does it with the least harm", s)
		}
	}
	for _, other := range reports[1:] {
		if !bytes.Equal(other, reports[0]) {
			t.Errorf("not the same reports:\n%s\n%s", reports[0], other)
		}
	}
}

// TestExplainErrors: without a deadlock there is no report, nor once the context has ended.
func TestExplainErrors(t *testing.T) {
	if _, err := ExplainScenario(context.Background(), simtest.Shipped(t, "pause", "itsy"), 1, 2, io.Discard); !errors.Is(err, ErrNoDeadlock) {
		t.Errorf("%v, want %v", err, ErrNoDeadlock)
	}
	ended, end := context.WithCancel(context.Background())
	end()
	if _, err := ExplainScenario(ended, simtest.Shipped(t, "w4-transient-trigger", "itsy"), 1, 2, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}
