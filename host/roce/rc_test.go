package roce

import (
	"math/rand/v2"
	"slices"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/unit"
)

// link is a connection over a path that delays every packet by its delay and loses some. It
// is held against a reference at every step: a receiver that keeps every packet by its
// whole number, and a sender that keeps the set of those that are not acknowledged.
type link struct {
	*testing.T
	c    ConnectionConfig
	req  Requester
	resp Responder
	now  unit.Time
	// flying are packets on their way, in order of arrival.
	there, back []flying
	lose        func() bool

	base      uint64          // the first sequence number
	delivered []uint64        // messages, in the order of completion
	wanted    uint64          // of the reference: the lowest packet that never came in order
	unacked   map[uint64]bool // of the reference: sent and not acknowledged
	first     map[uint64]bool // packets sent at least once
}

type flying struct {
	at unit.Time
	p  Packet
	h  Header
}

const delay = 10 * unit.Microsecond

func newLink(t *testing.T, c ConnectionConfig, base uint64, lose func() bool) *link {
	l := &link{T: t, c: c, lose: lose, base: base, wanted: base, unacked: map[uint64]bool{}, first: map[uint64]bool{}}
	l.req.acked, l.req.next, l.req.sent = base, base, base // as if all before were done
	l.resp.expected, l.resp.messages = base, base/c.Packets()
	return l
}

// run lets the connection go on until all is acknowledged, or for so many steps.
func (l *link) run(steps int) {
	l.Helper()
	for range steps {
		switch at := l.nextAt(); {
		case l.req.Ready(&l.c):
			l.send()
			l.now += unit.Microsecond
		case at == unit.Never:
			return
		default:
			l.now = max(l.now, at)
		}
		l.req.Expire(l.now, &l.c)
		for len(l.there) > 0 && l.there[0].at <= l.now {
			l.arrive(l.there[0])
			l.there = l.there[1:]
		}
		for len(l.back) > 0 && l.back[0].at <= l.now {
			l.answered(l.back[0].h)
			l.back = l.back[1:]
		}
	}
}

func (l *link) nextAt() unit.Time {
	at := l.req.Deadline(&l.c)
	for _, q := range [][]flying{l.there, l.back} {
		if len(q) > 0 {
			at = min(at, q[0].at)
		}
	}
	return at
}

func (l *link) send() {
	p := l.req.Next(l.now, &l.c)
	if p.Again != l.first[p.Seq] {
		l.Fatalf("packet %d: sent again is %v, want %v", p.Seq, p.Again, l.first[p.Seq])
	}
	if m := p.Message; m >= slices.Min(append(l.unackedMessages(), m))+uint64(l.c.Window) {
		l.Fatalf("packet %d of message %d leaves, and the window is %d messages", p.Seq, m, l.c.Window)
	}
	l.first[p.Seq], l.unacked[p.Seq] = true, true
	if l.lose() {
		return
	}
	h := Header{Opcode: Write(p.First, p.Last), AckReq: p.AckReq, PSN: uint32(p.Seq) & PSNMask}
	l.there = append(l.there, flying{l.now + delay, p, h})
}

func (l *link) unackedMessages() (ms []uint64) {
	for seq := range l.unacked {
		ms = append(ms, seq/l.c.Packets())
	}
	return ms
}

func (l *link) arrive(f flying) {
	took := l.resp.Receive(&f.h, f.p.Payload, nil)
	if want := f.p.Seq == l.wanted; took != want {
		l.Fatalf("packet %d: taken is %v, want %v: %d is expected", f.p.Seq, took, want, l.wanted)
	}
	if took {
		l.wanted++
		if f.p.Last {
			l.delivered = append(l.delivered, f.p.Message)
		}
	}
	if !l.resp.Owes() {
		return
	}
	h := l.resp.Answer()
	if l.lose() {
		return
	}
	l.back = append(l.back, flying{l.now + delay, f.p, h})
}

func (l *link) answered(h Header) {
	before := l.req.Acked()
	l.req.Answer(l.now, &h)
	for seq := before; seq < l.req.Acked(); seq++ {
		if seq >= l.wanted {
			l.Fatalf("packet %d is taken for acknowledged, and has not come", seq)
		}
		delete(l.unacked, seq)
	}
}

func (l *link) wantAll() {
	l.Helper()
	var want []uint64
	for m := l.base / l.c.Packets(); m < l.c.Messages(); m++ {
		want = append(want, m)
	}
	if !slices.Equal(l.delivered, want) {
		l.Fatalf("complete are messages %v; want %v", l.delivered, want)
	}
	if !l.req.Finished(&l.c) || l.req.Done(&l.c) != l.c.Messages() || l.resp.Messages() != l.c.Messages() || l.req.Failed() || len(l.unacked) != 0 {
		l.Fatalf("at the end: %+v, %+v", l.req, l.resp)
	}
}

func never() bool { return false }

func config(mtu, message int, total uint64, window int) ConnectionConfig {
	return ConnectionConfig{Shape: Shape{mtu, message, total}, Window: window, Timeout: 300 * unit.Microsecond, Retries: 1 << 30, AckEvery: AckEvery}
}

// Whatever is lost, data and answers alike, every message is complete once, in order; also
// where the PSNs begin again at 0.
func TestLossyLinks(t *testing.T) {
	seed := testkit.Seed(t)
	runs := 1000
	if testing.Short() {
		runs = 100
	}
	for i := range runs {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		mtu := 256 << r.IntN(5)
		message := 1 + r.IntN(64*mtu)
		c := config(mtu, message, 1, 1+r.IntN(4))
		from := uint64(0)
		if r.IntN(2) == 0 {
			from = (1<<24)/c.Packets() - 3
		}
		c.Total = uint64(message)*(from+uint64(r.IntN(12))) + 1 + uint64(r.IntN(message))
		loss := []int{1, 10, 100, 500}[r.IntN(4)] // of 10,000: 0.01 % to 5 %
		l := newLink(t, c, from*c.Packets(), func() bool { return r.IntN(10_000) < loss })
		l.run(1_000_000)
		l.wantAll()
	}
}

// One gap makes one NAK, and the sender goes back to it once.
func TestOneNakAGap(t *testing.T) {
	n := 0
	l := newLink(t, config(1000, 50_000, 100_000, 2), 0, func() bool { n++; return n == 8 })
	l.run(100_000)
	l.wantAll()
	if got := l.req.Count; got.Naks != 1 || got.Timeouts != 0 || got.Again == 0 || got.AgainBytes != got.Again*1000 {
		t.Errorf("%+v; want one NAK and no timeout", got)
	}
	if got := l.resp.Count; got.OutOfOrder == 0 || got.Duplicates != 0 || got.Packets != 100 || got.Bytes != 100_000 {
		t.Errorf("%+v", got)
	}
}

// A last packet that is lost, or its acknowledgement, is found by the timeout.
func TestTimeout(t *testing.T) {
	for lost := 1; lost <= 2; lost++ {
		n := 0
		l := newLink(t, config(1000, 1000, 1000, 1), 0, func() bool { n++; return n == lost })
		l.run(1000)
		l.wantAll()
		if got := l.req.Count; got.Timeouts != 1 || got.Again != 1 || l.now < l.c.Timeout {
			t.Errorf("packet %d lost: %+v at %d", lost, got, l.now)
		}
	}
}

// Where nothing comes through the sender gives up, after as many attempts as it was told.
func TestGivesUp(t *testing.T) {
	c := config(1000, 3000, 3000, 1)
	c.Retries = 7
	l := newLink(t, c, 0, func() bool { return true })
	l.run(1000)
	if !l.req.Failed() || l.req.Count.Timeouts != 8 || l.req.Count.Packets != 8*3 || l.req.Ready(&c) || l.req.Deadline(&c) != unit.Never {
		t.Errorf("%+v", l.req)
	}
}

// The time to wait begins when an acknowledgement is asked for, and again with each that
// comes, as long as another is to come.
func TestDeadline(t *testing.T) {
	c := config(1000, 1000, 3000, 3)
	var r Requester
	if r.Deadline(&c) != unit.Never {
		t.Error("nothing is sent, and there is a deadline")
	}
	for i := range 3 {
		r.Next(unit.Time(i), &c)
	}
	for i, want := range []unit.Time{c.Timeout, 100 + c.Timeout, 200 + c.Timeout, unit.Never} {
		if got := r.Deadline(&c); got != want {
			t.Errorf("after %d acknowledgements the deadline is %d, want %d", i, got, want)
		}
		r.Answer(unit.Time(100*(i+1)), &Header{PSN: uint32(i), Syndrome: Acked})
	}
}

func TestWindow(t *testing.T) {
	for _, window := range []int{1, 2, 5} {
		c := config(1000, 2500, 0, window)
		var r Requester
		for r.Ready(&c) {
			r.Next(0, &c)
		}
		if r.Count.Packets != uint64(3*window) {
			t.Errorf("window %d: %d packets leave, want %d", window, r.Count.Packets, 3*window)
		}
		r.Answer(0, &Header{PSN: 2, Syndrome: Acked})
		if n := r.Next(0, &c).Message; n != uint64(window) || r.Done(&c) != 1 {
			t.Errorf("window %d: message %d leaves after the first is acknowledged, %d done", window, n, r.Done(&c))
		}
	}
}

func TestShape(t *testing.T) {
	c := config(1000, 2500, 6000, 9)
	var got []Packet
	for r := (Requester{}); r.Ready(&c); {
		got = append(got, r.Next(0, &c))
	}
	want := []Packet{
		{Seq: 0, Message: 0, Length: 2500, Payload: 1000, First: true},
		{Seq: 1, Message: 0, Length: 2500, Offset: 1000, Payload: 1000},
		{Seq: 2, Message: 0, Length: 2500, Offset: 2000, Payload: 500, Last: true, AckReq: true},
		{Seq: 3, Message: 1, Length: 2500, Payload: 1000, First: true},
		{Seq: 4, Message: 1, Length: 2500, Offset: 1000, Payload: 1000},
		{Seq: 5, Message: 1, Length: 2500, Offset: 2000, Payload: 500, Last: true, AckReq: true},
		{Seq: 6, Message: 2, Length: 1000, Payload: 1000, First: true, Last: true, AckReq: true},
	}
	if !slices.Equal(got, want) {
		t.Errorf("packets %+v\nwant    %+v", got, want)
	}
}

// Answers that no honest responder sends do no harm, and are counted.
func TestBadAnswers(t *testing.T) {
	c := config(1000, 10_000, 0, 1)
	var r Requester
	for range 5 {
		r.Next(0, &c)
	}
	r.Answer(0, &Header{PSN: 1, Syndrome: Acked})
	before := r
	for _, h := range []Header{
		{PSN: 5, Syndrome: Acked},         // never sent
		{PSN: 5, Syndrome: SequenceError}, // nothing came behind it
		{PSN: 1 << 22, Syndrome: Acked},
	} {
		before.Count.OutsideRange++
		if r.Answer(1, &h) || r != before {
			t.Errorf("%+v: %+v; want %+v", h, r, before)
		}
	}
	for _, h := range []Header{
		{PSN: 0, Syndrome: Acked},
		{PSN: PSNMask, Syndrome: Acked},
		{PSN: 1, Syndrome: SequenceError},
	} {
		if r.Answer(1, &h) || r != before {
			t.Errorf("%+v, of what is acknowledged: %+v; want %+v", h, r, before)
		}
	}
	if r.Answer(1, &Header{PSN: 3, Syndrome: InvalidError}); !r.Failed() {
		t.Error("the request was refused, and the requester goes on")
	}
}

func TestBadRequests(t *testing.T) {
	var r Responder
	take := func(op Opcode, psn uint32) bool {
		return r.Receive(&Header{Opcode: op, PSN: psn, AckReq: true}, 100, nil)
	}
	if !take(WriteFirst, 0) || take(WriteFirst, 1) || r.Count.Invalid != 1 {
		t.Errorf("a message begins within another: %+v", r)
	}
	if h := r.Answer(); h.Syndrome != InvalidError || h.PSN != 1 || r.Owes() {
		t.Errorf("the answer is %+v", h)
	}
	if take(WriteOnly, 1<<23) || r.Count.Outside != 1 || r.Owes() {
		t.Errorf("a PSN from far away: %+v", r)
	}
	if !take(WriteLast, 1) || take(WriteMiddle, 2) || r.Count.Invalid != 2 {
		t.Errorf("a message goes on that has not begun: %+v", r)
	}
	if got := r.Messages(); got != 1 {
		t.Errorf("%d messages", got)
	}
}

// A request that was invalid, and came right before it was answered, does not colour the answer
// to a later gap, which is a PSN sequence error: the requester goes back and does not give up.
func TestInvalidIsForgotten(t *testing.T) {
	var r Responder
	take := func(op Opcode, psn uint32) bool {
		return r.Receive(&Header{Opcode: op, PSN: psn, AckReq: true}, 100, nil)
	}
	for psn := uint32(0); psn < 6; psn += 2 {
		if !take(WriteFirst, psn) || take(WriteFirst, psn+1) || !take(WriteLast, psn+1) {
			t.Fatalf("PSN %d: the first, an invalid and the last packet of a message: %+v", psn, r)
		}
		if take(WriteFirst, psn+9) {
			t.Fatalf("PSN %d is taken behind a gap", psn+9)
		}
		if h := r.Answer(); h.Syndrome != SequenceError || h.PSN != psn+2 {
			t.Errorf("PSN %d: the answer to a gap is %+v, want syndrome %#x, PSN %d", psn, h, uint8(SequenceError), psn+2)
		}
	}
}

// A closed connection ends with the message that has begun; begun again it goes on, and
// once all is sent it sends all anew.
func TestCloseAndBegin(t *testing.T) {
	c := config(1000, 2500, 6000, 9)
	l := newLink(t, c, 0, never)
	l.send()
	l.req.Close(&c)
	l.run(1000)
	if got := l.req.Count.Packets; got != 3 || !l.req.Finished(&c) || l.req.Done(&c) != 1 {
		t.Errorf("closed within the first message: %d packets, %+v", got, l.req)
	}
	l.req.Begin(&c)
	l.run(1000)
	l.wantAll()
	for round := range uint64(2) {
		if got, want := l.req.Count.Packets, 7*(round+1); got != want || l.req.Count.Again != 0 {
			t.Errorf("round %d: %+v; want %d packets", round, l.req.Count, want)
		}
		l.req.Begin(&c)
		if l.req.Done(&c) != 0 || l.req.Finished(&c) {
			t.Errorf("round %d: begun again, %+v", round, l.req)
		}
		l.run(1000)
	}
	if got := l.resp.Messages(); got != 9 {
		t.Errorf("%d messages have come, want 9", got)
	}
}

// A connection that gave up goes on where it was when it is begun again.
func TestBeginAfterGivingUp(t *testing.T) {
	c := config(1000, 3000, 6000, 1)
	c.Retries = 1
	dead := true
	l := newLink(t, c, 0, func() bool { return dead })
	l.run(1000)
	if !l.req.Failed() {
		t.Fatalf("%+v", l.req)
	}
	dead = false
	l.req.Begin(&c)
	l.run(1000)
	l.wantAll()
}
