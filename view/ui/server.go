package ui

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"golang.org/x/net/netutil"

	"softswitch/node/metrics"
	"softswitch/unit"
)

// Bounds of the server.
const (
	pagesMax     = 64  // pages at once
	filesMax     = 2   // runs that are made files of at once: each takes a processor, and some 100 MB
	connsMax     = 512 // connections at once; more wait for one to end
	orderMax     = 4096
	writeTimeout = 10 * time.Second
	pieceMax     = 64 << 10    // bytes that a client is sent in one go
	shutdownMax  = time.Second // for a last word to the pages
	// keepAlive is how often a page that has nothing to hear hears something, so that a
	// connection that is dead is noticed.
	keepAlive = 15 * time.Second
)

//go:embed page
var files embed.FS

// Server serves the page of one stream.
type Server struct {
	stream *Stream // nil: there is a show
	show   *Show
	act    func(context.Context, Order) error
	token  string
	files  chan struct{} // has an element for each run that is being made a file of
	ln     net.Listener
	http   *http.Server
	// patience is for how long a client may take nothing.
	patience time.Duration
}

// Listen listens at an address. act does what a page orders; nil if nothing can be
// ordered. The error says so if the port is in use.
func Listen(addr string, stream *Stream, act func(context.Context, Order) error) (*Server, error) {
	return listen(addr, &Server{stream: stream, act: act, token: rand.Text()})
}

// ListenShow is Listen for a show, which is not looked at before Serve is called.
func ListenShow(addr string, show *Show) (*Server, error) { return listen(addr, &Server{show: show}) }

func listen(addr string, s *Server) (*Server, error) {
	s.patience = writeTimeout
	ln, err := net.Listen("tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("page: %s is in use: give another address with --listen, or port 0 for any that is free", addr)
	case err != nil:
		return nil, fmt.Errorf("page: %w", err)
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("page: %w", errors.Join(err, ln.Close()))
	}
	s.ln, s.files = ln, make(chan struct{}, filesMax)
	s.http = &http.Server{
		Handler: s.inPieces(metrics.Guard(s.headers(s.paths()), host)), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		IdleTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10,
	}
	return s, nil
}

// paths are what can be asked for.
func (s *Server) paths() *http.ServeMux {
	mux := http.NewServeMux()
	page, err := fs.Sub(files, "page")
	if err != nil {
		panic(err) // the folder is in the program
	}
	mux.Handle("GET /", http.FileServerFS(page))
	mux.HandleFunc("GET /run.html", s.serveFile)
	if s.show != nil {
		mux.HandleFunc("GET /show.json", s.serveShow)
		return mux
	}
	mux.HandleFunc("GET /stream", s.serveStream)
	mux.HandleFunc("POST /act", s.serveAct)
	return mux
}

// Close gives up the address of a server that does not serve yet.
func (s *Server) Close() error { return s.ln.Close() }

// URL is the address of the page. Its fragment, which a browser sends to nobody, is the
// token, without which the page can only look on.
func (s *Server) URL() string {
	addr := s.ln.Addr().String()
	if host, port, err := net.SplitHostPort(addr); err == nil {
		if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
			addr = net.JoinHostPort("localhost", port)
		}
	}
	if s.show != nil {
		return "http://" + addr + "/#show"
	}
	return "http://" + addr + "/#token=" + s.token
}

// Serve serves until ctx ends.
func (s *Server) Serve(ctx context.Context) error {
	s.http.BaseContext = func(net.Listener) context.Context { return ctx }
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		late, cancel := context.WithTimeout(context.Background(), shutdownMax)
		defer cancel()
		if s.http.Shutdown(late) != nil { // pages are told that it is over
			s.http.Close()
		}
	})
	err := s.http.Serve(netutil.LimitListener(s.ln, connsMax))
	if !stop() {
		<-ended
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// headers tells browsers what they are to keep pages from.
func (s *Server) headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		ancestors := "'none'"
		if s.show != nil { // which has two of itself side by side
			ancestors = "'self'"
		}
		h.Set("Content-Security-Policy", "default-src 'self'; frame-ancestors "+ancestors+"; base-uri 'none'; form-action 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// inPieces sends answers piece by piece, and gives each its time: a client that is slow gets
// all of a long one, and one that takes nothing holds its connection no longer than s.patience.
func (s *Server) inPieces(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&pieces{w, http.NewResponseController(w), s.patience}, r)
	})
}

type pieces struct {
	http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration
}

// Unwrap is for http.ResponseController.
func (p *pieces) Unwrap() http.ResponseWriter { return p.ResponseWriter }

func (p *pieces) WriteHeader(status int) {
	p.begin()
	p.ResponseWriter.WriteHeader(status)
}

func (p *pieces) begin() { p.control.SetWriteDeadline(time.Now().Add(p.patience)) }

func (p *pieces) Write(b []byte) (n int, err error) {
	for {
		p.begin()
		m, err := p.ResponseWriter.Write(b[:min(len(b), pieceMax)])
		n, b = n+m, b[m:]
		if err != nil || len(b) == 0 {
			return n, err
		}
	}
}

// serveStream sends the topology and all states as server-sent events, then each state as
// it comes: "topology", "states" (an array), "gone" (a text, empty when it is over) and, last,
// "ended".
func (s *Server) serveStream(w http.ResponseWriter, r *http.Request) {
	if !s.stream.join(pagesMax) {
		w.Header().Set("Retry-After", "5")
		http.Error(w, fmt.Sprintf("%s are open, which is the most; close one", unit.Count(pagesMax, "page")), http.StatusServiceUnavailable)
		return
	}
	defer s.stream.leave()
	w.Header().Set("Content-Type", "text/event-stream")
	at := parsePlace(r.Header.Get("Last-Event-ID"))
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	out := &sender{w: w, control: http.NewResponseController(w)}
	out.control.SetReadDeadline(time.Time{})
	out.send(": softswitch\nretry: 1000\n\n")
	for out.err == nil {
		n, next, more := s.stream.after(at)
		if more == nil {
			at = next
			out.news(n, at)
			continue
		}
		select {
		case <-more:
		case <-alive.C:
			out.send(": alive\n\n")
		case <-r.Context().Done():
			out.send("event: ended\ndata: {}\n\n")
			return
		}
	}
}

// sender writes server-sent events; after an error it writes nothing.
type sender struct {
	w       http.ResponseWriter
	control *http.ResponseController
	buf     bytes.Buffer
	err     error
}

func (o *sender) news(n news, at place) {
	o.buf.Reset()
	if n.topology != nil {
		fmt.Fprintf(&o.buf, "event: topology\ndata: %s\n\n", n.topology)
	}
	if len(n.states) > 0 {
		fmt.Fprintf(&o.buf, "event: states\nid: %v\ndata: [", at)
		for i, st := range n.states {
			if i > 0 {
				o.buf.WriteByte(',')
			}
			o.buf.Write(st)
		}
		o.buf.WriteString("]\n\n")
	}
	if n.isGone {
		fmt.Fprintf(&o.buf, "event: gone\ndata: %s\n\n", encode(n.gone))
	}
	o.send(o.buf.String())
}

// send writes at once. A page that takes nothing for writeTimeout is dropped (pieces).
func (o *sender) send(text string) {
	if o.err != nil {
		return
	}
	if _, o.err = o.w.Write([]byte(text)); o.err == nil {
		o.err = o.control.Flush()
	}
}

// serveFile sends what was seen so far as a file, to keep or to send.
func (s *Server) serveFile(w http.ResponseWriter, _ *http.Request) {
	select {
	case s.files <- struct{}{}:
		defer func() { <-s.files }()
	default:
		w.Header().Set("Retry-After", "5")
		http.Error(w, fmt.Sprintf("%s are being made, which is the most; try again", unit.Count(filesMax, "file")), http.StatusServiceUnavailable)
		return
	}
	var page bytes.Buffer
	write := s.stream.WriteHTML
	if s.show != nil {
		write = s.show.WriteHTML
	}
	if err := write(&page); err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="run.html"`)
	w.Write(page.Bytes())
}

// serveShow sends the show.
func (s *Server) serveShow(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(s.show)
}

// serveAct does what a page orders, if it has the token.
func (s *Server) serveAct(w http.ResponseWriter, r *http.Request) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1 {
		http.Error(w, "wrong token: open the address that the command printed", http.StatusForbidden)
		return
	}
	if s.act == nil {
		http.Error(w, "this page shows a simulation, which cannot be changed", http.StatusConflict)
		return
	}
	var o Order
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, orderMax))
	if err == nil {
		err = jsonv2.Unmarshal(body, &o, jsonv1.DefaultOptionsV1(), jsonv2.RejectUnknownMembers(true))
	}
	if err != nil {
		http.Error(w, fmt.Sprintf("not an order: %v", err), http.StatusBadRequest)
		return
	}
	if err := s.act(r.Context(), o); err != nil {
		status := http.StatusConflict
		if errors.As(err, new(*orderError)) {
			status = http.StatusBadRequest
		}
		http.Error(w, err.Error(), status)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
