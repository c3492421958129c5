package dataplane

import (
	"math/rand/v2"
	"testing"

	"softswitch/buffer"
	"softswitch/internal/testkit"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

const mega = 1_000_000

func atRate(r unit.Rate, granularity unit.Time) func(c *Config) {
	return func(c *Config) {
		for i := range c.Ports {
			c.Ports[i].Rate = r
		}
		c.Granularity = granularity
		c.Buffer.LossyQueue = 10 << 20
		c.Slots = 4096
	}
}

// At granularity 0 frames leave exactly when the one before has left the wire:
// (bytes + 24) x 8 / rate, rounded up, each.
func TestPacerIsExact(t *testing.T) {
	seed := testkit.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, rate := range []unit.Rate{100 * mega, 1000 * mega, 10_000 * mega, 333_333_333} {
		s := newTestSwitch(t, 2, atRate(rate, 0))
		var sizes []int
		for range 500 {
			n := 60 + rng.IntN(1455)
			sizes = append(sizes, n)
			s.receive(0, datagram{dst: stationMAC(1), size: n}.frame())
		}
		want := s.now
		for i, n := range sizes {
			got := s.transmit(1, 8)
			if len(got) != 1 || len(got[0]) != n {
				t.Fatalf("seed %d, rate %d: frame %d at %d: %d frames leave, want one of %d bytes", seed, rate, i, s.now, len(got), n)
			}
			want += (unit.Time(n+24)*8*unit.Second + unit.Time(rate) - 1) / unit.Time(rate)
			if i < len(sizes)-1 {
				s.wantNext(want)
				s.now = want - 1
				s.wantNothing(1)
				s.wantNext(want)
			}
			s.now = want
		}
		s.wantNothing(1)
		s.wantNext(unit.Never)
	}
}

// 1514 bytes at 100 Mbit/s take 123,040 ns.
func TestPacerKnownFigure(t *testing.T) {
	s := newTestSwitch(t, 2, atRate(100*mega, 0))
	f := datagram{dst: stationMAC(1), size: 1514}.frame()
	s.receive(0, f, f)
	s.wantData(1, f)
	s.wantNext(unit.Second + 123_040)
}

// An unlimited port sends a batch whenever it is asked, and wants to be asked again
// at once if there is more.
func TestUnlimitedRate(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	s.receive(0, several(10, 0, 1, 0)...)
	if got := len(s.transmit(1, 8)); got != 8 {
		t.Errorf("%d frames in a batch of 8", got)
	}
	s.wantNext(s.now)
	if got := len(s.transmit(1, 8)); got != 2 {
		t.Errorf("%d frames of 2", got)
	}
	s.wantNext(unit.Never)
}

// A driver that is late by up to half its granularity still sends at the rate.
func TestPacerKeepsAverageRate(t *testing.T) {
	seed := testkit.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	const rate = 1000 * mega
	for _, granularity := range []unit.Time{10 * unit.Microsecond, 200 * unit.Microsecond, unit.Millisecond} {
		s := newTestSwitch(t, 2, atRate(rate, granularity))
		f := datagram{dst: stationMAC(1), size: 1000}.frame()
		frameTime := unit.Rate(rate).FrameTime(1000)
		start, sent := s.now, unit.Time(0)
		for s.now < start+200*unit.Millisecond {
			for s.Queue(1, 0).Frames() < 500 {
				s.receive(0, f)
			}
			sent += unit.Time(len(s.transmit(1, s.cfg.Batch)))
			// Never ahead of the wire by more than one frame.
			if lead := start + sent*frameTime - s.now; lead > frameTime {
				t.Fatalf("seed %d, granularity %d: %d ns ahead of the wire", seed, granularity, lead)
			}
			if s.next > s.now {
				s.now = s.next + unit.Time(rng.Int64N(int64(granularity/2)))
			}
		}
		if lag := s.now - start - sent*frameTime; lag > 3*granularity {
			t.Errorf("seed %d, granularity %d: %d ns behind after 200 ms, want at most %d", seed, granularity, lag, 3*granularity)
		}
	}
}

// Idle time is not saved: after it a burst is paced from its first frame on.
func TestPacerGivesNoCreditForIdleTime(t *testing.T) {
	for _, granularity := range []unit.Time{0, unit.Millisecond} {
		s := newTestSwitch(t, 2, atRate(100*mega, granularity))
		fs := several(8, 0, 1, 0)
		frameTime := unit.Rate(100 * mega).FrameTime(1000)
		for range 3 {
			s.receive(0, fs...)
			if got := len(s.transmit(1, 8)); got != 1 {
				t.Errorf("granularity %d: %d frames at once after idle time, want 1", granularity, got)
			}
			s.wantNext(unit.NextTick(s.now+frameTime, granularity))
			s.now = s.next
			sent := 1 + len(s.transmit(1, 8))
			if limit := 2 + int(granularity/frameTime); sent > limit {
				t.Errorf("granularity %d: %d frames in %d ns, want at most %d", granularity, sent, frameTime+granularity, limit)
			}
			for s.Queue(1, 0).Frames() > 0 {
				s.now = s.next
				s.transmit(1, 8)
			}
			s.advance(unit.Second)
			s.wantNothing(1)
		}
	}
}

// A driver that is very late makes up for eight granularities, a bit at a time.
func TestPacerBoundsCatchUp(t *testing.T) {
	const granularity = 100 * unit.Microsecond
	s := newTestSwitch(t, 2, atRate(1000*mega, granularity))
	frameTime := s.cfg.Ports[1].Rate.FrameTime(1000)
	s.receive(0, several(2000, 0, 1, 0)...)
	s.transmit(1, 8)
	atOnce := func() (n int) {
		for {
			got := len(s.transmit(1, 8))
			n += got
			if got == 0 {
				return n
			}
		}
	}
	s.advance(unit.Second)
	const ticks = 100
	sent := 0
	for tick := range ticks {
		n := atOnce()
		if most := int(s.ports[1].wire.Burst(s.cfg.Ports[1].Rate, granularity)*8/7/frameTime) + 2; n > most {
			t.Fatalf("tick %d after a second's sleep: %d frames at once, want at most %d", tick, n, most)
		}
		sent += n
		s.now = s.next
	}
	if want := int((ticks - 1 + 8) * granularity / frameTime); sent < want-1 || sent > want+1 {
		t.Errorf("%d frames in %d ticks after a second's sleep, want %d", sent, ticks, want)
	}
}

// What leaves at once on a slow link after a stall is no more than half of the headroom, in
// case the far end has no more than this switch, and the frame that uses the last of it.
func TestPacerBurstFitsTheHeadroom(t *testing.T) {
	for _, headroom := range []int{6000, 12_000, buffer.DefaultProfile.XOFF, 1 << 20} {
		s := newTestSwitch(t, 2, func(c *Config) {
			atRate(5*mega, unit.Millisecond)(c)
			c.Buffer.Profile, c.Buffer.Shared = buffer.DefaultProfile, 2<<20
			c.Buffer.Profile.XOFF = headroom
		})
		s.receive(0, several(100, 0, 1, 0)...)
		s.transmit(1, 8)
		s.advance(unit.Second)
		sent := 0
		for n := 1; n > 0; {
			n = len(s.transmit(1, 8))
			sent += 1000 * n
		}
		half := min(headroom, buffer.DefaultProfile.XOFF) / 2
		if sent < half*7/8 || sent > half+1000 {
			t.Errorf("headroom of %d: %d bytes at once after a stall, want %d to %d", headroom, sent, half*7/8, half+1000)
		}
	}
}

// Time in which only paused frames waited is not saved either.
func TestPacerGivesNoCreditForPause(t *testing.T) {
	const granularity = unit.Millisecond
	s := newTestSwitch(t, 2, atRate(100*mega, granularity))
	s.receive(1, pauseOf(3, 2000, 1)) // 10.24 ms
	s.receive(0, several(3, 0, 1, 3)...)
	s.wantNothing(1)
	s.wantNext(s.now + 10_240_000)
	s.now = s.next
	if got := len(s.transmit(1, 8)); got != 1 {
		t.Errorf("%d frames at once when the pause ends, want 1", got)
	}
}

// A pause waits for the frame on the wire, then goes first, and takes wire time.
func TestControlTakesTheWire(t *testing.T) {
	const rate = 100 * mega
	s := newTestSwitch(t, 2, atRate(rate, 0))
	out := several(2, 1, 0, 0)
	s.receive(1, out...)
	s.wantData(0, out[0])
	s.receive(0, several(4, 0, 1, 3)...) // XOFF
	s.wantNothing(0)
	s.wantNext(s.now + unit.Rate(rate).FrameTime(1000))
	s.now = s.next
	s.wantPause(0, 3, 1, itsyhdr.TLV{})
	s.wantNext(s.now + unit.Rate(rate).FrameTime(60))
	s.now = s.next
	s.wantData(0, out[1])
}

// With a driver that is not exact a pause does not wait for the wire, but the
// frames after it pay for its time.
func TestControlNeedNotWaitForACoarseDriver(t *testing.T) {
	const rate, granularity = 100 * mega, unit.Millisecond
	s := newTestSwitch(t, 2, func(c *Config) { atRate(rate, granularity)(c); c.Refresh = unit.Second })
	out := several(2, 1, 0, 0)
	s.receive(1, out...)
	s.wantData(0, out[0])
	s.receive(0, several(4, 0, 1, 3)...)
	s.wantPause(0, 3, 1, itsyhdr.TLV{})
	s.wantNothing(0)
	s.wantNext(unit.NextTick(unit.Second+unit.Rate(rate).FrameTime(1000)+unit.Rate(rate).FrameTime(60), granularity))
}
