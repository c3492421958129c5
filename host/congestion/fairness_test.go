package congestion

import (
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"

	"softswitch/internal/stat"
	"softswitch/internal/testkit"
	"softswitch/unit"
)

// bottleneck is a link that flows share, as a fluid: in each microsecond they send what
// their rates allow, in a random order, and the link takes what it can; the rest is the queue. In an order
// that is always the same, the last would meet the queue of all others each time, and get the marks. Frames of 1000
// bytes are marked by RED on that queue. A CNP is at the sender a round trip after the frame
// that was marked.
type bottleneck struct {
	line       unit.Rate
	kmin, kmax float64 // bytes
	pmax       float64
	rtt        unit.Time
	coin       stat.Rand

	now   unit.Time
	queue float64 // bytes
	flows []*sender
}

// sender is a flow with both of its ends.
type sender struct {
	start  unit.Time
	react  Reaction
	notify Notification
	frame  float64     // bytes sent of a frame
	cnps   []unit.Time // on their way
	sent   float64     // bytes
}

// frameBytes is the length of a frame.
const frameBytes = 1000

func (b *bottleneck) run(p *DCQCN, until unit.Time) {
	for ; b.now < until; b.now += us {
		for i := len(b.flows) - 1; i > 0; i-- {
			j := b.coin.Below(i + 1)
			b.flows[i], b.flows[j] = b.flows[j], b.flows[i]
		}
		for _, f := range b.flows {
			if f.start <= b.now {
				f.step(b, p)
			}
		}
		b.queue = max(0, b.queue-float64(b.line)/8/1e6)
	}
}

// step is a microsecond of a flow.
func (f *sender) step(b *bottleneck, p *DCQCN) {
	for len(f.cnps) > 0 && f.cnps[0] <= b.now {
		f.react.CNP(b.now)
		f.cnps = f.cnps[1:]
	}
	n := float64(f.react.Rate(b.now)) / 8 / 1e6
	b.queue += n
	f.sent += n
	for f.frame += n; f.frame >= frameBytes; f.frame -= frameBytes {
		f.react.Sent(b.now, frameBytes)
		if b.marks() && f.notify.Marked(b.now, p.CNPInterval) {
			f.cnps = append(f.cnps, b.now+b.rtt)
		}
	}
}

// marks draws whether a frame is marked.
func (b *bottleneck) marks() bool {
	switch {
	case b.queue <= b.kmin:
		return false
	case b.queue > b.kmax:
		return true
	}
	return float64(b.coin.Below(1_000_000)) < 1e6*b.pmax*(b.queue-b.kmin)/(b.kmax-b.kmin)
}

// begin adds flows that begin at these times, each at line rate.
func (b *bottleneck) begin(p *DCQCN, at ...unit.Time) {
	for _, start := range at {
		b.flows = append(b.flows, &sender{start: start, react: NewReaction(p, b.line)})
	}
}

// within is n times in the first d.
func (b *bottleneck) within(d unit.Time, n int) []unit.Time {
	at := make([]unit.Time, n)
	for i := range at {
		at[i] = unit.Time(b.coin.Below(int(d)))
	}
	return at
}

// outcome is what came of flows in 300 ms.
type outcome struct {
	jain    float64 // Jain's index of what they sent in the last 100 ms: (sum x)^2 / (n sum x^2)
	used    float64 // the share of the link in that time
	longest float64 // the longest queue in bytes
}

// shares runs the flows that have been added.
func (b *bottleneck) shares(p *DCQCN) (o outcome) {
	const settle, last = 200 * unit.Millisecond, 100 * unit.Millisecond
	b.run(p, settle)
	for _, f := range b.flows {
		f.sent = 0
	}
	for b.now < settle+last {
		b.run(p, b.now+10*us)
		o.longest = max(o.longest, b.queue)
	}
	sum, squares := 0.0, 0.0
	for _, f := range b.flows {
		sum += f.sent
		squares += f.sent * f.sent
	}
	o.jain, o.used = sum*sum/float64(len(b.flows))/squares, sum*8/float64(b.line)*10
	return o
}

// marking is a profile with the thresholds of a queue.
type marking struct {
	profile    string
	kmin, kmax float64
	pmax       float64
}

// play runs n flows that begin at random times in the first millisecond.
func (m marking) play(t *testing.T, n int, seed uint64) outcome {
	t.Helper()
	b := bottleneck{line: 40 * gbit, kmin: m.kmin, kmax: m.kmax, pmax: m.pmax, rtt: 10 * us, coin: stat.Rand(stat.Mix(seed))}
	p := profile(t, m.profile, b.line)
	b.begin(&p, b.within(unit.Millisecond, n)...)
	return b.shares(&p)
}

// Flows that start one after the other come to fair shares of a link of 40 Gbit/s, with the
// paper's parameters at both ends and in the queue. The paper shows two flows that meet, as curves
// without an index (figures 11 and 13).
func TestFairness(t *testing.T) {
	for _, n := range []int{2, 4, 8} {
		seed := testkit.Seed(t)
		b := bottleneck{line: 40 * gbit, kmin: 5_000, kmax: 200_000, pmax: 0.01, rtt: 10 * us, coin: stat.Rand(seed)}
		p := profile(t, "paper", b.line)
		for i := range n {
			b.begin(&p, unit.Time(i)*10*unit.Millisecond)
		}
		o := b.shares(&p)
		if o.jain < 0.98 || o.used < 0.98 || o.longest > 250_000 {
			t.Errorf("seed %d, %d flows: %+v; want an index of 0.98, 98%% of the link and a queue of at most 250,000", seed, n, o)
		}
	}
}

// markings are the lines of docs/figures/fairness.md: the paper's thresholds, and the defaults, for
// priority groups that pause at 40,960 bytes, with their pmax and a tenth of it.
var markings = []marking{
	{"paper", 5_000, 200_000, 0.01},
	{"paper", 5_120, 30_720, 0.1},
	{"paper", 5_120, 30_720, 0.01},
	{"hpcc-sender", 5_120, 30_720, 0.1},
	{"hpcc-sender", 5_120, 30_720, 0.01},
	{"nvidia", 5_120, 30_720, 0.1},
	{"nvidia", 5_120, 30_720, 0.01},
}

// Eight flows come to fair shares with each profile and each marking, but for nvidia, where they stay
// unfair.
func TestFairShares(t *testing.T) {
	for _, m := range markings {
		seed := testkit.Seed(t)
		if o := m.play(t, 8, seed); (m.profile == "nvidia") != (o.jain < 0.6) || m.profile != "nvidia" && o.jain < 0.98 {
			t.Errorf("seed %d, %+v: %+v", seed, m, o)
		}
	}
}

var rewrite = flag.Bool("rewrite", false, "write docs/figures/fairness.md anew")

// student is the quantile of Student's distribution with 29 degrees of freedom of which 95 % lie
// within it and its negative: for means of 30.
const (
	fairRuns = 30
	student  = 2.04523
)

// TestFairnessTable makes docs/figures/fairness.md, or holds it against what is measured.
func TestFairnessTable(t *testing.T) {
	if !*rewrite {
		testkit.Docs(t)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Fairness\n\nJain's index of flows that share a link of 40 Gbit/s: means of %d runs (seeds 1 to %d), with Student's interval of\n95 %%. The share of the link and the longest queue are means of all runs of 2, 4 and 8 flows.\n\n", fairRuns, fairRuns)
	b.WriteString("| profile | kmin, kmax, pmax | 2 flows | 4 | 8 | of the link | longest queue |\n|---|---|---:|---:|---:|---:|---:|\n")
	for _, m := range markings {
		fmt.Fprintf(&b, "| `%s` | %.0f KB, %.0f KB, %.0f %% |", m.profile, math.Floor(m.kmin/1000), math.Floor(m.kmax/1000), 100*m.pmax)
		used, longest := 0.0, 0.0
		for _, n := range []int{2, 4, 8} {
			sum, squares := 0.0, 0.0
			for seed := range uint64(fairRuns) {
				o := m.play(t, n, seed+1)
				sum, squares = sum+o.jain, squares+o.jain*o.jain
				used, longest = used+o.used, longest+o.longest
			}
			mean := sum / fairRuns
			half := student * math.Sqrt(max(0, squares/fairRuns-mean*mean)/(fairRuns-1))
			fmt.Fprintf(&b, " %.3f ± %.3f |", mean, math.Ceil(1000*half)/1000)
		}
		fmt.Fprintf(&b, " %.0f %% | %.0f KB |\n", 100*used/3/fairRuns, longest/3/fairRuns/1000)
	}
	const file = "../../docs/figures/fairness.md"
	if *rewrite {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("figures are rounded as on amd64")
	}
	if page, err := os.ReadFile(file); err != nil || string(page) != b.String() {
		t.Errorf("%v; docs/figures/fairness.md is out of date: make figures\n%s", err, &b)
	}
}
