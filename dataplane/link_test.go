package dataplane

import (
	"testing"

	"softswitch/itsyhdr"
	"softswitch/unit"
)

// A link that goes down loses what waits for it, ends the pauses in force there,
// and by the bytes it frees resumes whom it had paused.
func TestLinkDownFlushes(t *testing.T) {
	s := newTestSwitch(t, 3, nil)
	s.receive(1, pauseOf(3, 65535, 4))
	s.receive(0, several(4, 0, 1, 3)...)
	s.receive(0, several(2, 0, 1, 0)...)
	s.receive(2, between(2, 1, 4, 9))
	s.wantPause(0, 3, 1, itsyhdr.TLV{})
	s.log, s.det.calls = nil, nil
	s.advance(unit.Microsecond)
	s.link(1, false)
	if got, want := s.Counters(0).Drops[DropLinkDown], uint64(6); got != want {
		t.Errorf("%d frames of port 0 dropped, want %d", got, want)
	}
	if got := s.Counters(2).Drops[DropLinkDown]; got != 1 {
		t.Errorf("%d frames of port 2 dropped, want 1", got)
	}
	s.wantCalls("Expire 1.3", "XON 0.3")
	s.wantEvents("link 1 down", "weak 0.3 in 1.3 bytes 4000", "expired 1.3 period 4", "XON 0.3 period 1 bytes 3000")
	s.wantResume(0, 3, 1)
	s.wantNothing(1)
	s.wantNext(unit.Never)
	if s.LinkUp(1) || !s.LinkUp(0) {
		t.Error("LinkUp is wrong")
	}
	if c := s.Counters(1); c.PausedTime[3] != unit.Microsecond {
		t.Errorf("paused for %d ns, want 1000", c.PausedTime[3])
	}
	// The pause does not come back with the link.
	s.link(1, true)
	s.wantEvents("resume sent 0.3 period 1", "link 1 up")
	f := between(0, 1, 3, 7)
	s.receive(0, f)
	s.wantData(1, f)
}

// Nothing is received at a port that is down, not even a pause.
func TestReceiveWhileDown(t *testing.T) {
	s := newTestSwitch(t, 3, nil)
	s.link(1, false)
	s.wantEvents("link 1 down")
	s.receive(1, between(1, 0, 0, 1))
	s.wantDrop(1, DropLinkDown)
	s.receive(1, pauseOf(3, 1000, 1), message(label(1)))
	s.wantDrops(1, map[Reason]uint64{DropLinkDown: 2})
	s.receive(1, edit(pauseOf(3, 1000, 1), 14, 9, 9))
	s.wantDrop(1, DropPFCOpcode) // its own reason
	s.wantCalls()
	s.wantNothing(0, 1, 2)
}

// The control frames of a port are forgotten with its link; priority groups that are XOFF when it comes
// back pause the upstream anew, in the same period.
func TestLinkUpPausesAnew(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	s.receive(0, several(4, 0, 1, 3)...)
	s.wantPause(0, 3, 1, itsyhdr.TLV{})
	s.receive(0, several(4, 0, 1, 4)...)
	s.det.Send(0, label(1)) // to be sent: a pause of priority 4 and a message
	s.link(0, false)
	s.wantNothing(0)
	s.wantNext(unit.Never)
	s.advance(5 * s.cfg.Refresh)
	s.wantNothing(0)
	s.log = nil
	s.link(0, true)
	s.wantPause(0, 3, 1, itsyhdr.TLV{})
	s.wantPause(0, 4, 1, itsyhdr.TLV{})
	s.wantNothing(0)
	s.wantNext(s.now + s.cfg.Refresh)
	s.wantEvents("link 0 up", "pause sent 0.3 period 1", "pause sent 0.4 period 1")
}

// A priority group that resumes while its link is down has nothing to send afterwards: the far
// end starts without pauses too.
func TestXONWhileDown(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	s.receive(0, several(4, 0, 1, 3)...)
	s.wantPause(0, 3, 1, itsyhdr.TLV{})
	s.link(0, false)
	s.drain(1)
	s.link(0, true)
	s.wantNothing(0)
	s.wantNext(unit.Never)
}

// Frames that were lent when the link went down come back by Sent.
func TestLinkDownWhileLent(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	s.receive(0, several(6, 0, 1, 3)...)
	s.lend(1, 3)
	s.link(1, false)
	if b, _ := s.MMU().Bytes(0, 3); b != 3000 {
		t.Errorf("the priority group holds %d bytes, want 3000", b)
	}
	s.link(1, true)
	s.sent(1)
	if b, _ := s.MMU().Bytes(0, 3); b != 0 {
		t.Errorf("the priority group holds %d bytes, want 0", b)
	}
}

func TestSetLinkTwiceIsOnce(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	s.link(1, true)
	s.wantEvents()
	s.link(1, false)
	s.link(1, false)
	s.wantEvents("link 1 down")
}

// The ready set names the ports that have something to send.
func TestReadySet(t *testing.T) {
	s := newTestSwitch(t, 4, nil)
	work := func(want unit.PortSet) {
		t.Helper()
		got, _ := s.Work(nil)
		if got != want {
			t.Errorf("ready %b, want %b", got, want)
		}
	}
	work(unit.PortSet{})
	deliver := func(in unit.Port, frames ...[]byte) { // without Work
		t.Helper()
		fs := s.fill(in, frames...)
		s.Receive(s.now, in, fs)
	}
	deliver(0, several(3, 0, 1, 3)...)
	work(ports(1))
	work(unit.PortSet{})
	deliver(0, between(0, 2, 3, 4)) // XOFF
	work(ports(0, 2))
	deliver(2, pauseOf(3, 100, 1))
	work(ports(2)) // its deadlines have changed
	s.det.Send(3, label(1))
	work(ports(3))
	s.SetLink(s.now, 3, false)
	work(ports(3))
}
