package stat_test

import (
	"encoding/json"
	"math"
	"testing"

	"softswitch/internal/stat"
)

// TestInterval holds the interval against what defines it: its ends are the shares p
// from which N of Of lies 1.96 standard deviations of the binomial distribution away.
func TestInterval(t *testing.T) {
	for _, s := range []stat.Share{{N: 0, Of: 1}, {N: 1, Of: 1}, {N: 0, Of: 50}, {N: 8, Of: 8}, {N: 41, Of: 188}, {N: 4999, Of: 5000}} {
		low, high := s.Interval()
		n, p := float64(s.Of), float64(s.N)/float64(s.Of)
		for _, end := range []float64{low, high} {
			off := math.Abs(p-end) / math.Sqrt(end*(1-end)/n)
			if end == p && (s.N == 0 || s.N == s.Of) { // a share of nothing or all is its own end
				continue
			}
			if math.Abs(off-1.959964) > 1e-4 {
				t.Errorf("%d of %d: %v is %v deviations away, want 1.96", s.N, s.Of, end, off)
			}
		}
		if low > p || high < p {
			t.Errorf("%d of %d: %v to %v is not around it", s.N, s.Of, low, high)
		}
	}
	if low, high := (stat.Share{}).Interval(); low != 0 || high != 1 {
		t.Errorf("of no case %v to %v, want 0 to 1", low, high)
	}
}

func TestText(t *testing.T) {
	var s stat.Share
	for i := range 10 {
		s.Add(i < 3)
	}
	b, err := json.Marshal(s)
	if want := `{"n":3,"of":10,"low_percent":10.8,"high_percent":60.3}`; err != nil || string(b) != want {
		t.Errorf("%s, %v; want %s", b, err, want)
	}
	if got := s.String() + ", " + (stat.Share{}).String(); got != "30 (11-60), -" {
		t.Errorf("%s, want 30 (11-60), -", got)
	}
}
