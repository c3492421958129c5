// Package control is how a lab and a user talk to a running node: requests and
// answers as JSON lines over a unix socket, one after the other.
//
// Read in this order: Request, Serve (the node's side), Call (the other side), Stream and
// Open (answers that go on), ask.go (many nodes at once).
//
// Invariants:
//   - one-server: a socket on which a process listens is never taken over;
//   - answered: every request, and what is none, gets one answer; after what is
//     none the connection ends, since nobody knows where the next one begins;
//   - bounded: a request takes at most requestMax bytes of memory, and there are at
//     most clientsMax clients: one more is told so, and one that asks nothing for
//     idleMax, or does not read its answer for writeMax, is hung up on.
//
// What it does not do: it knows no node; a handler gives every request its
// meaning. Who may connect is decided by the socket's file mode, 0600.
package control

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// requestMax bounds a request in bytes.
const requestMax = 1 << 20

// Bounds of clients. Who asks again and again, as Call does, connects anew each time.
const (
	clientsMax = 128
	idleMax    = 30 * time.Second
	writeMax   = 5 * time.Second
)

// acceptRetry is how long Serve waits when the process has no descriptor left for
// another client.
const acceptRetry = 10 * time.Millisecond

// Request is what a node is asked. Args' meaning depends on Do.
type Request struct {
	Do   string          `json:"do"`
	Args json.RawMessage `json:"args,omitempty"`
}

type response struct {
	Error  string          `json:"error,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
}

// Then is a handler's result that has no value. It is called once the answer that says
// so was written, or could not be: what ends the server belongs there.
type Then func()

// Server answers requests on a socket. Listen makes one.
type Server struct {
	ln      net.Listener
	idle    time.Duration // idleMax, and writeMax
	write   time.Duration
	conns   sync.WaitGroup
	streams sync.WaitGroup

	mu   sync.Mutex
	open map[net.Conn]use // guarded by mu
	done bool             // guarded by mu
}

// use is what a connection is used for.
type use uint8

const (
	asking use = iota
	streaming
)

// Listen makes the socket path. A socket file that nobody listens on any more is
// replaced; one that somebody does listen on is an error.
func Listen(path string) (*Server, error) {
	if err := makeRoom(path); err != nil {
		return nil, fmt.Errorf("control socket %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	ln, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("control socket %s: %w", path, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		ln.Close()
		return nil, fmt.Errorf("control socket: %w", err)
	}
	return &Server{ln: ln, idle: idleMax, write: writeMax, open: make(map[net.Conn]use)}, nil
}

// makeRoom removes a socket that nobody listens on any more.
func makeRoom(path string) error {
	fi, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case fi.Mode()&os.ModeSocket == 0:
		return errors.New("a file is there that is no socket")
	}
	c, err := net.Dial("unix", path)
	switch {
	case err == nil:
		c.Close()
		return errors.New("another process listens there")
	case errors.Is(err, syscall.EAGAIN): // its queue of clients is full
		return errors.New("another process listens there, and is busy")
	case errors.Is(err, syscall.ECONNREFUSED):
		return os.Remove(path)
	}
	return err
}

// Serve answers requests by handle until Close, and returns when the last handle
// has; handle is called from several goroutines.
func (s *Server) Serve(handle func(Request) (any, error)) {
	defer s.conns.Wait()
	for {
		c, err := s.ln.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			time.Sleep(acceptRetry)
			continue
		}
		s.admit(c, handle)
	}
}

// admit serves a client, unless there are enough.
func (s *Server) admit(c net.Conn, handle func(Request) (any, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.done:
		c.Close()
	case len(s.open) >= clientsMax:
		c.SetWriteDeadline(time.Now().Add(acceptRetry))
		json.NewEncoder(c).Encode(response{Error: fmt.Sprintf("busy: %d clients are connected, which is the most; try again", clientsMax)})
		c.Close()
	default:
		s.open[c] = asking
		s.conns.Go(func() { s.serve(c, handle) })
	}
}

func (s *Server) serve(c net.Conn, handle func(Request) (any, error)) {
	defer func() {
		s.mu.Lock()
		delete(s.open, c)
		s.mu.Unlock()
		c.Close()
	}()
	in := &io.LimitedReader{R: c}
	dec, enc := json.NewDecoder(in), json.NewEncoder(c)
	for {
		in.N = requestMax
		c.SetDeadline(time.Now().Add(s.idle))
		var req Request
		switch err := dec.Decode(&req); {
		case err == nil:
		case in.N <= 0:
			enc.Encode(response{Error: fmt.Sprintf("a request of more than %d bytes", requestMax)})
			return
		case errors.Is(err, io.EOF), errors.Is(err, os.ErrDeadlineExceeded):
			return
		default:
			enc.Encode(response{Error: fmt.Sprintf(`not a request: %v; valid: {"do": "...", "args": ...}`, err)})
			return
		}
		var resp response
		result, err := handle(req)
		c.SetDeadline(time.Now().Add(s.write))
		if run, ok := result.(Stream); ok && err == nil {
			s.stream(c, enc, run)
			return
		}
		then, last := result.(Then)
		if last {
			result = nil
		}
		if err == nil {
			resp.Result, err = json.Marshal(result)
		}
		if err != nil {
			resp.Error = err.Error()
		}
		err = enc.Encode(resp)
		if last {
			then()
		}
		if err != nil {
			return
		}
	}
}

// Close ends Serve and removes the socket. It waits until streams have written what
// they have, at most drainMax.
func (s *Server) Close() {
	s.mu.Lock()
	s.done = true
	for c, use := range s.open {
		if use == streaming {
			c.SetReadDeadline(time.Now()) // the stream's drainer does the rest
		} else {
			c.Close()
		}
	}
	s.mu.Unlock()
	s.ln.Close()
	s.streams.Wait()
}

// callMax is how long Call waits for an answer.
const callMax = 10 * time.Second

// Call asks the node at path and stores its answer in result, unless that is nil.
// An error of the node's handler comes back as its text alone, any other begins
// with "control:". It waits at most 2 s for the node to be there and 10 s for the
// answer.
func Call(path, do string, args, result any) error {
	return CallWithin(callMax, path, do, args, result)
}

// CallWithin is Call, and waits at most limit for the answer.
func CallWithin(limit time.Duration, path, do string, args, result any) error {
	c, _, answer, err := ask(limit, path, do, args)
	if err != nil {
		return err
	}
	defer c.Close()
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(answer, result); err != nil {
		return fmt.Errorf("control: %s: %w", do, err)
	}
	return nil
}

// ask connects and asks. It returns the connection, what was read of it behind the
// answer, and the answer.
func ask(limit time.Duration, path, do string, args any) (*net.UnixConn, *bufio.Reader, json.RawMessage, error) {
	conn, err := net.DialTimeout("unix", path, min(limit, 2*time.Second))
	if err != nil {
		return nil, nil, nil, fmt.Errorf("control: %w", err)
	}
	c := conn.(*net.UnixConn)
	r := bufio.NewReader(c)
	resp, err := exchange(limit, c, r, do, args)
	if err == nil && resp.Error != "" {
		err = errors.New(resp.Error)
	}
	if err != nil {
		c.Close()
		return nil, nil, nil, err
	}
	return c, r, resp.Result, nil
}

func exchange(limit time.Duration, c net.Conn, r *bufio.Reader, do string, args any) (resp response, err error) {
	c.SetDeadline(time.Now().Add(limit))
	req := Request{Do: do}
	if args != nil {
		if req.Args, err = json.Marshal(args); err != nil {
			return resp, fmt.Errorf("control: %s: %w", do, err)
		}
	}
	unsent := json.NewEncoder(c).Encode(req) // a node with too many clients answers before it is asked
	line, err := r.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &resp)
	}
	if err != nil {
		return resp, fmt.Errorf("control: %s: %w", do, cmp.Or(unsent, err))
	}
	return resp, nil
}
