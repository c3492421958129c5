package fuzz

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"softswitch/detect"
	"softswitch/detect/itsy"
	"softswitch/oracle"
	"softswitch/sim"
	"softswitch/sim/simtest"
)

var seedOf = regexp.MustCompile(`--seed (\d+)`)

// TestCured plays what a detector named itsy has got wrong: it has to stay right. The
// files' names say what was wrong.
func TestCured(t *testing.T) {
	files, err := filepath.Glob("testdata/cured/*.yaml")
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
		s := simtest.Parse(t, file, string(data), itsy.Name)
		_, r := simtest.Run(t, s, sim.Options{Seed: seed, Detectors: map[string]detect.Factory{itsy.Name: itsy.New}})
		if n := r.Count(oracle.FalsePositive); n > 0 {
			t.Errorf("%s: %d declared wrongly", file, n)
		}
		for _, d := range r.Deadlocks {
			if d.Knot && d.Open && len(d.Declarers) == 0 {
				t.Errorf("%s: missed %v", file, d.Queues)
			}
		}
	}
}
