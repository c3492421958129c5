package dataplane

import (
	"math/rand/v2"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/itsyhdr"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// gentleSwitch is a bridge of three ports of 1 Gbit/s, of which the first two lead to switches that it tells
// rates: from 2000 of 6000 bytes on.
func gentleSwitch(t *testing.T) *testSwitch {
	return newTestSwitch(t, 3, func(c *Config) {
		for i := range c.Ports {
			c.Ports[i].Rate = 1e9
			if i < 2 {
				c.Ports[i].GFC = &GFC{Start: 2000, Full: 6000, Lowest: 1e6}
			}
		}
	})
}

// wantRate wants a rate message from a port.
func (s *testSwitch) wantRate(out unit.Port, want itsyhdr.Rate) {
	s.t.Helper()
	got := s.transmit(out, 1)
	if len(got) != 1 {
		s.t.Fatalf("port %d sends nothing, want %+v", out, want)
	}
	if r, ok := itsyhdr.ParseRate(got[0][itsyhdr.MessageTLV:]); !ok || !itsyhdr.IsMessage(got[0]) || r != want {
		s.t.Fatalf("port %d sends %s, want %+v", out, frameText(got), want)
	}
}

// rateFrame is a rate message of the far end.
func rateFrame(r itsyhdr.Rate) []byte {
	f := append([]byte(itsyhdr.MessageAddress), 2, 0, 0, 0, 0, 9, itsyhdr.MessageEtherType>>8, itsyhdr.MessageEtherType&0xff)
	f = r.Append(f)
	return append(f, make([]byte, itsyhdr.MessageLen-len(f))...)
}

// A priority group that fills slows its far end down, stage by stage, and never pauses it; as it drains the
// far end goes faster again.
func TestRatesInThePlaceOfPauses(t *testing.T) {
	s := gentleSwitch(t)
	fs := several(6, 0, 1, 3)
	for i, stage := range []uint8{0, 1, 1, 2, 3} {
		if s.receive(0, fs[i]); stage > 0 && i != 2 {
			s.wantRate(0, itsyhdr.Rate{Priority: 3, Stage: stage})
		}
		s.advance(unit.Microsecond)
	}
	s.wantNothing(0)
	for range 5 {
		s.advance(100 * unit.Microsecond)
		s.transmit(1, 1)
	}
	s.advance(unit.Microsecond)
	for _, f := range s.drain(0) {
		if pfcframe.IsMACControl(f) {
			t.Errorf("a pause: %x", f)
		}
	}
	if c := s.Counters(0); c.TxPause[3] != 0 || c.TxResume[3] != 0 || c.TxMessages == 0 {
		t.Errorf("%d pauses, %d resumes, %d messages; want none, none, some", c.TxPause[3], c.TxResume[3], c.TxMessages)
	}
	if told := s.ports[0].gentle.told[3]; told != 0 {
		t.Errorf("empty, and the far end was told stage %d", told)
	}
}

// What a message was lost for is told again, as long as the far end is slowed down.
func TestRatesAreRepeated(t *testing.T) {
	s := gentleSwitch(t)
	s.receive(0, several(2, 0, 1, 3)...)
	s.wantRate(0, itsyhdr.Rate{Priority: 3, Stage: 1})
	s.wantNothing(0)
	s.advance(s.cfg.Refresh)
	s.wantRate(0, itsyhdr.Rate{Priority: 3, Stage: 1})
	s.advance(unit.Microsecond)
	s.link(0, false)
	s.link(0, true)
	s.wantRate(0, itsyhdr.Rate{Priority: 3, Stage: 1}) // the far end has forgotten
}

// A queue that was slowed down sends a frame in 2^stage times its time, and others are not held up by it.
func TestRatesAreObeyed(t *testing.T) {
	s := gentleSwitch(t)
	s.receive(1, rateFrame(itsyhdr.Rate{Priority: 3, Stage: 3}))
	fs := several(3, 2, 1, 3)
	s.receive(2, fs...)
	s.wantData(1, fs[0])
	s.receive(2, between(2, 1, 4, 50))
	each := unit.Rate(1e9).FrameTime(len(fs[0]))
	s.advance(each)
	if got := s.transmit(1, 2); len(got) != 1 {
		t.Fatalf("%d frames leave beside the queue that waits, want 1", len(got))
	}
	s.wantNext(s.now - each + 8*each)
	s.advance(7*each - 1)
	s.wantNothing(1)
	s.advance(1)
	s.wantData(1, fs[1])
	// The next would have to wait for 8 frames more, and waits for 2 of them at twice the rate after half of that.
	s.advance(4 * each)
	s.receive(1, rateFrame(itsyhdr.Rate{Priority: 3, Stage: 2}))
	s.wantNothing(1)
	s.advance(2 * each)
	s.wantData(1, fs[2])
	// No stage stops a queue: the last is that of the lowest rate.
	s.receive(1, rateFrame(itsyhdr.Rate{Priority: 3, Stage: 255}))
	if k := s.ports[1].gentle.stage[3]; k != 9 { // 1 Gbit/s / 2^9 is 1.95 Mbit/s
		t.Errorf("stage %d, want 9", k)
	}
}

// A port without rates drops a message of them like any that it does not know.
func TestRatesOfAStranger(t *testing.T) {
	s := gentleSwitch(t)
	s.receive(2, rateFrame(itsyhdr.Rate{Priority: 3, Stage: 3}))
	s.wantDrop(2, DropMessage)
	s.receive(1, rateFrame(itsyhdr.Rate{Priority: 0, Stage: 3})) // lossy: nothing happens
	s.wantNoDrops()
	if s.ports[1].gentle.slowed != 0 {
		t.Error("a lossy priority is slowed down")
	}
}

// The stage is that of the drawing: the k-th begins where the room that is left is at most the 2^(k-1)-th part
// of that at Start.
func TestStages(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 10_000 {
		g := gentle{GFC: GFC{Start: 1 + r.IntN(1000)}, last: uint8(1 + r.IntN(30))}
		g.Full = g.Start + 1 + r.IntN(1<<r.IntN(20))
		bytes := r.IntN(g.Full + 100)
		want := uint8(0)
		for k := g.last; k >= 1 && want == 0; k-- {
			if bytes >= g.Start && (k == 1 || g.Full-bytes <= (g.Full-g.Start)>>(k-1)) {
				want = k
			}
		}
		if got := g.stageOf(bytes); got != want {
			t.Fatalf("seed %d: %d bytes of %d to %d, last %d: stage %d, want %d", seed, bytes, g.Start, g.Full, g.last, got, want)
		}
	}
}
