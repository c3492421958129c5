package bench

import (
	"slices"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		of   []float64
		want float64
	}{
		{[]float64{7}, 7},
		{[]float64{4, 2}, 3},
		{[]float64{9, 1, 5}, 5},
		{[]float64{10, 1, 2, 4}, 3},
	} {
		before := slices.Clone(c.of)
		if got := median(c.of); got != c.want {
			t.Errorf("median of %v is %v, want %v", c.of, got, c.want)
		}
		if !slices.Equal(c.of, before) {
			t.Errorf("median reordered %v to %v", before, c.of)
		}
	}
}

func TestQuantile(t *testing.T) {
	hundred := make([]int, 100)
	for i := range hundred {
		hundred[i] = i + 1
	}
	for _, c := range []struct {
		of   []int
		q    float64
		want int
	}{
		{hundred, 0.9, 90},
		{hundred, 0.5, 50},
		{hundred, 0, 1},
		{hundred, 1, 100},
		{[]int{3}, 0.9, 3},
		{[]int{1, 2, 3}, 0.5, 2},
	} {
		if got := quantile(c.of, c.q); got != c.want {
			t.Errorf("quantile %v of %d values is %d, want %d", c.q, len(c.of), got, c.want)
		}
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
