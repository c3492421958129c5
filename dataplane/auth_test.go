package dataplane

import (
	"fmt"
	"slices"
	"testing"

	"softswitch/buffer"
	"softswitch/detect"
	"softswitch/event"
	"softswitch/internal/ether"
	"softswitch/itsyhdr"
	"softswitch/link/auth"
	"softswitch/unit"
)

var linkKey = auth.Key{1, 2, 3}

// cable is two switches of three ports whose ports 2 are the two ends of a link.
type cable struct {
	a, b *testSwitch
}

const end unit.Port = 2

func newCable(t testing.TB, a, b auth.Mode) *cable {
	t.Helper()
	c := &cable{a: newAuthSwitch(t, 1, a, linkKey, 1000), b: newAuthSwitch(t, 2, b, linkKey, 2000)}
	c.settle()
	return c
}

// newAuthSwitch is switch n, whose port 2 has a link with a key; first is its first counter.
func newAuthSwitch(t testing.TB, n unit.NodeID, mode auth.Mode, key auth.Key, first uint64) *testSwitch {
	t.Helper()
	s := newTestSwitch(t, 3, func(c *Config) {
		c.ID = n
		for p := range c.Ports {
			c.Ports[p].MAC = 0x02cc00000000 + unit.MAC(n)<<8 + unit.MAC(p)
		}
		c.Ports[end].Auth = &auth.Config{Mode: mode, Link: "a--b", Keys: []auth.Key{key}, First: first}
	})
	t.Cleanup(func() { s.link(end, false) }) // it may be asking still
	return s
}

// settle carries what both ends send, until they send no more.
func (c *cable) settle() (carried [][]byte) {
	for {
		ab, ba := c.a.drain(end), c.b.drain(end)
		if len(ab)+len(ba) == 0 {
			return carried
		}
		c.b.receive(end, ab...)
		c.a.receive(end, ba...)
		carried = append(append(carried, ab...), ba...)
	}
}

// lose loses what both ends have to send.
func (c *cable) lose() { c.a.drain(end); c.b.drain(end) }

func (c *cable) advance(d unit.Time) {
	c.a.advance(d)
	c.b.advance(d)
}

// fillPG makes the priority group of priority 3 at port 2 XOFF, by frames for station 0, whose port
// sends nothing.
func (s *testSwitch) fillPG() { s.receive(end, several(4, end, 0, 3)...) }

// wantTold wants these events about authentication, and no others, since the last look.
func (s *testSwitch) wantTold(want ...string) {
	s.t.Helper()
	var got []string
	for _, e := range s.log {
		switch e.Type {
		case event.AuthAgreed, event.AuthBehind:
			got = append(got, fmt.Sprintf("%v %d", e.Type, e.Port))
		case event.AuthRefused:
			got = append(got, fmt.Sprintf("%v %d: %v, %d so far", e.Type, e.Port, e.Why, e.Bytes))
		}
	}
	s.log = nil
	if !slices.Equal(got, want) {
		s.t.Fatalf("told of authentication: %q, want %q", got, want)
	}
}

func (s *testSwitch) wantPaused(want bool) {
	s.t.Helper()
	if got := s.QueuePaused(end, 3); got != want {
		s.t.Fatalf("the queue is paused: %v, want %v", got, want)
	}
}

func TestAuthAgrees(t *testing.T) {
	c := newCable(t, auth.Strict, auth.Strict)
	c.a.wantTold("auth_agreed 2")
	c.b.wantTold("auth_agreed 2")
	c.a.det.label = func(detect.PG) itsyhdr.TLV { return label(1) }
	c.a.fillPG()
	c.settle()
	c.b.wantPaused(true)
	// The detector is told the label, without its tag.
	want := label(1)
	want.Priority, want.Period = 3, 1
	c.b.wantCalls(fmt.Sprintf("Pause 2.3 fresh with %v", want))
	c.a.wantData(0, several(2, end, 0, 3)...)
	c.settle()
	c.b.wantPaused(false)
	c.a.wantNoDrops()
	c.b.wantNoDrops()
}

// Messages arrive as they were, and what a detector makes of its own too.
func TestAuthOfMessages(t *testing.T) {
	c := newCable(t, auth.Strict, auth.Strict)
	var heard []byte
	c.b.Exchange(func(detect.View, detect.Actions) detect.Detector {
		return &peer{hear: func(b []byte) bool { heard = slices.Clone(b); return true }}
	})
	long := make([]byte, detect.PayloadMax)
	for i := range long {
		long[i] = byte(i)
	}
	for _, payload := range [][]byte{{127 << 1, 1, 9}, long} {
		c.a.SendFrame(end, payload)
		c.settle()
		if n := min(len(payload), len(heard)); !slices.Equal(heard[:n], payload) {
			t.Errorf("heard %x, want %x", heard, payload)
		}
		c.a.SendFrame(end, payload)
		forged := c.a.drain(end)[0]
		forged[20] ^= 1
		c.b.receive(end, forged)
		c.b.wantDrop(end, DropWrongTag)
		c.settle()
	}
	c.b.wantNoDrops()
	c.a.wantNoDrops()
}

// What an end believes of a pause without a tag, with a wrong one, and one that was there
// before, by its mode.
func TestWhatIsBelieved(t *testing.T) {
	for _, tc := range []struct {
		mode              auth.Mode
		plain, forged, by bool
	}{
		{mode: auth.Off, plain: true, forged: true, by: true},
		{mode: auth.Accept, plain: true},
		{mode: auth.Strict},
	} {
		t.Run(tc.mode.String(), func(t *testing.T) {
			c := newCable(t, auth.Strict, tc.mode)
			c.a.fillPG()
			genuine := c.a.drain(end)[0]
			forged := edit(genuine, 50, 0) // another period
			forged[50] ^= 1
			try := func(f []byte, want bool, reason Reason) {
				t.Helper()
				c.b.receive(end, f)
				c.b.wantPaused(want)
				if want {
					c.b.wantNoDrops()
				} else {
					c.b.wantDrop(end, reason)
				}
				c.b.advance(unit.Second) // it runs out
				c.b.drain(end)
				c.b.wantPaused(false)
			}
			try(pauseOf(3, 1000, 1), tc.plain, DropUntagged)
			try(forged, tc.forged, DropWrongTag)
			c.b.receive(end, genuine)
			c.b.wantPaused(true)
			c.b.advance(unit.Second)
			c.b.drain(end)
			try(genuine, tc.by, DropReplayed)
		})
	}
}

// It is told once that frames of a reason are refused, and then at most once a second.
func TestRefusedFramesAreTold(t *testing.T) {
	c := newCable(t, auth.Strict, auth.Strict)
	c.b.wantTold("auth_agreed 2")
	for range 5 {
		c.b.receive(end, pauseOf(3, 1000, 1))
	}
	c.b.wantTold("auth_refused 2: missing, 1 so far")
	c.a.fillPG()
	forged := c.a.drain(end)[0]
	forged[50] ^= 1
	for range 5 {
		c.b.receive(end, forged)
	}
	c.b.wantTold("auth_refused 2: wrong, 6 so far")
	c.b.advance(toldEvery)
	c.b.receive(end, pauseOf(3, 1000, 1), pauseOf(3, 1000, 1))
	c.b.wantTold("auth_refused 2: missing, 11 so far")
	if d := c.b.Counters(end).Drops; d[DropUntagged] != 7 || d[DropWrongTag] != 5 {
		t.Errorf("counted: %d without a tag and %d with a wrong one, want 7 and 5", d[DropUntagged], d[DropWrongTag])
	}
}

// Ends that cannot agree say why: the far end has auth off, or another key.
func TestEndsThatDoNotAgree(t *testing.T) {
	off := newCable(t, auth.Strict, auth.Off)
	off.a.wantTold()
	off.b.fillPG()
	off.settle()
	off.a.wantPaused(false)
	off.a.wantTold("auth_refused 2: missing, 1 so far")
	off.a.fillPG()
	off.settle()
	off.b.wantPaused(true)

	other := &cable{a: newAuthSwitch(t, 1, auth.Strict, linkKey, 1), b: newAuthSwitch(t, 2, auth.Strict, auth.Key{9}, 1)}
	other.settle()
	other.a.wantTold("auth_refused 2: wrong, 1 so far")
	other.b.wantTold("auth_refused 2: wrong, 1 so far")
	other.b.fillPG()
	other.settle()
	other.a.wantPaused(false)
}

// A switch that restarts is told at once what its far end had said, and is believed.
func TestRestartOfASwitch(t *testing.T) {
	c := newCable(t, auth.Strict, auth.Strict)
	c.a.fillPG()
	c.settle()
	c.b.wantPaused(true)
	c.a.det.calls = nil
	c.b = newAuthSwitch(t, 2, auth.Strict, linkKey, 1_000_000)
	c.b.now = c.a.now
	c.settle()
	c.b.wantPaused(true)
	c.b.wantTold("auth_agreed 2")
	c.b.fillPG()
	c.settle()
	c.a.wantPaused(true)
}

// A switch that restarts lets its far end go, and is believed: with a counter ahead nothing of it is
// refused, and one that is behind is told so.
func TestRestartedSwitchLetsGo(t *testing.T) {
	for first, refused := range map[uint64]uint64{1_000_000: 0, 5: 1} {
		c := newCable(t, auth.Strict, auth.Strict)
		c.b.fillPG()
		c.settle()
		c.a.wantPaused(true)
		c.advance(c.a.cfg.Refresh / challengesPerRefresh) // it has asked longer ago
		c.b = newAuthSwitch(t, 2, auth.Strict, linkKey, first)
		c.b.now = c.a.now
		c.settle()
		c.a.wantPaused(false)
		if got := c.a.ports[end].distrust.refused; got != refused {
			t.Errorf("first counter %d: %d frames were refused, want %d", first, got, refused)
		}
		c.b.wantNoDrops()
	}
}

// What the switch before had said does not pause, nor let go, when it is played to the far end again.
func TestReplayAcrossARestart(t *testing.T) {
	c := newCable(t, auth.Strict, auth.Strict)
	c.b.fillPG()
	pause := c.b.drain(end)
	c.a.receive(end, pause...)
	c.b.wantData(0, several(2, end, 0, 3)...)
	resume := c.b.drain(end)
	c.advance(c.a.cfg.Refresh / challengesPerRefresh)
	c.b = newAuthSwitch(t, 2, auth.Strict, linkKey, 1_000_000)
	c.b.now = c.a.now
	begun := c.settle()
	c.a.wantPaused(false)
	c.a.receive(end, pause...)
	c.a.wantPaused(false)
	c.b.fillPG()
	c.settle()
	c.a.wantPaused(true)
	c.a.receive(end, resume...)
	for _, f := range begun {
		if ether.Src(f) != c.a.cfg.Ports[end].MAC {
			c.a.receive(end, f)
		}
	}
	c.a.wantPaused(true)
}

// A port that accepts lets a far end go that has auth off: after a challenge that is not answered.
func TestAcceptingSwitchLetsGo(t *testing.T) {
	c := newCable(t, auth.Off, auth.Accept)
	c.b.fillPG()
	c.settle()
	c.a.wantPaused(true)
	c.b = newAuthSwitch(t, 2, auth.Accept, linkKey, 1_000_000)
	c.b.now = c.a.now
	c.b.link(end, false)
	c.b.ports[end].wasUp = false // newTestSwitch brought it up at time 0
	c.b.link(end, true)
	c.settle()
	c.a.wantPaused(true)
	c.advance(c.a.cfg.Refresh / challengesPerRefresh)
	c.settle()
	c.a.wantPaused(false)
}

// The word that goes out of a restarted switch is lost; it is agreed again before the
// next refresh, and so is a resume that was lost with it.
func TestLostHello(t *testing.T) {
	c := newCable(t, auth.Strict, auth.Strict)
	c.a.fillPG()
	c.settle()
	c.b = newAuthSwitch(t, 2, auth.Strict, linkKey, 1_000_000)
	c.b.now = c.a.now
	c.lose()
	c.advance(c.a.cfg.Refresh / challengesPerRefresh)
	c.lose()
	c.wantPausedWithinRefresh()
}

// wantPausedWithinRefresh wants that what is said until a pause is to be repeated pauses b.
func (c *cable) wantPausedWithinRefresh() {
	c.a.t.Helper()
	for range challengesPerRefresh - 1 {
		c.settle()
		c.advance(c.a.cfg.Refresh / challengesPerRefresh)
	}
	c.settle()
	c.b.wantPaused(true)
}

// After more frames were lost than the counter's window, one refresh is refused, and the next
// word is believed: no later than a refresh.
func TestLossOfManyFrames(t *testing.T) {
	c := newCable(t, auth.Strict, auth.Strict)
	for range 1<<15 + 5 {
		c.a.Send(end, label(1))
		c.a.drain(end)
	}
	c.b.now = c.a.now
	c.a.fillPG()
	c.wantPausedWithinRefresh()
	c.b.wantTold("auth_agreed 2", "auth_refused 2: replayed, 1 so far")
}

func TestClockThatWentBack(t *testing.T) {
	c := newCable(t, auth.Strict, auth.Strict)
	c.b = newAuthSwitch(t, 2, auth.Strict, linkKey, 5)
	c.b.now = c.a.now
	c.settle()
	c.b.wantTold("auth_behind 2", "auth_agreed 2")
	c.b.fillPG()
	c.settle()
	c.a.wantPaused(true)
}

// A host has nothing to say but pauses: its messages are dropped, and what its pauses carry is
// ignored. A port to a host has no authentication.
func TestHostsSayNothing(t *testing.T) {
	s := newTestSwitch(t, 3, func(c *Config) {
		c.Ports[end].FacesHost = true
		c.Ports[end].Auth = &auth.Config{Mode: auth.Strict, Link: "a--b"}
	})
	for _, f := range [][]byte{message(label(1)), make([]byte, 200)} {
		copy(f, message(label(1))[:14])
		s.receive(end, f)
		s.wantDrop(end, DropHostMessage)
	}
	s.receive(end, pauseOf(3, 1000, 7))
	s.wantDrop(end, OddHostLabel)
	s.wantCalls("Pause 2.3 fresh")
	s.wantEvents("paused 2.3")
	s.receive(end, pauseOf(3, 1000, 8))
	s.wantPaused(true)
	s.wantEvents() // its period tells nothing either
}

// A pause with a malformed TLV is odd where it is believed, and else dropped and nothing more.
func TestAuthOfMalformedTLV(t *testing.T) {
	f := edit(pauseOf(3, 1000, 1), 40, 0x1f)
	for mode, want := range map[auth.Mode]Reason{auth.Strict: DropUntagged, auth.Accept: OddTLV} {
		s := newAuthSwitch(t, 1, mode, linkKey, 1000)
		s.receive(end, f)
		s.wantDrop(end, want)
		s.wantPaused(want.Odd())
	}
}

func TestAuthWithoutKey(t *testing.T) {
	c := testConfig(3)
	c.Ports[1].Auth = &auth.Config{Mode: auth.Strict, Link: "a--b"}
	_, err := NewSwitch(c)
	if want := "switch sw7: port p1: auth strict, and 0 keys for link a--b; valid: 1, or 2 while they are changed"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestAuthAllocatesNothing(t *testing.T) {
	c := newCable(t, auth.Strict, auth.Strict)
	c.a.det.label = func(detect.PG) itsyhdr.TLV { return label(1) }
	c.a.fillPG()
	c.settle()
	c.b.Exchange(detect.NewNone)
	out, in := make([]*buffer.Frame, 1), make([]*buffer.Frame, 1)
	if n := testing.AllocsPerRun(200, func() {
		c.a.sendPause(end, 3)
		k, _ := c.a.Transmit(c.a.now, end, out)
		if k != 1 {
			t.Fatal("no pause")
		}
		c.b.Lend(end, in)
		in[0].Data = append(in[0].Data[:0], out[0].Data...)
		in[0].Len = len(in[0].Data)
		c.b.Parse(in[0])
		c.b.Receive(c.b.now, end, in)
		in[0] = nil
		c.a.Sent(c.a.now, end, out)
		c.a.events, c.b.events = c.a.events[:0], c.b.events[:0]
	}); n != 0 {
		t.Errorf("a pause that is authenticated allocates %v times", n)
	}
	if c.b.Counters(end).Drops != (PortCounters{}).Drops {
		t.Error("pauses were refused")
	}
}
