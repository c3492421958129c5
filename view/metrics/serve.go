package metrics

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/net/netutil"

	"softswitch/scenario/config"
)

// Limits of the HTTP server.
const (
	scrapesMax     = 4
	connectionsMax = 64
	readMax        = 5 * time.Second  // for a request's header
	writeMax       = 10 * time.Second // for a scrape and its answer
	idleMax        = 60 * time.Second // above Prometheus's usual interval of 15 s
	shutdownMax    = time.Second      // for the scrapes that are under way
)

// labLabel is the additional label on the metrics of a lab.
const labLabel = "lab"

// path is where metrics are served.
const path = "/metrics"

// Handler answers a GET of /metrics with a sample from take, which is called once per
// scrape, for one scrape at a time. Every metric has the label lab, unless that is "".
func Handler(lab string, take func() Sample) http.Handler {
	var one sync.Mutex
	registry := prometheus.NewPedanticRegistry()
	labels := prometheus.Labels{}
	if lab != "" {
		labels[labLabel] = lab
	}
	prometheus.WrapRegistererWith(labels, registry).MustRegister(collector{func() Sample {
		one.Lock()
		defer one.Unlock()
		return take()
	}})
	mux := http.NewServeMux()
	mux.Handle("GET "+path, promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: scrapesMax}))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "<!doctype html><title>softswitch</title><a href=%q>metrics</a>\n", path)
	})
	return mux
}

// Listen listens on addr, "host:port"; without a host, only on this machine's loopback.
func Listen(addr string) (net.Listener, error) {
	host, port, err := config.ParseListen(addr)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	ln, err := net.Listen("tcp", net.JoinHostPort(host, port))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("metrics: %s: another program listens there; choose another port", addr)
	case err != nil:
		return nil, fmt.Errorf("metrics: %w", err)
	}
	return netutil.LimitListener(ln, connectionsMax), nil
}

// Serve serves h on ln until ctx ends. Scrapes in progress then get a moment to finish.
func Serve(ctx context.Context, ln net.Listener, h http.Handler) error {
	srv := &http.Server{Handler: h, ReadHeaderTimeout: readMax, ReadTimeout: readMax, WriteTimeout: writeMax, IdleTimeout: idleMax, MaxHeaderBytes: 1 << 16}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		late, cancel := context.WithTimeout(context.Background(), shutdownMax)
		defer cancel()
		if srv.Shutdown(late) != nil {
			srv.Close()
		}
	})
	err := srv.Serve(ln)
	if !stop() {
		<-ended
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("metrics: %w", err)
}
