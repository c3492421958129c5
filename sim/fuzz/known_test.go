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
		v, _ := testsim.Run(t, s, sim.Options{Seed: seed, Detectors: map[string]detect.Factory{itsy.Name: itsy.New}})
		known := filepath.Base(filepath.Dir(file)) == "known"
		wrong := map[string]int{"-false_positive.yaml": v.FalsePositives, "-false_negative.yaml": v.FalseNegatives}
		for suffix, n := range wrong {
			if want := known && strings.HasSuffix(file, suffix); want != (n > 0) {
				t.Errorf("%s: %d declared wrongly, %d missed", file, v.FalsePositives, v.FalseNegatives)
			}
		}
	}
}
