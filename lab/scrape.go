package lab

import (
	"context"
	"fmt"
	"io"
	"time"

	"softswitch/internal/beside"
	"softswitch/internal/control"
	netnslab "softswitch/netns-lab"
	"softswitch/node/client"
	"softswitch/node/metrics"
	"softswitch/node/observe"
)

// Limits of a scrape: the time for a node to answer, and the nodes asked at once.
const (
	scrapeMax    = time.Second
	scrapeAtOnce = 32
)

// ServeMetrics serves the metrics of the lab st, and of later labs of the same name, until ctx
// ends; listen is as for metrics.Listen. It prints the address to out.
func ServeMetrics(ctx context.Context, st *netnslab.State, listen string, out io.Writer) error {
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

// take asks every node. The nodes of a lab that is gone do not answer.
func (s *nodes) take(ctx context.Context) (out metrics.Sample) {
	if st, err := netnslab.Load(s.name); err == nil {
		s.last = st.Nodes
	}
	switches, hosts := make([]*observe.Sample, len(s.last)), make([]*observe.Host, len(s.last))
	errs := beside.Each(scrapeAtOnce, len(s.last), func(i int) (err error) {
		switches[i], hosts[i], err = askNode(ctx, s.last[i])
		return err
	})
	for i, n := range s.last {
		switch {
		case errs[i] != nil:
			out.Down = append(out.Down, metrics.Node{Name: n.Name, Kind: n.Kind})
		case switches[i] != nil:
			out.Switches = append(out.Switches, *switches[i])
		default:
			out.Hosts = append(out.Hosts, *hosts[i])
		}
	}
	return out
}

// askNode asks a node for the snapshot of its kind.
func askNode(ctx context.Context, n netnslab.NodeState) (w *observe.Sample, h *observe.Host, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	at := control.Endpoint{Path: ControlPath(n)}
	if n.Kind == "host" {
		now, err := client.StatsWithin[observe.Host](scrapeMax, at)
		return nil, &now, err
	}
	now, err := client.SampleWithin(scrapeMax, at)
	return &now, nil, err
}
