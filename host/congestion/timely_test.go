package congestion

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/unit"
)

func defaultTimely(t testing.TB, line unit.Rate) TimelyParams {
	t.Helper()
	p, err := DefaultTimely(line)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The rates are those of the paper's algorithm. A gradient is rounded by 2^-32 of itself, a
// change by a bit per second, and neither grows on the way: a bit per second and 2^-31 of
// the line for each completion. Round-trip times whose gradient would be so near to 0 that
// rounding decides are not among those that are drawn.
func TestTimely(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for n := range 60 {
		line := []unit.Rate{100_000_000, 10 * gbit, 400 * gbit}[n%3]
		p := defaultTimely(t, line)
		if n%2 == 1 {
			p = p.Slow(1 + r.IntN(1000))
		}
		fast, slow := NewTimely(&p, line, line/2), &slowTimely{p: p, line: float64(line), rate: float64(line / 2)}
		now, rtt := unit.Time(0), p.Low
		for i := range 2000 {
			now += p.Interval + unit.Time(r.Int64N(1000))
			for near := true; near; {
				switch r.IntN(4) {
				case 0:
					rtt = 1 + unit.Time(r.Int64N(int64(2*p.Low)))
				case 1:
					rtt = 1 + unit.Time(r.Int64N(int64(2*p.High)))
				default:
					rtt = max(1, rtt+unit.Time(r.Int64N(int64(p.Low/2)))-p.Low/3)
				}
				_, g := slow.gradient(rtt)
				near = slow.prev > 0 && math.Abs(g) < 1e-6
			}
			fast.Acked(now, rtt)
			slow.acked(rtt)
			if most := float64(1+slow.changes) * (1 + float64(line)/(1<<31)); math.Abs(float64(fast.Rate())-slow.rate) > most {
				t.Fatalf("seed %d, run %d, completion %d of %d ns: %d bit/s, want %.1f within %.0f", seed, n, i, rtt, fast.Rate(), slow.rate, most)
			}
		}
	}
}

// A script with the paper's numbers at 10 Gbit/s, where a step is 10 Mbit/s.
func TestTimelyScript(t *testing.T) {
	const mbit = gbit / 1000
	p := defaultTimely(t, 10*gbit)
	f := NewTimely(&p, 10*gbit, 5*gbit)
	now := unit.Time(0)
	acked := func(rtt unit.Time, want unit.Rate) {
		t.Helper()
		now += 20 * us
		before := f.Rate()
		f.Acked(now, rtt)
		if got := f.Rate() - before; got != want {
			t.Errorf("at %d us, a round trip of %d us: the rate goes by %d bit/s, want %d", now/us, rtt/us, got, want)
		}
	}
	for range 4 {
		acked(100*us, 10*mbit)
	}
	acked(100*us, 50*mbit) // the fifth completion without a rise
	acked(100*us, 50*mbit)
	acked(40*us, 10*mbit)            // below T_low
	acked(49*us, 10*mbit)            // however steep
	acked(490*us, -f.Rate()+10*mbit) // steeper than 1/beta: to the minimum
	acked(60*us, 10*mbit)
	f.rate = 8 * gbit
	acked(1000*us, -8*gbit*8/10/2)              // above T_high: beta x (1 - 500/1000)
	acked(100*3600*unit.Second, -3_839_999_994) // a stall: beta of the rate, and not quite; and after it
	acked(100*us, 10*mbit)

	before := f.Rate()
	f.Acked(now+19*us, 40*us) // too soon after the last
	if f.Rate() != before {
		t.Errorf("%d, want %d: a completion 19 us after the last counts for nothing", f.Rate(), before)
	}
	if _, err := DefaultTimely(0); err == nil || !strings.Contains(err.Error(), "valid: above 0") {
		t.Errorf("a line of 0: error %v", err)
	}
	f = NewTimely(&p, 10*gbit, 20*gbit)
	if f.Rate() != 10*gbit {
		t.Errorf("a flow that is to start at 20 Gbit/s starts at %d, want the line's rate", f.Rate())
	}
}
