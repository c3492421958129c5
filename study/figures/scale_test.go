package figures

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

func TestBench(t *testing.T) {
	r, err := Bench(t.Context(), io.Discard, "none", 200_000, 1)
	if err != nil {
		t.Fatal(err)
	}
	// 16 flows of 24.6 million bit/ms and six hops each.
	if r.FrameHops < 20_000 || r.Events < r.FrameHops || r.XOFF == 0 || r.LosslessLost != 0 || r.FrameHopsPerSecond <= 0 || r.PeakMemory <= 0 {
		t.Errorf("%+v", *r)
	}
	// The connections send 1084 octets a frame, some of which are marked, and are answered.
	if c := &r.RC; c.FrameHops < 20_000 || c.Events < c.FrameHops || c.FrameHops == r.FrameHops || c.LosslessLost != 0 || c.FrameHopsPerCPUSecond <= 0 || c.Ratio <= 0 || c.RatioMinMax != [2]float64{c.Ratio, c.Ratio} {
		t.Errorf("connections: %+v", *c)
	}
}
