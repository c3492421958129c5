package fuzz

import (
	"slices"
	"testing"

	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/internal/testkit"
	"softswitch/unit"
)

// drains makes of a case one whose flows all stop at stop and whose hosts receive,
// and which lasts until everything that can leave has left.
func drains(c *Case) (stop unit.Time) {
	c.Events = nil
	slowest := c.Links[0].Rate
	for _, l := range c.Links {
		slowest = min(slowest, l.Rate)
	}
	for i := range c.Routes { // no link fails
		c.Routes[i].Backup = false
	}
	for i := range c.Flows {
		f := &c.Flows[i]
		if f.Stop == 0 {
			f.Stop = f.Start + 300*c.Links[0].hop(full)
		}
		stop = max(stop, f.Stop)
	}
	all := 2 * len(c.Links) * len(c.Lossless) * (c.Threshold + c.Headroom)
	pause := slowest.QuantaTime(uint16(c.Quanta))
	c.Duration = stop + unit.Time(int64(all)*8*int64(unit.Second)/int64(slowest)) + 3*pause + 200*c.hop()
	return stop
}

// The oracle against the world itself: when nobody sends any more and every host
// receives, what is in the stuck set stays, and what stays is in the stuck set.
func TestDrain(t *testing.T) {
	const seed = 11
	n, stuckAtStop, stuckAtEnd, drained := testkit.Sized(25, 300), 0, 0, 0
	for i := range n {
		c := New(seed, i, Usual)
		stop := drains(c)
		w, _, _, err := c.world("none", detect.NewNone)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Run(); err != nil {
			t.Fatal(err)
		}
		if why := Lost(w); why != "" {
			t.Fatalf("seed %d, case %d: %s", seed, i, why)
		}
		residue := 0
		w.EachSwitch(func(s *dataplane.Switch) {
			for p := range unit.Port(s.Ports()) {
				for priority := range unit.Priority(unit.Priorities) {
					bytes, _ := s.MMU().Bytes(p, priority)
					residue += bytes
				}
			}
		})
		h := w.Result().History
		atStop, atEnd := h.At(stop), h.At(c.Duration)
		switch {
		case !atStop.Empty() && residue == 0:
			t.Errorf("seed %d, case %d: stuck when the sources stop, %v, and yet all has left\n%s", seed, i, atStop.Queues, c.Text("none", ""))
		case residue > 0 && atEnd.Empty():
			t.Errorf("seed %d, case %d: %d bytes stay and nothing is stuck\n%s", seed, i, residue, c.Text("none", ""))
		}
		for _, q := range atStop.Queues {
			if !slices.Contains(atEnd.Queues, q) {
				t.Errorf("seed %d, case %d: queue %v was stuck and is not at the end", seed, i, q)
			}
		}
		if !atStop.Empty() {
			stuckAtStop++
		}
		if !atEnd.Empty() {
			stuckAtEnd++
		}
		if residue == 0 {
			drained++
		}
	}
	t.Logf("stuck when the sources stop %d, at the end %d; drained %d", stuckAtStop, stuckAtEnd, drained)
	if stuckAtStop*15 < n*4 || drained*15 < n*4 {
		t.Errorf("stuck when the sources stop: %d, drained: %d; both should be common", stuckAtStop, drained)
	}
}
