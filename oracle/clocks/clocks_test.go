package clocks

import (
	"math/rand/v2"
	"slices"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/unit"
)

const (
	us   = unit.Microsecond
	hour = 3600 * unit.Second
)

// clock is what a clock of a test shows.
type clock struct {
	offset, ppm unit.Time
	// From each of these true times on it is ahead by so much more.
	steps []anchor
}

func (c clock) at(t unit.Time) unit.Time {
	local := c.offset + t + t*c.ppm/1e6
	for _, s := range c.steps {
		if t >= s.at {
			local += s.by
		}
	}
	return local
}

// world is clocks that send each other frames at random.
type world struct {
	clocks []clock
	pairs  []Pair
	end    unit.Time
}

func newWorld(r *rand.Rand, n int, steps bool) *world {
	w := &world{end: unit.Time(r.Int64N(int64(3*unit.Second))) + unit.Millisecond}
	for range n {
		c := clock{offset: unit.Time(r.Int64N(int64(5 * hour))), ppm: unit.Time(r.IntN(2*MaxDrift+1)) - MaxDrift}
		w.clocks = append(w.clocks, c)
	}
	if steps {
		w.clocks[r.IntN(n)].steps = []anchor{{unit.Time(r.Int64N(int64(w.end))), unit.Time(r.Int64N(int64(hour)))}}
	}
	for range r.IntN(40) {
		from, to := r.IntN(n), r.IntN(n)
		sent := unit.Time(r.Int64N(int64(w.end)))
		came := sent + unit.Time(r.Int64N(int64(50*us)))
		w.pairs = append(w.pairs, Pair{Stamp{from, w.clocks[from].at(sent)}, Stamp{to, w.clocks[to].at(came)}})
	}
	return w
}

// TestBoundsHold: whatever the clocks do within what is assumed of them, the true time is
// within the bounds; and without any assumption within those of causality.
func TestBoundsHold(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for range 3000 {
		w := newWorld(r, 2+r.IntN(3), r.IntN(2) == 0)
		net := New(len(w.clocks), w.pairs)
		for range 30 {
			of, on, at := r.IntN(len(w.clocks)), r.IntN(len(w.clocks)), unit.Time(r.Int64N(int64(w.end)))
			x, truth := Stamp{of, w.clocks[of].at(at)}, w.clocks[on].at(at)
			for name, in := range map[string]Interval{"bounds": net.Bounds(x, on), "causal": net.Causal(x, on)} {
				if truth+1 < in.From || truth-1 > in.To {
					t.Fatalf("%s: %v by clock %d is %d to %d, in truth %d\n%+v\n%+v", name, x, on, in.From, in.To, truth, w.clocks, w.pairs)
				}
			}
		}
	}
}

// TestBoundsAreThoseOfAllPairs: the tables say what going through all pairs does.
func TestBoundsAreThoseOfAllPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for range 2000 {
		w := newWorld(r, 2, r.IntN(2) == 0)
		net := New(2, w.pairs)
		for range 20 {
			x := Stamp{0, w.clocks[0].at(unit.Time(r.Int64N(int64(w.end))))}
			got, want := net.Bounds(x, 1), slow(w.pairs, x)
			if off(got.From, want.From) > 4 || off(got.To, want.To) > 4 {
				t.Fatalf("%v: %v, by going through all pairs %v\n%+v", x, got, want, w.pairs)
			}
		}
	}
}

func off(a, b unit.Time) unit.Time {
	if a == b {
		return 0
	}
	return max(a-b, b-a)
}

// slow is Net.Bounds of a time of clock 0 by clock 1.
func slow(pairs []Pair, x Stamp) Interval {
	before, after, causal := unbounded, unbounded, unbounded
	cone := func(t unit.Time) unit.Time { return t * relative / 1e6 }
	for _, p := range pairs {
		switch {
		case p.Sent.Clock == p.Received.Clock:
		case p.Sent.Clock == 0:
			d := x.At - p.Sent.At // it came at most d before
			if d >= 0 && d <= Window {
				before.To = min(before.To, p.Received.At+d+cone(d))
			}
			if d <= 0 && -d <= Window {
				after.To = min(after.To, p.Received.At+d+cone(-d))
			}
			if d <= 0 {
				causal.To = min(causal.To, p.Received.At)
			}
		default:
			d := x.At - p.Received.At
			if d >= 0 && d <= Window {
				before.From = max(before.From, p.Sent.At+d-cone(d))
			}
			if d <= 0 && -d <= Window {
				after.From = max(after.From, p.Sent.At+d-cone(-d))
			}
			if d >= 0 {
				causal.From = max(causal.From, p.Sent.At)
			}
		}
	}
	all := before.hull(after)
	switch {
	case before.From > -unit.Never && before.From-4 > before.To && after.From > -unit.Never && after.From-4 > after.To:
		return causal
	case before.From > -unit.Never && before.From-4 > before.To:
		all = after
	case after.From > -unit.Never && after.From-4 > after.To:
		all = before
	}
	if all = all.and(causal); all.empty() {
		return causal
	}
	return all
}

// TestTightBounds: frames to and fro bound a moment between them by how long they took.
func TestTightBounds(t *testing.T) {
	const ahead = hour
	net := New(2, []Pair{
		{Stamp{0, 100 * us}, Stamp{1, ahead + 102*us}},
		{Stamp{1, ahead + 104*us}, Stamp{0, 107 * us}},
		{Stamp{0, 200 * us}, Stamp{1, ahead + 203*us}},
		{Stamp{1, ahead + 204*us}, Stamp{0, 206 * us}},
	})
	got := net.Bounds(Stamp{1, ahead + 150*us}, 0)
	if want := (Interval{147 * us, 153 * us}); off(got.From, want.From) > us/10 || off(got.To, want.To) > us/10 {
		t.Errorf("by clock 0 between %v and %v", got.From, got.To)
	}
}

// TestStep: where a clock steps only causality counts between the frames before the step
// and those after it, and the bounds are as tight as ever on both sides.
func TestStep(t *testing.T) {
	w := world{clocks: []clock{{}, {offset: hour, steps: []anchor{{500 * us, unit.Second / 2}}}}}
	for at := unit.Time(0); at < 1000*us; at += 40 * us {
		for from := range 2 {
			to := 1 - from
			w.pairs = append(w.pairs, Pair{Stamp{from, w.clocks[from].at(at)}, Stamp{to, w.clocks[to].at(at + us)}})
		}
	}
	net := New(2, w.pairs)
	var widths []unit.Time
	for _, at := range []unit.Time{100 * us, 490 * us, 510 * us, 900 * us} {
		in, truth := net.Bounds(Stamp{1, w.clocks[1].at(at)}, 0), at
		if truth < in.From || truth > in.To {
			t.Errorf("at %d: %v", at, in)
		}
		widths = append(widths, in.Width())
	}
	if slices.Max(widths) > 50*us || widths[0] > 3*us || widths[3] > 3*us {
		t.Errorf("the bounds are apart by %v", widths)
	}
}

// TestCanary: a clock that drifts by more than is assumed leaves its bounds.
func TestCanary(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	wrong := 0
	for range 2000 {
		w := newWorld(r, 2, false)
		w.clocks[1].ppm = 100 * MaxDrift
		w.pairs = nil
		for at := unit.Time(0); at < w.end; at += 1 + w.end/20 {
			w.pairs = append(w.pairs, Pair{Stamp{0, w.clocks[0].at(at)}, Stamp{1, w.clocks[1].at(at + us)}}, Pair{Stamp{1, w.clocks[1].at(at)}, Stamp{0, w.clocks[0].at(at + us)}})
		}
		net := New(2, w.pairs)
		at := unit.Time(r.Int64N(int64(w.end)))
		if in := net.Bounds(Stamp{1, w.clocks[1].at(at)}, 0); w.clocks[0].at(at) < in.From || w.clocks[0].at(at) > in.To {
			wrong++
		}
	}
	if wrong == 0 {
		t.Error("a clock that runs 2 % fast is always within its bounds")
	}
}
