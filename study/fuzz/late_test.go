package fuzz

import (
	"os"
	"path/filepath"
	"testing"

	"softswitch/detect"
	"softswitch/detect/itsy"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/sim/simtest"
	"softswitch/unit"
)

// TestLate: deadlocks that were once declared after hundreds of laps are declared after a few. In
// two-ways-one-moves a member of a LAG holds frames for the loop and for a host that storms. It moves on
// when the storm ends, but its label was the greatest, and went round the loop in place of the loop's own.
func TestLate(t *testing.T) {
	files, err := filepath.Glob("testdata/late/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := scenario.Parse(file, data, scenario.Known{Detectors: []string{itsy.Name}})
		if err != nil {
			t.Fatal(err)
		}
		v, _ := simtest.Run(t, s, sim.Options{Seed: 1, Detectors: map[string]detect.Factory{itsy.Name: itsy.New}})
		if len(v.Detections) == 0 || v.Detections[0].Latency <= 0 || v.Detections[0].Latency > 50*unit.Microsecond {
			t.Errorf("%s: %d declared, the first %+v; want one within 50 us", file, len(v.Detections), v.Detections)
		}
	}
}
