package runner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"testing"

	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/scenario/load"
	"softswitch/sim/fuzz"
	"softswitch/sim/fuzz/response"
	"softswitch/sim/fuzz/runner"
)

// TestPlay: one worker and three say the same and write the same files, which the
// commands that play scenarios take.
func TestPlay(t *testing.T) {
	d, err := catalog.Named("test", catalog.None)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	var reports, files [2][]byte
	for i, workers := range []int{1, 3} {
		r := runner.Run{N: 12, Seed: 3, Mode: fuzz.Usual, Detectors: []catalog.Detector{d}, Workers: workers, Out: "failed", Shrink: 1, Progress: io.Discard}
		all, err := r.Play(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		report := all.(*fuzz.Report)
		if reports[i], err = json.Marshal(report); err != nil || len(report.Failures) == 0 || report.Clean() {
			t.Fatalf("%v; %d failures, want some", err, len(report.Failures))
		}
		for _, name := range report.Failures {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files[i] = append(files[i], data...)
			if s, err := load.Scenario(name, data); err != nil || s.Detector != d.Name {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if !bytes.Equal(reports[0], reports[1]) || !bytes.Equal(files[0], files[1]) {
		t.Error("it matters how many workers there are")
	}
}

// TestPlayResponses: one worker and three say the same.
func TestPlayResponses(t *testing.T) {
	d, err := catalog.Named("test", "itsy")
	if err != nil {
		t.Fatal(err)
	}
	var reports [2][]byte
	for i, workers := range []int{1, 3} {
		r := runner.Run{N: 4, Seed: 3, Mode: response.Mode, Detectors: []catalog.Detector{d}, Responses: respond.Choices()[:2], Workers: workers, Progress: io.Discard}
		if err := r.Check(); err != nil {
			t.Fatal(err)
		}
		all, err := r.Play(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		report := all.(*response.Report)
		if report.Locked == 0 {
			t.Fatalf("%+v", report)
		}
		if reports[i], err = json.Marshal(report); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(reports[0], reports[1]) {
		t.Errorf("it matters how many workers there are:\n%s\n%s", reports[0], reports[1])
	}
}
