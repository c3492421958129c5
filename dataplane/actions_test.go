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
	"softswitch/unit"
)

var (
	pg0    = detect.PG{Port: 0, Priority: 3}
	pg2    = detect.PG{Port: 2, Priority: 3}
	queue1 = detect.Queue{Port: 1, Priority: 3}
)

// stuck is a switch whose queue at port 1 is paused, with n frames of port 0 in it,
// and then m of port 2.
func stuck(t *testing.T, n, m int) (s *testSwitch, of0, of2 [][]byte) {
	t.Helper()
	s = newTestSwitch(t, 3, func(c *Config) { c.Quanta = 65535 })
	s.receive(1, pauseOf(3, 65535, 1))
	of0, of2 = several(n, 0, 1, 3), several(m, 2, 1, 3)
	s.receive(0, of0...)
	s.receive(2, of2...)
	s.drain(0)
	s.drain(2)
	s.log, s.det.calls = nil, nil
	return s, of0, of2
}

// Drop takes the oldest frames of the priority group, and no others, until it resumes.
func TestDropIsMinimal(t *testing.T) {
	s, of0, of2 := stuck(t, 5, 4)
	if got := s.Drop(pg0, queue1); got != 2000 {
		t.Errorf("%d bytes dropped, want 2000: from 5000 to 3000", got)
	}
	s.work()
	s.wantDrops(0, map[Reason]uint64{DropResponse: 2})
	s.wantResume(0, 3, 1)
	s.wantNothing(1)
	if c := s.Counters(0); c.LosslessLost != 0 || c.ResponseBytes != 2000 {
		t.Errorf("%d counted as lost, %d bytes as dropped on purpose; want 0, 2000", c.LosslessLost, c.ResponseBytes)
	}
	if got := s.Frames(queue1); got.TxDropped != 2 {
		t.Errorf("%d frames dropped in the queue, want 2", got.TxDropped)
	}
	if got := s.Drop(pg0, queue1); got != 0 {
		t.Errorf("%d bytes of a priority group that is not XOFF were dropped", got)
	}
	s.receive(1, resumeOf(3, 1))
	s.wantData(1, append(of0[2:], of2...)...)
}

// Where frames are charged whole cells, Drop returns and logs what was charged: what the priority group falls
// by.
func TestDropOfCells(t *testing.T) {
	s := newTestSwitch(t, 2, func(c *Config) { c.Buffer.Cell = 256 })
	s.receive(1, pauseOf(3, 65535, 1))
	s.receive(0, several(4, 0, 1, 3)...)
	s.wantCharged(pg0, 4*1024)
	s.log = nil
	if got := s.Drop(pg0, queue1); got != 2*1024 {
		t.Errorf("%d bytes dropped, want 2048: from 4096 to 2048", got)
	}
	s.work()
	s.wantCharged(pg0, 2*1024)
	if e := s.log[len(s.log)-1]; eventText(e) != "drop 0.3 1.3 2048" {
		t.Errorf("logged %s, want that 2048 bytes were dropped", eventText(e))
	}
}

// Force lets the priority group's frames pass the pause, and those of others not.
func TestForcePassesThePause(t *testing.T) {
	s, of0, of2 := stuck(t, 4, 4)
	s.Force(pg2, queue1, 1500)
	s.work()
	s.wantEvents("force 2.3 1.3 1500")
	s.wantData(1, of2[0], of2[1]) // the second begins within the allowance
	s.wantNothing(1)
	s.Force(pg0, queue1, 5000)
	s.work()
	s.log = nil
	s.Force(pg0, queue1, 0)
	s.Force(pg0, queue1, 0)
	s.work()
	s.wantEvents("unforce 0.3 1.3 0")
	s.wantNothing(1)
	s.Force(pg0, queue1, 1500)
	s.receive(1, resumeOf(3, 1))
	s.wantData(1, of0[0])
	s.receive(1, pauseOf(3, 65535, 2)) // another pause: the allowance was for the first
	s.wantNothing(1)
	s.receive(1, resumeOf(3, 2))
	s.wantData(1, append(of0[1:], of2[2:]...)...)
}

// A queue that ignores pauses sends; the next pause after that holds again.
func TestIgnore(t *testing.T) {
	s, of0, _ := stuck(t, 3, 0)
	s.Ignore(queue1, true)
	s.Ignore(queue1, true)
	s.work()
	s.wantEvents("ignore 65535.0 1.3 0", "resumed 1.3 period 1")
	s.wantData(1, of0[0])
	s.receive(1, pauseOf(3, 65535, 2))
	s.wantEvents()
	if got := s.PausesSeen(queue1); got != 2 {
		t.Errorf("%d pauses seen, want 2", got)
	}
	s.wantData(1, of0[1])
	s.Ignore(queue1, false)
	s.receive(1, pauseOf(3, 65535, 2))
	s.wantNothing(1)
	s.wantEvents("honour 65535.0 1.3 0", "paused 1.3 period 2")
	s.receive(1, resumeOf(3, 2))
	s.wantData(1, of0[2])
}

// Discard empties a queue, drops what is for it and what comes in beside it, and
// leaves the rest of the port alone.
func TestDiscard(t *testing.T) {
	s, _, _ := stuck(t, 4, 0)
	s.Discard(queue1, true)
	s.work()
	s.wantResume(0, 3, 1)
	s.wantDrops(0, map[Reason]uint64{DropResponse: 4})
	s.receive(0, between(0, 1, 3, 9), between(0, 1, 4, 9))
	s.wantDrop(0, DropResponse)
	s.wantData(1, between(0, 1, 4, 9))
	s.receive(1, between(1, 0, 3, 9))
	s.wantDrop(1, DropResponse)
	s.receive(0, plain(unit.Broadcast, stationMAC(0), 100))
	if got, want := s.Frames(queue1), (detect.Frames{TxDropped: 5, RxDropped: 1}); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
	s.Discard(queue1, false)
	s.receive(0, between(0, 1, 3, 10))
	s.drain(2) // the broadcast
	if got := s.drain(1); len(got) != 2 {
		t.Errorf("%d frames leave, want the broadcast and one of priority 3", len(got))
	}
}

// Of a flooded frame each port that drops what is for it drops a copy, and that counts as a frame that
// is for that port alone does, whether or not another port gets the frame.
func TestDroppingOfAFlood(t *testing.T) {
	told := 0
	s := newTestSwitch(t, 4, func(c *Config) {
		c.Dropped = func(f *buffer.Frame, why Reason) {
			if f.In == 0 && f.Len == 1000 && why == DropResponse {
				told++
			}
		}
	})
	f := unknown(1, 0)[0]
	at := func(p unit.Port) detect.Queue { return detect.Queue{Port: p, Priority: 3} }
	dropped := func(copies ...uint64) {
		t.Helper()
		all := uint64(0)
		for p, n := range copies {
			if got := s.Frames(at(unit.Port(p))).TxDropped; got != n {
				t.Errorf("%d frames dropped at port %d, want %d", got, p, n)
			}
			all += n
		}
		flows, _ := s.FlowDrops()
		if len(flows) != 1 || flows[0] != (FlowDrops{Flow: s.flowOf(f), Response: all}) || s.Counters(0).ResponseBytes != 1000*all || told != int(all) {
			t.Errorf("flows lost %+v, %d bytes dropped, %d told of; want %d frames", flows, s.Counters(0).ResponseBytes, told, all)
		}
	}
	s.Discard(at(1), true)
	s.Flush(at(2), true)
	s.receive(0, f)
	s.wantData(3, f)
	s.wantDrops(0, map[Reason]uint64{DropResponse: 2})
	dropped(0, 1, 1, 0)
	s.Flush(at(3), true)
	s.receive(0, f)
	s.wantDrops(0, map[Reason]uint64{DropResponse: 3})
	dropped(0, 2, 2, 1)
	s.wantNothing(1, 2, 3)
	s.wantCharged(pg0, 0)
}

// Flush empties a queue and drops what is for it; what comes in beside it goes on.
func TestFlush(t *testing.T) {
	s, _, _ := stuck(t, 4, 0)
	s.Flush(queue1, true)
	s.Flush(queue1, true)
	s.work()
	s.wantResume(0, 3, 1)
	s.wantDrops(0, map[Reason]uint64{DropResponse: 4})
	s.receive(0, between(0, 1, 3, 9))
	s.wantDrop(0, DropResponse)
	s.receive(1, pauseOf(3, 65535, 2))
	if s.Paused(queue1) {
		t.Error("a pause is in force at a queue that is flushed")
	}
	s.receive(1, between(1, 0, 3, 9))
	s.wantData(0, between(1, 0, 3, 9))
	if got, want := s.Frames(queue1), (detect.Frames{Rx: 1, TxDropped: 5}); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
	s.Flush(queue1, false)
	s.receive(0, between(0, 1, 3, 10))
	s.wantData(1, between(0, 1, 3, 10))
}

// A restricted queue sends frames of its priority group in order; the others wait.
func TestRestrict(t *testing.T) {
	s, of0, of2 := stuck(t, 3, 3)
	s.Restrict(pg2, queue1, true)
	s.receive(1, resumeOf(3, 1))
	s.wantData(1, of2...)
	s.wantNothing(1)
	s.Restrict(pg2, queue1, false)
	s.work()
	s.wantData(1, of0...)
}

// A queue that is restricted while its link goes down loses the frames of all priority groups.
func TestRestrictAsLinkGoesDown(t *testing.T) {
	s, of0, of2 := stuck(t, 3, 3)
	s.det.onCall = func(call string) {
		if call == "Expire 1.3" {
			s.Restrict(pg2, queue1, true)
		}
	}
	s.link(1, false)
	lost := s.Counters(0).Drops[DropLinkDown] + s.Counters(2).Drops[DropLinkDown]
	if want := uint64(len(of0) + len(of2)); lost != want {
		t.Errorf("%d frames lost with the link, want %d", lost, want)
	}
}

// A link that goes down ends the restriction of its queues, and that is logged once.
func TestRestrictUntilLinkDown(t *testing.T) {
	s, _, _ := stuck(t, 3, 3)
	s.Restrict(pg2, queue1, true)
	s.log = nil
	s.link(1, false)
	s.Restrict(pg2, queue1, false)
	s.work()
	ends := 0
	for _, e := range s.log {
		if e.Type == event.Acted && e.Action == detect.ActionFree && e.Out == queue1.Port && e.OutPriority == queue1.Priority {
			ends++
		}
	}
	if ends != 1 {
		t.Errorf("the end of the restriction is logged %d times, want once", ends)
	}
}

// An extra threshold makes a priority group resume, and XOFF at the higher threshold; taken back, the
// priority group keeps what it has.
func TestExtra(t *testing.T) {
	s, of0, _ := stuck(t, 5, 0)
	if !s.Extra(pg0, 3000) {
		t.Fatal("refused")
	}
	s.work()
	s.wantResume(0, 3, 1)
	if got := s.XON(pg0); got != 6000 {
		t.Errorf("XON is %d with the extra threshold, want 6000", got)
	}
	more := []([]byte){between(0, 1, 3, 90), between(0, 1, 3, 91)}
	s.receive(0, more...)
	s.wantPause(0, 3, 2, itsyhdr.TLV{}) // 7000
	s.Extra(pg0, 0)
	s.work()
	if got := s.Charged(pg0); got != 7000 {
		t.Errorf("%d bytes charged, want 7000", got)
	}
	s.receive(1, resumeOf(3, 1))
	s.wantData(1, of0[:3]...)
	s.wantNothing(0)
	s.wantData(1, of0[3])
	s.wantResume(0, 3, 2) // 3000
	s.wantData(1, append(of0[4:], more...)...)
	s.wantNoDrops()
}

// A pool that has too little left gives nothing.
func TestExtraRefused(t *testing.T) {
	s, _, _ := stuck(t, 4, 0)
	s.log = nil
	if s.Extra(pg0, 96_001) {
		t.Error("96001 bytes given of a pool of 100000 with 4000 in use")
	}
	s.work()
	s.wantEvents()
	if !s.Extra(pg0, 96_000) {
		t.Error("96000 bytes not given of a pool of 100000 with 4000 in use")
	}
	s.work()
	s.log = nil
}

// A policer lets its rate through and drops the rest of the flow, and of no other.
func TestPolice(t *testing.T) {
	s := newTestSwitch(t, 3, nil)
	f := several(200, 0, 1, 3)
	first := s.fill(0, f[0])
	flow := detect.FlowID(first[0].Info.Hash)
	s.Receive(s.now, 0, first)
	s.work()
	s.wantData(1, f[0])
	if !s.Police(0, flow, 100*mega) {
		t.Fatal("refused")
	}
	passed := 0
	for _, frame := range f { // 1000 bytes every 20 us: 400 Mbit/s
		s.receive(0, frame)
		passed += len(s.drain(1))
		s.advance(20 * unit.Microsecond)
	}
	if passed < 45 || passed > 57 { // a quarter, less 2 % overhead, and the burst
		t.Errorf("%d of 200 frames pass, want a quarter and a burst", passed)
	}
	s.wantDrops(0, map[Reason]uint64{DropPoliced: uint64(200 - passed)})
	for _, frame := range several(50, 2, 1, 3) {
		s.receive(2, frame)
		s.wantData(1, frame)
	}
	s.wantDrops(2, map[Reason]uint64{})
	s.Police(0, flow, 0)
	s.receive(0, f[:3]...)
	if got := len(s.drain(1)); got != 3 {
		t.Errorf("%d of 3 frames pass without the policer", got)
	}
}

// A frame that is not IP is of no flow: no policer of a flow takes it, and Flows does not
// list it.
func TestFramesWithoutAFlow(t *testing.T) {
	s := newTestSwitch(t, 2, func(c *Config) { c.TrustPCP = true })
	f := tagged(plain(stationMAC(1), stationMAC(0), 1000), 3)
	s.Police(0, 0, 1)
	s.receive(1, pauseOf(3, 65535, 1))
	for range 3 * policerFrames {
		s.receive(0, f)
	}
	s.wantNoPolicing(0)
	if got := s.Flows(nil, queue1); len(got) != 0 {
		t.Errorf("flows %+v, want none", got)
	}
}

func (s *testSwitch) wantNoPolicing(in unit.Port) {
	s.t.Helper()
	if n := s.Counters(in).Drops[DropPoliced]; n > 0 {
		s.t.Errorf("%d frames policed, want none", n)
	}
}

// A frame that one policer refuses does not count against another that would take it.
func TestRefusedFrameCountsNowhere(t *testing.T) {
	s := newTestSwitch(t, 3, func(c *Config) {
		c.Limits = []Limit{{In: 0, OfPriority: true, Priority: 3, Rate: 80 * mega}}
	})
	f := between(0, 1, 3, 1)
	other := datagram{dst: stationMAC(2), src: stationMAC(0), priority: 3, sport: 7}.frame()
	s.Police(0, s.flowOf(f), mega)
	for range 2 { // first the burst of the flow, then nothing of it
		for range 20 {
			s.receive(0, f)
			s.drain(1)
		}
		s.advance(unit.Millisecond) // the priority has its burst again
	}
	for range 20 {
		s.receive(0, f)
	}
	s.wantNothing(1)
	policed := s.Counters(0).Drops[DropPoliced]
	for range policerFrames {
		s.receive(0, other)
		s.drain(2)
	}
	if got := s.Counters(0).Drops[DropPoliced] - policed; policed < 40 || got != 0 {
		t.Errorf("%d frames policed by the flow and %d by the priority, want 40 or more and none", policed, got)
	}
}

// flowOf is a frame's flow.
func (s *testSwitch) flowOf(f []byte) detect.FlowID {
	b := buffer.Frame{Data: f, Len: len(f)}
	s.Parse(&b)
	return detect.FlowID(b.Info.Hash)
}

func TestPolicersAreBounded(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	for i := range policersMax {
		if !s.Police(0, detect.FlowID(i), mega) {
			t.Fatalf("policer %d refused", i)
		}
	}
	if s.Police(0, policersMax, mega) {
		t.Error("one more than there are")
	}
	if !s.Police(0, 7, 2*mega) || !s.Police(0, 8, 0) || !s.Police(0, policersMax, mega) {
		t.Error("a policer cannot be changed, taken away, or taken again")
	}
}

// What is queued in a lossy queue is charged to nobody and dropped when it is full.
func TestLossy(t *testing.T) {
	s := newTestSwitch(t, 2, func(c *Config) {
		c.Buffer.LossyQueue = 3000
		for i := range c.Ports {
			c.Ports[i].Rate = 100 * mega
		}
	})
	s.receive(1, pauseOf(3, 65535, 1))
	s.Lossy(queue1, true)
	f := several(6, 0, 1, 3)
	s.receive(0, f[:4]...)
	s.wantDrop(0, DropLossyPort)
	if n := s.Charged(pg0); n != 0 {
		t.Errorf("%d bytes charged, want 0", n)
	}
	s.wantData(1, f[0]) // in spite of the pause
	s.Lossy(queue1, false)
	s.receive(1, pauseOf(3, 65535, 1))
	s.advance(unit.Millisecond)
	s.wantNothing(1)
	s.receive(0, f[4])
	if n := s.Charged(pg0); n != 1000 {
		t.Errorf("%d bytes charged, want 1000", n)
	}
	s.receive(1, resumeOf(3, 1))
	for _, want := range [][]byte{f[1], f[2], f[4]} {
		s.wantData(1, want)
		s.advance(unit.Millisecond)
	}
}

// unknown is n frames of priority 3 from the station at port in for one that nobody knows.
func unknown(n int, in unit.Port) (fs [][]byte) {
	for range n {
		fs = append(fs, datagram{dst: stationMAC(9), src: stationMAC(in), priority: 3}.frame())
	}
	return fs
}

// A flood into lossy queues alone charges nobody, pauses nobody, and is dropped where a
// queue is full.
func TestFloodIntoLossyQueues(t *testing.T) {
	s := newTestSwitch(t, 3, func(c *Config) { c.Buffer.LossyQueue = 5000 })
	s.Lossy(queue1, true)
	s.Lossy(detect.Queue{Port: 2, Priority: 3}, true)
	f := unknown(6, 0)
	s.receive(0, f[:5]...)
	if n := s.Charged(pg0); n != 0 {
		t.Errorf("%d bytes are charged, want 0", n)
	}
	s.wantNothing(0) // no pause
	s.wantNoDrops()
	s.receive(0, f[5])
	s.wantDrops(0, map[Reason]uint64{DropLossyPort: 2})
	s.wantData(1, f[:5]...)
	s.wantData(2, f[:5]...)
}

// A flood into a lossy queue and another is charged until it has left the other.
func TestFloodIntoALossyQueueToo(t *testing.T) {
	s := newTestSwitch(t, 3, func(c *Config) { c.Buffer.LossyQueue = 2000 })
	s.Lossy(queue1, true)
	f := unknown(3, 0)
	s.receive(0, f...)
	s.wantDrop(0, DropLossyPort) // the third, at port 1
	if n := s.Charged(pg0); n != 3000 {
		t.Errorf("%d bytes are charged, want 3000", n)
	}
	if n := s.Held(pg0, queue1); n != 0 {
		t.Errorf("M has %d bytes in the lossy queue, want 0", n)
	}
	s.wantData(2, f...)
	if n := s.Charged(pg0); n != 0 {
		t.Errorf("%d bytes are charged when the lossless queue is empty, want 0", n)
	}
	s.wantData(1, f[:2]...)
}

// What takes a lossy turn is charged to nobody, and waits with the rest in order; what
// waits already stays charged, and so does what comes in elsewhere or leaves elsewhere.
func TestLossyTurn(t *testing.T) {
	s, of0, of2 := stuck(t, 2, 1)
	s.LossyTurn(pg0, queue1, true)
	s.LossyTurn(pg0, queue1, true)
	s.work()
	s.wantEvents("lossy-turn 0.3 1.3 0")
	more := several(3, 0, 1, 3)
	s.receive(0, more...)
	elsewhere, beside := several(1, 2, 1, 3), several(1, 0, 2, 3)
	s.receive(2, elsewhere...)
	s.receive(0, beside...)
	s.wantCharged(pg0, 3000) // two that waited, and one that leaves elsewhere
	s.wantCharged(pg2, 2000)
	if n := s.Held(pg0, queue1); n != 2000 {
		t.Errorf("M has %d bytes, want 2000", n)
	}
	s.wantNothing(0, 1) // no pause, and its own is in force
	s.wantData(2, beside...)

	s.LossyTurn(pg0, queue1, false)
	last := between(0, 1, 3, 99)
	s.receive(0, last)
	s.wantEvents("lossless-turn 0.3 1.3 0")
	s.wantCharged(pg0, 3000)
	s.receive(1, resumeOf(3, 1))
	s.wantData(1, slices.Concat(of0, of2, more, elsewhere, [][]byte{last})...)
	s.wantCharged(pg0, 0)
	s.wantCharged(pg2, 0)
	s.wantNoDrops()
}

// A lossy turn that begins at a priority group which is XOFF lets it resume when what was charged
// has left.
func TestLossyTurnResumes(t *testing.T) {
	s, of0, _ := stuck(t, 4, 0)
	s.LossyTurn(pg0, queue1, true)
	more := several(2, 0, 1, 3)
	s.receive(0, more...)
	s.receive(1, resumeOf(3, 1))
	s.wantData(1, of0[0])
	s.wantResume(0, 3, 1)
	s.wantData(1, slices.Concat(of0[1:], more)...)
	s.wantCharged(pg0, 0)
}

// A lossy turn may have as much waiting as a lossy queue; what made more than XON wait, or
// found no room, is counted.
func TestLossyTurnIsBounded(t *testing.T) {
	for _, c := range []struct{ queue, room, pressed int }{{5000, 5, 3}, {2000, 2, 4}} {
		s := newTestSwitch(t, 3, func(k *Config) { k.Buffer.LossyQueue = c.queue })
		s.receive(1, pauseOf(3, 65535, 1))
		s.LossyTurn(pg0, queue1, true)
		f := several(6, 0, 1, 3)
		s.receive(0, f[:c.room]...)
		s.wantNoDrops()
		s.receive(0, f[c.room:]...)
		s.wantDrops(0, map[Reason]uint64{DropLossyTurn: uint64(6 - c.room)})
		if n, want := s.Pressed(pg0, queue1), uint64(c.pressed); n != want {
			t.Errorf("lossy queues of %d bytes: pressed %d times, want %d", c.queue, n, want)
		}
		if n := s.Pressed(pg0, detect.Queue{Port: 2, Priority: 3}); n != 0 {
			t.Errorf("a turn that is not lossy is pressed %d times", n)
		}
		s.receive(1, resumeOf(3, 1))
		s.wantData(1, f[:c.room]...)
		s.receive(0, f[5])
		s.wantData(1, f[5]) // there is room again
		if c := s.Counters(0); c.LosslessLost > 0 {
			t.Errorf("%d frames count as lost, want none", c.LosslessLost)
		}
	}
}

// What would keep the priority group XOFF is judged by what it would be charged: in whole cells.
func TestLossyTurnIsPressedByCells(t *testing.T) {
	s := newTestSwitch(t, 2, func(c *Config) { c.Buffer.Cell = 256 })
	s.receive(1, pauseOf(3, 65535, 1))
	s.LossyTurn(pg0, queue1, true)
	f := several(3, 0, 1, 3)
	s.receive(0, f[:2]...)
	wantPressed := func(want uint64) {
		t.Helper()
		if n := s.Pressed(pg0, queue1); n != want {
			t.Errorf("pressed %d times, want %d", n, want)
		}
	}
	wantPressed(0)
	s.receive(0, f[2])
	wantPressed(1) // 3 x 1024 are above the XON threshold of 3000
	s.LossyTurn(pg0, queue1, false)
	s.LossyTurn(pg0, queue1, true) // what waits counts anew
	s.receive(0, f[0])
	wantPressed(1)
	s.receive(1, resumeOf(3, 1))
	s.wantData(1, f[0], f[1], f[2], f[0])
	s.receive(1, pauseOf(3, 65535, 2))
	s.receive(0, f[:2]...)
	wantPressed(1) // and not when it has left
}

// A flood is charged for the ports that are no lossy turn.
func TestFloodByALossyTurn(t *testing.T) {
	s := newTestSwitch(t, 4, func(c *Config) { c.Buffer.LossyQueue = 4000 })
	s.receive(1, pauseOf(3, 65535, 1))
	s.receive(2, pauseOf(3, 65535, 1))
	s.LossyTurn(pg0, queue1, true)
	s.LossyTurn(pg0, detect.Queue{Port: 3, Priority: 3}, true)
	f := unknown(2, 0)
	s.receive(0, f...)
	s.wantData(3, f...)
	s.wantCharged(pg0, 2000)
	s.receive(2, resumeOf(3, 1))
	s.wantData(2, f...)
	s.wantCharged(pg0, 0) // although they wait at port 1
	s.LossyTurn(pg0, queue1, false)
	s.LossyTurn(pg0, queue1, true)
	s.receive(0, several(3, 0, 1, 3)...)
	s.wantDrop(0, DropLossyTurn) // two waited before it was lossy again
}

// Dropping takes what a lossy turn has waiting along with what is charged.
func TestDropOfALossyTurn(t *testing.T) {
	s, _, _ := stuck(t, 4, 0)
	s.LossyTurn(pg0, queue1, true)
	s.receive(0, several(4, 0, 1, 3)...)
	if n := s.Drop(pg0, queue1); n != 1000 {
		t.Errorf("%d bytes dropped, want the 1000 that make it resume", n)
	}
	s.work()
	s.wantDrops(0, map[Reason]uint64{DropResponse: 1})
	s.link(1, false) // what waits is lost with the link
	s.link(1, true)
	s.receive(0, several(4, 0, 1, 3)...)
	s.wantCharged(pg0, 0)
	s.wantDrops(0, map[Reason]uint64{DropLinkDown: 7})
}

// Dropping leaves a queue alone in which all frames of the priority group are of a lossy turn: they keep
// nobody waiting.
func TestDropOfALossyTurnAlone(t *testing.T) {
	s, _, _ := stuck(t, 0, 0)
	s.LossyTurn(pg0, queue1, true)
	free, held := several(2, 0, 1, 3), several(4, 0, 2, 3)
	s.receive(2, pauseOf(3, 65535, 1))
	s.receive(0, free...)
	s.receive(0, held...)
	s.wantPause(0, 3, 1, itsyhdr.TLV{})
	s.log = nil
	if n := s.Drop(pg0, queue1); n != 0 {
		t.Errorf("%d bytes dropped, want none", n)
	}
	s.work()
	s.wantEvents()
	s.wantNoDrops()
	s.receive(1, resumeOf(3, 1))
	s.wantData(1, free...)
	s.receive(2, resumeOf(3, 1))
}

func (s *testSwitch) wantCharged(b detect.PG, want int) {
	s.t.Helper()
	if n := s.Charged(b); n != want {
		s.t.Errorf("%d bytes charged to %v, want %d", n, b, want)
	}
}

// Avoid takes a port out of a group for what comes in by another, unless it is the
// only one.
func TestAvoid(t *testing.T) {
	s := newTestSwitch(t, 4, func(c *Config) {
		c.MAC = nil
		c.Routes = []Route{{Prefix: prefix("10.9.0.0/16"), Ports: unit.PortsOf(1, 2)}, {Prefix: prefix("10.8.0.0/16"), Ports: unit.PortsOf(1)}}
	})
	ways := func(net string) (n [4]int) {
		for i := range 64 {
			s.receive(0, datagram{dst: portMAC(0), src: peerMAC(0), priority: 3, size: 100, to: fmt.Sprintf("%s.0.%d", net, i)}.frame())
			for p := range unit.Port(4) {
				n[p] += len(s.drain(p))
			}
		}
		return n
	}
	if n := ways("10.9"); n[1] == 0 || n[2] == 0 || n[1]+n[2] != 64 {
		t.Fatalf("by port 1 %d and by port 2 %d of 64", n[1], n[2])
	}
	s.Avoid(0, 1, true)
	if n := ways("10.9"); n[2] != 64 {
		t.Errorf("by port 2 %d of 64, want all", n[2])
	}
	if n := ways("10.8"); n[1] != 64 {
		t.Errorf("by port 1 %d of 64 that have no other way, want all", n[1])
	}
	s.Avoid(0, 1, false)
	if n := ways("10.9"); n[1] == 0 {
		t.Error("port 1 is still avoided")
	}
}

// Flows tells who waits in a queue, exactly, and Reroutable whether there is another way.
func TestFlows(t *testing.T) {
	s, of0, of2 := stuck(t, 2, 3)
	got := s.Flows(nil, queue1)
	sums := map[unit.Port]int{}
	for i, f := range got {
		sums[f.In] += f.Bytes
		if i > 0 && f.Bytes > got[i-1].Bytes {
			t.Errorf("flow %d has more bytes than the one before", i)
		}
	}
	if sums[0] != 1000*len(of0) || sums[2] != 1000*len(of2) {
		t.Errorf("flows %v, want %d frames of port 0 and %d of port 2", got, len(of0), len(of2))
	}
	if s.Reroutable(unit.NoPort, queue1) {
		t.Error("bridged frames have no other way")
	}
}

// Frames of a router that takes one of several ports have another way; those that it only bridges, and
// what is not IPv4, have none, whatever the default route is.
func TestReroutable(t *testing.T) {
	s := newTestSwitch(t, 6, func(c *Config) { withHosts(c); c.TrustPCP = true })
	for _, tc := range []struct {
		what string
		f    []byte
		at   unit.PortSet // the ports of which one gets the frame
		want bool
	}{
		{"routed", datagram{dst: portMAC(0), src: stationMAC(0), from: "10.0.1.10", to: "11.1.1.1"}.frame(), ports(3, 4), true},
		{"by one port", datagram{dst: portMAC(0), src: stationMAC(0), from: "10.0.1.10", to: "10.9.1.1"}.frame(), ports(3), false},
		{"bridged", datagram{dst: stationMAC(1), src: stationMAC(0), from: "10.0.1.10", to: "10.0.1.11"}.frame(), ports(1), false},
		{"not IPv4", plain(stationMAC(1), stationMAC(0), 100), ports(1), false},
	} {
		s.receive(0, tagged(tc.f, 3))
		got, waiting := false, 0
		for p := range unit.Port(s.Ports()) {
			got = got || s.Reroutable(unit.NoPort, detect.Queue{Port: p, Priority: 3})
			if tc.at.Has(p) {
				waiting += len(s.drain(p))
			}
		}
		if got != tc.want || waiting != 1 {
			t.Errorf("%s: reroutable %v, and %d frames at the ports %b; want %v and 1", tc.what, got, waiting, tc.at, tc.want)
		}
	}
}

// A message of a detector's own format reaches the far end's, and is counted if that
// does not know it.
func TestFrames(t *testing.T) {
	s := newTestSwitch(t, 2, nil)
	if !s.SendFrame(1, []byte{1, 2, 3}) {
		t.Fatal("refused")
	}
	s.work()
	sent := s.transmit(1, 1)
	if len(sent) != 1 || len(sent[0]) != ether.MinLen || !itsyhdr.IsMessage(sent[0]) || sent[0][14] != 1 {
		t.Fatalf("sent %s", frameText(sent))
	}
	s.receive(0, sent[0])
	s.wantDrop(0, DropMessage)

	var heard []byte
	p := &peer{hear: func(b []byte) bool { heard = append([]byte{}, b...); return b[0] == 1 }}
	s = newTestSwitch(t, 2, func(c *Config) {
		c.Detector = func(v detect.View, a detect.Actions) detect.Detector { return p }
	})
	s.receive(0, sent[0])
	if len(heard) != ether.MinLen-ether.HeaderLen || heard[2] != 3 || s.Counters(0).RxMessages != 1 {
		t.Errorf("heard %x, %d messages", heard, s.Counters(0).RxMessages)
	}
	s.receive(0, edit(sent[0], 14, 9))
	s.wantDrop(0, DropMessage)
}

// peer is a detector with messages of its own.
type peer struct {
	detect.None
	hear func([]byte) bool
}

func (p *peer) Frame(_ unit.Time, _ unit.Port, payload []byte) bool { return p.hear(payload) }

// act takes an action, or takes one back.
func (c *chaos) act() {
	p, o := unit.Port(c.rng.IntN(4)), unit.Port(c.rng.IntN(4))
	priority := unit.Priority(3 + c.rng.IntN(2))
	b, q, on := detect.PG{Port: p, Priority: priority}, detect.Queue{Port: o, Priority: priority}, c.rng.IntN(3) == 0
	k := c.rng.IntN(10)
	c.where += fmt.Sprintf(", action %d of %v at %v %v", k, b, q, on)
	switch k {
	case 0:
		before := c.Charged(b)
		if n := c.Drop(b, q); !c.flood && before-c.Charged(b) != n {
			c.t.Fatalf("%s: %d bytes dropped, the priority group fell from %d to %d", c.where, n, before, c.Charged(b))
		}
	case 1:
		c.Force(b, q, c.rng.IntN(4000))
	case 2:
		c.Ignore(q, on)
	case 3:
		c.Discard(q, on)
	case 4:
		c.Restrict(b, q, on)
	case 5:
		c.Extra(b, c.rng.IntN(3)*2000)
	case 6:
		c.Police(p, detect.FlowID(c.rng.Uint32()), unit.Rate(c.rng.IntN(2))*mega)
	case 7:
		c.Lossy(q, on)
	case 8:
		c.LossyTurn(b, q, on)
	case 9:
		c.Flush(q, on)
	}
}

// undo takes every action back.
func (c *chaos) undo() {
	for p := range unit.Port(4) {
		for priority := range unit.Priority(unit.Priorities) {
			b, q := detect.PG{Port: p, Priority: priority}, detect.Queue{Port: p, Priority: priority}
			c.Ignore(q, false)
			c.Discard(q, false)
			c.Flush(q, false)
			c.Lossy(q, false)
			c.Restrict(b, q, false)
			for o := range unit.Port(4) {
				c.LossyTurn(b, detect.Queue{Port: o, Priority: priority}, false)
			}
			if c.Lossless().Has(priority) {
				c.Extra(b, 0)
			}
		}
	}
	c.work()
}

// All policers there are at the port, none of them for the frame.
func BenchmarkPolicers(b *testing.B) {
	s := newTestSwitch(b, 2, nil)
	for i := range policersMax {
		s.Police(0, detect.FlowID(i), mega)
	}
	fs := s.fill(0, between(0, 1, 3, 1))
	for b.Loop() {
		s.overRate(&s.ports[0], fs[0])
	}
	s.free(fs[0])
}

// A queue of as many flows as frames.
func BenchmarkFlows(b *testing.B) {
	const n = 4000
	s := newTestSwitch(b, 2, func(c *Config) { c.Slots, c.Buffer.Shared, c.Buffer.Profile.StaticTh = 2*n, 1<<20, 1<<20 })
	for id := range uint32(n) {
		s.receive(0, datagram{dst: stationMAC(1), src: stationMAC(0), priority: 3, id: id, sport: uint16(id + 1), size: 60}.frame())
	}
	var flows []detect.Flow
	for b.Loop() {
		flows = s.Flows(flows[:0], queue1)
	}
	if len(flows) != n {
		b.Fatalf("%d flows, want %d", len(flows), n)
	}
}
