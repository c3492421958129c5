// Package control is how a lab and a user talk to a running node: HTTP over a unix
// socket.
//
//	curl --unix-socket control.sock http://node/stats
//	curl --unix-socket control.sock http://node/clear -d '{"what":"pfc"}'
//
//	GET or POST /NAME  -->  200, the answer as JSON, or 204 for none
//	arguments as JSON       4xx or 5xx, a sentence that says why not
//	or in the query         200, and what a Stream writes until it ends
//
// Read in this order: Request, Serve (control.go, the node's side), socket.go (whose socket
// it is), stream.go (streamed answers), Call (call.go, the client's side), AskAll (ask.go).
//
// Invariants:
//   - own-socket: a socket is made, with the mode 0600 from its first moment, only where no
//     other user can put another in its place, and nothing of another user is removed for it;
//     a client tells nothing to a process of another user, root's apart;
//   - one-server: a socket on which a process listens is never taken over;
//   - one-at-a-time: requests are handled one after the other with a rest after each, so
//     that they take at most a quarter of a processor from forwarding, unless an answer takes
//     longer than 17 ms (budget.go). What is refused takes its turn too, arguments are parsed in
//     it, and clients are accepted one after the other;
//   - bounded: a request takes at most headerMax and requestMax bytes of memory, an answer
//     answerMax of its reader's, and
//     there are at most clientsMax clients; the next one waits for a place. A connection
//     is for one request. A client that does not send it within askMax, or read its answer
//     within writeMax, is disconnected.
//
// What it does not do: it has no notion of nodes; a handler gives every request its
// meaning. In a process that runs many nodes, each of them has a quarter of a processor.
package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/netutil"
)

// Limits of a request and of an answer, in bytes. The longest arguments are those of "forge": a
// frame, of which JSON has four bytes for three.
const (
	requestMax = 64 << 10
	headerMax  = 16 << 10
	answerMax  = 64 << 20
)

// Limits of clients. A client that asks repeatedly, as Call does, connects each time.
const (
	clientsMax = 32
	askMax     = 5 * time.Second
	writeMax   = 5 * time.Second
)

// Request is a request to a node. The meaning of Args depends on Do; nil for none.
type Request struct {
	Do   string
	Args json.RawMessage
	// Get says that it came by GET, which must not change anything.
	Get bool
}

// Refusal is a handler's error with its own status. Any other error of a handler has
// 400 (Bad Request).
type Refusal struct {
	Status int
	Text   string
}

func (r *Refusal) Error() string { return r.Text }

// Unknown is the refusal of a request that is not among valid.
func Unknown(do string, valid ...string) error {
	return &Refusal{http.StatusNotFound, fmt.Sprintf("unknown request %q; valid: %s", do, strings.Join(valid, ", "))}
}

// Then is a handler's result without a value. It is called after the answer has been
// written, or could not be: to end the server, do it there.
type Then func()

// Server answers requests on a socket. Listen makes one.
type Server struct {
	http     http.Server
	ln       net.Listener
	write    time.Duration // writeMax
	drain    time.Duration // drainMax
	jobs     chan func()   // carried out one after the other
	handlers sync.WaitGroup

	mu   sync.Mutex
	open map[net.Conn]*conn // guarded by mu: streams, until their connections are closed
	over sync.Cond          // of mu: one of them is
	done bool               // guarded by mu
}

// Listen creates the socket path, as ListenUnix does.
func Listen(path string) (*Server, error) {
	ln, err := ListenUnix(path)
	if err != nil {
		return nil, err
	}
	return On(ln), nil
}

// On returns a server on a listener, which the server closes.
func On(ln net.Listener) *Server {
	s := &Server{ln: ln, write: writeMax, drain: drainMax, jobs: make(chan func()), open: make(map[net.Conn]*conn)}
	s.over.L = &s.mu
	s.http.ReadTimeout = askMax
	s.http.MaxHeaderBytes = headerMax
	s.http.SetKeepAlivesEnabled(false)           // or who asks without end keeps a place
	s.http.ErrorLog = log.New(io.Discard, "", 0) // it only reports clients that went away
	s.http.ConnContext = func(ctx context.Context, at net.Conn) context.Context { return context.WithValue(ctx, connKey{}, at) }
	s.http.ConnState = func(at net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			s.forget(at)
		}
	}
	return s
}

// Serve answers requests by handle until Close, and returns when the last handler has and what
// streams wrote is sent; handle is called for one request at a time. Its result is written as JSON,
// except for nil, a Then and a Stream.
func (s *Server) Serve(handle func(Request) (any, error)) {
	s.http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.begin() {
			panic(http.ErrAbortHandler) // hangs up
		}
		defer s.handlers.Done()
		s.answer(w, r, handle)
	})
	var working sync.WaitGroup
	working.Go(func() { work(s.jobs) })
	s.http.Serve(netutil.LimitListener(Budgeted(s.ln), clientsMax))
	s.mu.Lock()
	s.done = true
	s.mu.Unlock()
	s.handlers.Wait()
	s.awaitStreams()
	close(s.jobs)
	working.Wait()
}

// work carries out jobs one after the other, outside of net/http's goroutines, because
// net/http would recover from a panic.
func work(jobs <-chan func()) {
	for job := range jobs {
		begun := time.Now()
		job()
		time.Sleep(Rest(time.Since(begun)))
	}
}

// begin counts a handler, unless the server is closing.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.done {
		s.handlers.Add(1)
	}
	return !s.done
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, handle func(Request) (any, error)) {
	out := http.NewResponseController(w)
	args, err := read(r)
	var result any
	var body []byte
	done := make(chan struct{})
	select {
	case s.jobs <- func() {
		defer close(done)
		var req Request
		if err == nil {
			req, err = parse(r, args)
		}
		if err == nil {
			result, body, err = ask(handle, req)
		}
	}:
		<-done
	case <-r.Context().Done(): // the client is gone
		panic(http.ErrAbortHandler)
	}
	if run, ok := result.(Stream); ok {
		s.stream(w, r, run)
		return
	}
	out.SetWriteDeadline(time.Now().Add(s.write))
	reply(w, body, err)
	if then, ok := result.(Then); ok {
		out.Flush()
		then()
	}
}

// read reads a request's body, the arguments; where they are in the query, a body of unknown length is
// left for a Stream to read. It waits for the client, and costs next to nothing.
func read(r *http.Request) (args []byte, err error) {
	inQuery := r.URL.RawQuery != "" || r.URL.ForceQuery
	tooLong := &Refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("arguments of more than %d bytes", requestMax)}
	switch {
	case r.ContentLength > 0 && inQuery:
		return nil, errors.New("arguments in the query, and a body: give them in one of the two")
	case r.ContentLength > requestMax:
		return nil, tooLong
	case r.ContentLength == 0 || inQuery:
		return nil, nil
	}
	args, err = io.ReadAll(io.LimitReader(r.Body, requestMax+1))
	if err == nil && len(args) > requestMax {
		err = tooLong
	}
	return args, err
}

// parse makes a request of what was read. Arguments are in the query or in the body.
func parse(r *http.Request, args []byte) (req Request, err error) {
	req.Do, req.Get = strings.TrimPrefix(r.URL.Path, "/"), r.Method == http.MethodGet
	switch {
	case !req.Get && r.Method != http.MethodPost:
		err = &Refusal{http.StatusMethodNotAllowed, fmt.Sprintf("method %s: want GET or POST", r.Method)}
	case r.URL.RawQuery != "":
		req.Args, err = fromQuery(r.URL.RawQuery)
	case len(args) > 0 && !json.Valid(args):
		err = fmt.Errorf("arguments %.40q: want JSON", args)
	default:
		req.Args = args
	}
	return req, err
}

// ask calls the handler and returns its result, also as JSON, nil for none.
func ask(handle func(Request) (any, error), req Request) (result any, body []byte, err error) {
	if result, err = handle(req); err != nil {
		return nil, nil, err
	}
	switch result.(type) {
	case nil, Then, Stream:
		return result, nil, nil
	}
	if body, err = json.Marshal(result); err != nil {
		err = &Refusal{http.StatusInternalServerError, err.Error()}
	}
	return result, body, err
}

// reply writes an answer.
func reply(w http.ResponseWriter, body []byte, err error) {
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		http.Error(w, refusal.Text, refusal.Status)
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	case body == nil:
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", fmt.Sprint(len(body)+1))
		w.Write(append(body, '\n'))
	}
}

// Close ends Serve and removes the socket. It waits, at most drainMax, until what streams
// have to say is sent to its end.
func (s *Server) Close() {
	s.mu.Lock()
	s.done = true
	for _, c := range s.open {
		c.close(s.drain)
	}
	s.mu.Unlock()
	s.ln.Close()
	s.awaitStreams()
	s.http.Close()
}
