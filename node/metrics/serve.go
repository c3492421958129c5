package metrics

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/net/netutil"

	"softswitch/internal/control"
	"softswitch/node/config"
	"softswitch/unit"
)

// Limits of the HTTP server.
const (
	scrapesMax     = 4
	connectionsMax = 64
	headerMax      = 16 << 10         // bytes
	readMax        = 5 * time.Second  // for a request
	writeMax       = 10 * time.Second // for an answer, from when it is made
	shutdownMax    = time.Second      // for the scrapes that are under way
)

// labLabel is the additional label on the metrics of a lab.
const labLabel = "lab"

// path is where metrics are served.
const path = "/metrics"

// Handler answers a GET of /metrics with a sample from take, which is called once per
// scrape, for one scrape at a time, with a rest after each. Every metric has the label lab,
// unless that is "".
func Handler(lab string, take func() Sample) http.Handler {
	registry := prometheus.NewPedanticRegistry()
	labels := prometheus.Labels{}
	if lab != "" {
		labels[labLabel] = lab
	}
	prometheus.WrapRegistererWith(labels, registry).MustRegister(collector{take})
	mux := http.NewServeMux()
	mux.Handle("GET "+path, inTurn(promhttp.HandlerFor(registry, promhttp.HandlerOpts{})))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "<!doctype html><title>softswitch</title><a href=%q>metrics</a>\n", path)
	})
	return mux
}

// inTurn has next make one answer at a time, and rests after it, no matter who asks or how often.
// When scrapesMax wait, further ones are told to try again. A client that reads slowly holds up
// nobody: its answer is sent when it is made. The time to send it begins then, and not with the
// request (as http.Server.WriteTimeout has it): with the rest before it, the answer of a lab in
// which a node is stopped can be made 10 s after it was asked for.
func inTurn(next http.Handler) http.Handler {
	places := make(chan struct{}, scrapesMax)
	turn := make(chan time.Time, 1) // when the rest is over; empty while an answer is made
	turn <- time.Time{}
	ask := func(made *answer, r *http.Request) {
		defer func() { <-places }()
		time.Sleep(time.Until(<-turn))
		begun := time.Now()
		defer func() { turn <- time.Now().Add(control.Rest(time.Since(begun))) }()
		next.ServeHTTP(made, r)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case places <- struct{}{}:
		default:
			http.Error(w, fmt.Sprintf("%s are waiting, which is the most; try again", unit.Count(scrapesMax, "scrape")), http.StatusServiceUnavailable)
			return
		}
		made := answer{header: w.Header(), status: http.StatusOK}
		ask(&made, r)
		http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeMax))
		w.WriteHeader(made.status)
		w.Write(made.body)
	})
}

// answer is an answer that is made and not sent yet.
type answer struct {
	header http.Header
	status int
	body   []byte
}

func (a *answer) Header() http.Header    { return a.header }
func (a *answer) WriteHeader(status int) { a.status = status }

func (a *answer) Write(b []byte) (int, error) {
	a.body = append(a.body, b...)
	return len(b), nil
}

// Listener is where metrics are served.
type Listener struct {
	net.Listener
	host string // that was asked to be served, a name or an address
}

// Listen listens on addr, "host:port"; without a host, only on this machine's loopback.
func Listen(addr string) (*Listener, error) {
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
	return &Listener{netutil.LimitListener(control.Budgeted(ln), connectionsMax), host}, nil
}

// Serve serves h on ln until ctx ends. A connection is for one request. Scrapes in progress then
// get a moment to finish.
func Serve(ctx context.Context, ln *Listener, h http.Handler) error {
	srv := &http.Server{Handler: Guard(h, ln.host), ReadHeaderTimeout: readMax, ReadTimeout: readMax, MaxHeaderBytes: headerMax}
	srv.SetKeepAlivesEnabled(false)
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
