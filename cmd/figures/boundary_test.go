package main

import (
	"testing"

	"softswitch/internal/testkit"
	"softswitch/unit"
)

// The case of the paper's testbed: two switches, TTL 16, 5 Gbit/s.
func TestPaperCase(t *testing.T) {
	l := Loop{Switches: 2, TTL: 16}
	if l.Eq3() != 5_000_000_000 || l.First() != 5_000_000_000 {
		t.Fatalf("Eq. 3 gives %d, the first link %d bit/s, want 5 Gbit/s", l.Eq3(), l.First())
	}
	for _, c := range []struct {
		rate unit.Rate
		want bool
	}{{4_900_000_000, false}, {5_000_000_000, false}, {5_050_000_000, true}, {10_000_000_000, true}} {
		got, err := l.Try(c.rate, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.Deadlock != c.want {
			t.Errorf("%d bit/s: deadlock %v, want %v", c.rate, got.Deadlock, c.want)
		}
		if got.Deadlock != (got.Onset > 0) {
			t.Errorf("%d bit/s: deadlock %v with onset %d", c.rate, got.Deadlock, got.Onset)
		}
	}
}

// Where frames go round often, the loop flips where its first link is full: at Eq. 3
// if n divides TTL, and up to a fifth away from it otherwise.
func TestFlip(t *testing.T) {
	for _, l := range testkit.Sized([]Loop{{5, 12}}, []Loop{{2, 16}, {3, 16}, {5, 12}}) {
		f, err := l.Flip(nil)
		if err != nil {
			t.Fatal(err)
		}
		if f.Above < l.First() || f.Below > l.First()*1005/1000 || f.Above-f.Below > f.Above/500 {
			t.Errorf("%+v flips between %d and %d bit/s, want at %d", l, f.Below, f.Above, l.First())
		}
	}
}

// A frame that dies before it comes round fills nothing.
func TestNeverFlips(t *testing.T) {
	l := Loop{Switches: 5, TTL: 4}
	f, err := l.Flip(nil)
	if err != nil {
		t.Fatal(err)
	}
	if f != (Flip{}) || l.First() != 0 {
		t.Errorf("flips at %+v, first link full at %d, want never", f, l.First())
	}
}

func TestImpossible(t *testing.T) {
	if _, err := (Loop{Switches: 2, TTL: 300}).Try(Link, nil); err == nil {
		t.Error("TTL 300 was accepted")
	}
	if _, err := (Loop{Switches: 2, TTL: 16}).Try(-1, nil); err == nil {
		t.Error("a rate of -1 was accepted")
	}
}
