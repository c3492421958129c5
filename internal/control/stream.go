package control

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// drainMax is how long a stream may go on writing once the server is closing.
const drainMax = time.Second

// Stream is a handler's result that continues: what it writes is the answer; each Write
// is sent at once and without a deadline. Read reads the request's body, in which a
// client may send more while it reads the answer. Read fails when the client wants no
// more or the server is closing: at the end of the body, or, if there is none, when the
// client hangs up. The stream then writes what it still has, within drainMax, and
// returns. A stream is called even if the client is gone by then.
type Stream func(c io.ReadWriter)

// stream answers a request with a stream.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, run Stream) {
	c := &conn{out: http.NewResponseController(w), w: w, r: r}
	c.out.EnableFullDuplex()
	s.mu.Lock()
	c.out.SetWriteDeadline(time.Time{})
	if c.out.SetReadDeadline(time.Time{}); s.done {
		c.out.SetReadDeadline(time.Now())
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
	out  *http.ResponseController
	w    http.ResponseWriter
	r    *http.Request
	once sync.Once
}

// Read limits further writing to drainMax once it has failed, so that a client that
// stops reading does not block the stream for ever.
func (c *conn) Read(b []byte) (n int, err error) {
	if c.r.ContentLength != 0 {
		n, err = c.r.Body.Read(b)
	} else {
		<-c.r.Context().Done()
		err = io.EOF
	}
	if err != nil {
		c.once.Do(func() { c.out.SetWriteDeadline(time.Now().Add(drainMax)) })
	}
	return n, err
}

func (c *conn) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	if err == nil {
		err = c.out.Flush()
	}
	return n, err
}
