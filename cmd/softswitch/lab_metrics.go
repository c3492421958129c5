package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"softswitch/lab/scrape"
	netnslab "softswitch/netns-lab"
	"softswitch/view/metrics"
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
		RunE: inLab(name, func(cmd *cobra.Command, st *netnslab.State, _ []string) error {
			ln, err := metrics.Listen(listen)
			if err != nil {
				return err
			}
			fmt.Fprintf(os.Stderr, "serving http://%v/metrics\n", ln.Addr())
			s := scrape.New(st)
			return metrics.Serve(cmd.Context(), ln, metrics.Handler(*name, func() metrics.Sample { return s.Take(cmd.Context()) }))
		}),
	}
	c.Flags().StringVar(&listen, "listen", labMetricsAddress, "where to listen, HOST:PORT; without a host it is 127.0.0.1")
	return c
}
