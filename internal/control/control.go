// Package control is how a lab and a user talk to a running node: requests and
// answers as JSON lines over a unix socket, one after the other.
//
// Read in this order: Request, Serve (the node's side), Call (the other side).
//
// Invariants:
//   - one-server: a socket on which a process listens is never taken over;
//   - answered: every request, and what is none, gets one answer; after what is
//     none the connection ends, since nobody knows where the next one begins;
//   - bounded: a request takes at most requestMax bytes of memory.
//
// What it does not do: it knows no node; a handler gives every request its
// meaning. Who may connect is decided by the socket's file mode, 0600.
package control

import (
	"bufio"
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

// Server answers requests on a socket. Listen makes one.
type Server struct {
	ln    net.Listener
	conns sync.WaitGroup

	mu   sync.Mutex
	open map[net.Conn]bool // guarded by mu
	done bool              // guarded by mu
}

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
	return &Server{ln: ln, open: make(map[net.Conn]bool)}, nil
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
		s.mu.Lock()
		if s.done {
			c.Close()
		} else {
			s.open[c] = true
			s.conns.Go(func() { s.serve(c, handle) })
		}
		s.mu.Unlock()
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
		var req Request
		switch err := dec.Decode(&req); {
		case err == nil:
		case in.N <= 0:
			enc.Encode(response{Error: fmt.Sprintf("a request of more than %d bytes", requestMax)})
			return
		case errors.Is(err, io.EOF):
			return
		default:
			enc.Encode(response{Error: fmt.Sprintf(`not a request: %v; valid: {"do": "...", "args": ...}`, err)})
			return
		}
		var resp response
		result, err := handle(req)
		if err == nil {
			resp.Result, err = json.Marshal(result)
		}
		if err != nil {
			resp.Error = err.Error()
		}
		if enc.Encode(resp) != nil {
			return
		}
	}
}

// Close ends Serve and removes the socket.
func (s *Server) Close() {
	s.mu.Lock()
	s.done = true
	for c := range s.open {
		c.Close()
	}
	s.mu.Unlock()
	s.ln.Close()
}

// Call asks the node at path and stores its answer in result, unless that is nil.
// An error of the node's handler comes back as its text alone, any other begins
// with "control:". It waits at most 2 s for the node to be there and 10 s for the
// answer.
func Call(path, do string, args, result any) error {
	c, err := net.DialTimeout("unix", path, 2*time.Second)
	if err != nil {
		return fmt.Errorf("control: %w", err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	req := Request{Do: do}
	if args != nil {
		if req.Args, err = json.Marshal(args); err != nil {
			return fmt.Errorf("control: %s: %w", do, err)
		}
	}
	if err := json.NewEncoder(c).Encode(req); err != nil {
		return fmt.Errorf("control: %s: %w", do, err)
	}
	var resp response
	if err := json.NewDecoder(bufio.NewReader(c)).Decode(&resp); err != nil {
		return fmt.Errorf("control: %s: %w", do, err)
	}
	if resp.Error != "" {
		return errors.New(resp.Error)
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(resp.Result, result); err != nil {
		return fmt.Errorf("control: %s: %w", do, err)
	}
	return nil
}
