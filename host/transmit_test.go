package host

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"softswitch/event"
	"softswitch/internal/ether"
	"softswitch/internal/testkit"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// frameTime of 1514 bytes at 100 Mbit/s: (1514 + 24) x 8 bits x 10 ns.
const frameTime = 123_040 * unit.Nanosecond

func TestBuildIsTheSlowTwin(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 500 {
		f := flow(r.Uint32(), unit.Priority(r.IntN(8)), 0)
		f.Frame, f.TTL, f.SrcPort = FrameMin+r.IntN(1514-FrameMin+1), 1+r.IntN(255), uint16(r.Uint32())
		h := newTestHost(t, testConfig(f))
		seq, now := r.Uint64(), unit.Time(r.Int64())
		got := bytes.Repeat([]byte{0xee}, f.Frame) // a slot that was used before
		h.build(got, &h.nics[0], &f, f.Frame, seq, now)
		want := slowFrame(ownMAC, gatewayMAC, ownIP, peerIP, f.Priority, uint8(f.TTL), f.SrcPort, f.Frame, f.Number, seq, now)
		n := headerLen + RecordLen
		if !bytes.Equal(got[:n], want[:n]) {
			t.Fatalf("seed %d: build:\n got %x\nwant %x", seed, got[:n], want[:n])
		}
	}
}

func TestLineRate(t *testing.T) {
	h := startHost(t, testConfig(flow(1, 3, 0)))
	h.run(10*frameTime - 1)
	wantTimes(t, "a flow at line rate leaves", h.takeTimes(1), every(0, frameTime, 10))
}

func TestRatedFlow(t *testing.T) {
	h := startHost(t, testConfig(flow(1, 3, 50*mbit)))
	h.run(10 * 2 * frameTime)
	wantTimes(t, "a flow at half the rate of the line leaves", h.takeTimes(1), every(0, 2*frameTime, 11))
}

func TestStartAndStop(t *testing.T) {
	f := flow(1, 3, 50*mbit)
	f.Start, f.Stop = ms, ms+4*2*frameTime
	h := newTestHost(t, testConfig(f))
	h.run(5 * ms)
	if out := h.take(); len(out) > 0 {
		t.Fatalf("%d frames left before Start", len(out))
	}
	h.Start(h.now)
	h.run(10 * ms)
	// The fifth would leave at Stop exactly, and so does not.
	wantTimes(t, "from Start to Stop frames leave", h.takeTimes(1), every(5*ms+ms, 2*frameTime, 4))
	if h.next != unit.Never {
		t.Errorf("after the flow's stop the host wants to be asked at %d", h.next)
	}
	if s := h.Senders(); s[0].Frames != 4 || s[0].Bytes != 4*1514 {
		t.Errorf("Senders: %+v, want 4 frames of 1514 bytes", s)
	}
}

// TestBytes: a flow is over when its bytes are sent; its last frame is shorter, but a
// whole one. The next Start sends them again.
func TestBytes(t *testing.T) {
	for _, c := range []struct {
		bytes uint64
		want  []int // lengths of frames
	}{
		{1, []int{FrameMin}},
		{1514, []int{1514}},
		{1515, []int{1514, FrameMin}},
		{2 * 1514, []int{1514, 1514}},
		{2*1514 + 300, []int{1514, 1514, 300}},
	} {
		f := flow(1, 3, 0)
		f.Size = int(c.bytes)
		h := startHost(t, testConfig(f))
		for round := range 2 {
			h.run(5 * ms)
			var got []int
			var last unit.Time
			for _, d := range h.take() {
				got, last = append(got, len(d.data)), d.at
				if total := int(binary.BigEndian.Uint16(d.data[ether.HeaderLen+2:])); total != len(d.data)-ether.HeaderLen {
					t.Errorf("%d bytes: a frame of %d bytes has an IPv4 length of %d", c.bytes, len(d.data), total)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%d bytes, round %d: frames of %v bytes leave, want %v", c.bytes, round, got, c.want)
			}
			if h.next != unit.Never {
				t.Errorf("%d bytes: after the last frame, at %d, the host wants to be asked at %d", c.bytes, last, h.next)
			}
			h.Start(h.now)
		}
		sum := 0
		for _, n := range c.want {
			sum += 2 * n
		}
		if s := h.Senders()[0]; s.Frames != uint64(2*len(c.want)) || s.Bytes != uint64(sum) {
			t.Errorf("%d bytes: Senders says %d frames, %d bytes; want %d, %d", c.bytes, s.Frames, s.Bytes, 2*len(c.want), sum)
		}
	}
}

// TestStartAfterStop: the time line begins anew, with all flows and acts of it.
func TestStartAfterStop(t *testing.T) {
	f := flow(1, 3, 50*mbit)
	f.Start, f.Stop = ms, ms+4*2*frameTime
	cfg := testConfig(f, flow(2, 0, 50*mbit))
	cfg.Acts = []Act{{At: 2 * ms, Do: Storm, Priority: 4}}
	h := startHost(t, cfg)
	h.run(4 * ms)
	h.Stop()
	h.Do(h.now, Act{Do: Normal})
	h.run(10 * ms)
	h.take()
	h.Start(h.now)
	h.run(11 * ms)
	if got := len(h.takeTimes(2)); got == 0 {
		t.Error("a flow without an end does not begin again")
	}
	h.run(20 * ms)
	if s := h.Senders(); s[0].Frames != 8 {
		t.Errorf("%d frames of the flow that ends, want 4 each time", s[0].Frames)
	}
	if got := h.Counters().TxPause[4]; got != 2 {
		t.Errorf("%d storms began, want one each time", got)
	}
}

func TestStartInTheFutureAndStopNow(t *testing.T) {
	h := newTestHost(t, testConfig(flow(1, 3, 0), flow(2, 0, 0)))
	h.Start(h.now + 3*ms)
	h.run(3*ms + 3*frameTime)
	wantTimes(t, "flow 1 leaves", h.takeTimes(1), []unit.Time{3 * ms, 3*ms + 2*frameTime})
	h.Stop()
	h.run(10 * ms)
	if out := h.take(); len(out) > 0 {
		t.Errorf("%d frames left after Stop", len(out))
	}
}

func TestFlowsShareInTurn(t *testing.T) {
	h := startHost(t, testConfig(flow(1, 3, 0), flow(2, 4, 0), flow(3, 0, 0)))
	turns := func(frames int) (got []uint32) {
		t.Helper()
		h.take()
		h.run(unit.Time(frames) * frameTime)
		for _, d := range h.take() {
			n, _, _ := d.flow()
			got = append(got, n)
		}
		return got
	}
	if got, want := turns(6), []uint32{2, 3, 1, 2, 3, 1}; !slices.Equal(got, want) {
		t.Errorf("flows at line rate leave in the order %v, want %v", got, want)
	}
	h.pause(4, 65535)
	if got, want := turns(4), []uint32{3, 1, 3, 1}; !slices.Equal(got, want) {
		t.Errorf("with priority 4 paused flows leave in the order %v, want %v", got, want)
	}
}

func TestSequenceHasNoGaps(t *testing.T) {
	h := startHost(t, testConfig(flow(1, 3, 0), flow(2, 4, 30*mbit)))
	h.run(5 * ms)
	h.pause(3, 1000)
	h.run(10 * ms)
	h.link(false)
	h.run(5 * ms)
	h.link(true)
	h.run(5 * ms)
	next := map[uint32]uint64{}
	for _, d := range h.take() {
		n, seq, _ := d.flow()
		if seq != next[n] {
			t.Fatalf("flow %d: frame %d left after frame %d", n, seq, next[n])
		}
		next[n]++
	}
	if next[1] < 80 || next[2] < 40 {
		t.Errorf("frames sent by flow: %v, want more of both", next)
	}
}

// 3 + 5 of 10 parts of the line: neither disturbs the other.
func TestRatedFlowsKeepTheirRates(t *testing.T) {
	h := startHost(t, testConfig(flow(1, 3, 30*mbit), flow(2, 4, 50*mbit)))
	h.run(unit.Second)
	for i, rate := range []unit.Rate{30 * mbit, 50 * mbit} {
		want := int(unit.Second / rate.FrameTime(1514))
		if got := int(h.Senders()[i].Frames); got < want || got > want+1 {
			t.Errorf("a flow of %d Mbit/s sent %d frames in a second, want %d", rate/mbit, got, want)
		}
	}
}

func TestPausedPriorityStops(t *testing.T) {
	h := startHost(t, testConfig(flow(1, 3, 0), flow(2, 4, 0)))
	h.run(ms)
	h.take()
	begin := h.now - unit.Second
	// 100 quanta of 512 bits at 10 ns a bit.
	const long = 512 * us
	h.pause(3, 100)
	h.run(long + 2*frameTime)
	for _, d := range h.take() {
		if n, _, _ := d.flow(); n == 1 && d.at-unit.Second > begin && d.at-unit.Second < begin+long {
			t.Errorf("a frame of the paused priority left %d ns after the pause", d.at-unit.Second-begin)
		}
	}
	wantTimes(t, "paused", h.events(event.Paused, 3), []unit.Time{begin})
	wantTimes(t, "expired", h.events(event.Expired, 3), []unit.Time{begin + long})
	if k := h.Counters(); k.RxPause[3] != 1 || k.PausedTime[3] != long {
		t.Errorf("counters: %d pauses, paused for %d ns; want 1 and %d", k.RxPause[3], k.PausedTime[3], long)
	}
}

func TestExpiryResumesAtOnce(t *testing.T) {
	h := startHost(t, testConfig(flow(1, 3, 0)))
	h.run(frameTime / 2)
	h.pause(3, 100)
	h.run(ms)
	wantTimes(t, "frames leave before the pause and at its expiry, 512 us later", h.takeTimes(1)[:2], []unit.Time{0, frameTime/2 + 512*us})
}

func TestResumeAndRepeatedPause(t *testing.T) {
	h := startHost(t, testConfig(flow(1, 3, 0)))
	h.run(frameTime / 2)
	h.pause(3, 100)
	h.run(500 * us)
	h.pause(3, 100) // extends the first, which had 12 us to go
	h.run(500 * us)
	if k := h.Counters(); k.PausedTime[3] != 0 || k.PausedSince[3] != unit.Second+frameTime/2 {
		t.Errorf("while paused: %d ns, and since %d; want 0 and %d", k.PausedTime[3], k.PausedSince[3], unit.Second+frameTime/2)
	}
	h.take()
	h.pause(3, 0)
	h.run(0)
	at := frameTime/2 + ms
	wantTimes(t, "a frame leaves at the resume", h.takeTimes(1), []unit.Time{at})
	wantTimes(t, "paused once", h.events(event.Paused, 3), []unit.Time{frameTime / 2})
	wantTimes(t, "resumed", h.events(event.Resumed, 3), []unit.Time{at})
	wantTimes(t, "expired", h.events(event.Expired, 3), nil)
	h.pause(3, 0) // is not paused: nothing happens
	if k := h.Counters(); k.RxPause[3] != 2 || k.RxResume[3] != 2 || k.PausedTime[3] != ms || k.PausedSince[3] != 0 {
		t.Errorf("counters: %d pauses, %d resumes, paused for %d ns; want 2, 2 and %d", k.RxPause[3], k.RxResume[3], k.PausedTime[3], ms)
	}
}

func TestOnlyEnabledLosslessPrioritiesPause(t *testing.T) {
	h := startHost(t, testConfig(flow(1, 3, 0), flow(2, 0, 0)))
	f := pfcframe.Frame{Enable: 1<<0 | 1<<4} // 0 is lossy; 3 has a time but is not enabled
	f.Quanta = [8]uint16{0: 65535, 3: 65535, 4: 65535}
	b := make([]byte, pfcframe.Len)
	pfcframe.Put(b, f)
	h.receive(b)
	h.take()
	h.run(4 * frameTime)
	if out := h.take(); len(out) != 4 {
		t.Errorf("%d frames left in 4 frame times, want 4", len(out))
	}
	wantTimes(t, "priority 4 is paused", h.events(event.Paused, 4), []unit.Time{0})
}

func TestStorm(t *testing.T) {
	c := testConfig()
	c.Acts = []Act{{At: ms, Do: Storm, Priority: 3}, {At: 5*ms + 500*us, Do: Normal}}
	h := startHost(t, c)
	h.run(20 * ms)
	wantTimes(t, "pause", h.events(event.PauseSent, 3), []unit.Time{ms})
	wantTimes(t, "refreshes", h.events(event.RefreshSent, 3), every(2*ms, ms, 4))
	wantTimes(t, "resume", h.events(event.ResumeSent, 3), []unit.Time{5*ms + 500*us})
	out := h.take()
	if len(out) != 6 {
		t.Fatalf("%d frames left, want 6", len(out))
	}
	for i, d := range out {
		f, pad, err := pfcframe.Parse(d.data)
		if err != nil {
			t.Fatalf("frame %d: %v", i, err)
		}
		want := pfcframe.Frame{Src: ownMAC.Bytes(), Enable: 1 << 3}
		if i < 5 {
			want.Quanta[3] = 65535
		}
		if f != want {
			t.Errorf("frame %d is %+v, want %+v", i, f, want)
		}
		if !bytes.Equal(pad, make([]byte, pfcframe.PadLen)) {
			t.Errorf("frame %d carries something in its padding: %x", i, pad)
		}
	}
	if k := h.Counters(); k.TxPause[3] != 1 || k.TxRefresh[3] != 4 || k.TxResume[3] != 1 {
		t.Errorf("counters: %d pauses, %d refreshes, %d resumes; want 1, 4, 1", k.TxPause[3], k.TxRefresh[3], k.TxResume[3])
	}
}

// A pause waits for the frame that is on the wire, and goes before the next.
func TestPauseGoesFirst(t *testing.T) {
	h := startHost(t, testConfig(flow(1, 0, 0)))
	h.run(frameTime / 3)
	h.Do(h.now, Act{Do: Storm, Priority: 4})
	h.work()
	h.transmit()
	h.run(2 * frameTime)
	out := h.take()
	// 60 bytes take (60 + 24) x 8 x 10 ns.
	for i, want := range []unit.Time{0, frameTime, frameTime + 6720} {
		if at := out[i].at - unit.Second; at != want || pfcframe.IsMACControl(out[i].data) != (i == 1) {
			t.Errorf("frame %d left at %d, MAC Control %v; want %d, a pause between two of the flow", i, at, pfcframe.IsMACControl(out[i].data), want)
		}
	}
}

func TestLinkDownAndUp(t *testing.T) {
	h := startHost(t, testConfig(flow(1, 3, 0), flow(2, 4, 10*mbit)))
	h.Do(h.now, Act{Do: Storm, Priority: 3})
	h.run(ms)
	h.pause(3, 65535)
	h.run(ms)
	h.take()
	h.log = nil

	h.link(false)
	h.run(50 * ms)
	if out := h.take(); len(out) > 0 {
		t.Errorf("%d frames left while the link was down", len(out))
	}
	wantTimes(t, "the pause ends with the link", h.events(event.Expired, 3), []unit.Time{2 * ms})

	h.link(true)
	h.run(4 * frameTime)
	wantTimes(t, "the storm pauses anew", h.events(event.PauseSent, 3), []unit.Time{52 * ms})
	// Nothing is made up for: the pause, then the line is shared as always.
	var control, first, second int
	for _, d := range h.take() {
		switch n, _, _ := d.flow(); n {
		case 1:
			first++
		case 2:
			second++
		default:
			control++
		}
	}
	if control != 1 || first != 3 || second != 1 {
		t.Errorf("after the link came up %d pauses, %d and %d frames left; want 1, 3, 1", control, first, second)
	}
	if h.Counters().LinkDown != 1 {
		t.Errorf("the link went down %d times, want 1", h.Counters().LinkDown)
	}
}

// A driver that is late, with a granularity of 200 us, sends bursts; the average stays. A
// full line is behind for good if that is more than it may make up for at once: 100 us
// here, half a granularity, or on a slower line the 1077 us of 7/8 of 15 KiB at 100 Mbit/s.
func TestLateDriverKeepsTheRate(t *testing.T) {
	for _, tt := range []struct {
		name  string
		line  unit.Rate
		flows []unit.Rate
		late  unit.Time
	}{
		{"line rate", 100 * mbit, []unit.Rate{0}, 500 * us},
		{"half the line", 100 * mbit, []unit.Rate{50 * mbit}, 500 * us},
		{"two that fill nine tenths", 100 * mbit, []unit.Rate{30 * mbit, 60 * mbit}, 500 * us},
		{"a line of 1 Gbit/s", 1000 * mbit, []unit.Rate{0}, 100 * us},
		{"an unlimited line", 0, []unit.Rate{200 * mbit}, 500 * us},
	} {
		t.Run(tt.name, func(t *testing.T) {
			seed := testkit.Seed(t)
			r := rand.New(rand.NewPCG(seed, 0))
			c := testConfig()
			c.Rate, c.Granularity, c.Batch = tt.line, 200*us, 64
			for i, rate := range tt.flows {
				c.Flows = append(c.Flows, flow(uint32(i), 3, rate))
			}
			h := newTestHost(t, c)
			h.late = func() unit.Time { return unit.Time(r.Int64N(int64(tt.late))) }
			h.Start(h.now)
			h.run(unit.Second)
			for i, rate := range tt.flows {
				if rate == 0 {
					rate = tt.line
				}
				want := float64(unit.Second) / float64(rate.FrameTime(1514))
				if got := float64(h.Senders()[i].Frames); got < 0.99*want || got > 1.01*want {
					t.Errorf("seed %d: a flow of %d Mbit/s sent %.0f frames in a second, want %.0f within 1%%", seed, rate/mbit, got, want)
				}
			}
			wantBursts(t, h, tt.line)
		})
	}
}

// wantBursts checks that what left by any time is at most what the line could have
// carried and what a late driver may make up for.
func wantBursts(t *testing.T, h *testHost, line unit.Rate) {
	t.Helper()
	if line == 0 {
		return
	}
	credit := lateMax*h.cfg.Granularity + line.FrameTime(1514)
	var busy unit.Time // until when the line would be busy, had each frame waited
	for _, d := range h.out {
		busy = max(busy, d.at) + line.FrameTime(len(d.data))
		if over := busy - d.at; over > credit+line.FrameTime(1514) {
			t.Fatalf("at %d the host is %d ns ahead of its line, want at most %d", d.at, over, credit)
		}
	}
}

func TestLateBeyondCreditIsNotMadeUpFor(t *testing.T) {
	c := testConfig(flow(1, 3, 0))
	c.Granularity = 200 * us
	h := startHost(t, c)
	h.run(ms)
	h.take()
	h.now += 100 * ms // the driver slept
	h.transmit()
	// And the frame that uses its last bit.
	if got, most := len(h.take()), int(h.nics[0].wire.Burst(h.cfg.Rate, 200*us)*8/7/frameTime)+1; got > most || got < most-1 {
		t.Errorf("after 100 ms of sleep %d frames left at once, want %d", got, most)
	}
}

// TestLeftOut: what a flow does not send since the driver was late is told, to a frame's time and what may
// be made up for; what a pause or other flows withhold is not.
func TestLeftOut(t *testing.T) {
	const slept = 100 * ms
	stopping := flow(1, 3, 10*mbit)
	stopping.Stop = 20 * ms
	sized := flow(1, 3, 10*mbit)
	sized.Size = 1514 * 10
	frame := (10 * mbit).FrameTime(1514)
	for _, c := range []struct {
		name        string
		flows       []Flow
		awake       unit.Time // before the driver sleeps for 100 ms
		pause       uint16    // quanta of 5.12 us, as it falls asleep
		least, most unit.Time
	}{
		{name: "line rate", flows: []Flow{flow(1, 3, 0)}, least: slept - frame, most: slept},
		{name: "a tenth of it", flows: []Flow{flow(1, 3, 10*mbit)}, least: slept - 2*frame, most: slept},
		{name: "until it stops", flows: []Flow{stopping}, least: 15*ms - frame, most: 15 * ms},
		{name: "paused all the time", flows: []Flow{flow(1, 3, 0)}, pause: 65535},
		{name: "paused for 51.2 ms of it", flows: []Flow{flow(1, 3, 0)}, pause: 10_000, least: slept - 51_200*us - frame, most: slept - 51_200*us},
		{name: "all sent", flows: []Flow{sized}, awake: slept},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := testConfig(c.flows...)
			cfg.Granularity = 200 * us
			h := startHost(t, cfg)
			h.run(5*ms + c.awake)
			if c.pause > 0 {
				h.pause(3, c.pause)
			}
			h.now += slept
			h.transmit()
			h.run(5 * ms)
			for _, f := range h.Senders() {
				if least := c.least - h.patience; f.LeftOut < max(0, least) || f.LeftOut > c.most {
					t.Errorf("flow %d left out %d ns, want %d to %d", f.Number, f.LeftOut, least, c.most)
				}
			}
		})
	}
}

// TestNothingLeftOut: of a driver that is late by less than flows may make up for nothing is left out, with
// more flows than the wire carries and pauses.
func TestNothingLeftOut(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	cfg := testConfig(flow(1, 3, 0), flow(2, 3, 0), flow(3, 4, 60*mbit), flow(4, 4, mbit))
	cfg.Granularity = 200 * us
	h := startHost(t, cfg)
	h.late = func() unit.Time { return unit.Time(r.Int64N(int64(200 * us))) }
	for range 50 {
		h.run(unit.Time(r.Int64N(int64(10 * ms))))
		h.pause(3, uint16(r.IntN(1000)))
	}
	for _, f := range h.Senders() {
		if f.LeftOut != 0 || f.Frames == 0 {
			t.Errorf("flow %d left out %d ns, and sent %d frames", f.Number, f.LeftOut, f.Frames)
		}
	}
}

func TestNothingToSendIsNoDeadline(t *testing.T) {
	h := startHost(t, testConfig())
	if h.next != unit.Never {
		t.Errorf("an idle host wants to be asked at %d", h.next)
	}
	h = startHost(t, testConfig(flow(1, 3, 0)))
	h.pause(3, 100)
	h.run(ms / 4)
	if want := unit.Second + 512*us; h.next != want {
		t.Errorf("a paused host wants to be asked at %d, want %d, the expiry", h.next, want)
	}
}

func TestMAC(t *testing.T) {
	h := newTestHost(t, testConfig(flow(1, 3, 0)))
	h.SetMAC(0, 0x0200000000aa)
	h.Start(h.now)
	h.run(0)
	if src := ether.Src(h.take()[0].data); src != 0x0200000000aa {
		t.Errorf("frames leave from %v, want the interface's address", src)
	}
}

// TestShortNumber: a packet that is too short for a record is numbered by its IPv4 header, as
// long as it comes within half of what fits there, and its checksum is right.
func TestShortNumber(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	ip := make([]byte, ether.IPv4Len)
	ether.PutIPv4(ip, 0, 64, ether.ProtoUDP, 60, 1, 2)
	for range 10_000 {
		next := r.Uint64N(1 << r.IntN(40))
		seq := max(0, int64(next)+r.Int64N(1<<16)-1<<15)
		ether.SetID(ip, shortNumber(uint64(seq)))
		if got := fullNumber(ip, next); got != uint64(seq) || ether.Checksum(ip) != 0 {
			t.Fatalf("seed %d: packet %d where %d is next: %d, checksum %04x", seed, seq, next, got, ether.Checksum(ip))
		}
	}
	ether.SetID(ip, 0xffff)
	if got := fullNumber(ip, 0); got != 0 {
		t.Errorf("what is no packet before the first is taken for packet %d", got)
	}
}

// TestActsAreTold: a host says when it begins to drain slowly and when it ends, once.
func TestActsAreTold(t *testing.T) {
	c := testConfig()
	c.Acts = []Act{{At: ms, Do: Normal}, {At: 2 * ms, Do: Slow, Rate: 4_000_000}, {At: 3 * ms, Do: Normal}, {At: 4 * ms, Do: Normal}}
	h := startHost(t, c)
	h.run(5 * ms)
	wantTimes(t, "slow", h.events(event.HostSlow, 0), []unit.Time{2 * ms})
	wantTimes(t, "slow no more", h.events(event.HostSlowOver, 0), []unit.Time{3 * ms})
}
