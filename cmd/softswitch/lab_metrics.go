package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"softswitch/internal/control"
	"softswitch/lab"
	netnslab "softswitch/netns-lab"
	"softswitch/view/metrics"
	"softswitch/view/observe"
)

// labMetricsAddress is where a lab's metrics are, unless it is said otherwise.
const labMetricsAddress = "127.0.0.1:9470"

func labMetrics(name *string) *cobra.Command {
	var listen string
	c := &cobra.Command{
		Use:   "metrics",
		Short: "Serve the metrics of all nodes to Prometheus",
		Long: `Serve the metrics of all nodes of a lab to Prometheus, at /metrics, until it is
interrupted. Each scrape asks every node; one that does not answer has softswitch_up
0, and every metric has the label lab. A lab that is removed and built anew goes on to
be served.`,
		Example: "  sudo softswitch lab metrics\n  curl -s localhost:9470/metrics | grep pause_seconds",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			st, err := lab.Load(*name)
			if err != nil {
				return err
			}
			ln, err := metrics.Listen(listen)
			if err != nil {
				return err
			}
			fmt.Fprintf(os.Stderr, "serving http://%v/metrics\n", ln.Addr())
			s := &labScraper{name: *name, nodes: st.Nodes}
			return metrics.Serve(cmd.Context(), ln, metrics.Handler(*name, func() metrics.Sample { return s.take(cmd.Context()) }))
		},
	}
	c.Flags().StringVar(&listen, "listen", labMetricsAddress, "where to listen, HOST:PORT; without a host it is 127.0.0.1")
	return c
}

// Bounds of a scrape: of the time that a node has to answer, and of nodes asked at once.
const (
	scrapeMax    = time.Second
	scrapeAtOnce = 32
)

// labScraper asks the nodes of a lab.
type labScraper struct {
	name  string
	nodes []netnslab.NodeState // as of the last scrape that found the lab
}

// take asks every node. A lab that is gone has nodes that do not answer.
func (s *labScraper) take(ctx context.Context) (out metrics.Sample) {
	if st, err := netnslab.Load(s.name); err == nil {
		s.nodes = st.Nodes
	}
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(scrapeAtOnce)
	for _, n := range s.nodes {
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
