package runner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"softswitch/detect/catalog"
	"softswitch/scenario/load"
	"softswitch/sim/fuzz"
	"softswitch/sim/fuzz/naming"
	"softswitch/sim/fuzz/runner"
)

// TestPlayCauses: one worker and four say the same and write the same files, which say
// what was planted and can be played.
func TestPlayCauses(t *testing.T) {
	d, err := catalog.Named("test", "none")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	n, modes := 4, []string{naming.ModeRandom, naming.ModeCause}
	if testing.Short() { // planting plays many cases
		n, modes = 3, modes[:1]
	}
	for _, mode := range modes {
		var reports, files [2][]byte
		for i, workers := range []int{1, 4} {
			r := runner.Run{N: n, Seed: 18, Mode: fuzz.Mode(mode), Detectors: []catalog.Detector{d}, Workers: workers, Out: "failed", Shrink: 0, Progress: io.Discard}
			if err := r.Check(); err != nil {
				t.Fatal(err)
			}
			all, err := r.Play(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			report := all.(*naming.Report)
			if reports[i], err = json.Marshal(report); err != nil || report.Locked == 0 || report.Invalid > 0 {
				t.Fatalf("%v; %d deadlocks", err, report.Locked)
			}
			if planted := mode == naming.ModeCause; planted != (len(report.Failures) == report.Locked) || !planted && len(report.Failures) > 0 {
				t.Errorf("mode %s: %d failures of %d", mode, len(report.Failures), report.Locked)
			}
			for _, name := range report.Failures {
				data, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				files[i] = append(files[i], data...)
				if _, err := load.Scenario(name, data); err != nil || !strings.Contains(string(data), "\n# planted: ") {
					t.Errorf("%s: %v\n%s", name, err, data)
				}
			}
		}
		if !bytes.Equal(reports[0], reports[1]) || !bytes.Equal(files[0], files[1]) {
			t.Errorf("mode %s: it matters how many workers there are", mode)
		}
	}
}

// TestSmallerCause: a case in which the detector is wrong is made smaller, and keeps what
// was planted.
func TestSmallerCause(t *testing.T) {
	if testing.Short() {
		t.Skip("plays hundreds of cases, one after the other")
	}
	d, err := catalog.Named("test", "none")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	var size [2]int
	for shrink := range 2 {
		r := runner.Run{N: 1, Seed: 1, Mode: fuzz.Cause, Detectors: []catalog.Detector{d}, Workers: 1, Out: "failed", Shrink: shrink, Progress: io.Discard}
		all, err := r.Play(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		report := all.(*naming.Report)
		if len(report.Failures) != 1 {
			t.Fatalf("failures %q", report.Failures)
		}
		data, err := os.ReadFile(report.Failures[0])
		if err != nil || !strings.Contains(string(data), "\n# planted: storm: host") || !strings.Contains(string(data), "do: storm") {
			t.Errorf("%v\n%s", err, data)
		}
		size[shrink] = len(data)
	}
	if size[1]*3 > size[0]*2 {
		t.Errorf("%d bytes, before it was made smaller %d", size[1], size[0])
	}
}
