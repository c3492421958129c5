package rdma

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"softswitch/host"
	"softswitch/host/ibperf"
	"softswitch/host/rdmacm"
	"softswitch/host/roce"
	"softswitch/host/verbs"
	"softswitch/internal/ether"
	"softswitch/internal/testkit"
	"softswitch/unit"
)

var loopback = netip.MustParseAddr("127.0.0.1")

// wired returns two ports with a wire between them, which loses the packets that lose says. Handshakes by
// TCP go through the machine's loopback.
func wired(t *testing.T, lose func(ip []byte) bool) (a, b *Port) {
	t.Helper()
	toA, toB := make(chan []byte, 1<<16), make(chan []byte, 1<<16)
	put := func(to chan []byte) func([]byte, netip.Addr) error {
		return func(ip []byte, _ netip.Addr) error {
			if !lose(ip) {
				to <- bytes.Clone(ip)
			}
			return nil
		}
	}
	a, b = newPort(3, put(toB)), newPort(3, put(toA))
	for p, from := range map[*Port]chan []byte{a: toA, b: toB} {
		over := make(chan struct{})
		end := make(chan struct{})
		go func() {
			defer close(over)
			for {
				select {
				case ip := <-from:
					p.mu.Lock()
					p.take(ip)
					p.mu.Unlock()
				case <-end:
					return
				}
			}
		}()
		t.Cleanup(func() { p.Close(); close(end); <-over })
	}
	return a, b
}

func none([]byte) bool { return false }

// lossy loses a packet of a hundred.
func lossy(t *testing.T) func([]byte) bool {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	var mu sync.Mutex // both ends draw
	return func([]byte) bool {
		mu.Lock()
		defer mu.Unlock()
		return r.IntN(100) == 0
	}
}

// perftestServer serves one client at a port of its own; result waits for what became of it.
func perftestServer(t *testing.T, p *Port) (at netip.AddrPort, result func() *Test) {
	t.Helper()
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: loopback.AsSlice()})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan *Test, 1)
	go func() {
		defer close(done)
		defer l.Close()
		c, err := l.AcceptTCP()
		if err != nil {
			t.Error(err)
			return
		}
		r, err := p.serveTCP(t.Context(), c, 20)
		if err != nil {
			t.Error(err)
		}
		done <- r
	}()
	return l.Addr().(*net.TCPAddr).AddrPort(), func() *Test { return <-done }
}

// Client and server of each program end, and count the same packets.
func TestPerftest(t *testing.T) {
	for _, op := range []verbs.Op{verbs.Write, verbs.Send, verbs.Read} {
		t.Run(op.String(), func(t *testing.T) {
			a, b := wired(t, none)
			a.Timeout = 60 * unit.Second // however busy the machine is, nothing is sent again
			at, served := perftestServer(t, b)
			ours, err := a.RunPerftest(t.Context(), at, Order{Op: op, Size: 10_000, Messages: 300, Retries: 7})
			if err != nil {
				t.Fatal(err)
			}
			theirs := served()
			sent, got := ours.Pairs[0].Counters, theirs.Pairs[0].Counters
			if sent.Sent != got.Received || sent.Again != 0 || got.Lost != 0 {
				t.Errorf("sent %+v, received %+v", sent, got)
			}
			switch op {
			case verbs.Read:
				if sent.Responses != 300*3 {
					t.Errorf("%d packets answered READs; want %d", sent.Responses, 300*3)
				}
			default:
				if got.Bytes != 300*10_000 {
					t.Errorf("%d bytes; want %d", got.Bytes, 300*10_000)
				}
			}
			if bad := a.BadPackets(); bad != (host.BadPackets{}) {
				t.Errorf("dropped: %+v", bad)
			}
		})
	}
}

// The same by rdma_cm alone.
func TestPerftestByRDMACM(t *testing.T) {
	for _, op := range []verbs.Op{verbs.Write, verbs.Send, verbs.Read} {
		t.Run(op.String(), func(t *testing.T) {
			a, b := wired(t, none)
			l := b.listen(ibperf.Port)
			done := make(chan error, 1)
			var served *Test
			go func() {
				c, err := b.accept(t.Context(), l)
				if err == nil {
					served, err = b.overSends(t.Context(), c).serve(l)
				}
				done <- err
			}()
			r, err := a.RunPerftest(t.Context(), netip.AddrPortFrom(loopback, ibperf.Port), Order{Op: op, Size: 10_000, Messages: 100, Retries: 7, CM: true})
			if err != nil {
				t.Fatal(err)
			}
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if sent, got := r.Pairs[0].Sent, served.Pairs[0].Received; sent != got || got < 100 {
				t.Errorf("%d packets sent, %d received", sent, got)
			}
		})
	}
}

// What the wire loses is sent again.
func TestLossyWire(t *testing.T) {
	a, b := wired(t, lossy(t))
	at, served := perftestServer(t, b)
	if _, err := a.RunPerftest(t.Context(), at, Order{Op: verbs.Write, Size: 100_000, Messages: 20, Retries: verbs.Forever}); err != nil {
		t.Fatal(err)
	}
	if r := served().Pairs[0]; r.Bytes != 20*100_000 {
		t.Errorf("%d bytes; want %d", r.Bytes, 20*100_000)
	}
}

// ibv_rc_pingpong's server sends back what its client sends, also where packets are lost.
func TestPingPong(t *testing.T) {
	for name, lose := range map[string]func([]byte) bool{"whole": none, "lossy": lossy(t)} {
		t.Run(name, func(t *testing.T) {
			a, b := wired(t, lose)
			at, served := perftestServer(t, b)
			r, err := a.RunPingPong(t.Context(), at, Order{Size: 5000, Messages: 20, Retries: verbs.Forever})
			if err != nil {
				t.Fatal(err)
			}
			theirs := served()
			if r.Program != "ibv_rc_pingpong" || theirs.Program != r.Program || r.Pairs[0].Bytes != 20*5000 || theirs.Pairs[0].Bytes != 20*5000 || r.Pairs[0].Done != 20 {
				t.Errorf("client %+v, server %+v", r, theirs)
			}
		})
	}
}

// A server of a flow tells a client of ibv_rc_pingpong that it is none of its.
func TestPingPongIsRefused(t *testing.T) {
	client, server := tcpPair(t)
	if _, err := client.Write(ibperf.Line{QPN: 5, GID: loopback}.PingPongText()); err != nil {
		t.Fatal(err)
	}
	p := newPort(3, func([]byte, netip.Addr) error { return nil })
	if _, err := p.serveTCP(t.Context(), server, 0); !errors.Is(err, errPingPong) {
		t.Error(err)
	}
}

// Each message of rdma_cm is sent again until it is answered.
func TestLostMessages(t *testing.T) {
	for _, lost := range []rdmacm.Kind{rdmacm.REQ, rdmacm.REP, rdmacm.RTU, rdmacm.DREQ, rdmacm.DREP} {
		t.Run(lost.String(), func(t *testing.T) {
			t.Parallel()
			var once sync.Once
			a, b := wired(t, func(ip []byte) (lose bool) {
				if h, n, err := roce.Parse(ip[headers:], len(ip)-headers); err == nil && h.Opcode == roce.Datagram {
					if m, err := rdmacm.Parse(ip[headers+h.Opcode.Len():][:n]); err == nil && m.Kind == lost {
						once.Do(func() { lose = true })
					}
				}
				return lose
			})
			pingPong(t, a, b)
		})
	}
}

// rping's client compares what its server wrote back; both learn of the end.
func TestRping(t *testing.T) {
	a, b := wired(t, none)
	r := pingPong(t, a, b)
	// In each turn the client sends two messages, and is sent two and written to.
	if c := r.Pairs[0]; c.Sent != 40 || c.Received < 60 {
		t.Errorf("%+v", c)
	}
}

// pingPong runs 20 turns of rping from a to b.
func pingPong(t *testing.T, a, b *Port) *Test {
	t.Helper()
	l := b.listen(RpingPort)
	done := make(chan error, 1)
	go func() {
		c, err := b.accept(t.Context(), l)
		if err == nil {
			_, err = c.serveRping(t.Context())
		}
		done <- err
	}()
	r, err := a.RunRping(t.Context(), netip.AddrPortFrom(loopback, RpingPort), Order{Size: 5000, Messages: 20, Retries: 7})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	return r
}

// A port that nobody listens on says so at once.
func TestNobodyListens(t *testing.T) {
	a, _ := wired(t, none)
	_, err := a.RunRping(t.Context(), netip.AddrPortFrom(loopback, 1), Order{Size: 64, Messages: 1})
	if err == nil || !strings.Contains(err.Error(), "nobody listens on that port") {
		t.Error(err)
	}
}

// Whoever asks for connection after connection is refused in the end.
func TestConnectionsAreBounded(t *testing.T) {
	var last rdmacm.Message
	p := newPort(3, func(ip []byte, _ netip.Addr) error {
		h, n, err := roce.Parse(ip[headers:], len(ip)-headers)
		if err == nil {
			last, err = rdmacm.Parse(ip[headers+h.Opcode.Len():][:n])
		}
		return err
	})
	p.listen(RpingPort)
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range uint32(connectionsMax + 1) {
		p.takeMessage(loopback, loopback, &rdmacm.Message{Kind: rdmacm.REQ, LocalID: id + 1, Port: RpingPort, MTU: 1024})
		if refused := last.Kind == rdmacm.REJ; refused != (id == connectionsMax) {
			t.Fatalf("connection %d: %s", id+1, last.Kind)
		}
	}
	if last.Reason != rdmacm.NoResources {
		t.Errorf("%s; want %s", last.Reason, rdmacm.NoResources)
	}
}

// What is no client of perftest is told apart, and named.
func TestStrangers(t *testing.T) {
	for text, want := range map[string]string{
		"GET / HTTP/1.1\r\n": `version "GET / HTTP/1.1`,
		string(ibperf.VersionText()) + "\x00\x00\x10\x00\x00\x00\x00\x40" + "9\x00":                                                   `MTU "9`,
		string(ibperf.VersionText()) + "\x00\x00\x10\x00\x00\x00\x00\x40" + "3\x00" + "0000:" + strings.Repeat("x", ibperf.LineLen-5): "line",
	} {
		p := newPort(3, func([]byte, netip.Addr) error { return nil })
		client, server := tcpPair(t)
		if _, err := client.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if _, err := p.serveTCP(t.Context(), server, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}

func tcpPair(t *testing.T) (client, server *net.TCPConn) {
	t.Helper()
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: loopback.AsSlice()})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err = net.DialTCP("tcp4", nil, l.Addr().(*net.TCPAddr))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	server, err = l.AcceptTCP()
	if err != nil {
		t.Fatal(err)
	}
	return client, server
}

// No packet of the wire makes a port panic.
func FuzzTake(f *testing.F) {
	cm := rdmacm.Message{Kind: rdmacm.REQ, LocalID: 5, QPN: 7, Port: RpingPort, MTU: 1024, From: loopback, To: loopback}
	for _, p := range []verbs.Packet{
		{Header: roce.Header{Opcode: roce.Datagram, DestQP: rdmacm.QP, QKey: rdmacm.QKey}, Payload: cm.Text()},
		{Header: roce.Header{Opcode: roce.WriteOnly, DestQP: 9, Address: 1, RKey: 2, Length: 4}, Payload: []byte("abcd")},
		{Header: roce.Header{Opcode: roce.ReadRequest, DestQP: 9, Address: 1, RKey: 2, Length: 4000}},
		{Header: roce.Header{Opcode: roce.Acknowledge, DestQP: 9}},
	} {
		newPort(3, func(ip []byte, _ netip.Addr) error { f.Add(ip); return nil }).send(loopback, loopback, 0xc000, &p)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p := newPort(3, func([]byte, netip.Addr) error { return nil })
		defer p.Close()
		p.listen(RpingPort)
		p.mu.Lock()
		q := p.add(verbs.Config{Local: 9, Remote: 10, MTU: 1024, Window: 10, Reads: 2, Retries: verbs.Forever, Timeout: timeout, Memory: verbs.Memory{{Key: 2, Address: 1, Data: make([]byte, 5000)}}}, loopback, loopback)
		q.Post(verbs.Request{Op: verbs.Read, Data: make([]byte, 3000)})
		q.pump()
		if ip := ether.IPv4(b); len(b) >= headers && ip.Valid(len(b)) && ip.TotalLen() >= headers+roce.BTHLen+roce.ICRCLen {
			roce.Seal(b[:ip.TotalLen()]) // or hardly any would come further
		}
		p.take(b)
		p.mu.Unlock()
	})
}

// A server takes one client after the other, by rdma_cm, and counts all of them.
func TestServePerftest(t *testing.T) {
	a, b := wired(t, none)
	ctx, end := context.WithCancel(t.Context())
	tests, over := make(chan *Test), make(chan error, 1)
	go func() {
		over <- b.ServePerftest(ctx, true, loopback, func(r *Test, err error) {
			if err != nil {
				t.Error(err)
			}
			tests <- r
		})
	}()
	for n, op := range []verbs.Op{verbs.Write, verbs.Read, verbs.Send} {
		order := Order{Op: op, Size: 10_000, Messages: 50, Retries: 7, CM: true}
		b.awaitListener(t)
		if _, err := a.RunPerftest(t.Context(), netip.AddrPortFrom(loopback, ibperf.Port), order); err != nil {
			t.Fatal(err)
		}
		if r := <-tests; len(r.Pairs) != 1 {
			t.Errorf("test %d: %+v", n, r)
		}
	}
	end()
	if err := <-over; err != nil {
		t.Error(err)
	}
	const packets = 50 * 3
	want := []uint64{2 * packets, packets, 2 * 50 * 10_000}
	if c := b.Counted(); !slices.Equal([]uint64{c.Received - 50, c.Answers, c.Bytes}, want) { // and a request for each READ
		t.Errorf("%+v; want %v", c, want)
	}
	if c := a.Counted(); c.Done != 3*50 || c.Responses != packets || c.Frames.Received != b.Counted().Frames.Sent {
		t.Errorf("client: %+v", c)
	}
}

// A client of another address is refused.
func TestServeAnother(t *testing.T) {
	a, b := wired(t, none)
	ctx, end := context.WithCancel(t.Context())
	refused, over := make(chan error, 1), make(chan error, 1)
	go func() {
		over <- b.ServePerftest(ctx, true, netip.MustParseAddr("127.0.0.9"), func(_ *Test, err error) { refused <- err })
	}()
	b.awaitListener(t)
	order := Order{Op: verbs.Write, Size: 100, Messages: 1, Retries: 7, CM: true}
	if _, err := a.RunPerftest(t.Context(), netip.AddrPortFrom(loopback, ibperf.Port), order); err == nil {
		t.Error("the client is served")
	}
	if err := <-refused; err == nil || !strings.Contains(err.Error(), "this flow is with 127.0.0.9") {
		t.Error(err)
	}
	end()
	if err := <-over; err != nil {
		t.Error(err)
	}
}

// Enough ends a test without a number of messages.
func TestEnough(t *testing.T) {
	a, b := wired(t, none)
	at, served := perftestServer(t, b)
	enough := make(chan struct{})
	go func() {
		for a.Counted().Done < 100 {
			runtime.Gosched()
		}
		close(enough)
	}()
	r, err := a.RunPerftest(t.Context(), at, Order{Op: verbs.Write, Size: 1000, Messages: math.MaxInt, Retries: 7, Enough: enough})
	if err != nil {
		t.Fatal(err)
	}
	if n := r.Pairs[0].Done; n < 100 || served().Pairs[0].Received != n {
		t.Errorf("%+v", r)
	}
}

// awaitListener waits until a port accepts connections of perftest.
func (p *Port) awaitListener(t *testing.T) {
	t.Helper()
	for listens := false; !listens; runtime.Gosched() {
		p.mu.Lock()
		listens = p.listeners[ibperf.Port] != nil
		p.mu.Unlock()
	}
}
