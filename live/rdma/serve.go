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
// port of the same number (option -R or -z), or rping, on rdma_cm's port 7174. listening is called when
// clients may come.
func (p *Port) Serve(ctx context.Context, listening func()) (*Test, error) {
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
			come <- func() (*Test, error) { return p.serveTCP(ctx, c) }
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

// Test is what became of a test.
type Test struct {
	// Program is what the far end runs, "perftest" or "rping".
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
	fmt.Fprintln(tw, "QPN\tSent\tAgain\tNAKs\tRNR\tTimeouts\tReceived\tBytes\tLost\tOut of order\tDuplicates\t")
	for _, p := range t.Pairs {
		fmt.Fprintf(tw, "%#x\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", p.QPN, p.Sent, p.Again, p.Naks, p.NotReady, p.Timeouts, p.Received, p.Bytes, p.Lost, p.OutOfOrder, p.Duplicates)
	}
	return tw.Flush()
}
