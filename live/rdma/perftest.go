package rdma

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"time"

	"softswitch/host/ibperf"
	"softswitch/host/rdmacm"
	"softswitch/host/verbs"
	"softswitch/unit"
)

// What queue pairs are made with.
const (
	// memorySize is that of the memory which a far end may write and read, in octets: the longest
	// message of perftest's option --all.
	memorySize = 8 << 20
	window     = 128 // packets, as rdma_rxe has
	readsOnce  = 16  // READs under way
	receives   = 64  // SENDs that find a buffer
	// timeout and retries are what RDMA programs usually choose.
	timeout = 67 * unit.Millisecond
)

// exchange is what a client and a server of perftest tell each other, over a channel.
type exchange struct {
	channel
	port        *Port
	local, peer netip.Addr
	mtu         int
}

// overTCP is an exchange over a TCP connection.
func (p *Port) overTCP(c *net.TCPConn) (*exchange, error) {
	local, peer := c.LocalAddr().(*net.TCPAddr).AddrPort().Addr().Unmap(), c.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
	mtu, err := pathMTU(local)
	return &exchange{tcpChannel{c, c}, p, local, peer, mtu}, err
}

// overSends is an exchange by SENDs over a connection of rdma_cm.
func (p *Port) overSends(ctx context.Context, c *connection) *exchange {
	return &exchange{sendChannel{ctx, c}, p, c.local, c.peer, c.MTU}
}

// swap sends b and reads as many octets: the client sends first.
func (x *exchange) swap(client bool, b []byte) (got []byte, err error) {
	if client {
		if err = x.write(b); err != nil {
			return nil, err
		}
	}
	if got, err = x.read(len(b)); err != nil || client {
		return got, err
	}
	return got, x.write(b)
}

// begin exchanges what comes before the lines of queue pairs.
func (x *exchange) begin(client bool) error {
	version, err := x.swap(client, ibperf.VersionText())
	if err != nil {
		return err
	}
	if err := ibperf.CheckVersion(version); err != nil {
		return err
	}
	for _, n := range []uint16{ibperf.PageSize, ibperf.CacheLine} {
		if _, err := x.swap(client, []byte{0, 0, byte(n >> 8), byte(n)}); err != nil {
			return err
		}
	}
	b, err := x.swap(client, ibperf.MTUText(x.mtu))
	if err != nil {
		return err
	}
	mtu, err := ibperf.ParseMTU(b)
	if err == nil {
		x.mtu = min(x.mtu, mtu)
	}
	return err
}

// newLine is what is told of a queue pair that will be here.
func (x *exchange) newLine() ibperf.Line {
	x.port.mu.Lock()
	defer x.port.mu.Unlock()
	return ibperf.Line{
		Reads: readsOnce, QPN: x.port.newQPN(), PSN: newPSN(), RKey: rand.Uint32(),
		Address: 0x7f00_0000_0000 + uint64(rand.Uint32())&^(ibperf.PageSize-1), GID: x.local,
	}
}

// pair makes the queue pair that both lines are about.
func (x *exchange) pair(ours, theirs ibperf.Line, memory []byte, retries int) (*pair, error) {
	if theirs.GID.Unmap() != x.peer {
		return nil, fmt.Errorf("perftest: the far end's GID is %s; valid: its IPv4 address, %s (option -x of its program)", theirs.GID, x.peer)
	}
	x.port.mu.Lock()
	defer x.port.mu.Unlock()
	return x.port.add(verbs.Config{
		Local: ours.QPN, LocalPSN: ours.PSN, Remote: theirs.QPN, RemotePSN: theirs.PSN, MTU: x.mtu,
		Window: window, Reads: min(readsOnce, max(1, int(theirs.Reads))), Timeout: x.port.Timeout, Retries: retries,
		Memory: verbs.Memory{{Key: ours.RKey, Address: ours.Address, Data: memory}},
	}, x.local, x.peer), nil
}

// serveTCP serves the test of a client of perftest: ib_write_bw, ib_send_bw or ib_read_bw, with reliable
// connections, in one direction.
// An ibv_rc_pingpong is served with so many messages, unless there are none.
func (p *Port) serveTCP(ctx context.Context, c *net.TCPConn, turns int) (*Test, error) {
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	x, err := p.overTCP(c)
	if err != nil {
		return nil, err
	}
	begin, err := x.read(ibperf.BeginLen)
	switch {
	case err != nil:
		return nil, err
	case !ibperf.IsLine(begin):
		x.channel = tcpChannel{c, io.MultiReader(bytes.NewReader(begin), c)}
		return x.serve(nil)
	case turns == 0:
		return nil, fmt.Errorf("client %s: %w", x.peer, errPingPong)
	}
	return p.servePingPong(ctx, c, begin, turns)
}

// served is a queue pair of a server.
type served struct {
	*pair
	ours ibperf.Line
}

// serve serves a test. The queue pairs are those of the connections that l accepts or, where l is nil or the
// client does not connect (option -z), those that lines tell of.
func (x *exchange) serve(l *listener) (*Test, error) {
	var all []served
	err := x.serveLines(l, &all)
	t := &Test{Program: "perftest", Peer: x.peer}
	for _, s := range all {
		s.do(func() { t.Pairs = append(t.Pairs, PairCounters{s.Local, s.Count}) })
	}
	if err != nil {
		err = fmt.Errorf("client %s: %w", x.peer, err)
	}
	return t, err
}

func (x *exchange) serveLines(l *listener, all *[]served) error {
	if err := x.begin(false); err != nil {
		return err
	}
	memory := make([]byte, memorySize)
	for results := 0; ; {
		b, err := x.next()
		switch {
		case err != nil:
			return err
		case len(b) == 0:
			return nil
		case string(b) == ibperf.Done:
			return x.write(b)
		case len(b) == ibperf.ResultLen:
			// Zeros are the answer of a server that did not measure.
			if results++; results > ibperf.Results {
				return fmt.Errorf("perftest: more than %s", unit.Count(ibperf.Results, "result"))
			}
			if err := x.write(make([]byte, ibperf.ResultLen)); err != nil {
				return err
			}
			continue
		}
		theirs, err := x.parseLine(b)
		if err != nil {
			return err
		}
		var ours ibperf.Line
		if theirs.QPN != 0 { // else it only says that the client is so far
			s, err := x.servedFor(l, all, theirs, memory)
			if err != nil {
				return err
			}
			ours = s.ours
		}
		if err := x.write(x.line(ours)); err != nil {
			return err
		}
	}
}

// servedFor returns the queue pair for that of a client: one that is known, or connected, or a new one.
func (x *exchange) servedFor(l *listener, all *[]served, theirs ibperf.Line, memory []byte) (s served, err error) {
	for _, s := range *all {
		if s.Remote == theirs.QPN {
			return s, nil
		}
	}
	ours := x.newLine()
	q := x.port.connected(l, x.peer, theirs.QPN)
	if q == nil {
		if q, err = x.pair(ours, theirs, memory, verbs.Forever); err != nil {
			return s, err
		}
	}
	q.do(func() {
		q.test = true
		ours.QPN, ours.PSN = q.Local, q.RemotePSN
		q.Memory = verbs.Memory{{Key: ours.RKey, Address: ours.Address, Data: memory}}
		q.receiveInto(func() []byte { return memory }, nil)
	})
	*all = append(*all, served{q, ours})
	return served{q, ours}, nil
}

// Order is what a client asks of a server.
type Order struct {
	verbs.Op
	Size     int // of a message, in octets
	Messages int
	Retries  int  // timeouts in a row that are borne, or verbs.Forever
	CM       bool // by rdma_cm, perftest's option -R
	// Enough, unless nil, is closed when no more messages are to begin.
	Enough <-chan struct{}
}

// RunPerftest is the client of a perftest server (ib_write_bw, ib_send_bw or ib_read_bw, by the operation)
// at an address. A server of ib_send_bw has to be told the same number of messages, and their size; the others
// their size.
func (p *Port) RunPerftest(ctx context.Context, server netip.AddrPort, o Order) (t *Test, err error) {
	if o.CM {
		t, err = p.runBySends(ctx, server, o)
	} else {
		t, err = p.runByTCP(ctx, server, o)
	}
	if err != nil {
		err = fmt.Errorf("server %s: %w", server, err)
	}
	return t, err
}

// runByTCP is a client whose queue pairs are told of by TCP.
func (p *Port) runByTCP(ctx context.Context, server netip.AddrPort, o Order) (*Test, error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp4", server.String())
	if err != nil {
		return nil, err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	x, err := p.overTCP(c.(*net.TCPConn))
	if err != nil {
		return nil, err
	}
	if err := x.begin(true); err != nil {
		return nil, err
	}
	ours, memory := x.newLine(), make([]byte, o.Size)
	theirs, err := x.tell(ours)
	if err != nil {
		return nil, err
	}
	q, err := x.pair(ours, theirs, memory, o.Retries)
	if err != nil {
		return nil, err
	}
	t, err := x.run(ctx, o, q, memory, ours)
	if err == nil {
		err = x.write([]byte(ibperf.Done))
	}
	return t, err
}

// runBySends is a client with the option -R: one connection of rdma_cm carries the exchange, and a second one the
// test.
func (p *Port) runBySends(ctx context.Context, server netip.AddrPort, o Order) (*Test, error) {
	c, err := p.connect(ctx, server, o.Retries, nil)
	if err != nil {
		return nil, err
	}
	x := p.overSends(ctx, c)
	if err := x.begin(true); err != nil {
		return nil, err
	}
	// Before the second connection, and after it, lines say nothing but that.
	if err := x.lines(1, ibperf.Line{GID: x.local}); err != nil {
		return nil, err
	}
	memory := make([]byte, o.Size)
	q, err := p.connectLate(ctx, server, o.Retries)
	if err != nil {
		return nil, err
	}
	if err := x.lines(1, ibperf.Line{GID: x.local}); err != nil {
		return nil, err
	}
	ours := x.newLine()
	ours.QPN, ours.PSN = q.Local, q.RemotePSN
	if err := x.lines(1, ours); err != nil {
		return nil, err
	}
	t, err := x.run(ctx, o, q.pair, memory, ours)
	if err != nil {
		return t, err
	}
	if err := q.disconnect(ctx); err != nil {
		return t, err
	}
	return t, c.disconnect(ctx)
}

// connectLate connects to a server that may not listen yet: perftest's says that it will, and then does.
func (p *Port) connectLate(ctx context.Context, server netip.AddrPort, retries int) (c *connection, err error) {
	for range attempts {
		if c, err = p.connect(ctx, server, retries, nil); !errors.Is(err, rdmacm.NoService) {
			return c, err
		}
		select {
		case <-time.After(patience / 10):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, err
}

// run runs the test between queue pairs that know each other.
func (x *exchange) run(ctx context.Context, o Order, q *pair, memory []byte, ours ibperf.Line) (*Test, error) {
	t := &Test{Program: "perftest", Peer: x.peer}
	// Both ends are connected, and say so once more; a server of ib_send_bw also that its buffers are there.
	lines := 2
	if o.Op == verbs.Send {
		lines = 3
	}
	if err := x.lines(lines-1, ours); err != nil {
		return t, err
	}
	theirs, err := x.tell(ours)
	if err != nil {
		return t, err
	}
	q.do(func() { q.test = true })
	o.Messages, err = q.run(ctx, o, memory, theirs)
	q.do(func() { t.Pairs = []PairCounters{{q.Local, q.Count}} })
	if err != nil {
		return t, err
	}
	if o.Op != verbs.Send {
		if err := x.lines(1, ours); err != nil {
			return t, err
		}
		if err := x.tellResults(o); err != nil {
			return t, err
		}
	}
	return t, x.lines(1, ours)
}

// tell exchanges a line.
func (x *exchange) tell(ours ibperf.Line) (ibperf.Line, error) {
	b, err := x.swap(true, x.line(ours))
	if err != nil {
		return ibperf.Line{}, err
	}
	return x.parseLine(b)
}

// lines exchanges the same line n times: it says that this end is so far.
func (x *exchange) lines(n int, ours ibperf.Line) error {
	for range n {
		if _, err := x.tell(ours); err != nil {
			return err
		}
	}
	return nil
}

// tellResults tells the size and the number of messages, and no rates.
func (x *exchange) tellResults(o Order) error {
	for _, n := range [ibperf.Results]uint64{uint64(o.Size), uint64(o.Messages)} {
		if _, err := x.swap(true, binary.BigEndian.AppendUint64(nil, n)); err != nil {
			return err
		}
	}
	return nil
}

// posts is how many requests are posted at a time, as perftest does.
const posts = 128

// run carries out an order, and returns how many messages there were.
func (q *pair) run(ctx context.Context, o Order, memory []byte, theirs ibperf.Line) (messages int, err error) {
	r := verbs.Request{Op: o.Op, Data: memory, Address: theirs.Address, RKey: theirs.RKey}
	for left := o.Messages; left > 0; {
		select {
		case <-o.Enough:
			left = 0
		default:
		}
		q.do(func() {
			for ; left > 0 && q.Pending() < posts; left-- {
				q.Post(r)
				messages++
			}
		})
		if err := q.wait(ctx, func() bool { return q.Pending() == 0 || left > 0 && q.Pending() < posts/2 }); err != nil {
			return messages, err
		}
	}
	return messages, nil
}
