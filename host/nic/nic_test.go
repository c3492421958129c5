package nic

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/event"
	"softswitch/host"
	"softswitch/internal/testkit"
	"softswitch/pfcframe"
	"softswitch/unit"
)

const (
	mbit = unit.Rate(1_000_000)
	ms   = unit.Millisecond

	frameBytes = 1000
)

// testNIC drives a NIC in virtual time.
type testNIC struct {
	*NIC
	t    testing.TB
	now  unit.Time
	more unit.PortSet // ports that became ready and were not asked since
	log  []event.Event
	wire [][]byte // what left by the wire
	host [][]byte // what the stack got
}

// newTestNIC makes a NIC at a wire of 100 Mbit/s, whose receive buffer of 40,000 bytes
// pauses at 30,000 and resumes at 20,000. Its links are up.
func newTestNIC(t testing.TB) *testNIC { return newSlackNIC(t, 0) }

// newSlackNIC is a NIC with this slack.
func newSlackNIC(t testing.TB, slack int) *testNIC {
	t.Helper()
	m, err := New(Config{
		ID: 5, Name: "h5", NIC: host.NIC{MAC: 0x020000000005, Rate: 100 * mbit, Lossless: 1<<3 | 1<<4},
		Quanta: 65535, Refresh: 10 * ms, RxBuffer: 40_000, RxSlack: slack, MaxFrame: 1514, Batch: 8,
	})
	if err != nil {
		t.Fatal(err)
	}
	n := &testNIC{NIC: m, t: t, now: unit.Second}
	n.SetLink(0, Wire, true) // it is the first at this place, and has nobody to let go of
	n.SetLink(0, Stack, true)
	n.work()
	return n
}

// A NIC in the place of one that had paused lets its switch go in every lossless priority, and
// says nothing of that to the stack.
func TestNICThatBeginsAnewLetsGo(t *testing.T) {
	n := newTestNIC(t)
	again, err := New(Config{
		ID: 5, Name: "h5", NIC: host.NIC{MAC: 0x020000000005, Rate: 100 * mbit, Lossless: 1<<3 | 1<<4},
		Quanta: 65535, Refresh: 10 * ms, RxBuffer: 40_000, MaxFrame: 1514, Batch: 8,
	})
	if err != nil {
		t.Fatal(err)
	}
	n.NIC = again
	n.SetLink(n.now, Wire, true)
	n.SetLink(n.now, Stack, true)
	n.run(ms)
	if len(n.wire) != 2 || len(n.host) != 0 {
		t.Fatalf("%d frames to the wire and %d to the stack, want 2 and 0", len(n.wire), len(n.host))
	}
	for i, c := range []unit.Priority{3, 4} {
		if pf, _, err := pfcframe.Parse(n.wire[i]); err != nil || pf.Enable != 1<<c || pf.Quanta[c] != 0 {
			t.Errorf("frame %d is %x, want a resume of priority %d", i, n.wire[i], c)
		}
	}
}

// --- verbs ---

// run lets d pass, and then everything leave that may.
func (n *testNIC) run(d unit.Time) {
	n.t.Helper()
	for until := n.now + d; ; {
		n.more = unit.PortSet{}
		next := min(n.leave(Wire, &n.wire), n.leave(Stack, &n.host))
		if n.more.Has(Wire) {
			continue
		}
		if next > until {
			n.now = until
			return
		}
		n.now = max(next, n.now+1)
	}
}

// leave takes what a port sends now, and returns when to ask again.
func (n *testNIC) leave(p unit.Port, out *[][]byte) (next unit.Time) {
	fs := make([]*buffer.Frame, 8)
	for {
		var k int
		k, next = n.Transmit(n.now, p, fs)
		for _, f := range fs[:k] {
			*out = append(*out, bytes.Clone(f.Data))
		}
		n.Sent(n.now, p, fs[:k])
		n.work()
		n.more.Remove(p)
		if k == 0 {
			return next
		}
	}
}

func (n *testNIC) work() {
	var ready unit.PortSet
	ready, n.log = n.Work(n.log)
	n.more = n.more.Or(ready)
}

func (n *testNIC) arrive(in unit.Port, frames ...[]byte) {
	for _, b := range frames {
		fs := make([]*buffer.Frame, 1)
		n.Lend(in, fs)
		f := fs[0]
		f.Data = append(f.Data[:0], b...)
		f.Len = len(b)
		n.Parse(f)
		n.Receive(n.now, in, fs)
		n.work()
	}
}

// program is k datagrams that a program sends in a priority; far is k that come for one.
func (n *testNIC) program(priority unit.Priority, k int) {
	for i := range k {
		n.arrive(Stack, datagram(1, 2, priority, i))
	}
}

func (n *testNIC) far(priority unit.Priority, k int) {
	for i := range k {
		n.arrive(Wire, datagram(2, 1, priority, i))
	}
}

func (n *testNIC) do(a host.Act) {
	n.t.Helper()
	if err := n.Do(n.now, a); err != nil {
		n.t.Fatal(err)
	}
	n.work()
}

// datagram is an IPv4 frame of 1000 bytes between stations.
func datagram(from, to byte, priority unit.Priority, number int) []byte {
	b := make([]byte, frameBytes)
	copy(b, []byte{2, 0, 0, 0, 1, to, 2, 0, 0, 0, 1, from, 8, 0})
	copy(b[14:], []byte{0x45, byte(priority) << 5, (frameBytes - 14) >> 8, (frameBytes - 14) & 0xff, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, from, 10, 0, 0, to})
	binary.BigEndian.PutUint32(b[46:], uint32(number))
	return b
}

func pfc(priority unit.Priority, quanta uint16) []byte {
	b := make([]byte, pfcframe.Len)
	f := pfcframe.Frame{Enable: 1 << priority}
	f.Quanta[priority] = quanta
	pfcframe.Put(b, f)
	return b
}

// taken takes what left, without pauses, and tells it: "3:10 0:2" is ten of priority 3 and
// two of priority 0.
func taken(frames *[][]byte) string {
	var count [unit.Priorities]int
	for _, f := range *frames {
		if !pfcframe.IsMACControl(f) {
			count[f[15]>>5]++
		}
	}
	*frames = nil
	var s []string
	for c := unit.Priorities - 1; c >= 0; c-- {
		if count[c] > 0 {
			s = append(s, fmt.Sprintf("%d:%d", c, count[c]))
		}
	}
	return strings.Join(s, " ")
}

// pauses takes the PFC frames that left by the wire: their quanta for a priority.
func (n *testNIC) pauses(priority unit.Priority) (quanta []uint16) {
	n.t.Helper()
	for _, b := range n.wire {
		if !pfcframe.IsMACControl(b) {
			continue
		}
		f, pad, err := pfcframe.Parse(b)
		if err != nil || f.Enable != 1<<priority || f.Src != [6]byte{2, 0, 0, 0, 0, 5} {
			n.t.Fatalf("it sends the PFC frame %x: %v", b, err)
		}
		if !bytes.Equal(pad, make([]byte, len(pad))) {
			n.t.Fatalf("its PFC frame is not plain: %x", pad)
		}
		quanta = append(quanta, f.Quanta[priority])
	}
	n.wire = nil
	return quanta
}

// --- tests ---

func TestPassesFrames(t *testing.T) {
	n := newTestNIC(t)
	n.program(3, 5)
	n.program(0, 5)
	n.far(4, 3)
	n.run(2 * ms)
	if w, h := taken(&n.wire), taken(&n.host); w != "3:5 0:5" || h != "4:3" {
		t.Errorf("wire %q, stack %q", w, h)
	}
}

// A pause holds its priority back and no other; a resume lets it go, and so does time.
func TestHonoursPauses(t *testing.T) {
	n := newTestNIC(t)
	n.arrive(Wire, pfc(3, 65535))
	n.program(3, 4)
	n.program(0, 4)
	n.run(100 * ms)
	if w := taken(&n.wire); w != "0:4" {
		t.Errorf("while priority 3 is paused %q leave", w)
	}
	n.arrive(Wire, pfc(3, 0))
	n.run(1 * ms)
	if w := taken(&n.wire); w != "3:4" {
		t.Errorf("after the resume %q leave", w)
	}
	n.arrive(Wire, pfc(3, 1000)) // 5.12 ms at 100 Mbit/s
	n.program(3, 1)
	n.run(5 * ms)
	before := taken(&n.wire)
	n.run(1 * ms)
	if after := taken(&n.wire); before != "" || after != "3:1" {
		t.Errorf("before the pause runs out %q leave, after that %q", before, after)
	}
	if c := n.HostCounters(); c.RxPause[3] != 2 || c.RxResume[3] != 1 || c.PausedTime[3] < 105*ms || c.PausedTime[3] > 106*ms {
		t.Errorf("counters %+v", c)
	}
}

// Programs do not wait: what finds the send queue full is dropped, in the host and in its
// priority alone. Nothing tells them to stop.
func TestFullSendQueue(t *testing.T) {
	n := newTestNIC(t)
	n.arrive(Wire, pfc(3, 65535))
	const fit = SendQueue / frameBytes
	n.program(3, fit+50)
	n.program(4, 10)
	n.run(20 * ms)
	if w, h := taken(&n.wire), taken(&n.host); w != "4:10" || h != "" || len(n.host) != 0 {
		t.Errorf("wire %q, stack %q", w, h)
	}
	stack, wire := n.Counters(Stack), n.Counters(Wire)
	if d := stack.Drops[dataplane.DropStack]; d != 50 || stack.LosslessLost != 50 || wire.LosslessLost != 0 {
		t.Errorf("%d dropped in the host, %d and %d lost at the stack and on the wire; want 50, 50, 0", d, stack.LosslessLost, wire.LosslessLost)
	}
	n.arrive(Wire, pfc(3, 0))
	n.run(100 * ms)
	if w := taken(&n.wire); w != fmt.Sprintf("3:%d", fit) {
		t.Errorf("%q leave after the resume, want all %d that fitted", w, fit)
	}
}

// A slow stack: the receive buffer fills, PFC is sent at three quarters and again at a
// half, and what comes meanwhile finds room.
func TestSlowStack(t *testing.T) {
	n := newTestNIC(t)
	n.do(host.Act{Do: host.Slow, Rate: 1 * mbit})
	if n.Drain() != 1*mbit {
		t.Errorf("it drains at %d", n.Drain())
	}
	n.far(3, 1)
	n.run(0) // it has left: the buffer is empty again, and the stack busy for 8 ms
	n.far(3, 29)
	n.run(0)
	if q := n.pauses(3); len(q) != 0 {
		t.Fatalf("below three quarters it sends %v", q)
	}
	n.far(3, 11) // to the last byte of the headroom
	n.run(0)
	if q := n.pauses(3); len(q) != 1 || q[0] != 65535 {
		t.Fatalf("above three quarters it sends %v", q)
	}
	n.run(25 * ms)
	if q := n.pauses(3); len(q) != 2 {
		t.Errorf("in 25 ms it repeats the pause %d times, want 2", len(q))
	}
	n.do(host.Act{Do: host.Normal})
	n.run(0)
	if q := n.pauses(3); len(q) != 1 || q[0] != 0 {
		t.Errorf("when the stack is fast again it sends %v", q)
	}
	if h := taken(&n.host); h != "3:41" {
		t.Errorf("the stack got %q", h)
	}
	if c := n.HostCounters(); c.Overflow != 0 || c.TxPause[3] != 1 || c.TxResume[3] != 1 || c.TxRefresh[3] != 2 {
		t.Errorf("counters %+v", c)
	}
}

// A sender that does not stop loses frames, and they are counted where they were lost; slack
// takes some of them.
func TestOverrun(t *testing.T) {
	for slack, want := range map[int]uint64{0: 5, 3000: 2} {
		n := newSlackNIC(t, slack)
		n.do(host.Act{Do: host.Slow, Rate: 1 * mbit})
		n.far(3, 1)
		n.run(0)
		n.far(3, 45)
		if c := n.HostCounters(); c.Overflow != want || n.Counters(Wire).LosslessLost != want || n.Counters(Stack).Drops != [dataplane.Reasons]uint64{} {
			t.Errorf("slack of %d: %d frames lost, want %d; at the stack %v", slack, c.Overflow, want, n.Counters(Stack).Drops)
		}
	}
}

// A slow stack takes from all priorities in turn: a flood in one does not keep another out.
func TestSlowStackIsFair(t *testing.T) {
	n := newTestNIC(t)
	n.do(host.Act{Do: host.Slow, Rate: 1 * mbit})
	n.far(3, 30)
	n.far(0, 10)
	n.run(100 * ms)
	got := 0
	for _, f := range n.host {
		if f[15]>>5 == 0 {
			got++
		}
	}
	if got < 4 || got > 8 {
		t.Errorf("of %d frames that the stack took, %d are of the quiet priority; want about a half", len(n.host), got)
	}
	n.do(host.Act{Do: host.Normal})
	n.run(0)
}

func TestRefusesToStorm(t *testing.T) {
	n := newTestNIC(t)
	if err := n.Do(n.now, host.Act{Do: host.Storm, Priority: 3}); err == nil || !strings.Contains(err.Error(), "slow, normal") {
		t.Errorf("a storm: %v", err)
	}
}

// Its log is that of a host: one port, no periods, nothing of the stack's.
func TestEvents(t *testing.T) {
	n := newTestNIC(t)
	n.do(host.Act{Do: host.Slow, Rate: 1 * mbit})
	n.far(3, 35)
	n.arrive(Wire, pfc(4, 1000))
	n.program(4, SendQueue/frameBytes)
	n.run(6 * ms)
	n.SetLink(n.now, Stack, false)
	n.SetLink(n.now, Wire, false)
	n.work()
	kinds := map[event.Type]int{}
	for _, e := range n.log {
		kinds[e.Type]++
		if e.Port != 0 || e.Out != 0 || e.HasPeriod || e.Period != 0 {
			t.Errorf("event %+v", e)
		}
	}
	want := map[event.Type]int{event.LinkUp: 1, event.LinkDown: 1, event.PauseSent: 1, event.Paused: 1, event.Expired: 1}
	if fmt.Sprint(kinds) != fmt.Sprint(want) {
		t.Errorf("events by type %v, want %v", kinds, want)
	}
	if c := n.HostCounters(); c.LinkDown != 1 {
		t.Errorf("the link went down %d times", c.LinkDown)
	}
}

// Two NICs, one wire: however slow a stack is and whatever programs send, every lossless
// frame that one puts on the wire comes to the other's stack.
func TestNothingIsLostBetween(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	a, b := newTestNIC(t), newTestNIC(t)
	sent := 0
	const step = 300 * unit.Microsecond // a pause takes two: eight frames, and ten fit the headroom
	for range 5000 {
		if r.IntN(50) == 0 {
			b.do(host.Act{Do: host.Slow, Rate: unit.Rate(1+r.IntN(120)) * mbit})
		}
		a.program(3, r.IntN(12))
		a.run(step)
		b.run(step)
		for _, f := range a.wire {
			b.arrive(Wire, f)
			sent++
		}
		a.wire = nil
		for _, f := range b.wire {
			a.arrive(Wire, f)
		}
		b.wire = nil
	}
	b.do(host.Act{Do: host.Normal})
	b.run(0)
	if got := b.HostCounters(); got.Overflow != 0 || len(b.host) != sent {
		t.Errorf("seed %d: %d frames on the wire, %d at the stack, %d lost", seed, sent, len(b.host), got.Overflow)
	}
	if a.HostCounters().RxPause[3] == 0 || a.Counters(Stack).Drops[dataplane.DropStack] == 0 {
		t.Errorf("seed %d: no pause came, or the send queue was never full: nothing was proved", seed)
	}
}

func TestRefusedConfig(t *testing.T) {
	for _, c := range []struct {
		buffer, frame int
		want          string
	}{{100, 1514, "8192 or more for frames of 1514"}, {36_935, 9230, "36936 or more for frames of 9230"}} {
		_, err := New(Config{Name: "h", RxBuffer: c.buffer, MaxFrame: c.frame, Batch: 8, Refresh: ms})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("a buffer of %d bytes: %v, want %s", c.buffer, err, c.want)
		}
	}
}

// Jumbo frames pass both ways; a byte more, and they are counted as long.
func TestJumboFrames(t *testing.T) {
	m, err := New(Config{
		ID: 5, Name: "h5", NIC: host.NIC{MAC: 0x020000000005, Rate: 100 * mbit, Lossless: 1<<3 | 1<<4},
		Quanta: 65535, Refresh: 10 * ms, RxBuffer: 131_072, MaxFrame: 9230, Batch: 8,
	})
	if err != nil {
		t.Fatal(err)
	}
	n := &testNIC{NIC: m, t: t, now: unit.Second}
	n.SetLink(n.now, Wire, true)
	n.SetLink(n.now, Stack, true)
	jumbo := func(from, to byte, size int) []byte {
		b := append(datagram(from, to, 3, 0), make([]byte, size-frameBytes)...)
		binary.BigEndian.PutUint16(b[16:], uint16(size-14))
		return b
	}
	n.arrive(Stack, jumbo(1, 2, 9230))
	n.arrive(Wire, jumbo(2, 1, 9230), jumbo(2, 1, 9231))
	n.run(2 * ms)
	if w, h := taken(&n.wire), taken(&n.host); w != "3:1" || h != "3:1" {
		t.Errorf("wire %q, stack %q", w, h)
	}
	if long := n.HostCounters().Long; long != 1 {
		t.Errorf("%d frames were too long, want 1", long)
	}
}

// A NIC with a stack that takes little: short frames of lossy priorities fill their queues to it. A
// lossless frame still finds its place, since its buffer is empty; and if not, it counts as lost by
// the receiver, as each frame that the NIC dropped.
func TestLossyFramesLeaveLosslessOnesTheirBuffer(t *testing.T) {
	n := newTestNIC(t)
	n.SetRate(n.now, Stack, 1000) // the stack takes next to nothing
	short := func(priority unit.Priority) []byte {
		b := datagram(2, 1, priority, 1)[:60]
		b[16], b[17] = 0, 60-14
		return b
	}
	for range 4400 {
		for _, priority := range []unit.Priority{0, 1, 2, 5} {
			n.arrive(Wire, short(priority))
		}
	}
	before := n.HostCounters().Overflow
	had := n.Queue(Stack, 3).Frames()
	n.far(3, 10)
	got, told := n.Queue(Stack, 3).Frames()-had, n.HostCounters().Overflow-before
	if got != 10 {
		t.Errorf("of 10 lossless frames %d found a place in an empty buffer of 40,000 bytes; lossless lost by the switch's counter: %d, overflow of the host: %d", got, n.Counters(Wire).LosslessLost, told)
	}
	if int(told) != 10-got {
		t.Errorf("%d are lost, and the host counts %d", 10-got, told)
	}
}

// A NIC that heeds 802.3x PAUSE holds what programs send, in every priority; what comes is counted in
// either case.
func TestPause8023(t *testing.T) {
	for _, heed := range []bool{true, false} {
		m, err := New(Config{
			ID: 5, Name: "h5", NIC: host.NIC{MAC: 0x020000000005, Rate: 100 * mbit, Lossless: 1<<3 | 1<<4, HeedPause: heed},
			Quanta: 65535, Refresh: 10 * ms, RxBuffer: 40_000, MaxFrame: 1514, Batch: 8,
		})
		if err != nil {
			t.Fatal(err)
		}
		n := &testNIC{NIC: m, t: t, now: unit.Second}
		n.SetLink(0, Wire, true) // it is the first at this place
		n.SetLink(0, Stack, true)
		n.work()
		b := make([]byte, pfcframe.Len)
		copy(b, pfcframe.Address)
		copy(b[12:], []byte{0x88, 8, 0, 1, 1000 >> 8, 1000 & 0xff}) // 5.12 ms
		n.arrive(Wire, b)
		n.program(3, 1)
		n.program(0, 1)
		n.run(5 * ms)
		if held := len(n.wire) == 0; held != heed {
			t.Errorf("heeds %v: %d frames left in 5 ms", heed, len(n.wire))
		}
		n.run(ms)
		if len(n.wire) != 2 {
			t.Errorf("heeds %v: %d frames left in 6 ms, want 2", heed, len(n.wire))
		}
		if k := n.HostCounters(); k.RxPause8023 != 1 || k.Bad != 0 {
			t.Errorf("heeds %v: counted as %d PAUSE, %d bad; want 1 and 0", heed, k.RxPause8023, k.Bad)
		}
	}
}
