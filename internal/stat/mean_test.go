package stat_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"softswitch/internal/stat"
	"softswitch/internal/testkit"
)

// TestMean: of nothing it is 0, and of fewer than ten numbers there is no interval.
func TestMean(t *testing.T) {
	var m stat.Mean
	for _, c := range []struct {
		n    []int
		want float64
		text string
		json string
	}{
		{nil, 0, "-", `{"mean":0,"of":0,"low":null,"high":null}`},
		{[]int{3}, 3, "3.00", `{"mean":3,"of":1,"low":null,"high":null}`},
		{[]int{3, 3, 3, 3, 3, 3, 3, 3}, 3, "3.00", `{"mean":3,"of":9,"low":null,"high":null}`},
		{[]int{3}, 3, "3.00 (3.00-3.00)", `{"mean":3,"of":10,"low":3,"high":3}`},
		{[]int{90}, 120. / 11, "10.91 (0.00-28.53)", ""},
	} {
		for _, n := range c.n {
			m.Add(n)
		}
		text, err := json.Marshal(m)
		if m.Value() != c.want || m.String() != c.text || c.json != "" && string(text) != c.json || err != nil {
			t.Errorf("with %v: %g, %v, %s, %v; want %g, %s, %s", c.n, m.Value(), m, text, err, c.want, c.text, c.json)
		}
	}
}

// TestMeanCovers: of numbers that are drawn again and again, the interval has the mean that they are drawn
// from about as often as it says.
func TestMeanCovers(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	draws := testkit.Sized(400, 5000)
	within := 0
	for range draws {
		var m stat.Mean
		for range 200 {
			m.Add(int(8 * r.ExpFloat64())) // geometric: as skewed as what is counted
		}
		want := 1 / (math.Exp(1.0/8) - 1)
		if low, high, _ := m.Interval(); low <= want && want <= high {
			within++
		}
	}
	if within*100 < draws*90 || within == draws {
		t.Errorf("seed %d: within %d of %d intervals, want about 95 %%", seed, within, draws)
	}
}
