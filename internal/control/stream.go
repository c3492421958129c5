package control

import (
	"io"
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
// the server is closing, else as long as the client reads. A stream is called even if the client is gone by then.
type Stream func(c io.ReadWriter)

// stream answers a request with a stream.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, run Stream) {
	c := &conn{out: http.NewResponseController(w), w: w, r: r}
	c.out.EnableFullDuplex()
	s.mu.Lock()
	c.out.SetWriteDeadline(time.Time{})
	if c.out.SetReadDeadline(time.Time{}); s.done {
		c.close(s.drain)
	}
	s.open[c] = true
	s.streams.Add(1)
	s.mu.Unlock()
	defer s.streams.Done()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.WriteHeader(http.StatusOK)
	c.out.Flush() // if that fails, so does the stream
	var running sync.WaitGroup
	running.Go(func() { run(c) }) // net/http must not recover from a panic
	running.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
	c.out.SetReadDeadline(time.Now()) // do not wait for more from the client
}

// conn is the connection of a stream.
type conn struct {
	out *http.ResponseController
	w   http.ResponseWriter
	r   *http.Request

	mu       sync.Mutex
	draining bool // guarded by mu: Read has failed
	closing  bool // guarded by mu: so is the server
}

// close ends the stream: it may write for so long.
func (c *conn) close(drain time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out.SetWriteDeadline(time.Now().Add(drain))
	c.closing = true
	c.out.SetReadDeadline(time.Now()) // the stream does the rest
}

// limit limits writing from now on, so that a client that stops reading does not block the
// stream for ever.
func (c *conn) limit() {
	if !c.closing {
		c.out.SetWriteDeadline(time.Now().Add(unreadMax))
	}
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
