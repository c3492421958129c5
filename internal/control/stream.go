package control

import (
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// drainMax is how long a stream may go on writing once the server is closing.
	drainMax = time.Second
	// unreadMax is how long a client that wants no more may read nothing. Nodes have a real-time
	// priority, and leave their clients little of a machine that is too busy.
	unreadMax = 10 * time.Second
)

// Stream is a handler's result that continues: what it writes is the answer; each Write
// is sent at once and without a deadline. Read reads the request's body, in which a
// client may send more while it reads the answer. Read fails when the client wants no
// more or the server is closing: at the end of the body, or, if there is none, when the
// client hangs up. The stream then writes what it still has and returns: within drainMax if
// the server is closing, else as long as the client reads. A stream is called even if the client is
// gone by then.
type Stream func(c io.ReadWriter)

// stream answers a request with a stream.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, run Stream) {
	c := &conn{at: r.Context().Value(connKey{}).(net.Conn), out: http.NewResponseController(w), w: w, r: r}
	c.out.EnableFullDuplex()
	s.mu.Lock()
	if c.at.SetDeadline(time.Time{}); s.done {
		c.close(s.drain)
	}
	s.open[c.at] = c
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.WriteHeader(http.StatusOK)
	c.out.Flush() // if that fails, so does the stream
	var running sync.WaitGroup
	running.Go(func() { run(c) }) // net/http must not recover from a panic
	running.Wait()
	c.finish()
}

// connKey is the key of a request's connection in its context.
type connKey struct{}

// forget is told of each connection that is closed. Only then is a stream over: net/http writes the
// end of an answer when its handler has returned, and hanging up before that cuts the answer short.
func (s *Server) forget(at net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, at)
	s.over.Broadcast()
}

// awaitStreams waits until no stream is open.
func (s *Server) awaitStreams() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.open) > 0 {
		s.over.Wait()
	}
}

// conn is the connection of a stream. Its time limits are the connection's own, because they are set
// after the handler has returned, too.
type conn struct {
	at  net.Conn
	out *http.ResponseController
	w   http.ResponseWriter
	r   *http.Request

	mu       sync.Mutex
	draining bool // guarded by mu: Read has failed
	closing  bool // guarded by mu: so is the server
}

// close ends the stream: it may write for the time drain.
func (c *conn) close(drain time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at.SetWriteDeadline(time.Now().Add(drain))
	c.closing = true
	c.at.SetReadDeadline(time.Now()) // the stream does the rest
}

// limit limits writing from now on, so that a client that stops reading does not block the
// stream for ever.
func (c *conn) limit() {
	if !c.closing {
		c.at.SetWriteDeadline(time.Now().Add(unreadMax))
	}
}

// finish leaves the end of the answer to net/http, which is not to wait for more from the client.
func (c *conn) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit()
	c.at.SetReadDeadline(time.Now())
}

func (c *conn) Read(b []byte) (n int, err error) {
	if c.r.ContentLength != 0 {
		n, err = c.r.Body.Read(b)
	} else {
		<-c.r.Context().Done()
		err = io.EOF
	}
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.limit()
		c.draining = true
	}
	return n, err
}

func (c *conn) Write(b []byte) (int, error) {
	c.mu.Lock()
	if c.draining {
		c.limit()
	}
	c.mu.Unlock()
	n, err := c.w.Write(b)
	if err == nil {
		err = c.out.Flush()
	}
	return n, err
}
