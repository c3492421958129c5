package roce

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/unit"
)

// selectiveLink is a selective connection over a path that loses, doubles and reorders packets and
// answers. Each step is held against a reference: the receiver's is the set of all packets that ever
// came, by their whole numbers, and the sender's is the set of those that it was ever told of.
type selectiveLink struct {
	*testing.T
	c    ConnectionConfig
	req  Requester
	resp Responder
	now  unit.Time
	// flying are packets on their way, in no order.
	there, back []flying
	// fate is how often a packet arrives, and late by how much later than the delay.
	fate func() int
	late func() unit.Time

	base      uint64
	sent      map[uint64]bool
	came      map[uint64]int  // how often
	payload   map[uint64]int  // of the packets that came
	told      map[uint64]bool // the sender was told that they came
	newest    uint64          // of those, plus one
	wanted    uint64          // the lowest that never came
	bytes     uint64          // of those below
	delivered []uint64
}

func newSelectiveLink(t *testing.T, c ConnectionConfig, base uint64, fate func() int, late func() unit.Time) *selectiveLink {
	l := &selectiveLink{T: t, c: c, fate: fate, late: late, base: base, wanted: base, sent: map[uint64]bool{}, came: map[uint64]int{}, payload: map[uint64]int{}, told: map[uint64]bool{}}
	l.resp.Selective = true
	l.req.acked, l.req.next, l.req.sent = base, base, base // as if all before were done
	l.resp.expected, l.resp.messages = base, base/c.Packets()
	return l
}

// run lets the connection go on until all is acknowledged, or for so many steps.
func (l *selectiveLink) run(steps int) {
	l.Helper()
	for range steps {
		at := l.req.Deadline(&l.c)
		for _, f := range slices.Concat(l.there, l.back) {
			at = min(at, f.at)
		}
		switch {
		case l.req.Ready(&l.c):
			l.send()
			l.now += unit.Microsecond
		case at == unit.Never:
			return
		default:
			l.now = max(l.now, at)
		}
		l.req.Expire(l.now, &l.c)
		l.due(&l.there, l.arrive)
		l.due(&l.back, l.answered)
	}
}

// due takes what is due out of q.
func (l *selectiveLink) due(q *[]flying, take func(flying)) {
	slices.SortStableFunc(*q, func(a, b flying) int { return int(a.at - b.at) })
	for len(*q) > 0 && (*q)[0].at <= l.now {
		f := (*q)[0]
		*q = (*q)[1:]
		take(f)
	}
}

func (l *selectiveLink) fly(q *[]flying, p Packet, h Header) {
	for range l.fate() {
		*q = append(*q, flying{l.now + delay + l.late(), p, h})
	}
}

func (l *selectiveLink) send() {
	timeouts := l.req.Count.Timeouts
	p := l.req.Next(l.now, &l.c)
	switch {
	case p.Again != l.sent[p.Seq]:
		l.Fatalf("packet %d: sent again is %v, want %v", p.Seq, p.Again, l.sent[p.Seq])
	case l.told[p.Seq] || p.Seq < l.req.Acked():
		l.Fatalf("packet %d is sent again, and came: the sender was told", p.Seq)
	case p.Seq >= l.req.Acked()+uint64(l.c.Selective.InFlight):
		l.Fatalf("packet %d leaves, %d is the first that is not acknowledged, and %d may be in flight", p.Seq, l.req.Acked(), l.c.Selective.InFlight)
	case p.Again && timeouts == 0 && l.newest <= p.Seq:
		l.Fatalf("packet %d is sent again, and no later one came, nor was there a timeout", p.Seq)
	case !p.AckReq:
		l.Fatalf("packet %d asks for no acknowledgement", p.Seq)
	}
	l.sent[p.Seq] = true
	l.fly(&l.there, p, Header{Opcode: Write(p.First, p.Last), AckReq: p.AckReq, PSN: uint32(p.Seq) & PSNMask})
}

func (l *selectiveLink) arrive(f flying) {
	first := l.came[f.p.Seq] == 0
	took := l.resp.Receive(&f.h, f.p.Payload, nil)
	if took != first {
		l.Fatalf("packet %d: taken is %v, and that it came for the first time is %v", f.p.Seq, took, first)
	}
	l.came[f.p.Seq]++
	l.payload[f.p.Seq] = f.p.Payload
	for ; l.came[l.wanted] > 0; l.wanted++ {
		l.bytes += uint64(l.payload[l.wanted])
		if p := l.c.packet(l.wanted); p.Last {
			l.delivered = append(l.delivered, p.Message)
		}
	}
	if got := l.resp.Count; got.Bytes != l.bytes || got.Packets != l.wanted-l.base || l.resp.Messages() != l.base/l.c.Packets()+uint64(len(l.delivered)) {
		l.Fatalf("after packet %d: %+v, %d messages; want %d packets, %d bytes and %d more messages", f.p.Seq, got, l.resp.Messages(), l.wanted-l.base, l.bytes, len(l.delivered))
	}
	if !l.resp.Owes() {
		l.Fatalf("packet %d is not answered", f.p.Seq)
	}
	h := l.resp.Answer()
	l.fly(&l.back, f.p, overTheWire(l.T, h))
}

// overTheWire is a header as it is read at the other end.
func overTheWire(t *testing.T, h Header) Header {
	b := make([]byte, h.Opcode.Len()+ICRCLen)
	h.Put(b)
	got, payload, err := Parse(b, len(b))
	if err != nil || payload != 0 || got != h {
		t.Fatalf("%+v is read as %+v, %d, %v", h, got, payload, err)
	}
	return got
}

func (l *selectiveLink) answered(f flying) {
	old := l.req.Acked()
	l.req.Answer(l.now, &f.h)
	acked := l.req.Acked()
	if acked < old || acked > l.wanted {
		l.Fatalf("acknowledged is all below %d; it was %d, and %d has not come", acked, old, l.wanted)
	}
	// An answer that is older than what is acknowledged is not heeded.
	if f.h.PSN != uint32(acked-1)&PSNMask || f.h.Opcode != SelectiveAcknowledge {
		return
	}
	for i := range uint64(SackBits) {
		if f.h.Sack.Has(i) {
			if l.came[acked+i] == 0 {
				l.Fatalf("the answer says that packet %d came, and it did not", acked+i)
			}
			l.told[acked+i], l.newest = true, max(l.newest, acked+i+1)
		}
	}
}

func (l *selectiveLink) wantAll() {
	l.Helper()
	var want []uint64
	for m := l.base / l.c.Packets(); m < l.c.Messages(); m++ {
		want = append(want, m)
	}
	if !slices.Equal(l.delivered, want) {
		l.Fatalf("complete are messages %v; want %v", l.delivered, want)
	}
	if !l.req.Finished(&l.c) || l.req.Failed() || l.resp.kept.came != (Sack{}) {
		l.Fatalf("at the end: %+v, %+v", l.req, l.resp)
	}
}

func selectiveConfig(mtu, message int, total uint64, window, inFlight int) ConnectionConfig {
	c := config(mtu, message, total, window)
	c.AckEvery, c.Selective = 1, &Selective{InFlight: inFlight, TimeoutLow: 100 * unit.Microsecond}
	return c
}

// inOrder delays no packet more than others.
func inOrder() unit.Time { return 0 }

// Whatever is lost, comes twice or comes late, data and answers alike, every byte is delivered once, in
// order, and no packet is sent again of which the sender knows that it came; also where the PSNs begin
// again at 0.
func TestSelectiveOverAnything(t *testing.T) {
	seed := testkit.Seed(t)
	kept, timeouts := uint64(0), uint64(0)
	for i := range testkit.Sized(200, 2000) {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		mtu := 256 << r.IntN(5)
		message := 1 + r.IntN(64*mtu)
		c := selectiveConfig(mtu, message, 1, 1+r.IntN(4), 1+r.IntN(SackBits))
		from := uint64(0)
		if r.IntN(2) == 0 {
			from = (1<<24)/c.Packets() - 3
		}
		c.Total = uint64(message)*(from+uint64(r.IntN(12))) + 1 + uint64(r.IntN(message))
		loss := []int{0, 10, 100, 1000, 3000}[r.IntN(5)] // of 10,000: none to 30 %
		twice := []int{0, 100, 1000}[r.IntN(3)]
		reorder := []unit.Time{0, 2, 30, 500}[r.IntN(4)] * unit.Microsecond
		fate := func() int {
			switch n := r.IntN(10_000); {
			case n < loss:
				return 0
			case n < loss+twice:
				return 2
			}
			return 1
		}
		l := newSelectiveLink(t, c, from*c.Packets(), fate, func() unit.Time { return unit.Time(r.Int64N(int64(reorder) + 1)) })
		l.run(1_000_000)
		l.wantAll()
		kept, timeouts = kept+l.resp.Count.Kept, timeouts+l.req.Count.Timeouts
	}
	if kept == 0 || timeouts == 0 {
		t.Errorf("%d packets came behind a gap, and there were %d timeouts: this proves nothing", kept, timeouts)
	}
}

// One packet that is lost is sent again, and no other.
func TestSelectiveSendsOneAgain(t *testing.T) {
	n := 0
	fate := func() int {
		if n++; n == 8 {
			return 0
		}
		return 1
	}
	l := newSelectiveLink(t, selectiveConfig(1000, 50_000, 100_000, 2, 64), 0, fate, inOrder)
	l.run(100_000)
	l.wantAll()
	if got := l.req.Count; got.Again != 1 || got.AgainBytes != 1000 || got.Timeouts != 0 || got.Naks == 0 {
		t.Errorf("%+v; want one packet sent again, and no timeout", got)
	}
	if got := l.resp.Count; got.Kept == 0 || got.OutOfOrder != 0 || got.Duplicates != 0 || got.Packets != 100 || got.Bytes != 100_000 {
		t.Errorf("%+v", got)
	}
}

// The low timeout is for few packets in flight, the other for more.
func TestSelectiveTimeouts(t *testing.T) {
	c := selectiveConfig(1000, 10_000, 0, 4, 64)
	var r Requester
	for n := 1; n <= 5; n++ {
		r.Next(0, &c)
		want := c.Timeout
		if n <= FewInFlight {
			want = c.Selective.TimeoutLow
		}
		if got := r.Deadline(&c); got != want {
			t.Errorf("%d in flight: the deadline is %d, want %d", n, got, want)
		}
	}
	if r.Answer(50, &Header{Opcode: Acknowledge, PSN: 1, Syndrome: Acked}); r.Deadline(&c) != 50+c.Selective.TimeoutLow {
		t.Errorf("3 are in flight after an answer at 50: the deadline is %d", r.Deadline(&c))
	}
	r.Expire(50+c.Selective.TimeoutLow, &c)
	for want := uint64(2); want <= 5; want++ {
		if p := r.Next(200, &c); p.Seq != want || p.Again != (want < 5) || r.Count.Timeouts != 1 {
			t.Errorf("after a timeout packet %+v leaves, want %d", p, want)
		}
	}
}

// A far end that keeps nothing, and says so by a NAK of RoCEv2, gets all again from there on.
func TestSelectiveGoesBackForOthers(t *testing.T) {
	c := selectiveConfig(1000, 10_000, 0, 4, 64)
	var r Requester
	for range 6 {
		r.Next(0, &c)
	}
	r.Answer(0, &Header{Opcode: Acknowledge, PSN: 2, Syndrome: SequenceError})
	for want := uint64(2); want < 8; want++ {
		if p := r.Next(0, &c); p.Seq != want || p.Again != (want < 6) {
			t.Errorf("packet %+v leaves, want %d", p, want)
		}
	}
}

// Answers that no honest responder sends do no harm, and are counted.
func TestBadSelectiveAnswers(t *testing.T) {
	c := selectiveConfig(1000, 10_000, 0, 1, 64)
	var r Requester
	for range 5 {
		r.Next(0, &c)
	}
	r.Answer(0, &Header{Opcode: Acknowledge, PSN: 1, Syndrome: Acked})
	before := r
	sack := func(bits ...uint64) (s Sack) {
		for _, i := range bits {
			s.add(i)
		}
		return s
	}
	for _, h := range []Header{
		{PSN: 1, Sack: sack(0), Syndrome: Acked},        // the packet that it lacks
		{PSN: 1, Sack: sack(3), Syndrome: Acked},        // never sent
		{PSN: 2, Sack: sack(1, 127), Syndrome: Acked},   // likewise
		{PSN: 2, Sack: sack(1), Syndrome: InvalidError}, // a NAK that keeps something
	} {
		h.Opcode = SelectiveAcknowledge
		before.Count.OutsideRange++
		if r.Answer(1, &h) || r != before {
			t.Errorf("%+v: %+v; want %+v", h, r, before)
		}
	}
	old := Header{Opcode: SelectiveAcknowledge, PSN: 0, Sack: sack(2), Syndrome: Acked}
	if r.Answer(1, &old) || r != before {
		t.Errorf("of what is acknowledged: %+v; want %+v", r, before)
	}
}

// What is kept is checked when its turn comes: a message that begins within another is refused then.
func TestSelectiveKeepsNothingInvalid(t *testing.T) {
	r := Responder{Selective: true}
	take := func(op Opcode, psn uint32) bool {
		return r.Receive(&Header{Opcode: op, PSN: psn, AckReq: true}, 100, nil)
	}
	if !take(WriteLast, 2) || !take(WriteFirst, 1) || !take(WriteFirst, 0) {
		t.Errorf("not all that is new is taken: %+v", r)
	}
	if got := r.Count; got.Packets != 1 || got.Invalid != 1 || r.Messages() != 0 {
		t.Errorf("%+v, %d messages; want one packet, and one that is invalid", got, r.Messages())
	}
	if h := r.Answer(); h.Syndrome != InvalidError || h.PSN != 1 {
		t.Errorf("the answer is %+v", h)
	}
}

// A responder that begins another life keeps nothing of the one before.
func TestSelectiveLives(t *testing.T) {
	r := Responder{Selective: true}
	r.Receive(&Header{Opcode: WriteMiddle, PSN: 5}, 100, nil)
	const life = Life(77_000)
	first := Header{Opcode: WriteOnly, PSN: life.FirstPSN()}
	if _, began := r.Knows(&first, life); !began || r.kept.came != (Sack{}) || !r.Selective || r.Count.Kept != 1 {
		t.Errorf("another life: %+v", r)
	}
	if !r.Receive(&first, 100, nil) || r.Count.Packets != 1 {
		t.Errorf("its first packet: %+v", r)
	}
}

// A Sack is a set of numbers, moved and written.
func TestSack(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for range 10_000 {
		var s Sack
		set := map[uint64]bool{}
		for range r.IntN(10) {
			n := r.Uint64N(SackBits)
			s.add(n)
			set[n] = true
		}
		by := r.Uint64N(SackBits + 10)
		s.forward(by)
		most := uint64(0)
		for i := range uint64(SackBits) {
			if s.Has(i) != set[i+by] {
				t.Fatalf("moved by %d: bit %d is %v, want %v", by, i, s.Has(i), set[i+by])
			}
			if s.Has(i) {
				most = i + 1
			}
		}
		if s.Len() != most || s.Has(SackBits) {
			t.Fatalf("length %d, want %d", s.Len(), most)
		}
	}
	one := Header{Opcode: SelectiveAcknowledge, Syndrome: Acked}
	one.Sack.add(9)
	b := make([]byte, one.Opcode.Len())
	one.Put(b)
	if want := append(make([]byte, 14), 2, 0); !bytes.Equal(b[BTHLen+AETHLen:], want) {
		t.Errorf("bit 9 is written as % x, want % x", b[BTHLen+AETHLen:], want)
	}
}
