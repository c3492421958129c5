// Package control is how a lab and a user talk to a running node: requests and
// answers as JSON lines over a unix socket, one after the other.
//
// Read in this order: Request, Serve (the node's side), Call (the other side).
//
// What it does not do: it knows no node; a handler gives every request its
// meaning. Who may connect is decided by the socket's file mode, 0600.
package control

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

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
	if c, err := net.Dial("unix", path); err == nil {
		c.Close()
		return nil, fmt.Errorf("control socket %s: another process listens there", path)
	}
	if fi, err := os.Lstat(path); err == nil {
		if fi.Mode()&os.ModeSocket == 0 {
			return nil, fmt.Errorf("control socket %s: a file is there that is no socket", path)
		}
		os.Remove(path)
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

// Serve answers requests by handle until Close; handle is called from several
// goroutines.
func (s *Server) Serve(handle func(Request) (any, error)) {
	for {
		c, err := s.ln.Accept()
		if err != nil {
			s.conns.Wait()
			return
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
	dec, enc := json.NewDecoder(c), json.NewEncoder(c)
	for {
		var req Request
		if err := dec.Decode(&req); err != nil {
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
	return json.Unmarshal(resp.Result, result)
}
