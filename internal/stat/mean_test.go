package stat_test

import (
	"encoding/json"
	"testing"

	"softswitch/internal/stat"
)

// TestMean: of nothing it is 0, and its JSON is the number.
func TestMean(t *testing.T) {
	var m stat.Mean
	for _, c := range []struct {
		n    []int
		want float64
		json string
	}{{nil, 0, "0"}, {[]int{3}, 3, "3"}, {[]int{2, 0, 0}, 1.25, "1.25"}} {
		for _, n := range c.n {
			m.Add(n)
		}
		if text, err := json.Marshal(m); m.Value() != c.want || string(text) != c.json || err != nil {
			t.Errorf("with %v: %g, %s, %v; want %g", c.n, m.Value(), text, err, c.want)
		}
	}
}
