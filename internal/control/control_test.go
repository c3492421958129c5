package control

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// patience bounds what a test waits for that must happen.
const patience = 20 * time.Second

// serve serves handle on a fresh socket until the test ends.
func serve(t testing.TB, handle func(Request) (any, error)) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "run", "control.sock") // run is made by Listen
	s, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Serve(handle)
	}()
	t.Cleanup(func() {
		s.Close()
		await(t, done, "Serve to return after Close")
	})
	return path
}

func await(t testing.TB, done <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("waited in vain for %s", what)
	}
}

type sum struct{ A, B int }

// calculator adds, fails and says nothing, as it is asked.
func calculator(req Request) (any, error) {
	switch req.Do {
	case "add":
		var s sum
		if err := json.Unmarshal(req.Args, &s); err != nil {
			return nil, err
		}
		return s.A + s.B, nil
	case "fail":
		return nil, errors.New("the port is on fire")
	case "unmarshalable":
		return func() {}, nil
	case "nothing", "slow":
		return nil, nil
	}
	return nil, Unknown(req.Do, "add", "fail", "nothing")
}

func TestCall(t *testing.T) {
	path := serve(t, calculator)
	var got int
	if err := Call(path, "add", sum{2, 3}, &got); err != nil || got != 5 {
		t.Errorf("add: %d, %v; want 5", got, err)
	}
	if err := Call(path, "nothing", nil, nil); err != nil {
		t.Errorf("a call without arguments and result: %v", err)
	}
	got = 7
	if err := Call(path, "nothing", nil, &got); err != nil || got != 7 {
		t.Errorf("a call whose answer is nothing: %d, %v; want the result untouched", got, err)
	}
}

// What a request ends with comes after its answer, be it the end of the server itself.
func TestThenIsAfterTheAnswer(t *testing.T) {
	for range 200 {
		var s *Server
		s, path := serveBriefly(t, patience, func(Request) (any, error) {
			return Then(func() { s.Close() }), nil
		})
		got := 7
		if err := Call(path, "end", nil, &got); err != nil || got != 7 {
			t.Fatalf("a request that ends the server: %d, %v; want the result untouched", got, err)
		}
	}
}

func TestErrors(t *testing.T) {
	path := serve(t, calculator)
	for _, tt := range []struct {
		name   string
		call   func() error
		prefix string
	}{
		{"the handler's own", func() error { return Call(path, "fail", nil, nil) }, "the port is on fire"},
		{"arguments that the handler refuses", func() error { return Call(path, "add", "two", nil) }, "json: cannot unmarshal string"},
		{"a result that is no JSON", func() error { return Call(path, "unmarshalable", nil, nil) }, "json: unsupported type"},
		{"arguments that are no JSON", func() error { return Call(path, "add", func() {}, nil) }, "control: add: json: unsupported type"},
		{"a result of another type", func() error { return Call(path, "add", sum{}, new(string)) }, "control: add: json: cannot unmarshal number"},
		{"no socket", func() error { return Call(path+"x", "add", nil, nil) }, "control: dial unix " + path + "x: "},
	} {
		if err := tt.call(); err == nil || !strings.HasPrefix(err.Error(), tt.prefix) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.prefix)
		}
	}
}

func TestMode(t *testing.T) {
	path := serve(t, calculator)
	fi, err := os.Stat(path)
	if err != nil || fi.Mode() != os.ModeSocket|0o600 {
		t.Errorf("the socket's mode is %v, %v; want 0600", fi.Mode(), err)
	}
}

func TestStaleSocketIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control.sock")
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	ln.SetUnlinkOnClose(false) // as a killed process leaves it
	ln.Close()
	s, err := Listen(path)
	if err != nil {
		t.Fatalf("Listen on a socket that nobody listens on: %v", err)
	}
	s.Close()
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after Close the socket is still there: %v", err)
	}
}

func TestLiveSocketIsRefused(t *testing.T) {
	path := serve(t, calculator)
	if _, err := Listen(path); err == nil || !strings.Contains(err.Error(), path+": another process listens there") {
		t.Errorf("Listen on a socket in use: %v", err)
	}
	var got int
	if err := Call(path, "add", sum{1, 1}, &got); err != nil || got != 2 {
		t.Errorf("the first server answers no more: %d, %v", got, err)
	}
}

// A server whose queue of clients is full refuses them for the moment; it is not dead.
func TestBusySocketIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control.sock")
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}), syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	for {
		c, err := net.Dial("unix", path)
		if errors.Is(err, syscall.EAGAIN) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	if _, err := Listen(path); err == nil || !strings.Contains(err.Error(), "another process listens there, and is busy") {
		t.Errorf("Listen on a busy socket: %v", err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the busy process' socket was removed: %v", err)
	}
}

func TestListenRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("precious"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, path, want string }{
		{"a file", file, "control socket " + file + ": a file is there that is no socket"},
		{"a directory", dir, "a file is there that is no socket"},
		{"a folder that is a file", filepath.Join(file, "x"), "control socket"},
		{"a name that is too long", filepath.Join(dir, strings.Repeat("x", 120)), "control socket"},
	} {
		if _, err := Listen(tt.path); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "precious" {
		t.Errorf("the file holds %q, %v", b, err)
	}
}

// talk sends text and returns the answers until the server hangs up.
func talk(t *testing.T, path, text string) (answers []*http.Response) {
	t.Helper()
	c := dial(t, path)
	go io.WriteString(c, text) // the server may hang up before it has read all
	in := bufio.NewReader(c)
	for {
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			return answers
		}
		body, _ := io.ReadAll(resp.Body) // a server that has not read all resets the connection
		resp.Body = io.NopCloser(bytes.NewReader(body))
		answers = append(answers, resp)
	}
}

func text(resp *http.Response) string {
	b, _ := io.ReadAll(resp.Body)
	return fmt.Sprintf("%d %s", resp.StatusCode, b)
}

func TestHTTP(t *testing.T) {
	path := serve(t, calculator)
	const last = "Host: x\r\nConnection: close\r\n"
	for _, tt := range []struct{ name, text, want string }{
		{"GET", "GET /nothing HTTP/1.1\r\n" + last + "\r\n", "204 "},
		{"arguments in the query", "GET /add?A=2&B=3 HTTP/1.1\r\n" + last + "\r\n", "200 5\n"},
		{"text in the query", "GET /add?A=two HTTP/1.1\r\n" + last + "\r\n", "400 json: cannot unmarshal string"},
		{"a query that is none", "GET /add?%zz HTTP/1.1\r\n" + last + "\r\n", "400 invalid URL escape"},
		{"arguments in the body", "POST /add HTTP/1.1\r\n" + last + "Content-Length: 13\r\n\r\n" + `{"A":2,"B":3}`, "200 5\n"},
		{"arguments that are no JSON", "POST /add HTTP/1.1\r\n" + last + "Content-Length: 3\r\n\r\nA=2", `400 arguments "A=2": want JSON`},
		{"something after the arguments", "POST /add HTTP/1.1\r\n" + last + "Content-Length: 15\r\n\r\n" + `{"A":2,"B":3}{}`, "400 arguments "},
		{"arguments in pieces", "POST /add HTTP/1.1\r\n" + last + "Transfer-Encoding: chunked\r\n\r\n6\r\n" + `{"A":2` + "\r\n7\r\n" + `,"B":3}` + "\r\n0\r\n\r\n", "200 5\n"},
		{"something after them", "POST /add HTTP/1.1\r\n" + last + "Transfer-Encoding: chunked\r\n\r\nf\r\n" + `{"A":2,"B":3}{}` + "\r\n0\r\n\r\n", "400 arguments "},
		{"arguments in both", "POST /add?A=1 HTTP/1.1\r\n" + last + "Content-Length: 13\r\n\r\n" + `{"A":2,"B":3}`, "400 arguments in the query, and a body"},
		{"an error", "POST /fail HTTP/1.1\r\n" + last + "\r\n", "400 the port is on fire"},
		{"no such request", "GET /ad HTTP/1.1\r\n" + last + "\r\n", `404 unknown request "ad"; valid: add, fail, nothing`},
		{"a result that is no JSON", "GET /unmarshalable HTTP/1.1\r\n" + last + "\r\n", "500 json: unsupported type"},
		{"DELETE", "DELETE /add HTTP/1.1\r\n" + last + "\r\n", "405 method DELETE: want GET or POST"},
		{"no HTTP", "hello\n\n", "400 "},
		{"binary", "\x00\xff\xfe\r\n\r\n", "400 "},
		{"a header that is too long", "GET /add HTTP/1.1\r\nX: " + strings.Repeat("x", 3*headerMax), "431 "},
		{"a body that is too long", "POST /add HTTP/1.1\r\n" + last + "Content-Length: 65537\r\n\r\n", "413 arguments of more than 65536 bytes"},
	} {
		got := talk(t, path, tt.text)
		if len(got) != 1 || !strings.HasPrefix(text(got[0]), tt.want) {
			t.Errorf("%s: %d answers, want one that begins with %s", tt.name, len(got), tt.want)
			for _, resp := range got {
				t.Log(text(resp))
			}
		}
	}
	three := strings.Repeat("GET /add?A=1&B=1 HTTP/1.1\r\nHost: x\r\n\r\n", 3)
	if got := talk(t, path, three); len(got) != 1 || text(got[0]) != "200 2\n" || !got[0].Close {
		t.Errorf("three requests in a row: %d answers, want one, which says that it is the last", len(got))
	}
}

// FuzzAnswer: whatever a request says, it gets one answer, which is JSON or a sentence.
func FuzzAnswer(f *testing.F) {
	f.Add("GET", "/add?A=1&B=2", "")
	f.Add("POST", "/add", `{"A":1,"B":2}`)
	f.Add("POST", "/add?A=%zz", "x")
	f.Add("GET", "/unmarshalable?%7b%22=%22", "[]")
	f.Add("PUT", "//fail/../add;?", "null")
	s := &Server{jobs: make(chan func())}
	go func() { // without rest
		for job := range s.jobs {
			job()
		}
	}()
	f.Cleanup(func() { close(s.jobs) })
	f.Fuzz(func(t *testing.T, method, target, body string) {
		r, err := http.NewRequest(method, "http://node", strings.NewReader(body))
		if err != nil {
			return
		}
		if r.URL, err = url.ParseRequestURI(target); err != nil {
			return
		}
		w := httptest.NewRecorder()
		s.answer(w, r, calculator)
		switch got := w.Body.Bytes(); {
		case w.Code == http.StatusOK && json.Valid(got):
		case w.Code == http.StatusNoContent && len(got) == 0:
		case w.Code >= 400 && w.Code < 600 && len(bytes.TrimSpace(got)) > 0:
		default:
			t.Errorf("%s %q %q: %d %q", method, target, body, w.Code, got)
		}
	})
}

// TestCurl: the package's page can be believed.
func TestCurl(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed (Debian package curl)")
	}
	path := serve(t, calculator)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"http://node/add?A=1&B=2"}, "3\n"},
		{[]string{"http://node/add", "-d", `{"A":1,"B":2}`}, "3\n"},
		{[]string{"http://node/fail"}, "the port is on fire\n"},
	} {
		got, err := exec.Command(curl, append([]string{"-sS", "--unix-socket", path}, tt.args...)...).CombinedOutput()
		if err != nil || string(got) != tt.want {
			t.Errorf("curl %q: %q, %v; want %q", tt.args, got, err, tt.want)
		}
	}
}

func TestConcurrentCalls(t *testing.T) {
	var calls atomic.Int64
	path := serve(t, func(req Request) (any, error) {
		calls.Add(1)
		return calculator(req)
	})
	var clients sync.WaitGroup
	for client := range 16 {
		clients.Go(func() {
			for i := range 25 {
				var got int
				if err := Call(path, "add", sum{client, 100 * i}, &got); err != nil || got != client+100*i {
					t.Errorf("client %d, call %d: %d, %v", client, i, got, err)
				}
			}
		})
	}
	clients.Wait()
	if calls.Load() != 400 {
		t.Errorf("%d calls were handled, want 400", calls.Load())
	}
}

func TestCloseWhileClientsHang(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	path := filepath.Join(t.TempDir(), "control.sock")
	s, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		s.Serve(func(Request) (any, error) {
			close(entered)
			<-leave
			return nil, nil
		})
	}()
	mute, err := net.Dial("unix", path) // says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	half, err := net.Dial("unix", path) // says half of something
	if err != nil {
		t.Fatal(err)
	}
	defer half.Close()
	fmt.Fprint(half, "GET /st")
	failed := make(chan error, 1)
	go func() { failed <- Call(path, "slow", nil, nil) }() // waits for its answer
	await(t, entered, "the handler")

	s.Close()
	if err := <-failed; err == nil || !strings.HasPrefix(err.Error(), "control: slow: ") {
		t.Errorf("a call during Close: %v, want an error", err)
	}
	if _, err := mute.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("a silent client sees %v, want EOF", err)
	}
	select {
	case <-served:
		t.Error("Serve returned before its handler")
	default:
	}
	close(leave)
	await(t, served, "Serve to return")
	s.Close() // twice is fine
}

// tired is a listener that fails for want of descriptors before it works.
type tired struct {
	net.Listener
	fails int
}

func (l *tired) Accept() (net.Conn, error) {
	if l.fails > 0 {
		l.fails--
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return l.Listener.Accept()
}

func TestServeSurvivesWantOfDescriptors(t *testing.T) {
	s, err := Listen(filepath.Join(t.TempDir(), "control.sock"))
	if err != nil {
		t.Fatal(err)
	}
	path := s.ln.Addr().String()
	s.ln = &tired{s.ln, 3}
	served := make(chan struct{})
	go func() {
		defer close(served)
		s.Serve(calculator)
	}()
	var got int
	if err := Call(path, "add", sum{1, 2}, &got); err != nil || got != 3 {
		t.Errorf("a call after accept failed three times: %d, %v", got, err)
	}
	s.Close()
	await(t, served, "Serve to return")
}
