package workload

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"softswitch/internal/stat"
	"softswitch/unit"
)

const (
	us   = unit.Microsecond
	ms   = unit.Millisecond
	gbit = unit.Rate(1_000_000_000)
)

// rates are n links of r.
func rates(n int, r unit.Rate) (out []unit.Rate) {
	for range n {
		out = append(out, r)
	}
	return out
}

func messages(t *testing.T, w Spec) []Message {
	t.Helper()
	out, err := w.Messages(100_000)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestMeans: the means of the files, reckoned apart, and of what is drawn.
func TestMeans(t *testing.T) {
	for name, want := range map[string]float64{"websearch": 1_711_250, "hadoop": 120_421, "storage": 40_870} {
		s := Named(name)
		if m := s.Mean(); math.Abs(m-want) > 1 {
			t.Errorf("%s: mean %.0f, want %.0f", name, m, want)
		}
		r, sum := stat.Rand(1), 0.0
		const n = 1_000_000
		for range n {
			sum += float64(s.draw(&r))
		}
		if got := sum / n; math.Abs(got-s.Mean()) > s.Mean()/40 {
			t.Errorf("%s: the mean of %d draws is %.0f, want %.0f", name, n, got, s.Mean())
		}
	}
}

// TestDraws: between two points of the distribution come as many as there should
// (chi-square; 11 intervals, so 10 degrees of freedom: 23.2 is passed once in a hundred
// seeds).
func TestDraws(t *testing.T) {
	s := Named("websearch")
	r := stat.Rand(7)
	const n = 100_000
	counts := make([]float64, len(s.points))
	for range n {
		size := float64(s.draw(&r))
		for i := 1; i < len(s.points); i++ {
			if size <= s.points[i].size {
				counts[i]++
				break
			}
		}
	}
	chi := 0.0
	for i := 1; i < len(s.points); i++ {
		want := n * (s.points[i].percent - s.points[i-1].percent) / 100
		chi += (counts[i] - want) * (counts[i] - want) / want
	}
	if chi > 23.2 {
		t.Errorf("chi-square %.1f with counts %v", chi, counts)
	}
}

func TestAt(t *testing.T) {
	s, err := ParseSizes("# a comment\n100 20 # of this size\n200 20\n\n200 50\n1000 100\n")
	if err != nil {
		t.Fatal(err)
	}
	for share, want := range map[float64]int{0: 100, 0.2: 100, 0.21: 200, 0.5: 200, 0.75: 600, 1: 1000} {
		if got := s.At(share); got != want {
			t.Errorf("At(%g) is %d, want %d", share, got, want)
		}
	}
	if m := s.Mean(); math.Abs(m-(0.2*100+0.3*200+0.5*600)) > 1e-9 {
		t.Errorf("mean %g", m)
	}
	if got := Fixed(64); got.At(0) != 64 || got.At(0.99) != 64 || got.Mean() != 64 {
		t.Errorf("Fixed(64): %+v", got)
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "no points",
		"# nothing\n":                        "no points",
		"10 100\n5\n":                        `line 2: "5": write a size in bytes and a percentile`,
		"1 2 3":                              `line 1: "1 2 3": write a size`,
		"-1 0\n":                             `line 1: "-1" is not a size`,
		"x 0\n":                              `line 1: "x" is not a size`,
		"NaN 0\n":                            `line 1: "NaN" is not a size`,
		"1 101\n":                            `line 1: "101" is not a percentile`,
		"1 NaN\n":                            `line 1: "NaN" is not a percentile`,
		"9 50\n8 100\n":                      "line 2: size 8 is below",
		"1 50\n2 40\n":                       "line 2: percentile 40 is below",
		"0 0\n10 99.9\n":                     "line 2: the last percentile is 99.9, not 100",
		"0 0\n0 100\n":                       "line 2: a mean of 0 bytes",
		strings.Repeat("1 0\n", maxPoints+1): "line 10001: more than 10000 points",
	} {
		if _, err := ParseSizes(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
}

// TestLoad: hosts send as much as their load says, to all others alike, each at its own
// times.
func TestLoad(t *testing.T) {
	for _, c := range []struct {
		load    float64
		on, off unit.Time
	}{{0.3, 0, 0}, {1, 0, 0}, {0.8, 100 * us, 300 * us}} {
		w := Spec{Pattern: Random, Rates: rates(4, 10*gbit), Sizes: Named("storage"), Load: c.load, On: c.on, Off: c.off, Start: ms, Stop: 101 * ms, Seed: 7}
		got := messages(t, w)
		pairs := map[[2]int]float64{}
		last := unit.Time(0)
		for _, m := range got {
			pairs[[2]int{m.From, m.To}]++
			if m.Start < max(ms, last) || m.Start >= 101*ms || m.From == m.To {
				t.Fatalf("after %d: %+v", last, m)
			}
			if c.on > 0 && (m.Start-ms)%(c.on+c.off) > c.on {
				t.Fatalf("%+v is not within a burst", m)
			}
			last = m.Start
		}
		share := 1.0
		if c.on > 0 {
			share = float64(c.on) / float64(c.on+c.off)
		}
		want := 4 * c.load * share * 10e9 / 8 * 0.1 / w.Sizes.Mean()
		if n := float64(len(got)); math.Abs(n-want) > 3*math.Sqrt(want) {
			t.Errorf("load %g: %.0f messages, want %.0f", c.load, n, want)
		}
		chi, even := 0.0, float64(len(got))/12
		for from := range 4 {
			for to := range 4 {
				if from != to {
					chi += math.Pow(pairs[[2]int{from, to}]-even, 2) / even
				}
			}
		}
		if chi > 24.7 { // 11 degrees of freedom, once in a hundred
			t.Errorf("load %g: chi-square of pairs %.1f: %v", c.load, chi, pairs)
		}
		if again := messages(t, w); !reflect.DeepEqual(got, again) {
			t.Error("drawn twice, it differs")
		}
		w.Seed++
		if other := messages(t, w); reflect.DeepEqual(got, other) {
			t.Error("another seed draws the same")
		}
	}
}

// TestGaps: the times between arrivals are those of a Poisson process: their standard
// deviation is their mean.
func TestGaps(t *testing.T) {
	w := Spec{Pattern: Permutation, Rates: rates(2, gbit), Sizes: Fixed(1250), Load: 0.5, Stop: 100 * ms, Seed: 3}
	var last unit.Time
	sum, squares, n := 0.0, 0.0, 0.0
	for _, m := range messages(t, w) {
		if m.From == 0 {
			gap := float64(m.Start - last)
			sum, squares, n, last = sum+gap, squares+gap*gap, n+1, m.Start
		}
	}
	mean := sum / n
	deviation := math.Sqrt(squares/n - mean*mean)
	if math.Abs(mean-20_000) > 1000 || math.Abs(deviation-mean) > mean/15 {
		t.Errorf("%.0f gaps of %.0f ns on average, deviation %.0f; want 20000, 20000", n, mean, deviation)
	}
}

// TestPermutation: nobody gets from two, or from itself.
func TestPermutation(t *testing.T) {
	for seed := range uint64(200) {
		n := 2 + int(seed%9)
		r := stat.Rand(stat.Mix(seed))
		seen := map[int]bool{}
		for i, to := range derangement(&r, n) {
			if to == i || seen[to] {
				t.Fatalf("seed %d, %d hosts: %d to %d", seed, n, i, to)
			}
			seen[to] = true
		}
	}
}

// TestRounds are the patterns in which all begin at once.
func TestRounds(t *testing.T) {
	text := func(ms []Message) string {
		var out []string
		for _, m := range ms {
			out = append(out, fmt.Sprintf("%d>%d:%d@%d", m.From, m.To, m.Size, m.Start/us))
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct {
		w    Spec
		want string
	}{
		{Spec{Pattern: AllToAll, Rates: rates(3, 0), Sizes: Fixed(9)}, "0>1:9@0 1>2:9@0 2>0:9@0 0>2:9@0 1>0:9@0 2>1:9@0"},
		{Spec{Pattern: Ring, Rates: rates(4, 0), Sizes: Fixed(1000)}, "0>1:1500@0 1>2:1500@0 2>3:1500@0 3>0:1500@0"},
		{Spec{Pattern: Ring, Rates: rates(2, 0), Sizes: Fixed(1001), Chunks: 2, Period: 600 * us}, "0>1:501@0 0>1:501@0 1>0:501@0 1>0:501@0 0>1:501@600 0>1:501@600 1>0:501@600 1>0:501@600"},
		{Spec{Pattern: Tree, Rates: rates(4, 0), Sizes: Fixed(7)}, "1>0:7@0 0>1:7@0 2>0:7@0 0>2:7@0 3>1:7@0 1>3:7@0"},
	} {
		c.w.Stop = ms
		if got := text(messages(t, c.w)); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.w.Pattern, got, c.want)
		}
	}
	w := Spec{Pattern: Incast, Rates: rates(9, 0), Sizes: Fixed(5), FanIn: 8, Period: 100 * us, Start: 50 * us, Stop: ms, Seed: 1}
	rounds, receivers := map[unit.Time]map[int]bool{}, map[int]bool{}
	for _, m := range messages(t, w) {
		if rounds[m.Start] == nil {
			rounds[m.Start] = map[int]bool{}
		}
		rounds[m.Start][m.From] = true
		receivers[m.To] = true
		if m.From == m.To {
			t.Errorf("%+v", m)
		}
	}
	if len(rounds) != 10 || len(rounds[50*us]) != 8 || len(rounds[950*us]) != 8 || len(receivers) < 3 {
		t.Errorf("rounds %v, receivers %v", rounds, receivers)
	}
}

func TestTooMany(t *testing.T) {
	for _, w := range []Spec{
		{Pattern: Random, Rates: rates(4, gbit), Sizes: Fixed(1), Load: 1, Stop: unit.Second},
		{Pattern: AllToAll, Rates: rates(40, gbit), Sizes: Fixed(1), Stop: unit.Second},
		{Pattern: Ring, Rates: rates(3, gbit), Sizes: Fixed(1), Period: 1, Stop: unit.Second},
	} {
		if _, err := w.Messages(1000); err == nil || err.Error() != "more than 1000 messages" {
			t.Errorf("%s: %v", w.Pattern, err)
		}
	}
}

// FuzzParseSizes: what is read has a mean and draws sizes between its ends.
func FuzzParseSizes(f *testing.F) {
	for _, seed := range []string{websearch, hadoop, storage, "", "5 100", "0 0\n1e3 50\n2000 100", "1 50\n1 20", "9 # x\n", "Inf 100"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSizes(text)
		if err != nil {
			return
		}
		least, most := s.At(0), s.At(1)
		if m := s.Mean(); !(m >= 1 && m <= maxSize) || least < 1 || least > most || most > maxSize {
			t.Fatalf("mean %g, from %d to %d", m, least, most)
		}
		before := least
		for i := range 101 {
			if n := s.At(float64(i) / 100); n < before || n > most {
				t.Fatalf("At(%d %%) is %d, after %d, of %d", i, n, before, most)
			} else {
				before = n
			}
		}
	})
}
