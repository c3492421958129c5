package control

import (
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"softswitch/internal/testkit"
)

// serveBriefly serves handle with little patience for clients that do not read.
func serveBriefly(t *testing.T, write time.Duration, handle func(Request) (any, error)) (s *Server, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "control.sock")
	s, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	s.write = write
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Serve(handle)
	}()
	t.Cleanup(func() {
		s.Close()
		await(t, done, "Serve to return after Close")
	})
	return s, path
}

func dial(t *testing.T, path string) net.Conn {
	t.Helper()
	c, err := net.DialTimeout("unix", path, patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	return c
}

func wantServed(t *testing.T, path string) {
	t.Helper()
	var got int
	if err := CallWithin(patience, path, "add", sum{2, 3}, &got); err != nil || got != 5 {
		t.Fatalf("add: %d, %v; want 5", got, err)
	}
}

// count counts who is in at once.
type count struct {
	mu       sync.Mutex
	in, most int // guarded by mu
}

func (c *count) add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in += n
	c.most = max(c.most, c.in)
}

func (c *count) max() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.most
}

// counted counts the connections of a listener.
type counted struct {
	net.Listener
	count
}

func (l *counted) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.add(1)
	return &countedConn{Conn: c, l: l}, nil
}

type countedConn struct {
	net.Conn
	l    *counted
	once sync.Once
}

func (c *countedConn) Close() error {
	c.once.Do(func() { c.l.add(-1) })
	return c.Conn.Close()
}

var hugeAnswer = strings.Repeat("x", 1<<20)

// Clients ask for more than a socket holds and never read it, in all the places there are. The server
// gets rid of them, and goes on.
func TestClientsThatNeverRead(t *testing.T) {
	s, path := serveBriefly(t, 20*time.Millisecond, func(req Request) (any, error) {
		if req.Do == "huge" {
			return hugeAnswer, nil
		}
		return calculator(req)
	})
	for range clientsMax {
		fmt.Fprint(dial(t, path), "GET /huge HTTP/1.1\r\nHost: x\r\n\r\n")
	}
	wantServed(t, path)
	s.Close()
}

// Two hundred clients ask and never read the answer. The server has no more than clientsMax at a time,
// makes one answer at a time, gets rid of each, and goes on.
func TestTwoHundredClientsThatNeverRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		conns := &counted{Listener: l}
		s := On(conns)
		var answers count
		var serving, asking sync.WaitGroup
		serving.Go(func() {
			s.Serve(func(req Request) (any, error) {
				answers.add(1)
				defer answers.add(-1)
				time.Sleep(time.Millisecond) // of the bubble's time: so long another could be made
				return calculator(req)
			})
		})
		ask := func() net.Conn {
			here, there := net.Pipe()
			l.conns <- there
			fmt.Fprint(here, "GET /add?A=2&B=3 HTTP/1.1\r\nHost: x\r\n\r\n")
			return here
		}
		for range 200 {
			asking.Go(func() { ask() })
		}
		asking.Wait()
		if got, err := io.ReadAll(ask()); err != nil || !strings.HasSuffix(string(got), "\r\n\r\n5\n") {
			t.Errorf("who reads gets %q, %v", got, err)
		}
		s.Close()
		serving.Wait()
		time.Sleep(time.Second) // of the bubble's time: net/http lingers over what it has hung up on
		if n := conns.max(); n != clientsMax {
			t.Errorf("%d clients at a time, want %d", n, clientsMax)
		}
		if n := answers.max(); n != 1 {
			t.Errorf("%d answers were made at a time, want 1", n)
		}
	})
}

// Who says nothing is hung up on, without a word, and leaves its place to others.
func TestIdleClientsGo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control.sock")
	s, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	s.http.ReadTimeout = 50 * time.Millisecond
	served := make(chan struct{})
	go func() {
		defer close(served)
		s.Serve(calculator)
	}()
	t.Cleanup(func() {
		s.Close()
		await(t, served, "Serve to return")
	})
	idle := dial(t, path)
	for range clientsMax {
		dial(t, path)
	}
	var got int
	for begin := time.Now(); got != 5 && time.Since(begin) < patience; { // who is slow to speak is idle, too
		Call(path, "add", sum{2, 3}, &got)
	}
	if got != 5 {
		t.Error("nobody is served")
	}
	if got, err := io.ReadAll(idle); err != nil || len(got) != 0 {
		t.Errorf("an idle client reads %q, %v; want nothing", got, err)
	}
}

// A client that waits long for its answer gets it: only what it has to say is urgent.
func TestSlowAnswer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control.sock")
	s, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	s.http.ReadTimeout = 200 * time.Millisecond
	var clients [2]net.Conn
	for i := range clients {
		clients[i] = dial(t, path)
		fmt.Fprint(clients[i], "GET /slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	}
	silent := dial(t, path)
	leave, served := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(served)
		s.Serve(func(req Request) (any, error) {
			<-leave
			return calculator(req)
		})
	}()
	if got, err := io.ReadAll(silent); err != nil || len(got) != 0 { // once ReadTimeout is over
		t.Errorf("a silent client reads %q, %v", got, err)
	}
	close(leave)
	for i, c := range clients {
		if got, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 204") {
			t.Errorf("client %d reads %q, %v", i, got, err)
		}
	}
	s.Close()
	await(t, served, "Serve to return")
}

// However much is asked, making answers takes a quarter of the time, but a slow answer does
// not hold up the next for long, and one that takes no time does not come at once.
func TestRestAfterAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := make(chan func())
		var working sync.WaitGroup
		working.Go(func() { work(jobs) })
		for _, tt := range []struct{ takes, each time.Duration }{
			{0, RestMin},
			{time.Millisecond, 4 * time.Millisecond},
			{time.Second, time.Second + RestMax},
		} {
			jobs <- func() {}
			begun := time.Now()
			const n = 100
			for range n {
				jobs <- func() { time.Sleep(tt.takes) } // of the bubble's time: a job that takes so long
			}
			jobs <- func() {}
			if got := time.Since(begun); got != RestMin+n*tt.each { // the first had nothing to do
				t.Errorf("%d answers of %v took %v, want %v", n, tt.takes, got, RestMin+n*tt.each)
			}
		}
		close(jobs)
		working.Wait()
	})
}

// pipes is a listener of connections in memory, whose time is that of the test.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Close() error   { l.once.Do(func() { close(l.done) }); return nil }
func (l *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// A hundred and twenty clients send as fast as they can, and whatever becomes of the answers: of
// each kind of request, good or bad, and of what is none, the server takes in no more than one in
// budget.RestMin. So what it takes from forwarding is bounded by that, and not by the clients.
func TestEveryRequestTakesItsTurn(t *testing.T) {
	const head = " HTTP/1.1\r\nHost: x\r\n"
	long := strings.Repeat(" ", requestMax-2)
	for _, tt := range []struct{ name, request string }{
		{"good", "GET /nothing" + head + "\r\n"},
		{"unknown", "GET /nosuch" + head + "\r\n"},
		{"a wrong method", "DELETE /nothing" + head + "\r\n"},
		{"a query that is none", "GET /nothing?%zz" + head + "\r\n"},
		{"long arguments", "POST /nothing" + head + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(long)+2) + "[" + long + "]"},
		{"arguments that are no JSON", "POST /nothing" + head + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(long)) + long},
		{"arguments that are too long", "POST /nothing" + head + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(long)+3) + long + "   "},
		{"a header that is too long", "GET /nothing HTTP/1.1\r\nX: " + strings.Repeat("x", 3*headerMax) + "\r\n\r\n"},
		{"no HTTP", "hello\r\n\r\n"},
		{"nothing", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { countTurns(t, tt.request) })
		})
	}
}

// countTurns has clients send a request again and again, on a new connection once the server has
// closed theirs, until so many were taken.
func countTurns(t *testing.T, request string) {
	const clients = 120
	requests := 1000
	if len(request) > headerMax { // a thousand of them take seconds of a processor
		requests = testkit.Sized(200, requests)
	}
	l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	s := On(l)
	var serving, sending, reading sync.WaitGroup
	serving.Go(func() { s.Serve(calculator) })
	begun := time.Now()
	var mu sync.Mutex
	taken, waiting := 0, make(chan struct{})
	one := func() { // the last ends it
		mu.Lock()
		defer mu.Unlock()
		if taken++; taken == requests {
			close(waiting)
		}
	}
	for range clients {
		sending.Go(func() {
			for {
				here, there := net.Pipe()
				select {
				case l.conns <- there:
				case <-l.done:
					return
				}
				reading.Go(func() { io.Copy(io.Discard, here) }) // as a socket's buffer does
				for first := true; ; first = false {
					_, err := io.WriteString(here, request)
					if err == nil || first {
						one()
					}
					if err != nil || request == "" {
						break
					}
				}
				here.Close()
			}
		})
	}
	<-waiting
	took := time.Since(begun)
	s.Close()
	sending.Wait()
	reading.Wait()
	serving.Wait()
	time.Sleep(time.Second) // of the bubble's time: net/http lingers over what it has hung up on
	// What was sent last need not have been looked at: a request of each connection that is open.
	if least := time.Duration(requests-2*clientsMax) * RestMin; took < least {
		t.Errorf("%d requests were taken in %v, want at least %v", requests, took, least)
	}
}

func TestCallWithin(t *testing.T) {
	leave := make(chan struct{})
	_, path := serveBriefly(t, patience, func(Request) (any, error) {
		<-leave
		return nil, nil
	})
	defer close(leave)
	start := time.Now()
	err := CallWithin(50*time.Millisecond, path, "slow", nil, nil)
	var late net.Error
	if !errors.As(err, &late) || !late.Timeout() || time.Since(start) > patience/2 {
		t.Errorf("a call of a slow server: %v after %v", err, time.Since(start))
	}
}
