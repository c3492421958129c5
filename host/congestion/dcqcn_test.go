package congestion

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/unit"
)

const (
	us   = unit.Microsecond
	gbit = unit.Rate(1_000_000_000)
)

// profile is a profile that exists.
func profile(t testing.TB, name string, line unit.Rate) DCQCN {
	t.Helper()
	p, err := Profile(name, line)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The figures of the profiles at the rates for which their sources give them.
func TestProfiles(t *testing.T) {
	for _, c := range []struct {
		name string
		line unit.Rate
		want DCQCN
	}{
		{"paper", 40 * gbit, DCQCN{
			Gain: 1024 / 256, CNPInterval: 50 * us, AlphaTimer: 55 * us, RiseTimer: 55 * us, RiseBytes: 10_000_000,
			Recovery: 5, AI: 40_000_000, HAI: 40_000_000, Min: 40_000_000,
		}},
		{"hpcc-sender", 25 * gbit, DCQCN{
			Gain: 1024 / 256, AlphaTimer: us, CutTimer: 4 * us, KeepTarget: true, RiseTimer: 300 * us,
			Recovery: 1, AI: 5_000_000, HAI: 50_000_000, Min: 250_000_000,
		}},
		{"nvidia", 100 * gbit, DCQCN{
			Gain: 5, CNPInterval: 4 * us, AlphaTimer: us, CutTimer: 4 * us, KeepTarget: true, RiseTimer: 300 * us, RiseBytes: 32767,
			Recovery: 1, AI: 5_000_000, HAI: 50_000_000, Min: 1_000_000,
		}},
	} {
		if got := profile(t, c.name, c.line); got != c.want {
			t.Errorf("%s at %d:\n%+v, want\n%+v", c.name, c.line, got, c.want)
		}
	}
	for name, line := range map[string]unit.Rate{"quick": gbit, "paper": 0} {
		_, err := Profile(name, line)
		if err == nil || !strings.Contains(err.Error(), "valid: ") || line > 0 && !strings.Contains(err.Error(), "paper, hpcc-sender, nvidia") {
			t.Errorf("%s at %d: error %v, want one that says what is valid", name, line, err)
		}
	}
}

// A fabric that is slowed down 400 times has the same rates, divided by 400, at times that
// are 400 times as late.
func TestSlow(t *testing.T) {
	const n, line = 400, 40 * gbit
	for _, name := range Profiles() {
		p := profile(t, name, line)
		slow := p.Slow(n)
		a, b := NewReaction(&p, line), NewReaction(&slow, line/n)
		for now := unit.Time(0); now < 20*unit.Millisecond; now += us {
			if now%(150*us) < 20*us {
				a.CNP(now)
				b.CNP(now * n)
			}
			a.Sent(now, 4000)
			b.Sent(now*n, 4000)
			if off := a.Rate(now)/n - b.Rate(now*n); off < -100 || off > 100 {
				t.Fatalf("%s at %d ns: %d and slowed down %d, want a %dth", name, now, a.Rate(now), b.Rate(now*n), n)
			}
		}
	}
}

// The rates are those of the papers' pseudo-code, event by event. Each cut and each rise is
// rounded to a whole bit per second, alpha by less than half a bit per second of a line of
// 400 Gbit/s; halving the distance to a target never makes an error larger, and a cut
// neither. So two bits per second for each cut and each rise are never exceeded.
func TestReaction(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for n := range 60 {
		name := Profiles()[n%3]
		line := []unit.Rate{100_000_000, 40 * gbit, 400 * gbit}[n/3%3]
		p := profile(t, name, line)
		if n%2 == 1 { // other numbers than the profiles'
			p.RiseTimer += unit.Time(r.Int64N(int64(50 * us)))
			p.Recovery = 1 + r.IntN(6)
			p.RiseBytes = 20_000 + r.Int64N(100_000)
			p.KeepTarget = r.IntN(2) == 0
			p.HAI = p.AI * 10
		}
		fast, slow := NewReaction(&p, line), newSlowReaction(p, line)
		now, lowest := unit.Time(r.Int64N(1000)), line
		for i := range 3000 {
			switch x := r.IntN(3000); {
			case x == 0:
				now += unit.Time(r.Int64N(int64(200 * unit.Millisecond)))
			case x < 100:
				now += unit.Time(r.Int64N(int64(2 * unit.Millisecond)))
			default:
				now += unit.Time(r.Int64N(int64(20 * us)))
			}
			switch r.IntN(10) {
			case 0:
				fast.CNP(now)
				slow.cnp(now)
			case 1, 2, 3:
			default:
				bytes := r.IntN(40_000)
				fast.Sent(now, bytes)
				slow.sent(now, bytes)
			}
			if r.IntN(3) == 0 { // what is asked changes nothing
				continue
			}
			slow.until(now)
			got, most := float64(fast.Rate(now)), 2*float64(1+slow.rounded)
			if math.Abs(got-slow.rc) > most {
				t.Fatalf("seed %d, run %d, %s at %d, step %d, %d ns: %.1f bit/s, want %.1f within %.0f", seed, n, name, line, i, now, got, slow.rc, most)
			}
			lowest = min(lowest, fast.Rate(now))
			if rate := fast.Rate(now); rate < p.Min || rate > line {
				t.Fatalf("seed %d, run %d: %d bit/s, want %d to %d", seed, n, rate, p.Min, line)
			}
		}
		if lowest == line {
			t.Errorf("seed %d, run %d, %s: the rate never fell", seed, n, name)
		}
	}
}

// What a flow is asked in between changes nothing, and what nobody asks for hours costs
// little: an hour of ticks of 1 us would be 3,600,000,000.
func TestLazy(t *testing.T) {
	for _, name := range Profiles() {
		p := profile(t, name, 100*gbit)
		often, once := NewReaction(&p, 100*gbit), NewReaction(&p, 100*gbit)
		for _, r := range []*Reaction{&often, &once} {
			r.CNP(10 * us)
			r.CNP(60 * us)
		}
		for now := 60 * us; now < unit.Millisecond; now += 700 {
			often.Rate(now)
		}
		if a, b := often.Rate(unit.Millisecond), once.Rate(unit.Millisecond); a != b || a == 100*gbit {
			t.Errorf("%s: %d if it is asked often, %d if once; want the same, below the line", name, a, b)
		}
		const hour = 3600 * unit.Second
		if rate := once.Rate(hour); rate != 100*gbit {
			t.Errorf("%s: %d after an hour, want the line's rate", name, rate)
		}
		for now := hour; now < 100*hour; now += hour {
			once.Sent(now, 1000)
			once.Rate(now)
		}
		once.CNP(100 * hour)
		if rate := once.Rate(100*hour + 10*us); rate > 100*gbit || rate < 99*gbit {
			t.Errorf("%s: %d after one more CNP, want hardly less than the line: alpha is 0 by then", name, rate)
		}
	}
}

// Nothing is allocated for what happens to a flow.
func TestNoAllocation(t *testing.T) {
	p := profile(t, "nvidia", 40*gbit)
	tp, err := DefaultTimely(40 * gbit)
	if err != nil {
		t.Fatal(err)
	}
	var flows [4]Reaction
	var notified [4]Notification
	var timely [4]Timely
	for i := range flows {
		flows[i], timely[i] = NewReaction(&p, 40*gbit), NewTimely(&tp, 40*gbit, 40*gbit)
	}
	now := unit.Time(0)
	if n := testing.AllocsPerRun(100, func() {
		for i := range flows {
			now += 10 * us
			if notified[i].Marked(now, p.CNPInterval) {
				flows[i].CNP(now)
			}
			flows[i].Sent(now, 1000)
			flows[i].Rate(now)
			timely[i].Acked(now, 60*us+now%7)
		}
	}); n > 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// A receiver sends the first CNP at once, and then one an interval while marked frames come.
func TestNotification(t *testing.T) {
	var n Notification
	var sent []unit.Time
	for now := unit.Time(0); now <= 200*us; now += 20 * us {
		if n.Marked(now, 50*us) {
			sent = append(sent, now/us)
		}
	}
	if len(sent) != 4 || sent[0] != 0 || sent[1] != 60 || sent[2] != 120 || sent[3] != 180 {
		t.Errorf("CNPs at %v us, want 0, 60, 120 and 180", sent)
	}
	if !n.Marked(180*us, 0) {
		t.Error("none without an interval, want one for each marked frame")
	}
}
