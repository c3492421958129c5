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

// TestKnown plays what itsy is known to do wrong, from testdata/known: "Limits" in
// docs/detection.md says why. A file that no longer fails in the way that its name says
// is to be moved to the scenarios, where it has to stay right.
func TestKnown(t *testing.T) {
	files, err := filepath.Glob("testdata/known/*.yaml")
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
		wrong := map[string]int{"-false_positive.yaml": v.FalsePositives, "-false_negative.yaml": v.FalseNegatives}
		for suffix, n := range wrong {
			if want := strings.HasSuffix(file, suffix); want != (n > 0) {
				t.Errorf("%s: %d declared wrongly, %d missed", file, v.FalsePositives, v.FalseNegatives)
			}
		}
	}
}
