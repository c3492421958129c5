// Package scrape asks the nodes of a lab for what they count, for a collector.
//
//	collector --> view/metrics --> a scrape --control sockets--> nodes
//	                  ^                                            |
//	                  '---------------- metrics.Sample <-----------'
//
// Invariants: a scrape lasts no longer than slow nodes are given; a node that does not
// answer is told of as such, and a lab that is gone as nodes that do not answer.
//
// What it does not do: it knows no metric (package view/metrics does).
package scrape

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"softswitch/internal/control"
	"softswitch/lab"
	netnslab "softswitch/netns-lab"
	"softswitch/view/metrics"
	"softswitch/view/observe"
)

// Bounds of a scrape: of the time that a node has to answer, and of nodes asked at once.
const (
	scrapeMax    = time.Second
	scrapeAtOnce = 32
)

// Serve serves the metrics of the lab of a state, and of those of its name that come after
// it, until ctx ends; listen is as metrics.Listen's. It says on out where.
func Serve(ctx context.Context, st *netnslab.State, listen string, out io.Writer) error {
	ln, err := metrics.Listen(listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "serving http://%v/metrics\n", ln.Addr())
	n := &nodes{name: st.Name, last: st.Nodes}
	return metrics.Serve(ctx, ln, metrics.Handler(st.Name, func() metrics.Sample { return n.take(ctx) }))
}

// nodes asks the nodes of a lab. It is for one goroutine at a time.
type nodes struct {
	name string
	last []netnslab.NodeState // as of the last scrape that found the lab
}

// take asks every node. A lab that is gone has nodes that do not answer.
func (s *nodes) take(ctx context.Context) (out metrics.Sample) {
	if st, err := netnslab.Load(s.name); err == nil {
		s.last = st.Nodes
	}
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(scrapeAtOnce)
	for _, n := range s.last {
		group.Go(func() error {
			w, h, err := askNode(ctx, n)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				out.Down = append(out.Down, metrics.Node{Name: n.Name, Kind: n.Kind})
			case w != nil:
				out.Switches = append(out.Switches, *w)
			default:
				out.Hosts = append(out.Hosts, *h)
			}
			return nil
		})
	}
	group.Wait()
	return out
}

// askNode asks a node for what its kind has.
func askNode(ctx context.Context, n netnslab.NodeState) (w *observe.Sample, h *observe.Host, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	path := lab.ControlPath(n)
	if n.Kind == "host" {
		h = new(observe.Host)
		return nil, h, control.CallWithin(scrapeMax, path, "stats", nil, h)
	}
	w = new(observe.Sample)
	return w, nil, control.CallWithin(scrapeMax, path, "sample", nil, w)
}
