package verbs

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"testing"

	"softswitch/host/roce"
	"softswitch/internal/testkit"
	"softswitch/unit"
)

// link is two queue pairs over a path that delays every packet and loses some.
type link struct {
	*testing.T
	ends   [2]*QueuePair
	now    unit.Time
	flying [2][]flying // to either end, in the order of arrival
	lose   func() bool
	loses  func(*roce.Header) bool // unless nil, likewise
}

type flying struct {
	at unit.Time
	p  Packet
}

const delay = 10 * unit.Microsecond

const (
	key     = 0x1234
	address = 1 << 40
)

// newLink connects two ends with memory of this size, by random numbers.
func newLink(t *testing.T, r *rand.Rand, mtu, memory int, lose func() bool) *link {
	l := &link{T: t, lose: lose}
	psn := [2]uint32{r.Uint32N(roce.PSNMask + 1), r.Uint32N(roce.PSNMask + 1)}
	for i := range l.ends {
		l.ends[i] = New(Config{
			Local: uint32(i + 2), Remote: uint32(3 - i), LocalPSN: psn[i], RemotePSN: psn[1-i], MTU: mtu,
			Window: 1 + r.IntN(200), Reads: 1 + r.IntN(16), Timeout: unit.Millisecond, Retries: Forever,
			Memory: Memory{{Key: key, Address: address, Data: make([]byte, memory)}},
		})
	}
	return l
}

// run lets both ends send until nothing is left to do.
func (l *link) run() {
	l.Helper()
	for range 10_000_000 {
		moved := false
		for i, q := range l.ends {
			q.Expire(l.now)
			if p, ok := q.Next(l.now); ok {
				moved = true
				p.Payload = bytes.Clone(p.Payload)
				if p.DestQP != q.Remote || int(p.Pad) != -len(p.Payload)&3 {
					l.Fatalf("packet %+v of %d octets", p.Header, len(p.Payload))
				}
				if !l.lose() && (l.loses == nil || !l.loses(&p.Header)) {
					l.flying[1-i] = append(l.flying[1-i], flying{l.now + delay, p})
				}
			}
			for len(l.flying[i]) > 0 && l.flying[i][0].at <= l.now {
				moved = true
				f := l.flying[i][0]
				l.flying[i] = l.flying[i][1:]
				q.Receive(l.now, &f.p.Header, f.p.Payload)
			}
		}
		if moved {
			l.now += unit.Microsecond
			continue
		}
		at := unit.Never
		for i, q := range l.ends {
			at = min(at, q.Deadline(l.now))
			if len(l.flying[i]) > 0 {
				at = min(at, l.flying[i][0].at)
			}
		}
		if at == unit.Never {
			return
		}
		l.now = max(l.now, at)
	}
	l.Fatalf("it does not end: at %d\n%+v\n%+v", l.now, l.ends[0], l.ends[1])
}

func (l *link) wantAllDone(n [2]int) {
	l.Helper()
	for i, q := range l.ends {
		if q.Failed() != "" || q.Pending() != 0 || q.Done() != uint64(n[i]) {
			l.Fatalf("end %d: %q, %d of %d requests done, %d pending; %+v", i, q.Failed(), q.Done(), n[i], q.Pending(), q.Count)
		}
	}
}

func random(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// Whatever is lost, both ends' requests of all kinds are carried out once, in order: what arrives, what is
// written and what is read is what a plain memory would have.
func TestLossyLinks(t *testing.T) {
	seed := testkit.Seed(t)
	for i := range 1000 {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		t.Run(fmt.Sprint(i), func(t *testing.T) { playLossy(t, r) })
	}
}

func playLossy(t *testing.T, r *rand.Rand) {
	mtu, memory := 256<<r.IntN(5), 64<<10
	loss := []int{0, 1, 100, 1000}[r.IntN(4)] // of 10,000: up to 10 %
	l := newLink(t, r, mtu, memory, func() bool { return r.IntN(10_000) < loss })
	var model [2][]byte // the memory of either end
	var n [2]int
	var messages [2][][]byte // that either end is sent
	var reads [2][]struct{ got, want []byte }
	for i := range l.ends {
		model[i] = make([]byte, memory)
	}
	for range r.IntN(40) {
		i := r.IntN(2)
		q, to := l.ends[i], 1-i
		size := r.IntN(8 * mtu)
		at := r.IntN(memory - size)
		n[i]++
		switch Op(r.IntN(3)) {
		case Send:
			b := random(r, size)
			q.Post(Request{Op: Send, Data: b})
			messages[to] = append(messages[to], b)
			l.ends[to].PostReceive(make([]byte, 8*mtu))
		case Write:
			l.run() // a READ before it could read what it writes
			b := random(r, size)
			q.Post(Request{Op: Write, Data: b, Address: address + uint64(at), RKey: key})
			copy(model[to][at:], b)
		case Read:
			b := make([]byte, size)
			q.Post(Request{Op: Read, Data: b, Address: address + uint64(at), RKey: key})
			reads[i] = append(reads[i], struct{ got, want []byte }{b, bytes.Clone(model[to][at : at+size])})
		}
	}
	l.run()
	l.wantAllDone(n)
	for i, q := range l.ends {
		if !bytes.Equal(q.Memory[0].Data, model[i]) {
			t.Errorf("end %d: what was written is not what is there", i)
		}
		for k, want := range messages[i] {
			if got, ok := q.Arrived(); !ok || !bytes.Equal(got, want) {
				t.Errorf("end %d: message %d of %d octets arrived as %d", i, k, len(want), len(got))
			}
		}
		for k, read := range reads[i] {
			if !bytes.Equal(read.got, read.want) {
				t.Errorf("end %d: READ %d is not of what was written before it", i, k)
			}
		}
		if c := q.Count; loss == 0 && (c.Again != 0 || c.Lost != 0 || c.Naks != 0 || c.Timeouts != 0) {
			t.Errorf("end %d: nothing was lost, and it counts %+v", i, c)
		}
	}
}

func never() bool { return false }

// lossOf loses the packets with these numbers, in the order in which they are sent.
func lossOf(numbers ...int) func() bool {
	n := -1
	return func() bool {
		n++
		for _, k := range numbers {
			if k == n {
				return true
			}
		}
		return false
	}
}

// A gap of three packets is three that are lost, and one that is lost again is a fourth.
func TestLostAreGaps(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	var times [20]int
	l := newLink(t, r, 256, 64<<10, never)
	first := l.ends[0].LocalPSN
	l.loses = func(h *roce.Header) bool {
		if h.Opcode == roce.Acknowledge {
			return false
		}
		k := (h.PSN - first) & roce.PSNMask
		times[k]++
		return times[k] == 1 && k >= 3 && k <= 5 || times[k] == 2 && k == 4
	}
	l.ends[0].Window = 1000
	l.ends[0].Post(Request{Op: Write, Data: random(r, 20*256), Address: address, RKey: key})
	l.run()
	l.wantAllDone([2]int{1, 0})
	if c := l.ends[1].Count; c.Lost != 4 || c.Received != 20 {
		t.Errorf("%+v; want 4 lost and 20 taken", c)
	}
	if c := l.ends[0].Count; c.Naks != 2 || c.Timeouts != 0 {
		t.Errorf("%+v; want two NAKs", c)
	}
}

// An answer to a READ that is lost is asked for from there on, not from the beginning.
func TestReadGoesOnFromTheGap(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	l := newLink(t, r, 256, 64<<10, lossOf(5)) // the request is packet 0
	data := random(r, 20*256)
	copy(l.ends[1].Memory[0].Data, data)
	got := make([]byte, len(data))
	l.ends[0].Post(Request{Op: Read, Data: got, Address: address, RKey: key})
	l.run()
	l.wantAllDone([2]int{1, 0})
	if !bytes.Equal(got, data) {
		t.Error("what was read is not what is there")
	}
	if c := l.ends[0].Count; c.Sent != 2 || c.Responses != 20 || c.Timeouts != 0 {
		t.Errorf("%+v; want two requests, 20 answers, no timeout", c)
	}
}

// A SEND without a buffer waits for one.
func TestNotReady(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	l := newLink(t, r, 256, 0, never)
	a, b := l.ends[0], l.ends[1]
	data := random(r, 1000)
	a.Post(Request{Op: Send, Data: data})
	for a.Count.NotReady < 3 {
		l.now = max(l.now, min(a.Deadline(l.now), l.now+delay))
		l.step()
	}
	b.PostReceive(make([]byte, 1000))
	l.run()
	l.wantAllDone([2]int{1, 0})
	if got, ok := b.Arrived(); !ok || !bytes.Equal(got, data) {
		t.Errorf("arrived: %v, %d octets", ok, len(got))
	}
	if b.Count.Lost != 0 {
		t.Errorf("%d lost; want 0", b.Count.Lost)
	}
}

// step hands over what both ends have to send.
func (l *link) step() {
	for i, q := range l.ends {
		q.Expire(l.now)
		for {
			p, ok := q.Next(l.now)
			if !ok {
				break
			}
			l.ends[1-i].Receive(l.now, &p.Header, p.Payload)
		}
	}
}

// What a far end has no right to is refused, and ends the connection at both ends.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		r    Request
		want string
	}{
		"key":         {Request{Op: Write, Data: make([]byte, 10), Address: address, RKey: key + 1}, "NAK 0x62: remote access error"},
		"before":      {Request{Op: Write, Data: make([]byte, 10), Address: address - 1, RKey: key}, "NAK 0x62: remote access error"},
		"behind":      {Request{Op: Read, Data: make([]byte, 10), Address: address + 1000 - 9, RKey: key}, "NAK 0x62: remote access error"},
		"round":       {Request{Op: Read, Data: make([]byte, 10), Address: 1<<64 - 1, RKey: key}, "NAK 0x62: remote access error"},
		"too long":    {Request{Op: Send, Data: make([]byte, 11)}, "NAK 0x61: invalid request"},
		"all is well": {Request{Op: Send, Data: make([]byte, 10)}, ""},
		"at the end":  {Request{Op: Write, Data: make([]byte, 10), Address: address + 1000 - 10, RKey: key}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLink(t, rand.New(rand.NewPCG(testkit.Seed(t), 0)), 256, 1000, never)
			l.ends[1].PostReceive(make([]byte, 10))
			l.ends[0].Post(c.r)
			l.run()
			if got := l.ends[0].Failed(); got != c.want {
				t.Errorf("failed: %q; want %q", got, c.want)
			}
			if failed := l.ends[1].Failed() != ""; failed != (c.want != "") {
				t.Errorf("the responder: %q", l.ends[1].Failed())
			}
		})
	}
}

// Retries are borne, and one timeout more is not.
func TestRetries(t *testing.T) {
	for _, retries := range []int{0, 7} {
		l := newLink(t, rand.New(rand.NewPCG(testkit.Seed(t), 0)), 256, 1000, func() bool { return true })
		l.ends[0].Retries = retries
		l.ends[0].Post(Request{Op: Write, Data: make([]byte, 10), Address: address, RKey: key})
		l.run()
		if c := l.ends[0].Count; l.ends[0].Failed() == "" || c.Timeouts != uint64(retries+1) || c.Sent != uint64(retries+1) {
			t.Errorf("%d retries: %q, %+v", retries, l.ends[0].Failed(), c)
		}
	}
}

// No packet that parses makes an end panic, or writes where it may not.
func FuzzReceive(f *testing.F) {
	for _, s := range []string{
		"0a00ffff000000028000000100000100000000000000123400000004aabbccdd00000000",
		"0c00ffff0000000280000001000001000000000000001234000003e800000000",
		"0400ffff000000028000000161626364", "1100ffff00000002000000016000000100000000", "1000ffff000000020000000161000001616263640000000",
	} {
		b, _ := hex.DecodeString(s)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		q := New(Config{Local: 2, Remote: 3, MTU: 256, Window: 10, Reads: 2, Timeout: unit.Millisecond, Memory: Memory{{Key: key, Address: address, Data: make([]byte, 1000)}}})
		q.PostReceive(make([]byte, 500))
		q.Post(Request{Op: Read, Data: make([]byte, 700), Address: 1})
		q.Post(Request{Op: Send, Data: make([]byte, 700)})
		drain := func() {
			for range 100 {
				if _, ok := q.Next(0); !ok {
					return
				}
			}
		}
		drain()
		for len(b) > 0 { // each packet behind an octet with its length
			n := min(len(b)-1, int(b[0]))
			p := b[1 : 1+n]
			b = b[1+n:]
			h, payload, err := roce.Parse(p, len(p))
			if err != nil {
				continue
			}
			q.Receive(0, &h, p[h.Opcode.Len():h.Opcode.Len()+payload])
			drain()
		}
		if q.acked > q.next || q.next > q.sent || q.sent > q.end {
			t.Fatalf("%+v", q)
		}
	})
}
