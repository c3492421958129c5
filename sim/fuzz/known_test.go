package fuzz

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/detect/itsy"
	"softswitch/internal/testsim"
	"softswitch/oracle"
	"softswitch/sim"
)

var seedOf = regexp.MustCompile(`--seed (\d+)`)

// TestKnown plays what itsy has done wrong: the files in testdata/cured are right now and
// have to stay so; those in testdata/known still fail in the way that their names say,
// and "Limits" in docs/detection.md says why. One that no longer does is to be moved.
func TestKnown(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("files %v, %v", files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m := seedOf.FindSubmatch(data)
		if m == nil {
			t.Fatalf("%s: no seed in its head", file)
		}
		seed, err := strconv.ParseUint(string(m[1]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		s := testsim.Parse(t, file, string(data), itsy.Name)
		_, r := testsim.Run(t, s, sim.Options{Seed: seed, Detectors: map[string]detect.Factory{itsy.Name: itsy.New}})
		known := filepath.Base(filepath.Dir(file)) == "known"
		missed := 0 // and there to the end
		for _, d := range r.Deadlocks {
			if d.Knot && len(d.Declarers) == 0 && d.Open {
				missed++
			}
		}
		wrong := map[string]int{"-false_positive.yaml": r.Count(oracle.FalsePositive), "-false_negative.yaml": missed}
		for suffix, n := range wrong {
			if want := known && strings.HasSuffix(file, suffix); want != (n > 0) {
				t.Errorf("%s: wrong %v, want %s: %v", file, wrong, suffix, want)
			}
		}
	}
}
