package pacer

import (
	"math/rand/v2"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/unit"
)

const (
	us    = unit.Microsecond
	rate  = unit.Rate(1_000_000_000)
	frame = 12 * us // 1476 bytes
)

// atOnce sends what may leave at now.
func atOnce(w *Wire, now, g unit.Time) (n unit.Time) {
	w.Begin(now, rate, g)
	for ; w.Ready(now); n++ {
		w.Send(frame)
	}
	w.Wait()
	return n
}

// A driver that is late by less than half its granularity, now and then by some of them
// but never by more in all than creditMax-1, sends at the rate, never in longer bursts
// than it may, and never ahead of the wire by more than a frame.
func TestRate(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, g := range []unit.Time{20 * us, 200 * us, unit.Millisecond} {
		var w Wire
		start := unit.Second
		now, sent := start, unit.Time(0)
		for now < start+10*unit.Second {
			n := atOnce(&w, now, g)
			if most := w.Burst(rate, g)*8/7/frame + 2; n > most {
				t.Fatalf("seed %d, granularity %d: %d frames at once, want at most %d", seed, g, n, most)
			}
			sent += n
			if lead := start + sent*frame - now; lead > frame {
				t.Fatalf("seed %d, granularity %d: %d ns ahead of the wire", seed, g, lead)
			}
			now = unit.NextTick(w.At(), g) + unit.Time(r.Int64N(int64(g/2)))
			lag := now - start - sent*frame
			if r.IntN(100) == 0 {
				lag += unit.Time(r.Int64N(int64(5 * g)))
				lag = max(min(lag, (creditMax-1)*g), now-start-sent*frame)
				now = start + sent*frame + lag
			}
			if most := (creditMax+1)*g + frame; lag > most {
				t.Fatalf("seed %d, granularity %d: %d ns behind after %d, want at most %d", seed, g, lag, now-start, most)
			}
		}
	}
}

// What had nothing to send does not save up time, and what is later than creditMax
// granularities has lost the rest.
func TestCredit(t *testing.T) {
	const g = unit.Millisecond
	for _, c := range []struct {
		waits bool
		late  unit.Time
		want  unit.Time // frames more than on time, until all is made up for
	}{
		{false, unit.Second, 0},
		{true, 0, 0},
		{true, 5 * g, 5 * g / frame},
		{true, 7 * g, 7 * g / frame},
		{true, unit.Second, (creditMax - 1) * g / frame}, // on time it is asked after one
	} {
		count := func(late unit.Time, waits bool) (n unit.Time) {
			var w Wire
			now := unit.Second
			atOnce(&w, now, g)
			if !waits {
				w.LinkDown()
			}
			now = unit.NextTick(w.At(), g) + late
			for range 100 {
				n += atOnce(&w, now, g)
				now = unit.NextTick(w.At(), g)
			}
			return n
		}
		if got := count(c.late, c.waits) - count(0, c.waits); got < c.want-1 || got > c.want+1 {
			t.Errorf("%+v: %d frames", c, got)
		}
	}
}

// An exact driver sends a frame at a time, each when the one before has left.
func TestExact(t *testing.T) {
	var w Wire
	for now := unit.Second; now < 2*unit.Second; now += frame {
		if n := atOnce(&w, now, 0); n != 1 || w.At() != now+frame {
			t.Fatalf("at %d: %d frames, the next at %d", now, n, w.At())
		}
	}
}

// At a lower rate than before nothing waits for what left at the old one.
func TestReset(t *testing.T) {
	var w Wire
	w.Begin(unit.Second, rate, 0)
	w.Send(unit.Second)
	w.Reset(unit.Second + us)
	if at := w.At(); at != unit.Second+us {
		t.Errorf("the wire is free at %d", at)
	}
}

// At once a slow link sends what its far end takes at once, a fast one what one and a half
// granularities are worth, and a seventh.
func TestBurst(t *testing.T) {
	const g = unit.Millisecond
	for _, tt := range []struct {
		rate   unit.Rate
		atOnce int
		want   unit.Time
	}{
		{1_000_000_000, 15_000, g + g/2},
		{100_000_000, 15_000, g + g/2},
		{10_000_000, 15_000, 10_516_800}, // 7/8 of 15024 x 8 bits
		{10_000_000, 5_000, 3_516_800},
		{10_000_000, 0, g + g/2},
		{0, 15_000, g + g/2},
	} {
		w := Wire{AtOnce: tt.atOnce}
		if got := w.Burst(tt.rate, g); got != tt.want {
			t.Errorf("%d bit/s, %d bytes at once: a burst of %d ns, want %d", tt.rate, tt.atOnce, got, tt.want)
		}
		if got := w.Burst(tt.rate, 0); got != 0 {
			t.Errorf("%d bit/s, exact: a burst of %d ns, want none", tt.rate, got)
		}
	}
}
