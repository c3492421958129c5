package stat_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"softswitch/internal/stat"
	"softswitch/internal/testkit"
)

// TestMedian: of an even number it lies in the middle of two, of an odd one it is one of them.
func TestMedian(t *testing.T) {
	for _, c := range []struct {
		of   []float64
		want float64
	}{
		{[]float64{7}, 7},
		{[]float64{1, 3}, 2},
		{[]float64{1, 2, 9}, 2},
		{[]float64{1, 2, 3, 8}, 2.5},
	} {
		if got := stat.Median(c.of); got != c.want {
			t.Errorf("median of %v: %v, want %g", c.of, got, c.want)
		}
	}
	for want, of := range [][]int{{-1, 2}, {-1, 1, 2, 9}, {2, 3}} {
		if got := stat.Median(of); got != want {
			t.Errorf("median of %v: %d, want %d", of, got, want)
		}
	}
}

// TestRanks holds both ranks of up to 200 values against their definitions.
func TestRanks(t *testing.T) {
	for n := 1; n <= 200; n++ {
		for percent := range 101 {
			// The first so that it and those before are so many percent.
			nearest := slices.IndexFunc(upTo(n), func(i int) bool { return 100*(i+1) >= n*percent })
			// The last that is so far on the way, of those that are.
			lower := slices.IndexFunc(upTo(n), func(i int) bool { return 100*(i+1) > (n-1)*percent })
			if got := stat.NearestRank(n, percent); got != nearest {
				t.Fatalf("nearest rank of %d at %d %%: %d, want %d", n, percent, got, nearest)
			}
			if got := stat.LowerRank(n, percent); got != lower {
				t.Fatalf("lower rank of %d at %d %%: %d, want %d", n, percent, got, lower)
			}
		}
	}
}

// upTo are the numbers from 0 to n-1.
func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// TestMedianRanks: those of tables of the sign test, and so wide that the median is within them in 95 of 100
// draws, and one rank closer it is not.
func TestMedianRanks(t *testing.T) {
	for n, want := range map[int][2]int{1: {0, 0}, 5: {0, 4}, 6: {0, 5}, 10: {1, 8}, 20: {5, 14}, 30: {9, 20}, 100: {39, 60}, 1075: {504, 570}, 2000: {955, 1044}, 10000: {4901, 5098}} {
		if low, high := stat.MedianRanks(n); low != want[0] || high != want[1] {
			t.Errorf("%d values: from %d to %d, want %v", n, low, high, want)
		}
	}
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	const n, draws = 30, 20_000
	low, high := stat.MedianRanks(n)
	within, closer := 0, 0
	for range draws {
		x := make([]float64, n) // of which the median is 0.5
		for i := range x {
			x[i] = r.Float64()
		}
		slices.Sort(x)
		if x[low] < 0.5 && 0.5 < x[high] {
			within++
		}
		if x[low+1] < 0.5 && 0.5 < x[high-1] {
			closer++
		}
	}
	if within < draws*95/100 || closer > draws*95/100 {
		t.Errorf("seed %d: %d of %d within, %d one rank closer; want 95 %% between them", seed, within, draws, closer)
	}
}
