package frames

import (
	"context"
	"io"
	"strings"
	"testing"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/unit"
)

// TestFrames: all holds on a few switches, whatever comes; and what is refused is refused for
// many reasons.
func TestFrames(t *testing.T) {
	r, reasons := Run{N: 3_000_000, Seed: 1, Workers: 2, Progress: io.Discard}, 30
	if testing.Short() { // with the race detector: it is for the goroutines
		r.N, reasons = 300_000, 20 // of one switch, which has one configuration
	}
	report, err := r.Play(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		t.Errorf("seed %d, epoch %d: %s", r.Seed, f.Epoch, f.Why)
	}
	if report.Frames != r.N || report.Sent == 0 || len(report.Drops) < reasons {
		t.Errorf("%+v: want %d frames, some that leave, and %d reasons", report, r.N, reasons)
	}
}

// TestOneEpochOneKey: an epoch played again counts the same.
func TestOneEpochOneKey(t *testing.T) {
	a, _ := Epoch(7, 3, 50_000)
	b, _ := Epoch(7, 3, 50_000)
	if other, _ := Epoch(8, 3, 50_000); a != b || a == other {
		t.Errorf("%+v, again %+v, of another seed %+v", a, b, other)
	}
}

// TestFindings: what does not hold is found.
func TestFindings(t *testing.T) {
	for want, tamper := range map[string]func(e *epoch) error{
		"is counted as data 2 times": func(e *epoch) error {
			before := *e.Counters(0)
			e.Counters(0).RxFrames[3] += 2
			return e.fate(&before, e.Counters(0), false, false)
		},
		"as dropped 0; it is a pause: false": func(e *epoch) error {
			before := *e.Counters(0)
			return e.fate(&before, e.Counters(0), false, false)
		},
		"as dropped 2; it is a pause: true": func(e *epoch) error {
			e.acts = false
			before := *e.Counters(0)
			e.Counters(0).Drops[dataplane.DropShort] += 2
			return e.fate(&before, e.Counters(0), true, false)
		},
		"leaves port": func(e *epoch) error {
			for out := range unit.Port(ports) {
				for c := range unit.Priority(unit.Priorities) {
					if e.QueuePaused(out, c) {
						return e.leaving(out, []*buffer.Frame{{OutPriority: c}})
					}
				}
			}
			return nil
		},
		"slots are free": func(e *epoch) error {
			e.slot[0][0] = e.pool.Get()
			return e.end()
		},
	} {
		e, err := newEpoch(1, 2)
		if err != nil {
			t.Fatal(err)
		}
		for range 100_000 {
			if err := e.step(); err != nil {
				t.Fatal(err)
			}
		}
		if err := tamper(e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want one about %q", err, want)
		}
	}
}

// TestCheckOfRun: what is out of range is refused.
func TestCheckOfRun(t *testing.T) {
	for _, r := range []Run{{Workers: 1}, {N: NMax + 1, Workers: 1}, {N: 1}} {
		if _, err := r.Play(context.Background()); err == nil {
			t.Errorf("%+v is played", r)
		}
	}
}
