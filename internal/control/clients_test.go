package control

import (
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// serveBriefly serves handle with little patience for clients.
func serveBriefly(t *testing.T, idle, write time.Duration, handle func(Request) (any, error)) (s *Server, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "control.sock")
	s, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	s.idle, s.write = idle, write
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

func (s *Server) clients() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// callUntilServed calls until the server has room for one more client.
func callUntilServed(t *testing.T, path string) {
	t.Helper()
	for late := time.Now().Add(patience); ; {
		var got int
		err := Call(path, "add", sum{2, 3}, &got)
		switch {
		case err == nil && got == 5:
			return
		case err == nil:
			t.Fatalf("add: %d, want 5", got)
		case !strings.HasPrefix(err.Error(), "busy: 128 clients"):
			t.Fatalf("a call of a busy server: %v", err)
		case time.Now().After(late):
			t.Fatalf("no room for a client within %v: %v", patience, err)
		}
	}
}

var hugeAnswer = strings.Repeat("x", 1<<20)

// huge is more than a socket holds.
func huge(req Request) (any, error) {
	if req.Do == "huge" {
		return hugeAnswer, nil
	}
	return calculator(req)
}

// A thousand clients ask for more than a socket holds and never read it. The server has
// no more than clientsMax at a time, gets rid of each, and goes on.
func TestThousandClientsNeverRead(t *testing.T) {
	s, path := serveBriefly(t, patience, 20*time.Millisecond, huge)
	for i := range 1000 {
		c := dial(t, path)
		fmt.Fprintln(c, `{"do":"huge"}`) // an error says that there was no room for it
		if n := s.clients(); n > clientsMax {
			t.Fatalf("%d clients after %d, want at most %d", n, i, clientsMax)
		}
	}
	callUntilServed(t, path)
}

// Who is one too many is told so, whether it asks or not.
func TestOneClientTooMany(t *testing.T) {
	s, path := serveBriefly(t, patience, patience, calculator)
	for range clientsMax {
		c := dial(t, path)
		fmt.Fprintln(c, `{"do":"nothing"}`)
		if _, err := c.Read(make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.clients(); n != clientsMax {
		t.Fatalf("%d clients, want %d", n, clientsMax)
	}
	if err := Call(path, "add", sum{1, 1}, nil); err == nil || err.Error() != "busy: 128 clients are connected, which is the most; try again" {
		t.Errorf("a call of one too many: %v", err)
	}
	if got, err := io.ReadAll(dial(t, path)); err != nil || !strings.HasPrefix(string(got), `{"error":"busy: 128 clients`) {
		t.Errorf("one too many reads %q, %v", got, err)
	}
}

// Who asks nothing is hung up on, without a word, and leaves its place to others.
func TestIdleClientsGo(t *testing.T) {
	_, path := serveBriefly(t, 50*time.Millisecond, patience, calculator)
	idle := dial(t, path)
	for range clientsMax {
		dial(t, path)
	}
	callUntilServed(t, path)
	if got, err := io.ReadAll(idle); err != nil || len(got) != 0 {
		t.Errorf("an idle client reads %q, %v; want nothing", got, err)
	}
}

func TestCallWithin(t *testing.T) {
	leave := make(chan struct{})
	_, path := serveBriefly(t, patience, patience, func(Request) (any, error) {
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
