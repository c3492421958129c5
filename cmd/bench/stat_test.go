package main

import (
	"slices"
	"testing"
)

// TestSpread: figures stay in their order, by which ratios are taken.
func TestSpread(t *testing.T) {
	figures := []float64{10, 1, 2, 4}
	before := slices.Clone(figures)
	if got, want := spread(figures), (Spread{Median: 3, Min: 1, Max: 10}); got != want {
		t.Errorf("spread of %v is %+v, want %+v", before, got, want)
	}
	if !slices.Equal(figures, before) {
		t.Errorf("spread reordered %v to %v", before, figures)
	}
}

// TestRatiosArePaired has rounds in which the machine was fast and slow: the median
// of the ratios is 2, the ratio of the medians would be 4.
func TestRatiosArePaired(t *testing.T) {
	ours := sumUp(Softswitch, []Turn{{Delivered: 20, CPU: 1}, {Delivered: 40, CPU: 1}, {Delivered: 80, CPU: 1}})
	peer := sumUp(OVS, []Turn{{Delivered: 10, CPU: 1}, {Delivered: 40, CPU: 1}, {Delivered: 8, CPU: 1}})
	got := ratios([]DUT{ours, peer})
	paired := Spread{Median: 2, Min: 1, Max: 10}
	if want := (Ratio{OVS, paired, paired}); len(got) != 1 || got[0] != want {
		t.Errorf("ratios %+v, want %+v", got, want)
	}
}

// TestRatiosPerCPU has a peer that was starved of half its processor.
func TestRatiosPerCPU(t *testing.T) {
	ours := sumUp(Softswitch, []Turn{{Delivered: 40, CPU: 1}})
	peer := sumUp(OVS, []Turn{{Delivered: 10, CPU: 0.5}})
	got := ratios([]DUT{ours, peer})[0]
	if got.Delivered.Median != 4 || got.PerCPU.Median != 2 {
		t.Errorf("ratios %+v, want 4 of what was delivered and 2 per processor", got)
	}
}

func TestRemarks(t *testing.T) {
	for _, c := range []struct {
		name             string
		turn             Turn
		limited, starved bool
	}{
		{"all forwarded", Turn{Offered: 1000, Delivered: 1000, CPU: 0.5}, true, false},
		{"saturated", Turn{Offered: 1000, Delivered: 500, CPU: 0.99}, false, false},
		{"others had the processor", Turn{Offered: 1000, Delivered: 500, CPU: 0.5}, false, true},
	} {
		d := sumUp(c.name, []Turn{c.turn})
		if d.SenderLimited != c.limited || d.Starved != c.starved {
			t.Errorf("%s: sender-limited %v, starved %v; want %v, %v", c.name, d.SenderLimited, d.Starved, c.limited, c.starved)
		}
	}
}
