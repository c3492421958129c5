package dataplane

import (
	"fmt"
	"testing"

	"softswitch/detect"
	"softswitch/event"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// A priority group that crosses its XOFF threshold pauses its upstream with the priority group's
// period and the detector's label; when it has drained to XON it resumes it.
func TestXOFFPausesUpstream(t *testing.T) {
	s := newTestSwitch(t, 3, nil)
	s.det.label = func(b detect.PG) itsyhdr.TLV {
		if b != (detect.PG{Port: 0, Priority: 3}) {
			t.Errorf("Label asked for %v", b)
		}
		return label(42)
	}
	fs := several(5, 0, 1, 3)
	s.receive(0, fs[:3]...)
	s.wantNothing(0) // 3000 bytes
	s.wantCalls()
	s.receive(0, fs[3])
	s.wantCalls("XOFF 0.3 by 1.3")
	s.wantEvents("XOFF 0.3 by 1.3 period 1 bytes 4000")
	s.wantPause(0, 3, 1, label(42))
	s.wantEvents("pause sent 0.3 period 1")
	s.receive(0, fs[4]) // into the headroom
	s.wantNothing(0)
	s.wantData(1, fs[0])
	s.wantNothing(0) // 4000 bytes: above XON
	s.wantData(1, fs[1])
	s.wantCalls("XON 0.3") // 3000 bytes
	s.wantResume(0, 3, 1)
	s.wantEvents("XON 0.3 period 1 bytes 3000", "resume sent 0.3 period 1")
	s.wantData(1, fs[2:]...)
	s.wantNothing(0, 1, 2)

	s.receive(0, fs[:4]...)
	s.wantPause(0, 3, 2, label(42)) // the next period
	c := s.Counters(0)
	if c.TxPause[3] != 2 || c.TxResume[3] != 1 || c.TxRefresh[3] != 0 {
		t.Errorf("%d pauses, %d resumes, %d refreshes; want 2, 1, 0", c.TxPause[3], c.TxResume[3], c.TxRefresh[3])
	}
	s.wantNoDrops()
}

// The priority that is paused is the one of the priority group, and no other.
func TestXOFFIsPerPortAndPriority(t *testing.T) {
	s := newTestSwitch(t, 4, nil)
	s.receive(0, several(3, 0, 1, 3)...)
	s.receive(0, several(3, 0, 1, 4)...)
	s.receive(2, several(3, 2, 1, 3)...)
	s.wantNothing(0, 2) // nine frames wait in port 1, three in each priority group
	s.receive(2, between(2, 3, 3, 9))
	s.wantPause(2, 3, 1, itsyhdr.TLV{}) // the fourth of its priority group, whatever the queue
	s.wantNothing(0, 2)
	s.receive(0, between(0, 3, 4, 9))
	s.wantPause(0, 4, 1, itsyhdr.TLV{})
	s.wantNothing(0, 2)
}

// While a priority group is XOFF its pause is repeated every Refresh; after XON never.
func TestRefresh(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	n := uint16(0)
	s.det.label = func(detect.PG) itsyhdr.TLV { n++; return label(n) }
	s.receive(0, several(4, 0, 1, 3)...)
	s.wantPause(0, 3, 1, label(1))
	for i := range uint16(5) {
		s.wantNothing(0)
		s.wantNext(s.now + s.cfg.Refresh)
		s.advance(s.cfg.Refresh - 1)
		s.wantNothing(0)
		s.wantNext(s.now + 1)
		s.advance(1)
		s.wantPause(0, 3, 1, label(i+2)) // the newest label
	}
	if pause := s.cfg.Ports[0].Rate.QuantaTime(s.cfg.Quanta); s.cfg.Refresh >= pause {
		t.Fatalf("refresh every %d ns of a pause of %d", s.cfg.Refresh, pause)
	}
	c := s.Counters(0)
	if c.TxPause[3] != 1 || c.TxRefresh[3] != 5 {
		t.Errorf("%d pauses, %d refreshes; want 1, 5", c.TxPause[3], c.TxRefresh[3])
	}
	s.transmit(1, 1) // XON
	s.wantResume(0, 3, 1)
	s.wantNext(unit.Never)
	s.advance(10 * s.cfg.Refresh)
	s.wantNothing(0)
	s.wantNext(unit.Never)
}

// A refresh that waits for the wire does not make its port ready again and again.
func TestRefreshWaits(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	for _, c := range []unit.Priority{3, 4} {
		s.receive(0, several(4, 0, 1, c)...)
		s.wantPause(0, c, 1, itsyhdr.TLV{})
	}
	s.advance(s.cfg.Refresh)
	s.lend(0, 1) // the refresh of 3
	s.Work(nil)
	for range 3 {
		s.Switch.Transmit(s.now, 0, nil)
		if ready, _ := s.Work(nil); ready.Has(0) {
			t.Error("port 0 is ready for what waits already")
		}
	}
	s.sent(0)
	s.advance(s.cfg.Ports[0].Rate.FrameTime(60))
	s.wantPause(0, 4, 1, itsyhdr.TLV{})
}

// A refresh that is due when the priority group has resumed goes out as the resume.
func TestRefreshDueAtXON(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	s.receive(0, several(4, 0, 1, 3)...)
	s.wantPause(0, 3, 1, itsyhdr.TLV{})
	s.advance(s.cfg.Refresh)
	s.transmit(1, 1)
	s.wantResume(0, 3, 1)
	s.wantNothing(0)
}

// A pause frame is built from the state of the moment at which it leaves. A priority group
// that went XOFF, XON and XOFF before its port could send tells the newest period.
func TestPauseIsStateNotEvent(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	fs := several(5, 0, 1, 3)
	s.receive(0, fs[:4]...)
	s.wantData(1, fs[0])
	s.wantResume(0, 3, 1) // XOFF was never announced: one frame says all
	s.wantNothing(0)
	s.receive(0, fs[0])
	s.wantData(1, fs[1])
	s.receive(0, fs[1])
	s.wantPause(0, 3, 3, itsyhdr.TLV{})
	s.wantNothing(0)
	s.log = nil
	s.wantData(1, fs[2])
	s.receive(0, fs[2])
	s.wantPause(0, 3, 4, itsyhdr.TLV{}) // the resume between was never sent
	s.wantEvents("XON 0.3 period 3 bytes 3000", "XOFF 0.3 by 1.3 period 4 bytes 4000", "pause sent 0.3 period 4")
	if c := s.Counters(0); c.TxPause[3] != 2 || c.TxRefresh[3] != 0 {
		t.Errorf("%d pauses, %d refreshes; want 2, 0", c.TxPause[3], c.TxRefresh[3])
	}
}

// A pause that is honoured stops its priority at its port until it expires, at
// quanta x 512 bit times of the port's rate, and nothing else.
func TestHonourPause(t *testing.T) {
	for _, tc := range []struct {
		rate   unit.Rate
		quanta uint16
		want   unit.Time
	}{
		{0, 1000, 51_200}, // at the nominal 10 Gbit/s
		{10_000_000_000, 65535, 3_355_392},
		{1_000_000_000, 1000, 512_000},
		{100_000_000, 65535, 335_539_200},
		{100_000_000, 1, 5_120},
		{40_000_000_000, 65535, 838_848},
	} {
		t.Run(fmt.Sprintf("%d quanta at %d", tc.quanta, tc.rate), func(t *testing.T) {
			s := newTestSwitch(t, 3, func(c *Config) {
				for i := range c.Ports {
					c.Ports[i].Rate = tc.rate
				}
				weigh(c, nil) // strict
			})
			three, four, zero := between(0, 1, 3, 1), between(0, 1, 4, 2), between(0, 1, 0, 3)
			elsewhere := between(0, 2, 3, 4)
			s.receive(1, pauseOf(3, tc.quanta, 9))
			until := s.now + tc.want
			s.wantCalls("Pause 1.3 fresh")
			s.wantEvents("paused 1.3 period 9")
			s.receive(0, three, four, zero, elsewhere)
			s.wantData(1, four) // the higher priority first
			s.wantData(2, elsewhere)
			s.advance(s.cfg.Ports[1].Rate.FrameTime(1000))
			if tc.quanta > 3 {
				s.wantData(1, zero)
				s.advance(s.cfg.Ports[1].Rate.FrameTime(1000))
				s.wantNothing(1)
				s.wantNext(until)
				s.now = until - 1
				s.wantNothing(1)
				s.wantCalls()
				s.wantEvents()
			}
			s.now = max(s.now, until)
			s.wantData(1, three)
			s.wantCalls("Expire 1.3")
			s.wantEvents("expired 1.3 period 9")
			if c := s.Counters(1); c.RxPause[3] != 1 || c.Expired[3] != 1 || c.PausedTime[3] != s.now-unit.Second {
				t.Errorf("counters: %d pauses, %d expired, paused for %d ns; want 1, 1, %d", c.RxPause[3], c.Expired[3], c.PausedTime[3], s.now-unit.Second)
			}
		})
	}
}

func TestHonourResume(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	f := between(0, 1, 3, 1)
	s.receive(1, pauseOf(3, 1000, 9))
	s.receive(0, f)
	s.wantNothing(1)
	s.advance(7 * unit.Microsecond)
	s.receive(1, resumeOf(4, 9)) // not its priority
	s.wantNothing(1)
	s.receive(1, resumeOf(3, 9))
	s.wantCalls("Pause 1.3 fresh", "Resume 1.3")
	s.wantData(1, f)
	s.wantEvents("paused 1.3 period 9", "resumed 1.3 period 9")
	s.receive(1, resumeOf(3, 9)) // of a priority that is not paused: counted only
	s.wantCalls()
	s.wantEvents()
	if c := s.Counters(1); c.RxResume[3] != 2 || c.RxResume[4] != 1 || c.PausedTime[3] != 7*unit.Microsecond {
		t.Errorf("%d resumes of priority 3, %d of 4, paused for %d", c.RxResume[3], c.RxResume[4], c.PausedTime[3])
	}
}

// One frame may pause some priorities and resume others.
func TestPauseOfManyPriorities(t *testing.T) {
	s := newTestSwitch(t, 2, func(c *Config) { c.Buffer.Lossless = 1<<1 | 1<<3 | 1<<4 })
	s.receive(1, pfc(map[unit.Priority]uint16{1: 1000, 3: 500}))
	s.wantCalls("Pause 1.1 fresh", "Pause 1.3 fresh")
	s.receive(1, pfc(map[unit.Priority]uint16{1: 0, 3: 700, 4: 20}))
	s.wantCalls("Resume 1.1", "Pause 1.3 again", "Pause 1.4 fresh")
	s.wantEvents("paused 1.1", "paused 1.3", "resumed 1.1", "paused 1.4")
	s.wantNothing(1)
	s.wantNext(s.now + 20*512/10)
	s.advance(20 * 512 / 10)
	s.wantNothing(1)
	s.wantCalls("Expire 1.4")
	s.wantNext(unit.Second + 700*512/10)
	s.wantNoDrops()
}

// A refresh prolongs the pause, or shortens it: the newest frame counts.
func TestRefreshProlongs(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	s.receive(1, pauseOf(3, 1000, 1))
	s.advance(50_000)
	s.receive(1, pauseOf(3, 1000, 1))
	s.wantNothing(1)
	s.wantNext(s.now + 51_200)
	s.advance(51_199)
	s.wantNothing(1)
	s.wantCalls("Pause 1.3 fresh", "Pause 1.3 again")
	s.receive(1, pauseOf(3, 1000, 1))
	s.receive(1, pauseOf(3, 10, 1))
	s.wantNothing(1)
	s.wantNext(s.now + 512)
	s.wantEvents("paused 1.3 period 1", "refreshed 1.3 period 1", "refreshed 1.3 period 1", "refreshed 1.3 period 1")
}

// A pause of another period says that the resume between was lost: the queue
// counts as resumed and paused anew.
func TestPauseOfAnotherPeriod(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	s.receive(1, pauseOf(3, 1000, 1))
	s.advance(unit.Microsecond)
	s.receive(1, pauseOf(3, 1000, 2))
	s.wantCalls("Pause 1.3 fresh", "Resume 1.3", "Pause 1.3 fresh")
	s.wantEvents("paused 1.3 period 1", "resumed 1.3 period 1", "paused 1.3 period 2")
	// A pause without a period says nothing of the kind.
	s.receive(1, pfc(map[unit.Priority]uint16{3: 1000}))
	s.receive(1, pauseOf(3, 1000, 2))
	s.wantCalls("Pause 1.3 again", "Pause 1.3 again")
	if c := s.Counters(1); c.RxPause[3] != 4 || c.RxResume[3] != 0 || c.PausedTime[3] != unit.Microsecond {
		t.Errorf("%d pauses, %d resumes, paused for %d", c.RxPause[3], c.RxResume[3], c.PausedTime[3])
	}
}

// A pause that began without a period is that of the first period that comes, and another period
// ends it as it ends any.
func TestPauseGetsAPeriod(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	s.receive(1, pfc(map[unit.Priority]uint16{3: 1000}))
	s.receive(1, pfc(map[unit.Priority]uint16{3: 1000}))
	s.receive(1, pauseOf(3, 1000, 1))
	s.receive(1, pauseOf(3, 1000, 1))
	s.receive(1, pauseOf(3, 1000, 2))
	s.wantEvents("paused 1.3", "resumed 1.3", "paused 1.3 period 1", "refreshed 1.3 period 1", "resumed 1.3 period 1", "paused 1.3 period 2")
	s.wantCalls("Pause 1.3 fresh", "Pause 1.3 again", "Resume 1.3", "Pause 1.3 fresh", "Pause 1.3 again", "Resume 1.3", "Pause 1.3 fresh")
}

// A pause that ran out is over when the next arrives, even if the port was not
// asked for frames in between: that one is fresh.
func TestPauseAfterUnnoticedExpiry(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	s.receive(1, pauseOf(3, 10, 1))
	s.advance(512)
	s.receive(1, pauseOf(3, 10, 1))
	s.wantCalls("Pause 1.3 fresh", "Expire 1.3", "Pause 1.3 fresh")
	s.advance(512)
	s.receive(1, resumeOf(3, 1))
	s.wantCalls("Expire 1.3")
	if c := s.Counters(1); c.Expired[3] != 2 || c.RxResume[3] != 1 {
		t.Errorf("%d expired, %d resumes; want 2, 1", c.Expired[3], c.RxResume[3])
	}
}

// The detector gets the label of a pause for the TLV's priority; a TLV that carries
// only a period is none.
func TestLabelReachesDetector(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	l := label(7)
	l.Priority, l.Period = 3, 5
	s.receive(1, pfcWith(1000, l))
	s.wantCalls("Pause 1.3 fresh with " + l.String())
	s.receive(1, pfcWith(1000, l)) // a refresh carries it again
	s.wantCalls("Pause 1.3 again with " + l.String())
	s.receive(1, pauseOf(3, 1000, 5))
	s.wantCalls("Pause 1.3 again")
	// Priority 4 is paused by the same frame, but the TLV is not about it.
	both := pfc(map[unit.Priority]uint16{3: 10, 4: 10})
	itsyhdr.Put(both[34:], l)
	s.receive(1, both)
	s.wantCalls("Pause 1.3 again with "+l.String(), "Pause 1.4 fresh")
	s.wantEvents("paused 1.3 period 5", "refreshed 1.3 period 5", "refreshed 1.3 period 5", "refreshed 1.3 period 5", "paused 1.4")
}

// What a detector sees during a call is the state after the event.
func TestViewShowsStateAfter(t *testing.T) {
	s := newTestSwitch(t, 3, nil)
	b, q := detect.PG{Port: 0, Priority: 3}, detect.Queue{Port: 1, Priority: 3}
	var seen []string
	s.det.queue = true
	s.det.onCall = func(call string) {
		on, period := s.det.view.XOFF(b)
		seen = append(seen, fmt.Sprintf("%s: XOFF %v %d paused %v held %d", call, on, period, s.det.view.Paused(q), s.det.view.Held(b, q)))
	}
	s.receive(1, pauseOf(3, 1000, 1))
	s.receive(0, several(4, 0, 1, 3)...)
	s.receive(1, resumeOf(3, 1))
	s.drain(1)
	want := []string{
		"Pause 1.3 fresh: XOFF false 0 paused true held 0",
		"Enqueue 0.3 in 1.3: XOFF false 0 paused true held 1000",
		"Enqueue 0.3 in 1.3: XOFF false 0 paused true held 2000",
		"Enqueue 0.3 in 1.3: XOFF false 0 paused true held 3000",
		"Enqueue 0.3 in 1.3: XOFF true 1 paused true held 4000",
		"XOFF 0.3 by 1.3: XOFF true 1 paused true held 4000",
		"Resume 1.3: XOFF true 1 paused false held 4000",
		"Empty 1.3: XOFF true 1 paused false held 0", // all lent, none sent
		"XON 0.3: XOFF false 1 paused false held 0",
	}
	if fmt.Sprint(seen) != fmt.Sprint(want) {
		t.Errorf("seen:\n%q\nwant:\n%q", seen, want)
	}
	if v := s.det.view; v.Self() != 7 || v.Ports() != 3 || v.Lossless() != 1<<3|1<<4 || v.XON(b) != 3000 || v.FacesHost(0) {
		t.Errorf("view: self %d, ports %d, lossless %b, XON %d, faces host %v", v.Self(), v.Ports(), v.Lossless(), v.XON(b), v.FacesHost(0))
	}
}

// M(b, q) does not count a frame that has begun to leave: it leaves although the
// queue is paused.
func TestLentFrameIsNotHeld(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	b, q := detect.PG{Port: 0, Priority: 3}, detect.Queue{Port: 1, Priority: 3}
	fs := several(5, 0, 1, 3)
	s.receive(0, fs...)
	s.lend(1, 1)
	if got := s.Held(b, q); got != 4000 {
		t.Errorf("M = %d with one of five frames lent, want 4000", got)
	}
	if got, _ := s.MMU().Bytes(0, 3); got != 5000 {
		t.Errorf("the priority group holds %d bytes, want 5000: a lent frame is charged until Sent", got)
	}
	s.log = nil
	s.receive(1, pauseOf(3, 1000, 1))
	s.wantEvents("paused 1.3 period 1", "held 0.3 in 1.3 bytes 4000", "strong 0.3 in 1.3 bytes 4000")
	s.sent(1)
	if got := s.Held(b, q); got != 4000 {
		t.Errorf("M = %d after the frame left, want 4000", got)
	}
	s.wantNothing(1)
}

// The log of an edge: weak below XON, strong above it, gone with the pause.
func TestStrongEdgeEvents(t *testing.T) {
	s := newTestSwitch(t, 3, nil)
	s.receive(1, pauseOf(3, 1000, 1))
	s.receive(0, several(2, 0, 1, 3)...) // 2000 in the paused queue
	s.receive(0, several(2, 0, 2, 3)...) // 2000 elsewhere: XOFF
	s.wantEvents("paused 1.3 period 1",
		"XOFF 0.3 by 2.3 period 1 bytes 4000", "held 0.3 in 1.3 bytes 2000")
	s.receive(0, between(0, 1, 3, 5))
	s.wantEvents("held 0.3 in 1.3 bytes 3000") // = XON: not strong
	s.receive(0, datagram{dst: stationMAC(1), priority: 3, size: 60}.frame())
	s.wantEvents("held 0.3 in 1.3 bytes 3060", "strong 0.3 in 1.3 bytes 3060")
	s.receive(0, datagram{dst: stationMAC(1), priority: 3, size: 60}.frame())
	s.wantEvents("held 0.3 in 1.3 bytes 3120") // created once
	s.receive(2, pauseOf(3, 1000, 1))
	s.wantEvents("paused 2.3 period 1", "held 0.3 in 2.3 bytes 2000")
	s.receive(1, resumeOf(3, 1))
	s.wantEvents("weak 0.3 in 1.3 bytes 3120", "resumed 1.3 period 1")
	s.receive(1, pauseOf(3, 10, 2))
	s.wantEvents("paused 1.3 period 2", "held 0.3 in 1.3 bytes 3120", "strong 0.3 in 1.3 bytes 3120")
	s.advance(512)
	s.lend(1, 0)
	s.wantEvents("weak 0.3 in 1.3 bytes 3120", "expired 1.3 period 2")
}

// A frame that is flooded crosses the threshold once, by the first queue that it
// is put in.
func TestFloodCrossesOnce(t *testing.T) {
	s := newTestSwitch(t, 4, nil)
	unknown := datagram{dst: 0x02dd00000000, src: stationMAC(0), priority: 3}.frame()
	s.receive(2, pauseOf(3, 1000, 1))
	s.receive(0, unknown, unknown, unknown, unknown)
	if n := countEvents(s.log, event.XOFF); n != 1 {
		t.Errorf("%d XOFF events for one crossing", n)
	}
	n := 0
	for _, c := range s.det.calls {
		if len(c) > 4 && c[:4] == "XOFF" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("the detector was told of %d crossings of one: %q", n, s.det.calls)
	}
	if got := s.Held(detect.PG{Port: 0, Priority: 3}, detect.Queue{Port: 2, Priority: 3}); got != 4000 {
		t.Errorf("M = %d, want 4000", got)
	}
	if n := countEvents(s.log, event.StrongCreated); n != 1 {
		t.Errorf("%d strong edges created, want 1 (only port 2 is paused)", n)
	}
	s.wantPause(0, 3, 1, itsyhdr.TLV{})
}

func countEvents(log []event.Event, want event.Type) (n int) {
	for _, e := range log {
		if e.Type == want {
			n++
		}
	}
	return n
}
