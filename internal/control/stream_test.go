package control

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// served is a server of streams, and its end.
type served struct {
	*Server
	path string
	done chan struct{} // closed when Serve has returned
}

func serveStreams(t *testing.T, run Stream) *served {
	t.Helper()
	path := filepath.Join(t.TempDir(), "control.sock")
	srv, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	srv.drain = patience
	s := &served{srv, path, make(chan struct{})}
	go func() {
		defer close(s.done)
		srv.Serve(func(req Request) (any, error) {
			if req.Do != "stream" {
				return nil, errors.New("no stream")
			}
			return run, nil
		})
	}()
	t.Cleanup(func() {
		s.Close()
		await(t, s.done, "Serve to return")
	})
	return s
}

func (s *served) open(t *testing.T) *Conn {
	t.Helper()
	c, err := Open(s.path, "stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// echo says hello, repeats what it is told, and says goodbye when it is told no more.
func echo(c io.ReadWriter) {
	io.WriteString(c, "hello ")
	io.Copy(c, c)
	io.WriteString(c, "goodbye")
}

func TestStream(t *testing.T) {
	s := serveStreams(t, echo)
	c := s.open(t)
	io.WriteString(c, "world ")
	c.CloseWrite()
	if got, err := io.ReadAll(c); string(got) != "hello world goodbye" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	if _, err := Open(s.path, "other", nil); err == nil || err.Error() != "no stream" {
		t.Errorf("a stream that is refused: %v", err)
	}
}

// TestCloseLetsStreamsEnd: a stream's last words reach its client.
func TestCloseLetsStreamsEnd(t *testing.T) {
	s := serveStreams(t, echo)
	c := s.open(t)
	if _, err := io.ReadFull(c, make([]byte, len("hello "))); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if got, err := io.ReadAll(c); string(got) != "goodbye" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	await(t, s.done, "Serve to return")
	if _, err := Open(s.path, "stream", nil); err == nil || !strings.HasPrefix(err.Error(), "control: ") {
		t.Errorf("a stream of a closed server: %v", err)
	}
}

// TestLastWordsInSpiteOfWrites: a client that still speaks when the server is gone reads
// what the stream said before.
func TestLastWordsInSpiteOfWrites(t *testing.T) {
	last := strings.Repeat("goodbye ", 1<<12)
	s := serveStreams(t, func(c io.ReadWriter) {
		io.WriteString(c, "hello ")
		io.Copy(io.Discard, c)
		io.WriteString(c, last)
	})
	c := s.open(t)
	if _, err := io.ReadFull(c, make([]byte, len("hello "))); err != nil {
		t.Fatal(err)
	}
	s.Close()
	await(t, s.done, "Serve to return")
	for err := error(nil); err == nil; {
		_, err = c.Write([]byte{'\n'})
	}
	if got, err := io.ReadAll(c); string(got) != last || err != nil {
		t.Errorf("read %d octets of %d, %v", len(got), len(last), err)
	}
}

// lastly is a listener whose connections do what is due before they write the end of an answer.
type lastly struct {
	net.Listener
	do func()
}

func (l *lastly) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &lastlyConn{c, l.do}, err
}

type lastlyConn struct {
	net.Conn
	do func()
}

func (c *lastlyConn) Write(b []byte) (int, error) {
	if bytes.HasSuffix(b, []byte("\r\n0\r\n\r\n")) || bytes.Equal(b, []byte("0\r\n\r\n")) {
		c.do()
	}
	return c.Conn.Write(b)
}

// TestCloseAwaitsTheEnd: however late net/http writes the end of a stream, the server does not hang
// up before it has.
func TestCloseAwaitsTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		var ended atomic.Bool
		s := On(&lastly{l, func() {
			time.Sleep(drainMax / 2) // of the bubble's time: whoever hangs up too early has by then
			ended.Store(true)
		}})
		var serving sync.WaitGroup
		serving.Go(func() {
			s.Serve(func(Request) (any, error) { return Stream(echo), nil })
			if !ended.Load() {
				t.Error("Serve has returned before the end is written")
			}
		})
		here, there := net.Pipe()
		defer here.Close()
		l.conns <- there
		io.WriteString(here, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
		resp, err := http.ReadResponse(bufio.NewReader(here), nil)
		if err != nil {
			t.Fatal(err)
		}
		var closing sync.WaitGroup
		closing.Go(s.Close)
		if got, err := io.ReadAll(resp.Body); string(got) != "hello goodbye" || err != nil {
			t.Errorf("read %q, %v", got, err)
		}
		closing.Wait()
		serving.Wait()
		time.Sleep(drainMax) // of the bubble's time: an end that is too late comes by then
	})
}

// TestCloseEndsStreamThatNobodyReads: a stream that fills its socket is not waited for
// without end.
func TestCloseEndsStreamThatNobodyReads(t *testing.T) {
	ended := make(chan error, 1)
	s := serveStreams(t, func(c io.ReadWriter) {
		written := make(chan error)
		go func() {
			buf := make([]byte, 1<<16)
			for {
				if _, err := c.Write(buf); err != nil {
					written <- err
					return
				}
			}
		}()
		io.Copy(io.Discard, c)
		ended <- <-written
	})
	s.drain = 100 * time.Millisecond
	s.open(t)
	s.Close()
	await(t, s.done, "Serve to return")
	if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the stream ended by %v", err)
	}
}

// TestSlowReaderHasAll: a client that wants no more may take longer than a server that is closing
// gives it, as long as it reads.
func TestSlowReaderHasAll(t *testing.T) {
	t.Parallel()
	const writes, size = 12, 512 << 10 // more than a socket holds
	s := serveStreams(t, func(c io.ReadWriter) {
		io.Copy(io.Discard, c)
		for range writes {
			if _, err := c.Write(make([]byte, size)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	c := s.open(t)
	c.CloseWrite()
	got := 0
	for buf := make([]byte, size); ; time.Sleep(drainMax / 5) {
		n, err := io.ReadFull(c, buf)
		if got += n; err != nil {
			break
		}
	}
	if got != writes*size {
		t.Errorf("read %d octets of %d", got, writes*size)
	}
}
