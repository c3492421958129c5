package control

import (
	"bufio"
	"encoding/json"
	"net"
	"sync"
	"time"
)

// drainMax is how long a stream may go on writing once the server is being closed.
const drainMax = time.Second

// Stream is a handler's result that takes the connection over: the request is answered
// with null, and what follows is what the stream writes, without a deadline. Read fails
// when the client wants no more or the server is being closed; the stream then writes
// what it still has, for which it has drainMax, and returns. What the client writes is
// for the stream to read. A stream that was returned is also called if the client is gone
// by then.
type Stream func(c net.Conn)

// stream answers a request with a stream. If the server is being closed, all that the
// stream writes fails.
func (s *Server) stream(c net.Conn, enc *json.Encoder, run Stream) {
	s.mu.Lock()
	if s.done {
		c.Close()
	} else {
		s.open[c] = streaming
		s.streams.Add(1)
		defer s.streams.Done()
	}
	s.mu.Unlock()
	enc.Encode(response{}) // if that fails, so does the stream
	s.mu.Lock()
	if !s.done {
		c.SetDeadline(time.Time{})
	}
	s.mu.Unlock()
	run(&drainer{Conn: c})
}

// drainer is a connection that gives its stream drainMax to write once Read has failed:
// a client that reads no more does not hold it for ever.
type drainer struct {
	net.Conn
	once sync.Once
}

func (d *drainer) Read(b []byte) (int, error) {
	n, err := d.Conn.Read(b)
	if err != nil {
		d.once.Do(func() { d.SetWriteDeadline(time.Now().Add(drainMax)) })
	}
	return n, err
}

// Conn is the client's end of a stream.
type Conn struct {
	*net.UnixConn
	r *bufio.Reader
}

// Read reads what the node has written behind its answer.
func (c *Conn) Read(b []byte) (int, error) { return c.r.Read(b) }

// Open asks the node at path for a stream, as Call asks for an answer, and returns it.
// CloseWrite tells the node that no more is wanted; what is under way can then still be
// read, until io.EOF.
func Open(path, do string, args any) (*Conn, error) {
	c, r, _, err := ask(callMax, path, do, args)
	if err != nil {
		return nil, err
	}
	c.SetDeadline(time.Time{})
	return &Conn{UnixConn: c, r: r}, nil
}
