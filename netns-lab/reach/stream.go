package reach

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/hashicorp/yamux"
)

// What a stream is for: its first octet.
const (
	toNode  = 'n' // all that follows is between a client and the node's control socket
	toAgent = 'a' // requests to the agent itself
	ofLog   = 'l' // the node's event log as it grows; it ends when another takes its place
)

// pipe is the two halves of a connection by standard input and output.
type pipe struct {
	io.Reader
	io.WriteCloser
}

// config is yamux's without keep-alives, and without a limit for a stream to be answered: a node that
// is stopped for long is not gone, and the end of the other program closes the pipe.
func config() *yamux.Config {
	c := yamux.DefaultConfig()
	c.EnableKeepAlive, c.StreamOpenTimeout = false, 0
	c.LogOutput = io.Discard // what goes wrong is the error of a stream
	return c
}

// half is a connection of which one direction can be closed.
type half interface {
	io.ReadWriteCloser
	CloseWrite() error
}

// stream is a stream of yamux, whose Close closes one direction.
type stream struct{ *yamux.Stream }

func (s stream) CloseWrite() error { return s.Stream.Close() }

// join copies both ways between two connections until both directions have ended, or one
// fails, and reports whether anything came from a. If b takes no more, what it has said before is
// still copied. The caller closes both.
func join(a, b half) (came bool) {
	var n int64
	fromA, fromB := make(chan error, 1), make(chan error, 1)
	var gone bool // b takes no more
	go func() {
		var err error
		switch n, err = io.Copy(&noting{b, &gone}, a); {
		case gone:
			err = nil
		case n > 0:
			err = errors.Join(err, b.CloseWrite())
		}
		fromA <- err
	}()
	go func() {
		_, err := io.Copy(a, b)
		fromB <- errors.Join(err, a.CloseWrite())
	}()
	select {
	case err := <-fromB:
		if err != nil {
			a.Close()
			b.Close()
		}
		<-fromA
	case err := <-fromA:
		if err == nil && (n > 0 || gone) {
			<-fromB
		}
	}
	return n > 0 || gone
}

// noting is a writer that notes when a write has failed.
type noting struct {
	io.Writer
	failed *bool
}

func (w *noting) Write(p []byte) (n int, err error) {
	n, err = w.Writer.Write(p)
	*w.failed = err != nil
	return n, err
}

// incoming is a listener of connections that come some other way.
type incoming struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (l *incoming) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *incoming) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *incoming) Addr() net.Addr { return &net.UnixAddr{Name: "agent", Net: "unix"} }

// refuse answers whatever request comes, in the words of package control.
func refuse(c half, why error) {
	defer c.Close()
	text := why.Error() + "\n"
	fmt.Fprintf(c, "HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(text), text)
	c.CloseWrite()
	io.Copy(io.Discard, c) // a request that is not read to its end would be a reset
}
