package main

import (
	"io"
	"testing"

	"softswitch/detect/itsy"
	"softswitch/internal/testkit"
	"softswitch/sim"
)

// The large fabrics, made small: every planted deadlock comes about, and is found. In make test
// there is little traffic beside them.
func TestScale(t *testing.T) {
	for _, plant := range []planter{
		func() (*sim.Large, int, error) {
			l, rings, err := plantFatTree(24)
			if err == nil && !testkit.Long() {
				l.Flows = l.Flows[:4*rings+9]
			}
			return l, rings, err
		},
		func() (*sim.Large, int, error) { return plantRings(testkit.Sized(200, 400)) },
	} {
		f, err := run(t.Context(), plant, itsy.Name, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v", *f)
		if f.Planted < 3 || f.Deadlocks < f.Planted || f.Detected != f.Deadlocks || f.FalsePositives+f.Premature+f.FalseNegatives != 0 {
			t.Errorf("%s: %+v; want all detected and no false alarm", f.Fabric, *f)
		}
		if f.PeakMemory == 0 || f.FrameHops == 0 || f.DetectorBytes == 0 || f.CounterBytes == 0 {
			t.Errorf("%s: something was not measured: %+v", f.Fabric, *f)
		}
		if f, err = run(t.Context(), plant, "none", io.Discard); err != nil || f.FalseNegatives < f.Planted || f.Detected != 0 {
			t.Errorf("without a detector: %+v, %v; want all missed", f, err)
		}
	}
}
