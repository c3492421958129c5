package stat_test

import (
	"math"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"softswitch/internal/stat"
	"softswitch/internal/testkit"
)

// TestWilsonTable: the intervals of method 3 in R. G. Newcombe, "Two-sided confidence intervals for the
// single proportion: comparison of seven methods", 1998, table I.
func TestWilsonTable(t *testing.T) {
	for s, want := range map[stat.Share][2]float64{
		{N: 81, Of: 263}: {0.2553, 0.3662},
		{N: 15, Of: 148}: {0.0624, 0.1605},
		{N: 0, Of: 20}:   {0, 0.1611},
		{N: 1, Of: 29}:   {0.0061, 0.1718},
	} {
		if low, high := s.Interval(); math.Abs(low-want[0]) > 5e-5 || math.Abs(high-want[1]) > 5e-5 {
			t.Errorf("%d of %d: %.4f to %.4f, want %v", s.N, s.Of, low, high, want)
		}
	}
}

// TestMcNemarTable: p of the approval ratings of a prime minister (A. Agresti, "Categorical data
// analysis", of 1,600 people who were asked twice), by R's mcnemar.exact, and of small tables of the
// sign test.
func TestMcNemarTable(t *testing.T) {
	for pair, want := range map[[2]int]float64{
		{86, 150}: 3.716e-05,
		{0, 0}:    1,
		{7, 7}:    1,
		{0, 5}:    0.0625,
		{8, 0}:    0.0078125,
		{1, 9}:    0.021484375,
		{3, 12}:   0.03515625,
	} {
		if got := stat.McNemar(pair[0], pair[1]); math.Abs(got-want) > want*2e-4 {
			t.Errorf("%v: %g, want %g", pair, got, want)
		}
	}
}

// TestMcNemarSum holds it against the sum of all chances, and against itself the other way round.
func TestMcNemarSum(t *testing.T) {
	for n := 1; n <= 60; n++ {
		choose, below := 1.0, 0.0
		for k := 0; 2*k < n; k++ {
			below += choose
			want := 2 * below / math.Pow(2, float64(n))
			if got := stat.McNemar(k, n-k); math.Abs(got-min(1, want)) > 1e-12 || got != stat.McNemar(n-k, k) {
				t.Fatalf("%d and %d: %g, the other way round %g, want %g", k, n-k, got, stat.McNemar(n-k, k), want)
			}
			choose *= float64(n-k) / float64(k+1)
		}
	}
	if p := stat.McNemar(499_000, 501_000); math.Abs(p-0.0456) > 2e-4 { // 2 standard deviations, less the half of one
		t.Errorf("of a million pairs, two standard deviations apart: %g", p)
	}
}

// mice are survival times in days of mice that were treated: B. Efron and R. J. Tibshirani, "An
// introduction to the bootstrap", 1993, table 2.1.
var mice = []float64{16, 23, 38, 94, 99, 141, 197}

// above is the chance that the median of a sample of x, sorted and of an odd number of values, is above
// x[k]: exact, by Efron 1982, 10.3.
func above(n, k int) (p float64) {
	share, choose := float64(k+1)/float64(n), 1.0
	for j := range n/2 + 1 { // so many of the sample are x[k] or less
		p += choose * math.Pow(share, float64(j)) * math.Pow(1-share, float64(n-j))
		choose *= float64(n-j) / float64(j+1)
	}
	return p
}

// TestBootstrapMedian holds the interval against the exact distribution of the median of samples.
func TestBootstrapMedian(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	sets := [][]float64{mice}
	for _, n := range []int{1, 5, 21, 101} {
		x := make([]float64, n)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		slices.Sort(x)
		sets = append(sets, x)
	}
	const slack = 0.02 // over five standard deviations of a share of 2.5 % of 2,000
	for _, x := range sets {
		low, high := stat.BootstrapMedian(x, seed)
		atLow, atHigh := slices.Index(x, low), slices.Index(x, high)
		if atLow < 0 || atHigh < atLow {
			t.Errorf("%v: from %v to %v", x, low, high)
			continue
		}
		below, beyond := 0.0, above(len(x), atHigh)
		if atLow > 0 {
			below = 1 - above(len(x), atLow-1)
		}
		atMost, beyondOne := 1-above(len(x), atLow), 1.0
		if atHigh > 0 {
			beyondOne = above(len(x), atHigh-1)
		}
		if below > 0.025+slack || atMost < 0.025-slack || beyond > 0.025+slack || beyondOne < 0.025-slack {
			t.Errorf("seed %d, %d values: %v to %v; below it %.3f, above it %.3f of samples, want 2.5 %%", seed, len(x), low, high, below, beyond)
		}
		if l, h := stat.BootstrapMedian(x, seed); l != low || h != high {
			t.Errorf("the same seed gives %v to %v, and %v to %v", low, high, l, h)
		}
	}
}

// TestBootstrapCovers: of data that are drawn again and again, the interval has the median that they
// are drawn from about as often as it says.
func TestBootstrapCovers(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	draws := testkit.Sized(300, 2000)
	within := 0
	for i := range draws {
		x := make([]float64, 60)
		for k := range x {
			x[k] = r.ExpFloat64()
		}
		slices.Sort(x)
		if low, high := stat.BootstrapMedian(x, seed+uint64(i)); low <= math.Ln2 && math.Ln2 <= high {
			within++
		}
	}
	if within*100 < draws*88 || within == draws {
		t.Errorf("seed %d: within %d of %d intervals, want about 95 %%", seed, within, draws)
	}
}

// TestPython: testdata/stat.py computes the same in other ways, with fractions and without this code.
func TestPython(t *testing.T) {
	testkit.Need(t, "python3")
	out, err := exec.Command("python3", "testdata/stat.py").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	asked := map[string]int{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		asked[words[0]]++
		var n []float64
		for _, w := range words[1:] {
			x, err := strconv.ParseFloat(w, 64)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			n = append(n, x)
		}
		same := func(got, want float64) {
			if math.Abs(got-want) > 1e-9*max(1e-3, math.Abs(want)) {
				t.Errorf("%s: %v, want %v", strings.TrimSpace(line), got, want)
			}
		}
		switch words[0] {
		case "wilson": // n of low high
			low, high := stat.Share{N: int(n[0]), Of: int(n[1])}.Interval()
			same(low, n[2])
			same(high, n[3])
		case "mcnemar": // b c p
			same(stat.McNemar(int(n[0]), int(n[1])), n[2])
		case "median": // chances that the median of a sample is above each value; then the values
			x := n[len(n)/2:]
			for k, want := range n[:len(n)/2] {
				same(above(len(x), k), want)
			}
			// The values at the ends of the interval are those where the chance passes 2.5 and 97.5 %.
			low, high := stat.BootstrapMedian(x, 1)
			if first := slices.IndexFunc(n, func(p float64) bool { return p < 0.975 }); x[first] != low {
				t.Errorf("%sfrom %v, want %v", line, low, x[first])
			}
			if last := slices.IndexFunc(n, func(p float64) bool { return p < 0.025 }); x[last] != high {
				t.Errorf("%sto %v, want %v", line, high, x[last])
			}
		case "mean": // low high; then the values
			var m stat.Mean
			for _, x := range n[2:] {
				m.Add(int(x))
			}
			low, high, is := m.Interval()
			if slack := 2e-5 * (high - low); !is || math.Abs(low-n[0]) > slack || math.Abs(high-n[1]) > slack { // see student
				t.Errorf("%.60s...: %v to %v", strings.TrimSpace(line), low, high)
			}
		case "ranks": // n low high
			low, high := stat.MedianRanks(int(n[0]))
			same(float64(low), n[1])
			same(float64(high), n[2])
		default:
			t.Fatalf("unknown: %s", line)
		}
	}
	if asked["wilson"] < 20 || asked["mcnemar"] < 20 || asked["median"] != 2 || asked["mean"] != 5 || asked["ranks"] != 7 {
		t.Errorf("computed: %v", asked)
	}
}
