package rates

import (
	"io"
	"testing"
)

func TestSimulator(t *testing.T) {
	r, err := Simulator(t.Context(), io.Discard, "none", 200_000, 1)
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
