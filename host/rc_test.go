package host

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"softswitch/buffer"
	"softswitch/host/congestion"
	"softswitch/host/roce"
	"softswitch/internal/ether"
	"softswitch/internal/testkit"
	"softswitch/unit"
)

// twoHosts is two hosts on one link, whose frames arrive after delay, unless they are lost.
type twoHosts struct {
	*testing.T
	a, b *testHost
	// lose says whether a frame gets lost; nil loses none.
	lose   func(frame []byte) bool
	flying []flight
	frames [][]byte // all that were sent
	delay  unit.Time
	late   func() unit.Time // by how much longer a frame takes; nil: none does
	all    bool             // the hosts look at all their flows at each turn
}

type flight struct {
	at   unit.Time
	to   *testHost
	data []byte
}

// connection is flow n as a reliable connection of messages of so many bytes.
func connection(n uint32, message int, bytes uint64) Flow {
	f := flow(n, 3, 0)
	f.Size = int(bytes)
	f.RC = &RC{PathMTU: 1024, Message: message, Window: 4, Timeout: new(ms), Retries: new(Retries(7))}
	return f
}

// connect connects the hosts; flows go from a to b.
func connect(t *testing.T, flows ...Flow) *twoHosts {
	ca, cb := testConfig(flows...), testConfig()
	cb.Address, cb.MAC, cb.GatewayMAC = peerIP, gatewayMAC, ownMAC
	for _, f := range flows {
		if f.RC != nil {
			cb.Peers = append(cb.Peers, Peer{Number: f.Number, From: ownIP, SrcPort: f.SrcPort, Priority: f.Priority, TTL: 64, RC: PeerRC{Recovery: f.RC.Recovery, Message: f.RC.Message, Fixed: f.RC.Fixed}})
		}
	}
	p := &twoHosts{T: t, a: newTestHost(t, ca), b: newTestHost(t, cb), delay: 5 * us}
	for i := range p.b.peers {
		p.b.peers[i].forget() // as a live host, which does not know who was before it
	}
	p.start()
	return p
}

func (p *twoHosts) start() {
	p.a.Start(p.a.now)
	p.b.Start(p.b.now)
}

// run lets d pass.
func (p *twoHosts) run(d unit.Time) {
	p.Helper()
	for until := p.a.now + d; ; {
		p.exchange()
		at := min(p.a.next, p.b.next)
		if len(p.flying) > 0 {
			at = min(at, p.flying[0].at)
		}
		p.a.now = min(at, until)
		p.b.now = p.a.now
		if at > until {
			return
		}
		for len(p.flying) > 0 && p.flying[0].at <= p.a.now {
			f := p.flying[0]
			p.flying = p.flying[1:]
			f.to.receive(f.data)
		}
	}
}

// exchange puts what the hosts send onto the wire.
func (p *twoHosts) exchange() {
	for _, from := range []*testHost{p.a, p.b} {
		to := p.b
		if from == p.b {
			to = p.a
		}
		if p.all {
			from.tendAt = 0
		}
		from.transmit()
		for _, d := range from.take() {
			p.frames = append(p.frames, d.data)
			if p.lose == nil || !p.lose(d.data) {
				f := flight{p.a.now + p.delay, to, d.data}
				if p.late != nil {
					f.at += p.late()
				}
				p.flying = append(p.flying, f)
			}
		}
	}
	slices.SortStableFunc(p.flying, func(a, b flight) int { return cmp.Compare(a.at, b.at) })
}

func (p *twoHosts) messages(flow int) Messages { return *p.a.Senders()[flow].Messages }

// Two connections and a UDP flow share a link: all messages arrive, and each is timed.
func TestConnections(t *testing.T) {
	udp := flow(7, 3, 20*mbit)
	udp.Stop = 10 * ms
	p := connect(t, connection(3, 10_000, 100_000), udp, connection(5, 3000, 10_000))
	p.run(100 * ms)
	for i, want := range map[int]struct{ done, bytes uint64 }{0: {10, 100_000}, 2: {4, 10_000}} {
		m := p.messages(i)
		if m.Done != want.done || m.Bytes != want.bytes || m.Again != 0 || m.Failed || m.Completion == 0 || m.TimeSum > unit.Time(m.Done)*m.TimeMax || m.TimeMax > m.Completion {
			t.Errorf("flow %d: %+v; want %d messages of %d bytes", i, m, want.done, want.bytes)
		}
	}
	for _, r := range p.b.Receivers() {
		if r.Lost != 0 || (r.Packets == nil) != (r.Number == 7) {
			t.Errorf("flow %d: %+v", r.Number, r)
		}
	}
	// 100 packets of 1024 bytes at 100 Mbit/s, and the others' frames.
	if c := p.messages(0).Completion; c < 9*ms || c > 15*ms {
		t.Errorf("100 KB took %d ns over 100 Mbit/s", c)
	}
	if s := p.a.Senders(); s[1].Messages != nil || s[1].Frames == 0 {
		t.Errorf("the UDP flow: %+v", s[1])
	}
}

// A host that looks at all its flows at each turn sends the same frames at the same times.
func TestTendReference(t *testing.T) {
	seed := testkit.Seed(t)
	failed := false
	for i := range uint64(100) {
		play := func(all bool) *twoHosts {
			r := rand.New(rand.NewPCG(seed, i))
			var flows []Flow
			for n := range uint32(2 + r.IntN(5)) {
				f := connection(n, 1+r.IntN(5000), uint64(r.IntN(2)*r.IntN(20_000)))
				if r.IntN(2) == 0 {
					f.RC.Recovery, f.RC.TimeoutLow = Selective, new(unit.Time(100+r.IntN(900))*us)
				}
				if *f.RC.Retries = Retries(r.IntN(3)); r.IntN(3) == 0 {
					f.RC, f.Rate = nil, unit.FlowRate(5*mbit)
				}
				if f.Start = unit.Time(r.IntN(4)) * ms; r.IntN(2) == 0 {
					f.Stop = f.Start + unit.Time(1+r.IntN(8000))*us
				}
				flows = append(flows, f)
			}
			p := connect(t, flows...)
			p.all = all
			dark := unit.Time(r.IntN(20)) * ms
			p.lose = func([]byte) bool { return p.a.now > dark && p.a.now < dark+3*ms || r.IntN(50) == 0 }
			p.run(15 * ms)
			p.start()
			p.run(10 * ms)
			return p
		}
		got, want := play(false), play(true)
		if !slices.EqualFunc(got.frames, want.frames, bytes.Equal) {
			t.Fatalf("run %d: %d frames, want %d, or others", i, len(got.frames), len(want.frames))
		}
		if !reflect.DeepEqual(got.a.Senders(), want.a.Senders()) {
			t.Fatalf("run %d: %+v, want %+v", i, got.a.Senders(), want.a.Senders())
		}
		failed = failed || slices.ContainsFunc(got.a.Senders(), func(s Sent) bool { return s.Messages != nil && s.Messages.Failed })
	}
	if !failed {
		t.Error("no connection gave up: this proves little")
	}
}

// Whatever is lost, comes twice or comes late, data and answers alike, all messages of selective connections
// arrive once, and the counts agree: with fewer packets sent again than of those that go back.
func TestSelectiveConnections(t *testing.T) {
	seed := testkit.Seed(t)
	again := map[string]uint64{}
	for i := range uint64(100) {
		for _, recovery := range []string{GoBackN, Selective} {
			r := rand.New(rand.NewPCG(seed, i))
			loss := []int{1, 10, 100, 500}[r.IntN(4)]
			message, n := 1+r.IntN(20_000), uint64(1+r.IntN(10))
			f := connection(uint32(i), message, uint64(message)*n)
			if f.RC.Recovery = recovery; recovery == Selective {
				f.RC.InFlight, f.RC.TimeoutLow = r.IntN(129), new(ms/3)
			}
			*f.RC.Retries = 1000
			f.RC.PSN = new(r.Uint32N(1 << 24)) // one life: a late packet may tell of another
			p := connect(t, f)
			p.late = func() unit.Time { return unit.Time(r.IntN(3)) * 100 * us }
			p.lose = func([]byte) bool { return r.IntN(10_000) < loss }
			p.run(unit.Second)
			m, got := p.messages(0), p.b.Receivers()[0]
			if m.Done != n || m.Bytes != n*uint64(message) || got.Packets.Bytes != m.Bytes || m.Completion == 0 {
				t.Fatalf("run %d, %s, messages of %d: %+v, received %+v; want %d messages", i, recovery, message, m, got.Packets, n)
			}
			if recovery == GoBackN && got.Packets.Kept != 0 || recovery == Selective && got.Packets.OutOfOrder != 0 {
				t.Fatalf("run %d, %s: received %+v", i, recovery, got.Packets)
			}
			if bad := p.a.nics[0].count.RC; bad != (BadPackets{}) {
				t.Fatalf("run %d, %s: %+v", i, recovery, bad)
			}
			again[recovery] += m.Again
		}
	}
	if again[Selective] == 0 || again[GoBackN] < 2*again[Selective] {
		t.Errorf("packets sent again: %v; want some, and far more of those that go back", again)
	}
}

// What a selective far end says of a gap is nothing to a connection that goes back: it is counted as malformed.
func TestSelectiveAnswerToOthers(t *testing.T) {
	f := connection(1, 10_000, 100_000)
	p := connect(t, f)
	p.b.peers[0].resp.Selective = true
	n := 0
	p.lose = func([]byte) bool { n++; return n == 5 }
	p.run(ms)
	if got := p.a.nics[0].count.RC; got.Malformed == 0 || got.UnknownQP != 0 {
		t.Errorf("%+v; want answers that are malformed", got)
	}
}

// Whatever is lost, all messages arrive once, and the counts agree.
func TestConnectionOverLoss(t *testing.T) {
	seed := testkit.Seed(t)
	for i := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, i))
		loss := []int{1, 10, 100, 500}[r.IntN(4)]
		message, n := 1+r.IntN(20_000), uint64(1+r.IntN(10))
		p := connect(t, connection(uint32(i), message, uint64(message)*n))
		p.a.flows[0].rc.Retries = 1000
		lost := 0
		p.lose = func(b []byte) bool {
			is := r.IntN(10_000) < loss
			if is && b[headerLen] != byte(roce.Acknowledge) {
				lost++
			}
			return is
		}
		p.run(unit.Second)
		m, got := p.messages(0), p.b.Receivers()[0]
		if m.Done != n || m.Bytes != n*uint64(message) || got.Packets.Bytes != m.Bytes || m.Completion == 0 {
			t.Fatalf("run %d, messages of %d: %+v, received %+v; want %d messages", i, message, m, got.Packets, n)
		}
		sent := p.a.Senders()[0]
		if sent.Frames != m.Packets || got.Frames+uint64(lost) != sent.Frames || got.Lost > uint64(lost) {
			t.Fatalf("run %d: %d frames sent, %d lost, received %+v", i, sent.Frames, lost, got)
		}
	}
}

// While its priority is paused nothing of a connection leaves, answers as little as data.
func TestConnectionPaused(t *testing.T) {
	p := connect(t, connection(1, 1000, 0))
	p.run(ms)
	p.b.pause(3, 65535)
	p.run(ms / 2)
	p.a.pause(3, 65535)
	p.run(ms / 2)
	p.frames = nil
	p.run(ms)
	if len(p.frames) != 0 {
		t.Errorf("%d frames of the paused priority leave", len(p.frames))
	}
	p.b.pause(3, 0)
	p.run(10 * us)
	if len(p.frames) != 1 || p.frames[0][ether.HeaderLen+ether.IPv4Len+ether.UDPLen] != byte(roce.Acknowledge) {
		t.Errorf("resumed, the far end sends %d frames; want the one acknowledgement that was held", len(p.frames))
	}
}

// After its stop a connection ends the messages that have begun; started again it goes on.
func TestConnectionStops(t *testing.T) {
	f := connection(1, 50_000, 200_000)
	f.Stop = ms
	p := connect(t, f)
	p.run(100 * ms)
	m := p.messages(0)
	if m.Done != 1 || m.Packets != 49 || m.Completion != 0 || p.a.next != unit.Never {
		t.Errorf("%+v, next %d; want the first message alone", m, p.a.next)
	}
	p.start()
	p.run(100 * ms)
	if m := p.messages(0); m.Done != 2 {
		t.Errorf("started again: %+v", m)
	}
}

// Two connections to answer at once: the second answer follows when the wire is free.
func TestTwoAnswers(t *testing.T) {
	p := connect(t, connection(1, 100, 100), connection(2, 100, 100))
	var held [][]byte
	p.lose = func(b []byte) bool {
		data := roce.Opcode(b[headerLen]).IsData()
		if data {
			held = append(held, b)
		}
		return data
	}
	p.run(100 * us)
	p.b.receive(held...)
	p.run(100 * us)
	for i := range 2 {
		if m := p.messages(i); m.Done != 1 || m.Again != 0 {
			t.Errorf("flow %d: %+v", i, m)
		}
	}
}

// A message that was sent again took as long as since it was sent first; and TIMELY does not
// take that time for a round trip.
func TestTimeOfWhatIsSentAgain(t *testing.T) {
	params, err := congestion.DefaultTimely(100 * mbit)
	if err != nil {
		t.Fatal(err)
	}
	p := withControl(t, &Congestion{Timely: &params, CNPPriority: 6}, connection(1, 1000, 1000))
	n := 0
	p.lose = func([]byte) bool { n++; return n == 1 }
	p.run(10 * ms)
	if m := p.messages(0); m.Done != 1 || m.Timeouts != 1 || m.TimeMax < ms || m.TimeMax != m.Completion || m.Rate != 100*mbit {
		t.Errorf("%+v", m)
	}
}

// A sender with DCQCN rises by what it sends, too.
func TestDCQCNRisesByBytes(t *testing.T) {
	k := congestion.DCQCN{
		Gain: 4, CNPInterval: 50 * us, AlphaTimer: 55 * us, RiseTimer: unit.Second, RiseBytes: 10_000, Recovery: 5, AI: mbit, HAI: mbit, Min: mbit,
	}
	p := withControl(t, &Congestion{DCQCN: &k, CNPPriority: 6}, connection(1, 100_000, 0))
	marked := 0
	p.lose = func(b []byte) bool {
		if marked < 3 && roce.Opcode(b[headerLen]).IsData() {
			mark(b)
			marked++
		}
		return false
	}
	p.run(ms)
	low := p.messages(0)
	p.run(20 * ms)
	if m := p.messages(0); low.Rate > 60*mbit || m.Rate < low.Rate+5*mbit {
		t.Errorf("%d bit/s after the marks, and %d 20 ms later", low.Rate, m.Rate)
	}
}

// A far end that is gone: the connection gives up, and the host is quiet.
func TestConnectionFails(t *testing.T) {
	p := connect(t, connection(1, 1000, 5000))
	p.lose = func([]byte) bool { return true }
	p.run(unit.Second)
	if m := p.messages(0); !m.Failed || m.Timeouts != 8 || m.Done != 0 || m.Completion != 0 || p.a.next != unit.Never {
		t.Errorf("%+v, next %d", m, p.a.next)
	}
}

// Forever is longer than any number of timeouts.
func TestConnectionGoesOnForever(t *testing.T) {
	f := connection(1, 5000, 5000)
	*f.RC.Retries = Forever
	p := connect(t, f)
	lost := true
	p.lose = func([]byte) bool { return lost }
	p.run(500 * ms)
	if m := p.messages(0); m.Failed || m.Timeouts < 100 {
		t.Fatalf("%+v", m)
	}
	lost = false
	p.run(10 * ms)
	if m := p.messages(0); m.Done != 1 {
		t.Errorf("%+v", m)
	}
}

// A sender of another make has no records: what is missing is told by PSN, and stays lost when it is sent again.
func TestLostOfForeignSender(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	p := connect(t, connection(1, 20_000, 100_000))
	lost, sent := 0, 0
	p.lose = func(b []byte) bool {
		if roce.Opcode(b[headerLen]) == roce.Acknowledge {
			return false
		}
		if record := b[headerLen+roce.Opcode(b[headerLen]).Len():]; len(record) >= RecordLen {
			clear(record[:RecordLen])
		}
		ether.SetID(b[ether.HeaderLen:], uint16(r.Uint32()))
		roce.Seal(b[ether.HeaderLen:])
		sent++
		if sent == 10 || sent == 11 || sent == 50 { // each in the midst of others, and new
			lost++
			return true
		}
		return false
	}
	p.run(200 * ms)
	got := p.b.Receivers()[0]
	if got.Lost != 3 || int(got.Frames) != sent-lost || got.Reordered != 0 || got.Packets.Bytes != 100_000 {
		t.Errorf("%+v, %+v; want 3 lost of %d", got, *got.Packets, sent)
	}
	if m := p.messages(0); m.Done != 5 || m.Naks == 0 {
		t.Errorf("%+v", m)
	}
}

// What comes to port 4791 and is of no connection is counted by its reason, and changes
// nothing.
func TestBadPackets(t *testing.T) {
	p := connect(t, connection(1, 5000, 5000), connection(2, 5000, 5000))
	p.run(50 * ms)
	data := p.frames[0]
	ack := p.frames[slices.IndexFunc(p.frames, func(b []byte) bool { return len(b) < 100 })]
	good := p.b.Receivers()
	damaged := func(b []byte, at int, to byte, sealed bool) []byte {
		b = slices.Clone(b)
		b[at] = to
		if sealed {
			roce.Seal(b[ether.HeaderLen:])
		}
		return b
	}
	const bth = headerLen
	p.b.receive(
		damaged(data, len(data)-10, 0xff, false), // ICRC
		damaged(data, bth, 0x05, true),           // opcode
		damaged(data, bth+1, 3, true),            // version
		damaged(data, bth+7, 99, true),           // QP
		damaged(data, bth+7, 0, true),            // QP 0
		damaged(data, bth+7, 5, true),            // a requester's QP
	)
	p.a.receive(
		damaged(ack, bth+12, 0xff, true), // AETH
		damaged(ack, bth+7, 99, true),    // QP
		damaged(ack, bth+7, 4, true),     // a responder's QP
	)
	if got, want := p.b.Counters().RC, (BadPackets{Malformed: 2, ICRC: 1, UnknownQP: 3}); got != want {
		t.Errorf("%+v; want %+v", got, want)
	}
	if got, want := p.a.Counters().RC, (BadPackets{Malformed: 1, UnknownQP: 2}); got != want {
		t.Errorf("%+v; want %+v", got, want)
	}
	for i, r := range p.b.Receivers() {
		if r.Frames != good[i].Frames || *r.Packets != *good[i].Packets {
			t.Errorf("flow %d: %+v; before %+v", r.Number, r, good[i])
		}
	}
	before := p.messages(0)
	p.a.receive(damaged(data, bth+7, 5, true)) // data, to the queue pair of a requester that waits for answers
	stray := slices.Clone(ack)
	ether.PutIPv4(stray[ether.HeaderLen:], stray[15], 64, ether.ProtoUDP, len(stray)-ether.HeaderLen, addr32(netip.MustParseAddr("10.0.0.77")), addr32(ownIP))
	roce.Seal(stray[ether.HeaderLen:])
	p.a.receive(stray)
	if got := p.a.Counters(); got.RC.UnknownQP != 3 || got.Other != 1 || p.messages(0) != before {
		t.Errorf("%+v, other %d, %+v; want 3 unknown and one for another address", got.RC, got.Other, p.messages(0))
	}
	// From another host than its far end.
	other := slices.Clone(data)
	ether.PutIPv4(other[ether.HeaderLen:], other[15], 64, ether.ProtoUDP, len(other)-ether.HeaderLen, addr32(netip.MustParseAddr("10.0.0.77")), addr32(peerIP))
	roce.Seal(other[ether.HeaderLen:])
	p.b.receive(other)
	if got := p.b.Counters().RC.UnknownQP; got != 4 {
		t.Errorf("%d unknown, want 4", got)
	}
}

// In steady state a connection allocates nothing.
func TestConnectionAllocates(t *testing.T) {
	p := connect(t, connection(1, 10_000, 0))
	p.run(10 * ms)
	fs := make([]*buffer.Frame, 8)
	sent := 0
	if n := testing.AllocsPerRun(20, func() {
		p.a.now += 100 * us
		n, _ := p.a.Transmit(p.a.now, 0, fs)
		p.a.Sent(p.a.now, 0, fs[:n])
		sent += n
	}); n != 0 || sent < 21 {
		t.Errorf("%v allocations for a frame, %d frames", n, sent)
	}
}

// mark is what a switch does that marks a frame.
func mark(b []byte) {
	ip := b[ether.HeaderLen:]
	ip[1] |= 3
	ip[10], ip[11] = 0, 0
	sum := ether.Checksum(ip[:ether.IPv4Len])
	ip[10], ip[11] = byte(sum>>8), byte(sum)
}

// withControl connects the hosts with congestion control.
func withControl(t *testing.T, k *Congestion, flows ...Flow) *twoHosts {
	t.Helper()
	p := connect(t, flows...)
	ca, cb := p.a.cfg, p.b.cfg
	ca.Congestion, cb.Congestion, ca.Pool, cb.Pool = k, k, nil, nil
	p.a, p.b = newTestHost(t, ca), newTestHost(t, cb)
	p.start()
	return p
}

// Marked packets bring CNPs, at most one in an interval, in their own priority, and the sender
// slows down; without marks it goes at the rate of the line.
func TestDCQCN(t *testing.T) {
	profile, err := congestion.Profile("paper", 100*mbit)
	if err != nil {
		t.Fatal(err)
	}
	p := withControl(t, &Congestion{DCQCN: &profile, CNPPriority: 6}, connection(1, 100_000, 0))
	p.run(10 * ms)
	if m := p.messages(0); m.CNPs != 0 || m.Rate != 100*mbit {
		t.Errorf("without marks: %+v", m)
	}
	data := func(b []byte) bool { return roce.Opcode(b[headerLen]).IsData() }
	p.lose = func(b []byte) bool {
		if data(b) {
			if b[ether.HeaderLen+1]&3 != 2 {
				t.Fatal("a packet is not ECN-capable")
			}
			mark(b)
		}
		return false
	}
	p.frames = nil
	p.run(5 * ms)
	cnps := slices.DeleteFunc(slices.Clone(p.frames), func(b []byte) bool { return b[headerLen] != byte(roce.Congestion) })
	if len(cnps) == 0 || len(cnps) > int(5*ms/profile.CNPInterval)+1 || cnps[0][ether.HeaderLen+1] != 48<<2 {
		t.Errorf("%d CNPs, the first with a type of service of %#x", len(cnps), cnps[0][ether.HeaderLen+1])
	}
	m, got := p.messages(0), p.b.Receivers()[0]
	if m.Rate > 30*mbit || m.CNPs != got.CNPs || got.CNPs != uint64(len(cnps)) || got.Marked < got.CNPs || m.Again != 0 {
		t.Errorf("marked: %+v, received %+v", m, got)
	}
	p.frames = nil
	p.run(5 * ms)
	if n := len(slices.DeleteFunc(p.frames, func(b []byte) bool { return !data(b) })); n > int(m.Rate)*5/1000/8/1000*2 {
		t.Errorf("at %d bit/s %d packets of 1 KB leave in 5 ms", m.Rate, n)
	}
}

// Long round trips slow a sender with TIMELY down.
func TestTimely(t *testing.T) {
	params, err := congestion.DefaultTimely(100 * mbit)
	if err != nil {
		t.Fatal(err)
	}
	f := connection(1, 10_000, 0)
	*f.RC.Timeout = 50 * ms
	p := withControl(t, &Congestion{Timely: &params, CNPPriority: 6}, f)
	p.run(20 * ms)
	fast := p.messages(0)
	if fast.Rate != 100*mbit {
		t.Errorf("with round trips of microseconds: %+v", fast)
	}
	p.delay = 2 * ms
	p.run(100 * ms)
	if m := p.messages(0); m.Rate > 20*mbit || m.Rate < params.Min {
		t.Errorf("with round trips of 4 ms: %+v", m)
	}
}

// Whatever fits into its window, a controller is told something in each round trip in which its
// connection sends: TIMELY of a round trip, DCQCN of a mark, where all is marked.
func TestControllersAreTold(t *testing.T) {
	timely, err := congestion.DefaultTimely(100 * mbit)
	if err != nil {
		t.Fatal(err)
	}
	timely.Min = 50 * mbit
	controls := map[string]*Congestion{"timely": {Timely: &timely, CNPPriority: 6}}
	for _, name := range congestion.Profiles() {
		k, err := congestion.Profile(name, 100*mbit)
		if err != nil {
			t.Fatal(err)
		}
		k.Min = 50 * mbit
		controls[name] = &Congestion{DCQCN: &k, CNPPriority: 6}
	}
	play := func(name string, window, message int) {
		const packet = 100 * us // at 100 Mbit/s
		f := connection(1, message, 0)
		f.RC.Window, *f.RC.Timeout = window, 10*unit.Second
		p := withControl(t, controls[name], f)
		p.delay = max(50*us, min(unit.Time(window*((message+1023)/1024))*packet/2, 200*ms))
		p.lose = func(b []byte) bool {
			if roce.Opcode(b[headerLen]).IsData() {
				mark(b)
			}
			return false
		}
		// A round trip, with what separates two requests for an acknowledgement, at half of the line.
		round := 2*p.delay + 2*(roce.AckEvery+2)*packet
		p.run(round)
		for i := range 3 {
			before := p.messages(0)
			p.run(round)
			m := p.messages(0)
			told := m.CNPs - before.CNPs + m.Samples - before.Samples
			if m.Packets == before.Packets || m.Again > 0 || told == 0 {
				t.Errorf("%s, window of %d messages of %d: round %d: %d packets, %d of them again, and the controller was told %d times", name, window, message, i, m.Packets-before.Packets, m.Again, told)
				return
			}
		}
	}
	for name := range controls {
		for window := 1; window <= WindowMax; window *= 2 {
			for _, message := range []int{100, 20_000, 65_536} {
				play(name, window, message)
			}
		}
		play(name, 2, 1_000_000)
	}
}

// Acknowledgements give back the stamps of what they are of, whether they end at one or not.
func TestStamps(t *testing.T) {
	var s stamps
	want := func(seq uint64, at unit.Time, ok bool) {
		t.Helper()
		if got, is := s.acked(seq); got != at || is != ok {
			t.Errorf("acknowledged up to %d: sent at %d, %v; want %d, %v", seq, got, is, at, ok)
		}
	}
	want(5, 0, false)
	for seq := uint64(16); seq <= 160; seq += 16 {
		s.put(seq, unit.Time(seq)*us)
	}
	want(15, 0, false)
	want(16, 16*us, true)
	want(16, 0, false)
	want(50, 48*us, true) // an answer that waited is of more than the packet that asked for it
	s.again(100)          // the packets from 100 on leave again
	want(120, 96*us, true)
	want(160, 0, false)
	for seq := uint64(176); seq < 100_000; seq += 16 {
		s.put(seq, unit.Time(seq)*us)
		want(seq, unit.Time(seq)*us, true)
	}
	if cap(s.at) > 64 {
		t.Errorf("room for %d, of which at most 10 were in use", cap(s.at))
	}
}

func TestNewRefusesConnections(t *testing.T) {
	profile, err := congestion.Profile("paper", 100*mbit)
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(c *Config){
		"path MTU of 1000 bytes; valid: a power of two from 256 to 4096": func(c *Config) { c.Flows[0].RC.PathMTU = 1000 },
		"messages of 0 bytes":                     func(c *Config) { c.Flows[0].RC.Message = 0 },
		"window of 65 messages; valid: 1 to 64":   func(c *Config) { c.Flows[0].RC.Window = 65 },
		"timeout 0 ns":                            func(c *Config) { *c.Flows[0].RC.Timeout = 0 },
		"frames of 2122 bytes; valid: up to 1514": func(c *Config) { c.Flows[0].RC.PathMTU = 2048 },
		"number 8388606":                          func(c *Config) { c.Flows[0].Number = numberMax + 1 },
		"peer of flow 3":                          func(c *Config) { c.Peers = []Peer{{Number: 3}} },
		"congestion: DCQCN false, TIMELY false; valid: one of them": func(c *Config) { c.Congestion = &Congestion{} },
		"congestion: CNPs in priority 3; valid: a lossy priority":   func(c *Config) { c.Congestion = &Congestion{DCQCN: &profile, CNPPriority: 3} },
	} {
		c := testConfig(connection(1, 1000, 0))
		change(&c)
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// Nothing that comes from the wire makes a host panic, and what is not its connection's
// changes nothing of it.
func FuzzPackets(f *testing.F) {
	for _, op := range []roce.Opcode{roce.WriteFirst, roce.WriteMiddle, roce.WriteLast, roce.WriteOnly, roce.Acknowledge, roce.Congestion} {
		f.Add(uint8(op), uint32(4), uint32(1), uint8(0x60), uint16(30), true)
		f.Add(uint8(op), uint32(5), uint32(1<<23), uint8(0x1f), uint16(0), false)
	}
	f.Fuzz(func(t *testing.T, op uint8, qp, psn uint32, syndrome uint8, payload uint16, sealed bool) {
		c := testConfig(connection(1, 5000, 0))
		c.Peers = []Peer{{Number: 1, From: peerIP, SrcPort: 50_000, Priority: 3, TTL: 64}}
		h := startHost(t, c)
		h.run(ms)
		hd := roce.Header{Opcode: roce.Opcode(op), DestQP: qp, PSN: psn, Syndrome: roce.Syndrome(syndrome), AckReq: true}
		size := headerLen + hd.Opcode.Len() + int(payload%1400) + roce.ICRCLen
		b := slowFrame(gatewayMAC, ownMAC, peerIP, ownIP, 3, 60, 50_000, max(size, 64), 0, 0, 0)
		clear(b[headerLen:])
		hd.Put(b[headerLen:])
		if sealed {
			roce.Seal(b[ether.HeaderLen:])
		}
		before := *h.Counters()
		h.receive(b)
		h.run(ms)
		after := *h.Counters()
		counted := after.RC != before.RC || after.Other != before.Other
		qp &= roce.QPMask
		mine := qp == 4 && hd.Opcode.IsData() || qp == 5 && !hd.Opcode.IsData()
		if !mine && !counted {
			t.Errorf("a packet of another connection is counted nowhere: %+v", hd)
		}
	})
}
