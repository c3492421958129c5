package control

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
