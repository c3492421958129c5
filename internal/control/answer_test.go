package control

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"softswitch/internal/testkit"
)

// inMemory is a listener whose clients dial in memory.
type inMemory struct {
	dialled chan net.Conn
	closed  context.Context
	close   context.CancelFunc
}

func newInMemory() *inMemory {
	closed, end := context.WithCancel(context.Background())
	return &inMemory{make(chan net.Conn), closed, end}
}

func (l *inMemory) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.dialled <- there:
		return here, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *inMemory) Accept() (net.Conn, error) {
	select {
	case c := <-l.dialled:
		return c, nil
	case <-l.closed.Done():
		return nil, net.ErrClosed
	}
}

func (l *inMemory) Close() error { l.close(); return nil }

func (l *inMemory) Addr() net.Addr { return &net.UnixAddr{Name: "inMemory", Net: "unix"} }

// An answer without end does not take all memory, and one of just as many bytes is taken. In a bubble
// no time passes while either end works, however slow the machine is: the limits of server and call
// play no part.
func TestLongAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		most := testkit.Sized[int64](1<<20, answerMax)
		ln := newInMemory()
		s := On(ln)
		served := make(chan struct{})
		go func() {
			defer close(served)
			s.Serve(func(Request) (any, error) { return strings.Repeat("x", int(most)), nil })
		}()
		ask := func(most int64) (got string, err error) {
			transport := http.Transport{DisableKeepAlives: true, DialContext: ln.dial}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://node/long", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := transport.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			err = take(resp, most, "long", &got)
			return got, err
		}
		want := fmt.Sprintf("control: long: an answer of more than %d bytes", most)
		if got, err := ask(most); err == nil || err.Error() != want {
			t.Errorf("%v, %d bytes; want %s", err, len(got), want)
		}
		if got, err := ask(most + 3); err != nil || len(got) != int(most) { // quotes and a newline
			t.Errorf("%v, %d bytes; want %d", err, len(got), most)
		}
		s.Close()
		<-served
	})
}
