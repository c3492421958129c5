package fuzz_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"testing"

	"softswitch/detect/catalog"
	"softswitch/internal/testkit"
	"softswitch/scenario/load"
	"softswitch/study/fuzz"
)

// TestSmaller: one worker and three say the same and write the same files, the first of them made
// smaller, which the commands that play scenarios take.
func TestSmaller(t *testing.T) {
	d, err := catalog.Named("test", catalog.None)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	var reports, files [2][]byte
	for i, workers := range []int{1, 3} {
		r := fuzz.Run{N: testkit.Sized(4, 12), Seed: 3, Mode: fuzz.Usual, Detectors: []catalog.Detector{d}, Workers: workers, Out: "failed", Shrink: 1, Progress: io.Discard}
		all, err := r.Play(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		report := all.(*fuzz.DetectionReport)
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
