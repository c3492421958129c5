package fuzz

import (
	"testing"

	"softswitch/detect/catalog"
	"softswitch/internal/testkit"
)

// TestLossless: what validates without a warning loses no lossless frame for want of buffer.
func TestLossless(t *testing.T) {
	run := &Run{Seed: testkit.Seed(t), Mode: Lossless, Detectors: []catalog.Detector{detectorOf(t, "itsy")}}
	played, paused := 0, 0
	for i := range testkit.Sized(25, 1000) {
		o := playLossless(run, i)
		switch {
		case o.Invalid+o.Why != "":
			t.Errorf("case %d: %s%s", i, o.Invalid, o.Why)
		case !o.Refused && !o.Warned:
			played++
			if o.XOFF > 0 {
				paused++
			}
		}
	}
	if t.Logf("%d cases played, in %d something paused", played, paused); paused == 0 {
		t.Error("nothing ever paused")
	}
}

// TestTooLittleHeadroom: the same cases with headroom for a frame or two lose lossless frames, and
// validate warns of it.
func TestTooLittleHeadroom(t *testing.T) {
	t.Run("known", func(t *testing.T) { tooLittleHeadroom(t, headroomSeed, 15, true) })
	t.Run("random", func(t *testing.T) {
		n := testkit.Sized(15, 300)
		tooLittleHeadroom(t, testkit.Seed(t), n, n >= 100)
	})
}

// headroomSeed is one of whose first cases most lose: the first that was tried.
const headroomSeed = 1

// tooLittleHeadroom plays so many cases of a seed; it wants most of them to lose, if they are known or
// many.
func tooLittleHeadroom(t *testing.T, seed uint64, n int, all bool) {
	t.Helper()
	d := detectorOf(t, "itsy")
	played, losing := 0, 0
	for i := range n {
		c := New(seed, i, Lossless)
		c.Headroom, c.HeadroomPool = 2*c.full(), ""
		o := c.playLossless(d, true)
		if o.Invalid != "" {
			t.Errorf("seed %d, case %d: %s", seed, i, o.Invalid)
		}
		if !o.Refused && o.XOFF > 0 {
			played++
			if o.Lost > 0 {
				losing++
			}
			if !c.playLossless(d, false).Warned {
				t.Errorf("seed %d, case %d: nobody is warned", seed, i)
			}
		}
	}
	if t.Logf("%d of %d cases lose", losing, played); all && (2*losing < played || losing == 0) {
		t.Errorf("seed %d: %d of %d cases lose, want most", seed, losing, played)
	}
}
