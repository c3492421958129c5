package ui_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"softswitch/view/ui"
)

// pages is the most pages that may be open.
const pages = 64

// server is a server of a stream with a topology and some states.
type server struct {
	*testing.T
	stream *ui.Stream
	base   string // "http://127.0.0.1:port/"
	token  string
	orders []ui.Order
}

func newServer(t *testing.T, states int) *server {
	s := &server{T: t, stream: new(ui.Stream)}
	s.stream.Begin(ui.Topology{Title: "test", World: "live"})
	s.publish(0, states)
	srv := serve(t, s.stream, func(_ context.Context, o ui.Order) error {
		s.orders = append(s.orders, o)
		if o.Do == "fail" {
			return errors.New("the lab does not want to")
		}
		return nil
	})
	s.base, s.token, _ = strings.Cut(srv.URL(), "#token=")
	return s
}

// publish publishes states whose T is from, from+1, ...
func (s *server) publish(from, n int) {
	for i := range n {
		s.stream.Publish(ui.State{T: float64(from + i)})
	}
}

// tab is a page that reads the stream.
type tab struct {
	*server
	resp *http.Response
	in   *bufio.Reader
	id   string
}

func (s *server) open(lastID string) *tab {
	s.Helper()
	req, err := http.NewRequest("GET", s.base+"stream", nil)
	if err != nil {
		s.Fatal(err)
	}
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { resp.Body.Close() })
	return &tab{server: s, resp: resp, in: bufio.NewReader(resp.Body)}
}

// event reads up to the next event and returns its name and data.
func (p *tab) event() (name, data string) {
	p.Helper()
	for {
		line, err := p.in.ReadString('\n')
		if err != nil {
			p.Fatalf("the stream ended: %v", err)
		}
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch {
		case key == "event":
			name = value
		case key == "data":
			data = value
		case key == "id":
			p.id = value
		case key == "" && name != "":
			return name, data
		}
	}
}

// wantStates reads states until it has those whose T is from, from+1, ... to.
func (p *tab) wantStates(from, to int) {
	p.Helper()
	for next := from; next <= to; {
		name, data := p.event()
		var states []ui.State
		if err := json.Unmarshal([]byte(data), &states); name != "states" || err != nil {
			p.Fatalf("event %q, %.100q: want states (%v)", name, data, err)
		}
		for _, st := range states {
			if int(st.T) != next {
				p.Fatalf("state %v: want %d", st.T, next)
			}
			next++
		}
	}
}

func (p *tab) wantTopology() {
	p.Helper()
	if name, data := p.event(); name != "topology" || !strings.Contains(data, `"title":"test"`) {
		p.Fatalf("event %q, %.100q: want the topology", name, data)
	}
}

func TestStream(t *testing.T) {
	s := newServer(t, 500)
	p := s.open("")
	p.wantTopology()
	p.wantStates(0, 499)
	s.publish(500, 1)
	p.wantStates(500, 500)
	s.stream.Gone("no lab")
	if name, data := p.event(); name != "gone" || data != `"no lab"` {
		t.Errorf("event %q, %q: want that the lab is gone", name, data)
	}
}

func TestReconnect(t *testing.T) {
	s := newServer(t, 10)
	p := s.open("")
	p.wantTopology()
	p.wantStates(0, 9)
	p.resp.Body.Close()
	s.publish(10, 5)

	s.open(p.id).wantStates(10, 14) // what it missed, and no more

	for _, id := range []string{"7.3", "nonsense", "1.-5", "1.99999"} {
		again := s.open(id)
		again.wantTopology()
		again.wantStates(0, 14)
	}

	s.stream.Begin(ui.Topology{Title: "test", World: "live"}) // another lab
	s.publish(100, 1)
	again := s.open(p.id)
	again.wantTopology()
	again.wantStates(100, 100)
}

// TestHistoryBounded publishes more states than are kept.
func TestHistoryBounded(t *testing.T) {
	s := newServer(t, 6500)
	p := s.open("")
	p.wantTopology()
	p.wantStates(500, 6499)
}

// TestManyPages opens a thousand: as many as may be get the stream, the others are told
// why not, and when one closes there is room again.
func TestManyPages(t *testing.T) {
	s := newServer(t, 1)
	for range pages {
		if p := s.open(""); p.resp.StatusCode != http.StatusOK {
			t.Fatalf("status %s before there are %d pages", p.resp.Status, pages)
		}
	}
	var wait sync.WaitGroup
	for range 1000 - pages {
		wait.Go(func() {
			resp, err := http.Get(s.base + "stream")
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			if text, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(text), "64 pages are open") {
				t.Errorf("status %s, %q: want 503 and why", resp.Status, text)
			}
		})
	}
	wait.Wait()
	s.publish(1, 1) // the stream goes on
}

// TestPageCloses: a page that closes makes room.
func TestPageCloses(t *testing.T) {
	s := newServer(t, 1)
	p := s.open("")
	p.wantTopology()
	if !s.stream.Watched() {
		t.Error("a page is open, and nobody is said to watch")
	}
	p.resp.Body.Close()
	s.awaitNoPage("a page closed, and is said to watch")
}

// awaitNoPage waits until no page is open, longer than one is given that does not read.
func (s *server) awaitNoPage(fault string) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 30*time.Second)
	defer cancel()
	if s.stream.AwaitNoPage(ctx) != nil {
		s.Fatal(fault + " after 30 s")
	}
}

// TestLongHeaders: a request whose headers are longer than any page's is refused.
func TestLongHeaders(t *testing.T) {
	s := newServer(t, 1)
	for size, want := range map[int]string{100: "HTTP/1.1 200 ", 30 << 10: "HTTP/1.1 431 "} {
		c := s.dial()
		go fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nX: %s\r\n\r\n", strings.Repeat("x", size))
		got, _ := io.ReadAll(c) // the server may hang up before it has read all
		if !strings.HasPrefix(string(got), want) {
			t.Errorf("a header of %d octets: %.60q, want %q", size, got, want)
		}
	}
}

// TestSlowRequests: who begins a request and does not go on is hung up on, and others are served
// meanwhile.
func TestSlowRequests(t *testing.T) {
	if testing.Short() {
		t.Skip("a request is given five seconds")
	}
	t.Parallel() // it waits most of the time
	s := newServer(t, 1)
	var slow []net.Conn
	for range 100 {
		c := s.dial()
		fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
		slow = append(slow, c)
	}
	s.open("").wantTopology()
	for i, c := range slow {
		c.SetReadDeadline(time.Now().Add(30 * time.Second))
		if got, err := io.ReadAll(c); err != nil || strings.Contains(string(got), " 200 ") {
			t.Fatalf("slow request %d: %.60q, %v; want that the server hangs up", i, got, err)
		}
	}
}

// dial is a connection to the server, until the test ends.
func (s *server) dial() net.Conn {
	s.Helper()
	c, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(s.base, "http://"), "/"))
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { c.Close() })
	return c
}

// TestNeverReads opens a page that takes nothing: the stream goes on, others get all of it,
// and the page is dropped.
func TestNeverReads(t *testing.T) {
	if testing.Short() {
		t.Skip("a page is given ten seconds")
	}
	t.Parallel() // it waits most of the time
	s := newServer(t, 1)
	c := s.dial()
	c.(*net.TCPConn).SetReadBuffer(4096)
	fmt.Fprintf(c, "GET /stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
	if err := s.stream.AwaitPage(t.Context()); err != nil {
		t.Fatal(err)
	}
	big := ui.State{Words: strings.Repeat("x", 100_000)}
	for range 200 { // 20 MB: more than sockets hold
		s.stream.Publish(big)
	}
	s.awaitNoPage("a page that never reads is still there")
}

// TestFilesNeverRead: clients that ask for the run as a file and take nothing keep only so many files
// being made, of which the others are told, and keep a connection only for the server's patience.
func TestFilesNeverRead(t *testing.T) {
	stream := new(ui.Stream)
	stream.Begin(ui.Topology{Title: "test", World: "live"})
	noise := make([]byte, 6<<20)
	rand.NewChaCha8([32]byte{}).Read(noise)
	stream.Publish(ui.State{Words: base64.StdEncoding.EncodeToString(noise)}) // which does not get shorter
	for _, patience := range []time.Duration{time.Hour, 100 * time.Millisecond} {
		srv, err := ui.Listen("127.0.0.1:0", stream, nil)
		if err != nil {
			t.Fatal(err)
		}
		srv.SetPatience(patience)
		begin(t, srv)
		s := &server{T: t, stream: stream}
		s.base, s.token, _ = strings.Cut(srv.URL(), "#token=")
		for range 2 {
			s.askAndTakeNothing("run.html")
		}
		switch status, text := s.file(); {
		case patience == time.Hour && (status != http.StatusServiceUnavailable || !strings.Contains(text, "2 files are being made")):
			t.Errorf("status %d, %q while two clients take nothing, want 503 and why", status, text)
		case patience < time.Hour:
			for late := time.Now().Add(time.Minute); status != http.StatusOK; status, _ = s.file() { // until they are hung up on
				if time.Now().After(late) {
					t.Fatal("the clients that take nothing are still there after a minute")
				}
			}
		}
	}
}

// askAndTakeNothing asks for a file and reads no more than that it is sent.
func (s *server) askAndTakeNothing(file string) {
	s.Helper()
	c := s.dial()
	c.(*net.TCPConn).SetReadBuffer(4096)
	fmt.Fprintf(c, "GET /%s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", file)
	start := make([]byte, len("HTTP/1.1 200"))
	if _, err := io.ReadFull(c, start); err != nil || string(start) != "HTTP/1.1 200" {
		s.Fatalf("%s, %v", start, err)
	}
}

// file asks for the run as a file.
func (s *server) file() (status int, text string) {
	s.Helper()
	resp, err := http.Get(s.base + "run.html")
	if err != nil {
		s.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil && resp.StatusCode != http.StatusOK {
		s.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// order sends an order with these headers.
func (s *server) order(body string, headers ...string) (status int, text string) {
	s.Helper()
	req, err := http.NewRequest("POST", s.base+"act", strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		s.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

func TestOrders(t *testing.T) {
	s := newServer(t, 1)
	origin := strings.TrimSuffix(s.base, "/")
	good := []string{"Authorization", "Bearer " + s.token}
	with := func(more ...string) []string { return append(append([]string{}, good...), more...) }
	const heal = `{"do":"heal","link":"a--b"}`
	for _, c := range []struct {
		name, body string
		headers    []string
		status     int
		text       string
	}{
		{"no token", heal, nil, 403, "wrong token"},
		{"wrong token", heal, []string{"Authorization", "Bearer " + strings.Repeat("A", len(s.token))}, 403, "wrong token"},
		{"part of the token", heal, []string{"Authorization", "Bearer " + s.token[:5]}, 403, "wrong token"},
		{"not a bearer", heal, []string{"Authorization", s.token}, 403, "wrong token"},
		{"foreign page", heal, with("Origin", "http://evil.example"), 403, "not this page"},
		{"foreign name", heal, with("Host", "evil.example"), 403, "open it by an IP address"},
		{"foreign name that begins well", heal, with("Host", "127.0.0.1.evil.example"), 403, "open it by"},
		{"this page", heal, with("Origin", origin), 204, ""},
		{"localhost", heal, with("Host", "localhost:8080"), 204, ""},
		{"the origin of another port", heal, with("Origin", "http://127.0.0.1:1"), 403, "not this page"},
		{"no JSON", "heal", good, 400, "not an order"},
		{"something after the order", heal + heal, good, 400, "after top-level value"},
		{"unknown key", `{"do":"heal","lnk":"x"}`, good, 400, "lnk"},
		{"too long", `{"do":"` + strings.Repeat("x", 5000) + `"}`, good, 400, "too large"},
		{"the lab refuses", `{"do":"fail","link":"a--b"}`, good, 409, "does not want to"},
	} {
		if status, text := s.order(c.body, c.headers...); status != c.status || !strings.Contains(text, c.text) {
			t.Errorf("%s: status %d, %q: want %d, %q", c.name, status, text, c.status, c.text)
		}
	}
	if len(s.orders) != 3 {
		t.Errorf("%d orders were carried out, want 3: %v", len(s.orders), s.orders)
	}
	if resp, err := http.Get(s.base + "act"); err != nil || resp.StatusCode != http.StatusNotFound {
		t.Errorf("GET of an order: %v, %v: want 404", resp.Status, err)
	}
}

// TestPageIsWhole: the page needs nothing from elsewhere.
func TestPageIsWhole(t *testing.T) {
	s := newServer(t, 1)
	for _, path := range []string{"", "state.js", "main.js", "page.css"} {
		resp, err := http.Get(s.base + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v", path, resp.Status, err)
		}
		rest := strings.ReplaceAll(string(text), "http://www.w3.org/2000/svg", "") // a name, not an address
		if i := strings.Index(rest, "//"); i >= 0 && strings.Contains(rest, "://") {
			t.Errorf("%s names an address", path)
		}
		if p := resp.Header.Get("Content-Security-Policy"); !strings.HasPrefix(p, "default-src 'self'") {
			t.Errorf("%s: policy %q", path, p)
		}
	}
}

func TestPortInUse(t *testing.T) {
	s := newServer(t, 1)
	addr := strings.TrimSuffix(strings.TrimPrefix(s.base, "http://"), "/")
	if _, err := ui.Listen(addr, s.stream, nil); err == nil || !strings.Contains(err.Error(), addr+" is in use") {
		t.Errorf("a second server on %s: %v", addr, err)
	}
}
