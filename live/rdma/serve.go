package rdma

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"text/tabwriter"

	"softswitch/host/ibperf"
	"softswitch/host/verbs"
	"softswitch/unit"
)

// Serve serves the test of the client that comes first: one of perftest, by TCP port 18515 or rdma_cm's
// port of the same number (option -R or -z), ibv_rc_pingpong with so many messages, on the same TCP port, or
// rping, on rdma_cm's port 7174. listening is called when
// clients may come.
func (p *Port) Serve(ctx context.Context, turns int, listening func()) (*Test, error) {
	tcp, err := net.ListenTCP("tcp4", &net.TCPAddr{Port: ibperf.Port})
	if err != nil {
		return nil, err
	}
	rping, perftest := p.listen(RpingPort), p.listen(ibperf.Port)
	first, cancel := context.WithCancel(ctx)
	defer cancel()
	come := make(chan func() (*Test, error), 3)
	go func() {
		if c, err := p.accept(first, rping); err == nil {
			come <- func() (*Test, error) { return c.serveRping(ctx) }
		}
	}()
	go func() {
		if c, err := p.accept(first, perftest); err == nil {
			come <- func() (*Test, error) { return p.overSends(ctx, c).serve(perftest) }
		}
	}()
	go func() {
		c, err := tcp.AcceptTCP()
		switch {
		case errors.Is(err, net.ErrClosed):
		case err != nil:
			come <- func() (*Test, error) { return nil, err }
		default:
			come <- func() (*Test, error) { return p.serveTCP(ctx, c, turns) }
		}
	}()
	listening()
	defer tcp.Close()
	select {
	case serve := <-come:
		tcp.Close()
		return serve()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ServePerftest serves the clients of perftest at an address, one after the other, by TCP or by rdma_cm, until
// ctx ends. after is called with what became of each.
func (p *Port) ServePerftest(ctx context.Context, cm bool, peer netip.Addr, after func(*Test, error)) error {
	next := p.nextBySends
	if !cm {
		tcp, err := net.ListenTCP("tcp4", &net.TCPAddr{Port: ibperf.Port})
		if err != nil {
			return err
		}
		defer tcp.Close()
		defer context.AfterFunc(ctx, func() { tcp.Close() })()
		next = func(ctx context.Context, peer netip.Addr, _ *listener) (*Test, error) {
			return p.nextByTCP(ctx, peer, tcp)
		}
	}
	l := p.listen(ibperf.Port)
	for {
		t, err := next(ctx, peer, l)
		p.forget()
		if ctx.Err() != nil {
			return nil
		}
		after(t, err)
		if errors.Is(err, net.ErrClosed) {
			return err
		}
	}
}

func (p *Port) nextByTCP(ctx context.Context, peer netip.Addr, l *net.TCPListener) (*Test, error) {
	c, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	if from := c.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap(); from != peer {
		c.Close()
		return nil, fmt.Errorf("client %s: refused; this flow is with %s", from, peer)
	}
	return p.serveTCP(ctx, c, 0)
}

func (p *Port) nextBySends(ctx context.Context, peer netip.Addr, l *listener) (*Test, error) {
	c, err := p.accept(ctx, l)
	if err != nil {
		return nil, err
	}
	if c.peer != peer {
		return nil, errors.Join(fmt.Errorf("client %s: refused; this flow is with %s", c.peer, peer), c.disconnect(ctx))
	}
	return p.overSends(ctx, c).serve(l)
}

// Test is what became of a test.
type Test struct {
	// Program is what the far end runs, "perftest", "ibv_rc_pingpong" or "rping".
	Program string         `json:"program"`
	Peer    netip.Addr     `json:"peer"`
	Pairs   []PairCounters `json:"queue_pairs"`
}

// PairCounters is what a queue pair of a test has counted.
type PairCounters struct {
	QPN uint32 `json:"qpn"`
	verbs.Counters
}

// WriteText writes a table of the queue pairs.
func (t *Test) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "%s with %s, %s\n\n", t.Program, t.Peer, unit.Count(len(t.Pairs), "queue pair"))
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "QPN\tSent\tAgain\tNAKs\tRNR\tTimeouts\tReceived\tBytes\tLost\tOut of order\tDuplicates\tAccess errors\t")
	for _, p := range t.Pairs {
		fmt.Fprintf(tw, "%#x\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", p.QPN, p.Sent, p.Again, p.Naks, p.NotReady, p.Timeouts, p.Received, p.Bytes, p.Lost, p.OutOfOrder, p.Duplicates, p.AccessErrors)
	}
	return tw.Flush()
}
