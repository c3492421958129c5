package host

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"slices"
	"testing"

	"softswitch/buffer"
	"softswitch/event"
	"softswitch/internal/ether"
	"softswitch/pfcframe"
	"softswitch/unit"
)

const (
	us = unit.Microsecond
	ms = unit.Millisecond

	mbit = unit.Rate(1_000_000)
)

// Addresses of the test's hosts.
const (
	ownMAC     unit.MAC = 0x020000000001
	gatewayMAC unit.MAC = 0x0200000000fe
)

var (
	ownIP  = netip.MustParseAddr("10.0.0.1")
	peerIP = netip.MustParseAddr("10.0.0.2")
)

// testHost drives a host in virtual time. Its clock stands still until the script
// says run.
type testHost struct {
	*Host
	t    testing.TB
	now  unit.Time
	next unit.Time // what the last Transmit named
	log  []event.Event
	out  []departure
	// late is by how much the driver misses each deadline; nil is exact.
	late func() unit.Time
}

// departure is a frame that the host began to send.
type departure struct {
	at   unit.Time
	data []byte
}

// testConfig is a host on a link of 100 Mbit/s with lossless priorities 3 and 4 and
// a receive buffer of 16,000 bytes: XOFF at 12,000, XON at 8,000.
func testConfig(flows ...Flow) Config {
	return Config{
		ID: 9, Name: "h9", NIC: NIC{MAC: ownMAC, GatewayMAC: gatewayMAC, Address: ownIP, Rate: 100 * mbit, Lossless: 1<<3 | 1<<4},
		Quanta: 65535, Refresh: ms, RxBuffer: 16_000, Flows: flows, Batch: 8, MaxFrame: 1514, SlotBytes: 2048,
	}
}

// flow is flow number n to the peer, of frames of 1514 bytes, for ever.
func flow(n uint32, c unit.Priority, r unit.Rate) Flow {
	return Flow{Number: n, Name: "f", To: peerIP, SrcPort: 49152 + uint16(n), Priority: c, Stream: Stream{Rate: unit.FlowRate(r), Frame: 1514, TTL: 64}}
}

// newTestHost makes a host whose clock is at 1 s and whose link is up. When the
// test ends every slot must be back.
func newTestHost(t testing.TB, c Config) *testHost {
	t.Helper()
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	h := &testHost{Host: m, t: t, now: unit.Second}
	h.SetLink(0, 0, true) // it is the first at this place, and has nobody to let go of
	h.run(0)
	h.log = nil
	t.Cleanup(func() {
		if free, all := m.pool.Free(), m.pool.Slots(); free != all {
			t.Errorf("%d of %d slots are free at the end", free, all)
		}
	})
	return h
}

// startHost makes a host whose time line begins now, at 1 s.
func startHost(t testing.TB, c Config) *testHost {
	t.Helper()
	h := newTestHost(t, c)
	h.Start(h.now)
	h.run(0)
	return h
}

// --- verbs ---

// run lets d pass: the host is asked whenever it is ready and at each of its
// deadlines, those at the end of d included.
func (h *testHost) run(d unit.Time) {
	h.t.Helper()
	until := h.now + d
	for {
		h.transmit()
		if h.next <= h.now {
			h.t.Fatalf("at %d: Transmit had nothing to send and named %d as its next time", h.now, h.next)
		}
		at := h.next
		if h.late != nil && at != unit.Never {
			at += h.late()
		}
		if at > until {
			h.now = until
			return
		}
		h.now = at
	}
}

// transmit takes frames until none leaves now.
func (h *testHost) transmit() {
	h.t.Helper()
	fs := make([]*buffer.Frame, h.cfg.Batch)
	for calls := 0; ; calls++ {
		if calls > 10_000 {
			h.t.Fatalf("at %d: the host sends without end", h.now)
		}
		var n int
		n, h.next = h.Transmit(h.now, 0, fs)
		for _, f := range fs[:n] {
			h.out = append(h.out, departure{h.now, bytes.Clone(f.Data)})
		}
		h.Sent(h.now, 0, fs[:n])
		ready := h.work()
		if n == 0 && !ready {
			return
		}
	}
}

func (h *testHost) work() (ready bool) {
	var set unit.PortSet
	set, h.log = h.Work(h.log)
	return set.Has(0)
}

// receive is the arrival of frames now, as one batch.
func (h *testHost) receive(frames ...[]byte) {
	h.t.Helper()
	for frames := range slices.Chunk(frames, h.cfg.Batch) {
		fs := make([]*buffer.Frame, len(frames))
		h.Lend(0, fs)
		for i, f := range fs {
			f.Data = append(f.Data[:0], frames[i]...)
			f.Len = len(f.Data)
			h.Parse(f)
		}
		h.Receive(h.now, 0, fs)
		h.work()
	}
	h.transmit()
}

// pause is the arrival of a PFC frame for one priority.
func (h *testHost) pause(c unit.Priority, quanta uint16) {
	h.t.Helper()
	h.receive(pfc(c, quanta))
}

// link is a change of the link.
func (h *testHost) link(up bool) {
	h.t.Helper()
	h.SetLink(h.now, 0, up)
	h.work()
	h.transmit()
}

// --- what left ---

// take returns what left since the last take.
func (h *testHost) take() []departure {
	out := h.out
	h.out = nil
	return out
}

// takeTimes returns when frames of a flow left since the last take, relative to
// the start at 1 s.
func (h *testHost) takeTimes(number uint32) (at []unit.Time) {
	for _, d := range h.take() {
		if n, _, ok := d.flow(); ok && n == number {
			at = append(at, d.at-unit.Second)
		}
	}
	return at
}

// flow says which frame of which flow it is.
func (d departure) flow() (number uint32, seq uint64, ok bool) {
	if pfcframe.IsMACControl(d.data) {
		return 0, 0, false
	}
	number, seq, _, ok = payload(d.data, ether.HeaderLen)
	return number, seq, ok
}

// events returns the events of a type since the last time that events were asked
// for, as times relative to the start.
func (h *testHost) events(want event.Type, priority unit.Priority) (at []unit.Time) {
	for _, e := range h.log {
		if e.Type == want && e.Priority == priority && e.OutPriority == 0 || e.Type == want && e.OutPriority == priority && e.Priority == 0 {
			at = append(at, e.At-unit.Second)
		}
	}
	return at
}

func wantTimes(t testing.TB, what string, got, want []unit.Time) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}

// every is n times from first on.
func every(first, step unit.Time, n int) []unit.Time {
	at := make([]unit.Time, n)
	for i := range at {
		at[i] = first + unit.Time(i)*step
	}
	return at
}

// --- frames ---

// pfc is a PFC frame of the far end.
func pfc(c unit.Priority, quanta uint16) []byte {
	f := pfcframe.Frame{Src: gatewayMAC.Bytes(), Enable: 1 << c}
	f.Quanta[c] = quanta
	b := make([]byte, pfcframe.Len)
	pfcframe.Put(b, f)
	return b
}

// slowFrame is a flow's frame to this host, built field by field.
func slowFrame(src, dst unit.MAC, from, to netip.Addr, c unit.Priority, ttl uint8, srcPort uint16, size int, number uint32, seq uint64, sent unit.Time) []byte {
	var b bytes.Buffer
	put := func(fields ...any) {
		for _, v := range fields {
			if err := binary.Write(&b, binary.BigEndian, v); err != nil {
				panic(err)
			}
		}
	}
	dscp := []uint8{0, 8, 16, 26, 32, 40, 48, 56}[c]
	put(dst.Bytes(), src.Bytes(), uint16(0x0800))
	put(uint8(0x45), dscp<<2, uint16(size-14), uint32(0x4000), ttl, uint8(17), uint16(0), from.As4(), to.As4())
	put(srcPort, uint16(4791), uint16(size-34), uint16(0))
	put(uint16(0x5346), number, seq, int64(sent))
	frame := append(b.Bytes(), make([]byte, size-b.Len())...)
	sum := uint32(0)
	for i := 14; i < 34; i += 2 {
		sum += uint32(binary.BigEndian.Uint16(frame[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	binary.BigEndian.PutUint16(frame[24:], ^uint16(sum))
	return frame
}

// arrival is frame seq of flow number, of size bytes, as it comes to this host.
func arrival(c unit.Priority, number uint32, seq uint64, size int) []byte {
	return slowFrame(gatewayMAC, ownMAC, peerIP, ownIP, c, 60, 50_000, size, number, seq, unit.Second)
}
