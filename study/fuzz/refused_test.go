package fuzz

import (
	"testing"

	"softswitch/detect/itsy"
	"softswitch/event"
	"softswitch/internal/testkit"
	"softswitch/sim"
)

// TestRefusedFirst: with less headroom than a frame most priority groups become XOFF by a frame that they refuse,
// and what itsy says of them is as true as of others. Frames are lost in these cases, so Play calls them invalid.
func TestRefusedFirst(t *testing.T) {
	seed := testkit.Seed(t)
	refused, knots := 0, 0
	for i := range testkit.Sized(15, 500) {
		c := New(seed, i, Usual)
		c.Headroom, c.Threshold = 60, c.Threshold+37 // no number of frames is as long
		w, _, err := c.World(itsy.Name, itsy.New, sim.Options{Events: func(_ event.Node, e event.Event) {
			if e.Type == event.XOFF && int(e.Bytes) < c.Threshold {
				refused++
			}
		}})
		if err != nil {
			t.Fatalf("seed %d, case %d: %v", seed, i, err)
		}
		if _, err := w.Run(); err != nil {
			t.Fatalf("seed %d, case %d: %v", seed, i, err)
		}
		o := c.Judge(w.Result())
		knots += len(o.Knots)
		if f := o.Failure(); f != "" {
			t.Errorf("seed %d, case %d: %s: %+v", seed, i, f, o)
		}
	}
	t.Logf("%d times XOFF by a frame that was refused; %d deadlocks", refused, knots)
	if refused == 0 || knots == 0 {
		t.Errorf("%d times XOFF by a frame that was refused, %d deadlocks: want some", refused, knots)
	}
}
