package host

import (
	"bytes"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"softswitch/buffer"
	"softswitch/event"
	"softswitch/internal/ether"
	"softswitch/internal/testkit"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// slowBuffer is a receive buffer in exact fractions: bytes that drain at a rate.
type slowBuffer struct {
	fill *big.Rat // bytes
	at   unit.Time
	rate unit.Rate
}

func newSlowBuffer(at unit.Time, rate unit.Rate) *slowBuffer {
	return &slowBuffer{new(big.Rat), at, rate}
}

// level is the fill at a time.
func (b *slowBuffer) level(at unit.Time) *big.Rat {
	out := big.NewRat(int64(b.rate), 8*int64(unit.Second))
	out.Mul(out, new(big.Rat).SetInt64(int64(at-b.at)))
	left := new(big.Rat).Sub(b.fill, out)
	if left.Sign() < 0 {
		return new(big.Rat)
	}
	return left
}

func (b *slowBuffer) add(at unit.Time, n int) {
	b.fill, b.at = b.level(at).Add(b.level(at), new(big.Rat).SetInt64(int64(n))), at
}

// until is the first whole nanosecond at which the fill is at most n.
func (b *slowBuffer) until(n int) unit.Time {
	over := new(big.Rat).Sub(b.fill, new(big.Rat).SetInt64(int64(n)))
	ns := over.Mul(over, big.NewRat(8*int64(unit.Second), int64(b.rate)))
	q, r := new(big.Int).QuoRem(ns.Num(), ns.Denom(), new(big.Int))
	if r.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return b.at + unit.Time(q.Int64())
}

func TestSlowReceiver(t *testing.T) {
	for _, rate := range []unit.Rate{10 * mbit, 7_654_321, 1} {
		h := startHost(t, testConfig())
		h.Do(h.now, Act{Do: Slow, Rate: rate})
		model := newSlowBuffer(h.now, rate)
		xoff := unit.Time(-1)
		for seq := uint64(0); xoff < 0; seq++ {
			h.receive(arrival(3, 1, seq, 1000))
			model.add(h.now, 1000)
			if model.fill.Cmp(big.NewRat(12_000, 1)) >= 0 {
				xoff = h.now - unit.Second
			} else {
				h.run(100*us + 1)
			}
		}
		wantTimes(t, "XOFF at three quarters", h.events(event.PauseSent, 3), []unit.Time{xoff})

		xon := model.until(8000) - unit.Second
		h.run(min(xon-xoff, unit.Second) - 1)
		wantTimes(t, "no XON before a half", h.events(event.ResumeSent, 3), nil)
		if rate == 1 { // for ever
			wantTimes(t, "refreshes", h.events(event.RefreshSent, 3), every(xoff+ms, ms, 999))
			continue
		}
		h.run(1)
		wantTimes(t, "XON at a half", h.events(event.ResumeSent, 3), []unit.Time{xon})
		wantTimes(t, "refreshes", h.events(event.RefreshSent, 3), every(xoff+ms, ms, int((xon-xoff-1)/ms)))
		h.run(10 * ms)
		if got, want := len(h.take()), 2+int((xon-xoff-1)/ms); got != want {
			t.Errorf("%d PFC frames left, want %d: none after the resume", got, want)
		}
		if k := h.Counters(); k.Overflow != 0 {
			t.Errorf("%d frames overflowed the receive buffer", k.Overflow)
		}
	}
}

func TestSlowReceiverOverflows(t *testing.T) {
	h := startHost(t, testConfig())
	h.Do(h.now, Act{Do: Slow, Rate: 1})
	for seq := range uint64(20) {
		h.receive(arrival(3, 1, seq, 1000))
	}
	if k := h.Counters(); k.Overflow != 4 || k.TxPause[3] != 1 {
		t.Errorf("20 frames of 1000 bytes into 16,000 bytes: %d lost, %d pauses; want 4 and 1", k.Overflow, k.TxPause[3])
	}
	if got := h.Receivers()[0]; got.Frames != 16 || got.Overflow != 4 || h.Counters().OverflowOf[3] != 4 {
		t.Errorf("%d frames received, %d of the flow and %d of the priority lost; want 16, 4, 4", got.Frames, got.Overflow, h.Counters().OverflowOf[3])
	}
	h.Do(h.now, Act{Do: Normal})
	h.run(ms)
	h.receive(arrival(3, 1, 20, 1000))
	if r := h.Receivers()[0]; r.Frames != 17 || r.Lost != 4 {
		t.Errorf("after Normal %d frames were received and %d lost, want 17 and 4", r.Frames, r.Lost)
	}
	if k := h.Counters(); k.TxResume[3] != 1 {
		t.Errorf("Normal sent %d resumes, want 1", k.TxResume[3])
	}
}

// TestSlowReceiverWithSlack: what a full buffer would have dropped is taken, and the pause is
// sent where it was.
func TestSlowReceiverWithSlack(t *testing.T) {
	c := testConfig()
	c.RxSlack = 3000
	h := startHost(t, c)
	h.Do(h.now, Act{Do: Slow, Rate: 1})
	for seq := range uint64(20) {
		h.receive(arrival(3, 1, seq, 1000))
		if want := uint64(0); seq == 10 && h.Counters().TxPause[3] != want {
			t.Errorf("after %d frames %d pauses, want %d", seq+1, h.Counters().TxPause[3], want)
		}
		if want := uint64(1); seq == 11 && h.Counters().TxPause[3] != want {
			t.Errorf("after %d frames %d pauses, want %d", seq+1, h.Counters().TxPause[3], want)
		}
	}
	if k := h.Counters(); k.Overflow != 1 {
		t.Errorf("20 frames of 1000 bytes into 16,000 and 3000: %d lost, want 1", k.Overflow)
	}
}

func TestSlowReceiverOfLossyPrioritySendsNoPause(t *testing.T) {
	h := startHost(t, testConfig())
	h.Do(h.now, Act{Do: Slow, Rate: 1})
	for seq := range uint64(20) {
		h.receive(arrival(0, 1, seq, 1000))
	}
	h.run(ms)
	if out := h.take(); len(out) != 0 || h.Counters().Overflow != 4 {
		t.Errorf("%d frames left and %d were lost, want 0 and 4", len(out), h.Counters().Overflow)
	}
}

// A product of a long idle time and a high rate has no room in 64 bits.
func TestSlowReceiverAfterLongIdleness(t *testing.T) {
	h := startHost(t, testConfig())
	h.Do(h.now, Act{Do: Slow, Rate: 10_000 * mbit})
	for idle := unit.Second; idle < 1000*unit.Second; idle *= 3 {
		h.receive(arrival(3, 1, 0, 1000))
		h.now += idle
		h.receive(arrival(3, 1, 0, 1000))
		if got, want := h.nics[0].rx[3].fill, int64(1000*8*bit); got != want {
			t.Fatalf("after %d s of idleness the buffer holds %d, want %d", idle/unit.Second, got, want)
		}
	}
	if k := h.Counters(); k.Overflow != 0 || k.TxPause[3] != 0 {
		t.Errorf("%d frames lost, %d pauses sent; want none", k.Overflow, k.TxPause[3])
	}
}

func TestLinkUpRepeatsThePause(t *testing.T) {
	h := startHost(t, testConfig())
	h.Do(h.now, Act{Do: Slow, Rate: 1})
	for seq := range uint64(12) {
		h.receive(arrival(4, 1, seq, 1000))
	}
	h.link(false)
	h.run(5 * ms)
	h.link(true)
	wantTimes(t, "a full buffer pauses, and again when the link is back", h.events(event.PauseSent, 4), []unit.Time{0, 5 * ms})
}

// pair is two hosts at the ends of a wire with a delay, in virtual time.
type pair struct {
	hosts [2]*testHost
	wire  [2][]departure // to host i, by time of arrival
	delay unit.Time
}

// run lets both hosts run for d.
func (p *pair) run(d unit.Time) {
	until := p.hosts[0].now + d
	for at := p.hosts[0].now; ; {
		p.step(at)
		if at == until {
			return
		}
		at = until
		for i, h := range p.hosts {
			at = min(at, h.next)
			if len(p.wire[i]) > 0 {
				at = min(at, p.wire[i][0].at)
			}
		}
	}
}

// step is what happens at one instant: frames arrive, then frames leave.
func (p *pair) step(at unit.Time) {
	for i, h := range p.hosts {
		h.now = at
		for len(p.wire[i]) > 0 && p.wire[i][0].at <= at {
			h.receive(p.wire[i][0].data)
			p.wire[i] = p.wire[i][1:]
		}
		h.transmit()
		for _, d := range h.take() {
			d.at += h.cfg.Rate.FrameTime(len(d.data)) + p.delay
			p.wire[1-i] = append(p.wire[1-i], d)
		}
	}
}

// newPair is a sender at line rate and a receiver that drains at a rate.
func newPair(t *testing.T, delay unit.Time, drain unit.Rate, frame int) *pair {
	f := flow(1, 3, 0)
	f.Frame = frame
	receiver := testConfig()
	receiver.Address, receiver.MAC = peerIP, gatewayMAC
	p := &pair{delay: delay, hosts: [2]*testHost{newTestHost(t, testConfig(f)), newTestHost(t, receiver)}}
	p.hosts[0].Start(unit.Second)
	p.hosts[1].Do(unit.Second, Act{Do: Slow, Rate: drain})
	return p
}

// From the frame that makes XOFF to the last that still comes: one on the wire at
// the receiver's pause (6.72 us), the wire twice, and one that the sender had begun.
func headroom(delay unit.Time, frame int) int {
	line := 100 * mbit
	t := 2*delay + line.FrameTime(pfcframe.Len) + 2*line.FrameTime(frame)
	return int(t/80) + frame // 80 ns a byte
}

func TestHonouredPauseLosesNothing(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for round := range 30 {
		frame := FrameMin + r.IntN(1514-FrameMin+1)
		delay := unit.Time(r.IntN(30_000))
		if headroom(delay, frame) > 4000 { // a quarter of the buffer
			frame = FrameMin + r.IntN(400)
			delay = unit.Time(r.IntN(50_000))
		}
		// Slower than the flow, whose frames share the line with their overhead.
		drain := unit.Rate(1+r.IntN(90)) * mbit * unit.Rate(frame) / unit.Rate(frame+unit.WireOverhead)
		p := newPair(t, delay, drain, frame)
		p.run(200 * ms)
		p.hosts[0].Stop()
		p.run(200 * ms)
		sent, k := p.hosts[0].Senders()[0].Frames, p.hosts[1].Counters()
		got := p.hosts[1].Receivers()[0]
		where := fmt.Sprintf("seed %d, round %d: frames of %d bytes, a wire of %d ns, a drain of %d bit/s", seed, round, frame, delay, drain)
		if k.Overflow != 0 || got.Lost != 0 || got.Frames != sent || got.Reordered != 0 {
			t.Fatalf("%s: of %d sent %d came, %d lost, %d overflowed", where, sent, got.Frames, got.Lost, k.Overflow)
		}
		if k.TxPause[3] == 0 || k.TxResume[3] == 0 {
			t.Fatalf("%s: no pause or no resume was sent: %+v", where, k)
		}
		// The drain is never idle for want of a resume, but for the first XOFF.
		if bits := float64(got.Bytes * 8); bits < 0.9*float64(drain)*0.2 {
			t.Errorf("%s: %.0f bits came, want nearly what drains in 200 ms", where, bits)
		}
	}
}

// The alarm of the test before: with a wire that is too long frames are lost.
func TestTooLittleHeadroomLoses(t *testing.T) {
	p := newPair(t, 2*ms, mbit, 1000)
	p.run(200 * ms)
	if p.hosts[1].Counters().Overflow == 0 {
		t.Errorf("a headroom of 4000 bytes was enough for %d", headroom(2*ms, 1000))
	}
}

func TestLossAndReorderAccounting(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 100 {
		h := startHost(t, testConfig())
		var frames []uint64
		for seq := range uint64(1 + r.IntN(3000)) {
			if r.IntN(5) > 0 {
				frames = append(frames, seq)
			}
		}
		for range len(frames) / 4 { // some change places with one nearby
			i := r.IntN(len(frames))
			j := min(len(frames)-1, i+r.IntN(5))
			frames[i], frames[j] = frames[j], frames[i]
		}
		for range len(frames) / 8 { // some come again, a few long after
			i, later := r.IntN(len(frames)), 5
			if r.IntN(4) == 0 {
				later = seenLast / 2
			}
			frames = slices.Insert(frames, min(len(frames), i+r.IntN(later)), frames[i])
		}
		arrived := map[uint64]bool{}
		var next, reordered, duplicates uint64
		for _, seq := range frames {
			if arrived[seq] && next-seq > seenLast {
				continue // nobody knows it any more
			}
			h.receive(arrival(3, 7, seq, 100))
			if arrived[seq] {
				duplicates++
				continue
			}
			arrived[seq] = true
			if seq < next {
				reordered++
			}
			next = max(next, seq+1)
		}
		if len(frames) == 0 {
			continue
		}
		lost := next - uint64(len(arrived))
		got := h.Receivers()[0]
		if got.Next != next || got.Lost != lost || got.Reordered != reordered || got.Duplicates != duplicates || got.Frames != uint64(len(arrived)) {
			t.Fatalf("seed %d: after %v: next %d, lost %d, reordered %d, duplicates %d; want %d, %d, %d, %d",
				seed, frames, got.Next, got.Lost, got.Reordered, got.Duplicates, next, lost, reordered, duplicates)
		}
	}
}

// A sender that was killed and restarted counts its frames from 0 again: none is a duplicate, none
// came late, and what is missing of both its lives is lost.
func TestSenderBeginsAnew(t *testing.T) {
	h, sender := startHost(t, testConfig()), unit.Second
	life := func(numbers ...uint64) {
		for _, seq := range numbers {
			sender += ms
			h.receive(slowFrame(gatewayMAC, ownMAC, peerIP, ownIP, 3, 60, 50_000, 100, 7, seq, sender))
		}
	}
	upTo := func(n uint64) (all []uint64) {
		for i := range n {
			all = append(all, i)
		}
		return all
	}
	life(upTo(100)...)
	life(upTo(200)...)
	life(1, 2, 5)
	if got := h.Receivers()[0]; got.Frames != 303 || got.Next != 6 || got.Lost != 3 || got.Reordered+got.Duplicates != 0 {
		t.Errorf("%+v, want 303 frames, 6 next, 3 lost", got)
	}
}

func TestReceivers(t *testing.T) {
	h := startHost(t, testConfig())
	h.run(ms)
	h.receive(arrival(3, 20, 0, 100), arrival(4, 10, 0, 200))
	h.run(ms)
	h.receive(arrival(3, 20, 1, 100))
	want := []Received{
		{Number: 20, Frames: 2, Bytes: 200, Next: 2, First: unit.Second + ms, Last: unit.Second + 2*ms, LatencyMax: 2 * ms, Priority: 3},
		{Number: 10, Frames: 1, Bytes: 200, Next: 1, First: unit.Second + ms, Last: unit.Second + ms, LatencyMax: ms, Priority: 4},
	}
	got := h.Receivers()
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("Receivers:\n got %+v\nwant %+v", got, want)
	}
	got[0].Frames = 99
	if h.Receivers()[0].Frames != 2 {
		t.Error("the caller of Receivers can change the host's counters")
	}
}

// Arrivals are summed up in bins from the start; what comes after the last is in none.
func TestBins(t *testing.T) {
	c := testConfig()
	c.Bin = ms
	h := startHost(t, c)
	h.receive(arrival(3, 20, 0, 100))
	h.run(ms)
	h.receive(arrival(3, 20, 1, 100), arrival(3, 20, 2, 100))
	h.run((Bins - 2) * ms)
	h.receive(arrival(3, 20, 3, 100))
	h.run(ms)
	h.receive(arrival(3, 20, 4, 100))
	var want [Bins]uint64
	want[0], want[1], want[Bins-1] = 100, 200, 100
	if got := h.Receivers()[0]; got.Bins != want || got.Bytes != 500 {
		t.Errorf("bins %v of %d bytes, want %v of 500", got.Bins, got.Bytes, want)
	}
}

// A slot that carried a long frame says nothing of the next frame's length.
func TestLengthIsTheFramesOwn(t *testing.T) {
	h := startHost(t, testConfig(flow(1, 3, 0)))
	h.run(100 * frameTime)
	h.Stop()
	for seq := range uint64(100) {
		h.receive(arrival(3, 7, seq, 64))
	}
	if got := h.Receivers()[0].Bytes; got != 6400 {
		t.Errorf("100 frames of 64 bytes count %d bytes", got)
	}
}

func TestOddFrames(t *testing.T) {
	good := arrival(3, 1, 0, 100)
	set := func(b []byte, off int, v ...byte) []byte {
		b = bytes.Clone(b)
		copy(b[off:], v)
		return b
	}
	tagged := append(append(bytes.Clone(good[:12]), 0x81, 0, 0x60, 1), good[12:]...)
	for _, tt := range []struct {
		name                     string
		frame                    []byte
		flow, other, bad, ok, rc uint64
	}{
		{name: "a flow's", frame: good, flow: 1},
		{name: "a flow's, tagged", frame: tagged, flow: 1},
		{name: "empty", frame: nil, other: 1},
		{name: "cut in the Ethernet header", frame: good[:13], other: 1},
		{name: "cut in the tag", frame: tagged[:15], other: 1},
		{name: "cut in the IP header", frame: good[:33], other: 1},
		{name: "cut in the payload", frame: good[:99], other: 1},
		{name: "ARP", frame: set(good, 12, 8, 6), other: 1},
		{name: "another's address", frame: set(good, 33, 77), other: 1},
		{name: "TCP", frame: set(good, 23, 6), other: 1},
		{name: "a fragment", frame: set(good, 20, 0, 1), other: 1},
		{name: "another UDP port", frame: set(good, 36, 0, 53), other: 1},
		{name: "another magic", frame: set(good, 42, 0), rc: 1},
		{name: "IP version 6", frame: set(good, 14, 0x65), other: 1},
		{name: "header length of 16", frame: set(good, 14, 0x44), other: 1},
		{name: "header length beyond the datagram", frame: set(good, 14, 0x4f, 0, 0, 40), other: 1},
		{name: "PFC", frame: pfc(3, 5), ok: 1},
		{name: "PFC, not padded", frame: pfc(3, 5)[:34:34], ok: 1},
		{name: "PFC, not padded, without the last timer", frame: pfc(3, 5)[:32:32], ok: 1},
		{name: "PFC, truncated", frame: pfc(3, 5)[:17], bad: 1},
		{name: "PFC, oversized", frame: append(pfc(3, 5), 0), bad: 1},
		{name: "PFC, wrong opcode", frame: set(pfc(3, 5), 14, 2), bad: 1},
		{name: "PFC, wrong address", frame: set(pfc(3, 5), 0, 2, 0, 0, 0, 0, 1), bad: 1},
		{name: "PFC, reserved bits", frame: set(pfc(3, 5), 16, 1), bad: 1},
		{name: "802.3x PAUSE to another group", frame: set(pfc(3, 5), 5, 2, 2, 0, 0, 0, 0, 1, 0x88, 8, 0, 1), bad: 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := startHost(t, testConfig())
			h.receive(tt.frame)
			k := h.Counters()
			var flow uint64
			for _, r := range h.Receivers() {
				flow += r.Frames
			}
			if flow != tt.flow || k.Other != tt.other || k.Bad != tt.bad || k.RxPause[3] != tt.ok || k.RC.Malformed != tt.rc {
				t.Errorf("counted as flow %d, other %d, bad %d, pause %d, RoCEv2 %+v; want %d, %d, %d, %d, %d malformed", flow, k.Other, k.Bad, k.RxPause[3], k.RC, tt.flow, tt.other, tt.bad, tt.ok, tt.rc)
			}
		})
	}
}

// A PAUSE stops all priorities of a host that heeds it, and CNPs too, until its quanta have passed or
// another says 0. It is counted in either case.
func TestPause8023(t *testing.T) {
	pause := func(dst unit.MAC, quanta uint16) []byte {
		b := pfc(0, 0)
		ether.PutMAC(b, dst)
		copy(b[14:], []byte{0, 1, byte(quanta >> 8), byte(quanta), 0, 0})
		return b
	}
	const group, other unit.MAC = 0x0180c2000001, 0x020000000077
	for _, tt := range []struct {
		heed bool
		dst  unit.MAC
		want int // frames of the two flows in 10 ms of 10 Mbit/s, of which 5.12 are paused
	}{
		{true, group, 8}, {true, ownMAC, 8}, {true, other, 18}, {false, group, 18}, {false, ownMAC, 18},
	} {
		c := testConfig(flow(0, 3, 10*mbit), flow(1, 0, 10*mbit))
		c.HeedPause = tt.heed
		h := startHost(t, c)
		h.receive(pause(tt.dst, 1000)) // 5.12 ms at 100 Mbit/s
		h.take()
		heeded := tt.want == 8
		if paused := len(h.events(event.Paused, 3)) + len(h.events(event.Paused, 0)); paused != map[bool]int{true: 2}[heeded] {
			t.Errorf("%+v: %d priorities are paused", tt, paused)
		}
		h.run(5 * ms)
		if n := len(h.take()); heeded != (n == 0) {
			t.Errorf("%+v: %d frames left in the first 5 ms", tt, n)
		}
		h.run(5 * ms)
		if n := len(h.take()); n < 7 {
			t.Errorf("%+v: %d frames left in 5 ms after the pause", tt, n)
		}
		h.receive(pause(tt.dst, 65535), pause(tt.dst, 0))
		h.run(5 * ms)
		if n := len(h.take()); n < 7 {
			t.Errorf("%+v: %d frames left in 5 ms after a resume", tt, n)
		}
		if k := h.Counters(); k.RxPause8023 != 3 || k.Bad != 0 || k.RxPause[3] != 0 {
			t.Errorf("%+v: counted as %d PAUSE, %d bad, %d PFC; want 3 and none", tt, k.RxPause8023, k.Bad, k.RxPause[3])
		}
	}
}

// Frames of the greatest length are taken, with a tag and without; a byte more, and they
// are counted as long.
func TestLongestFrames(t *testing.T) {
	tag := func(b []byte) []byte { return slices.Insert(b, 12, 0x81, 0, 3<<5, 1) }
	for _, longest := range []int{1514, 9230} {
		c := testConfig(flow(1, 3, 0))
		c.MaxFrame, c.SlotBytes, c.Flows[0].Frame = longest, buffer.SlotBytes(longest+ether.VLANLen), longest
		h := startHost(t, c)
		h.receive(arrival(3, 1, 0, longest))
		h.receive(tag(arrival(3, 1, 1, longest)))
		h.receive(arrival(3, 1, 2, longest+1))
		h.receive(tag(arrival(3, 1, 3, longest+1)))
		r, k := h.Receivers()[0], h.Counters()
		if r.Frames != 2 || r.Bytes != uint64(2*longest+4) || k.Long != 2 || k.Other != 0 {
			t.Errorf("frames up to %d: %d of %d bytes came, %d are too long, %d other; want 2, %d, 2, 0", longest, r.Frames, r.Bytes, k.Long, k.Other, 2*longest+4)
		}
		if sent := h.Senders()[0]; sent.Frames == 0 || sent.Bytes != sent.Frames*uint64(longest) {
			t.Errorf("%d frames sent with %d bytes, want %d each", sent.Frames, sent.Bytes, longest)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(c *Config)
		want   string
	}{
		{"no batch", func(c *Config) { c.Batch = 0 }, "batch: 0; valid: 1 or more"},
		{"no refresh", func(c *Config) { c.Refresh = 0 }, "refresh: 0 ns; valid: above 0"},
		{"no address", func(c *Config) { c.Address = netip.Addr{} }, "address: invalid IP; valid: an IPv4 address"},
		{"an IPv6 address", func(c *Config) { c.Address = netip.MustParseAddr("::1") }, "address: ::1"},
		{"small slots", func(c *Config) { c.SlotBytes = 59 }, "slots of 59 bytes; valid: 60 or more"},
		{"a short frame", func(c *Config) { c.Flows[0].Frame = 63 }, "flow f: frame of 63 bytes; valid: 64 to 1514"},
		{"a long frame", func(c *Config) { c.Flows[0].Frame = 1515 }, "frame of 1515 bytes; valid: 64 to 1514"},
		{"a long jumbo frame", func(c *Config) { c.MaxFrame, c.SlotBytes, c.Flows[0].Frame = 9230, 9280, 9231 }, "frame of 9231 bytes; valid: 64 to 9230"},
		{"a frame longer than a slot", func(c *Config) { c.SlotBytes = 1000 }, "frame of 1514 bytes; valid: 64 to"},
		{"a rate of -1", func(c *Config) { c.Flows[0].Rate = -1 }, "flow f: rate -1 bit/s"},
		{"a flow to nowhere", func(c *Config) { c.Flows[0].To = netip.Addr{} }, "flow f: to invalid IP"},
		{"priority 8", func(c *Config) { c.Flows[0].Priority = 8 }, "flow f: priority 8; valid: 0 to 7"},
	} {
		c := testConfig(flow(1, 3, 0))
		tt.change(&c)
		h, err := New(c)
		if h != nil || err == nil || !strings.HasPrefix(err.Error(), "host h9: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: New = %v, %v; want an error of host h9 with %q", tt.name, h, err, tt.want)
		}
	}
}

func TestNoAllocs(t *testing.T) {
	c := testConfig(flow(1, 3, 0), flow(2, 4, 10*mbit))
	h := startHost(t, c)
	h.Do(h.now, Act{Do: Slow, Rate: 80 * mbit})
	frames := [][]byte{arrival(3, 1, 0, 1000), arrival(4, 2, 0, 1000), pfc(3, 0), pfc(4, 10)}
	rx, tx := make([]*buffer.Frame, len(frames)), make([]*buffer.Frame, c.Batch)
	events := make([]event.Event, 0, 64)
	now, sent := h.now, 0
	lap := func() {
		now += 200 * us
		h.Lend(0, rx)
		for i, f := range rx {
			f.Data = append(f.Data[:0], frames[i]...)
			f.Len = len(f.Data)
			h.Parse(f)
		}
		h.Receive(now, 0, rx)
		clear(rx)
		n, _ := h.Transmit(now, 0, tx)
		h.Sent(now, 0, tx[:n])
		sent += n
		_, events = h.Work(events[:0])
	}
	lap() // the first frame of a flow makes its entry
	if allocs := testing.AllocsPerRun(1000, lap); allocs != 0 || sent < 1000 {
		t.Errorf("%v allocations a lap, %d frames sent; want 0 and more than 1000", allocs, sent)
	}
}

func FuzzReceive(f *testing.F) {
	f.Add(arrival(3, 1, 0, 100), false)
	f.Add(arrival(3, 1, 1<<63, 64), true)
	f.Add(pfc(3, 65535), false)
	f.Add(pfc(4, 0), true)
	f.Add(pfc(3, 1)[:20], false)
	f.Add([]byte{}, true)
	f.Fuzz(func(t *testing.T, b []byte, slow bool) {
		h := startHost(t, testConfig(flow(1, 3, 0)))
		if slow {
			h.Do(h.now, Act{Do: Slow, Rate: mbit})
		}
		if len(b) > h.cfg.SlotBytes {
			b = b[:h.cfg.SlotBytes] // as the link does
		}
		h.receive(b)
		k := h.Counters()
		counted := k.Other + k.Bad + k.Long + k.Overflow + k.RC.Malformed + k.RC.ICRC + k.RC.UnknownQP
		for _, r := range h.Receivers() {
			counted += r.Frames
		}
		if p, _, err := pfcframe.Parse(pfcframe.Pad(bytes.Clone(b))); err == nil {
			if want := uint64((p.Enable & h.cfg.Lossless).Len()); k.RxPause[3]+k.RxPause[4]+k.RxResume[3]+k.RxResume[4] != want {
				t.Errorf("a PFC frame for %d lossless priorities counts otherwise: %+v", want, k)
			}
			counted++
		}
		if counted != 1 {
			t.Errorf("%x is counted %d times: %+v %+v", b, counted, k, h.Receivers())
		}
		h.run(ms)
	})
}

// A frame of a flow for which there is no place is counted as such, and not as foreign.
func TestFlowsFull(t *testing.T) {
	h := startHost(t, testConfig())
	for number := range uint32(receiversMax) {
		h.receiver(number, 3)
	}
	h.receive(arrival(3, receiversMax, 0, 1000))
	h.receive(arrival(3, receiversMax-1, 0, 1000))
	if k := h.Counters(); k.FlowsFull[3] != 1 || k.Other != 0 || k.Overflow != 0 {
		t.Errorf("%d of flows beyond the table, %d foreign, %d that found no room; want 1, 0, 0", k.FlowsFull[3], k.Other, k.Overflow)
	}
}

// TestOneWayPFC: a host with PFC in one direction sends pauses, or honours them.
func TestOneWayPFC(t *testing.T) {
	pause := make([]byte, pfcframe.Len)
	pfcframe.Put(pause, pfcframe.Frame{Enable: 1 << 3, Quanta: [8]uint16{3: 65535}})
	for _, tc := range []struct{ txOff, rxOff bool }{{false, false}, {true, false}, {false, true}} {
		c := testConfig()
		c.PFCTxOff, c.PFCRxOff = tc.txOff, tc.rxOff
		h := startHost(t, c)
		h.receive(pause)
		if got := h.nics[0].paused.Has(3); got == tc.rxOff {
			t.Errorf("%+v: a pause is honoured: %v", tc, got)
		}
		h.Do(h.now, Act{Do: Slow, Rate: 1})
		for seq := range uint64(20) {
			h.receive(arrival(3, 1, seq, 1000))
		}
		h.run(ms)
		if got := h.Counters().TxPause[3] > 0; got == tc.txOff {
			t.Errorf("%+v: a full buffer sends a pause: %v", tc, got)
		}
	}
}

// TestAsymmetricPFC: a host that honours the pauses of all priorities is stopped in a lossy one too.
func TestAsymmetricPFC(t *testing.T) {
	pause := make([]byte, pfcframe.Len)
	pfcframe.Put(pause, pfcframe.Frame{Enable: 1<<3 | 1<<6, Quanta: [8]uint16{3: 65535, 6: 65535}})
	for all, want := range map[bool]unit.PrioritySet{false: 1 << 3, true: 1<<3 | 1<<6} {
		c := testConfig()
		c.PFCRxAll = all
		h := startHost(t, c)
		h.receive(pause)
		if got := h.nics[0].paused; got != want {
			t.Errorf("honours all: %v: paused %v, want %v", all, got, want)
		}
	}
}
