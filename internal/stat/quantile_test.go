package stat_test

import (
	"slices"
	"testing"

	"softswitch/internal/stat"
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
