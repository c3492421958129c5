package reach_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"softswitch/internal/control"
	"softswitch/internal/testkit"
	"softswitch/internal/timer"
	netnslab "softswitch/netns-lab"
	"softswitch/netns-lab/reach"
)

// TestMain makes the test binary serve as the agent of a node.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "agent" {
		if err := reach.Agent(os.Stdin, os.Stdout, os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const limit = 20 * time.Second

// bed is a node, whose folder is far, and what is made of it here, in near.
type bed struct {
	*testing.T
	near, far string
	via       []string
	events    string // in far
}

func newBed(t *testing.T) *bed {
	t.Helper()
	testkit.Need(t, "env")
	return &bed{T: t, near: t.TempDir(), far: t.TempDir(), events: "events.jsonl"}
}

// serve lets the node answer requests with what it was asked, eight times, and streams with what comes.
func (b *bed) serve() {
	b.Helper()
	s, err := control.Listen(filepath.Join(b.far, "control.sock"))
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Serve(func(r control.Request) (any, error) {
			switch r.Do {
			case "stream":
				return control.Stream(func(c io.ReadWriter) { io.Copy(c, c) }), nil
			case "refuse":
				return nil, errors.New("not today")
			}
			return slices.Repeat([]json.RawMessage{r.Args}, 8), nil
		})
	}()
	b.Cleanup(func() {
		s.Close()
		<-done
	})
}

// relay reaches the node, and returns what the relay says of being ready and how to end it.
func (b *bed) relay() (said string, end func()) {
	b.Helper()
	st := &netnslab.State{Name: "x", Nodes: []netnslab.NodeState{{
		Name: "s1", Dir: b.near, Via: append([]string{"env"}, b.via...),
		Agent: []string{os.Args[0], "agent", filepath.Join(b.far, "control.sock"), filepath.Join(b.far, b.events)},
	}}}
	ctx, cancel := context.WithCancel(b.Context())
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		reach.Relay(ctx, st, reach.Files{Control: "control.sock", Events: "events.jsonl"}, w)
		w.Close()
	}()
	end = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	b.Cleanup(end)
	text, err := io.ReadAll(r)
	if err != nil {
		b.Fatal(err)
	}
	return string(text), end
}

func (b *bed) control() string { return filepath.Join(b.near, "control.sock") }

// wantCopy wants the copy of the event log to become this.
func (b *bed) wantCopy(want string) {
	b.Helper()
	name := filepath.Join(b.near, "events.jsonl")
	var got []byte
	err := timer.UntilFile(name, limit, func() bool {
		got, _ = os.ReadFile(name)
		return string(got) == want
	})
	if err != nil {
		b.Fatalf("the copy is %q, want %q: %v", got, want, err)
	}
}

func (b *bed) write(name, text string) {
	b.Helper()
	f, err := os.OpenFile(filepath.Join(b.far, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		b.Fatal(err)
	}
}

// TestLogThatCannotBeWatched: an event log that the agent cannot read is told of once, and not asked
// for again and again.
func TestLogThatCannotBeWatched(t *testing.T) {
	b := newBed(t)
	b.events = "gone/events.jsonl"
	b.serve()
	if said, _ := b.relay(); said != netnslab.Reached {
		t.Fatal(said)
	}
	says, copied := filepath.Join(b.near, netnslab.LogName), filepath.Join(b.near, "events.jsonl")
	for path, want := range map[string]string{says: "event log: ", copied: ""} {
		if err := timer.UntilFile(path, limit, func() bool {
			text, err := os.ReadFile(path)
			return err == nil && bytes.Contains(text, []byte(want))
		}); err != nil {
			t.Errorf("%q is not there: %v", want, err)
		}
	}
	before, err := os.Stat(copied)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if err := control.Call(b.control(), "x", nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if after, err := os.Stat(copied); err != nil || !os.SameFile(before, after) {
		t.Errorf("another copy was begun: %v", err)
	}
}

// TestReach: requests, many at once, streams and errors come and go as if the node's socket
// were here.
func TestReach(t *testing.T) {
	b := newBed(t)
	b.serve()
	if said, _ := b.relay(); said != netnslab.Reached {
		t.Fatal(said)
	}
	var asking sync.WaitGroup
	for i := range 20 {
		asking.Go(func() {
			text := strings.Repeat(fmt.Sprint(i), 1_700*i)
			var got []string
			err := control.Call(b.control(), "echo", text, &got)
			if want := slices.Repeat([]string{text}, 8); err != nil || !slices.Equal(got, want) {
				t.Errorf("%d: %v, %d texts, want %d of %d bytes", i, err, len(got), len(want), len(text))
			}
		})
	}
	asking.Wait()
	if err := control.Call(b.control(), "refuse", nil, nil); err == nil || err.Error() != "not today" {
		t.Errorf("%v", err)
	}
	c, err := control.Open(b.control(), "stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	sent := bytes.Repeat([]byte("0123456789"), 100_000)
	go func() {
		c.Write(sent)
		c.CloseWrite()
	}()
	if got, err := io.ReadAll(c); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%v: %d bytes of %d came back", err, len(got), len(sent))
	}
}

// TestLog: the copy of an event log follows it, from before it is there, and when it is made
// anew.
func TestLog(t *testing.T) {
	b := newBed(t)
	b.serve()
	if said, _ := b.relay(); said != netnslab.Reached {
		t.Fatal(said)
	}
	b.write("events.jsonl", "one\n")
	b.wantCopy("one\n")
	b.write("events.jsonl", "two\n")
	b.wantCopy("one\ntwo\n")
	b.write("next", "another\n")
	if err := os.Rename(filepath.Join(b.far, "next"), filepath.Join(b.far, "events.jsonl")); err != nil {
		t.Fatal(err)
	}
	b.wantCopy("another\n")
	b.write("events.jsonl", "last\n")
	b.wantCopy("another\nlast\n")
	if err := os.Truncate(filepath.Join(b.far, "events.jsonl"), 0); err != nil {
		t.Fatal(err)
	}
	b.write("events.jsonl", "x\n")
	b.wantCopy("x\n")
}

// TestPlantedLog: a log that another user has made a link, in a folder that he can write in, is not
// copied, and the log of the agent says why; what comes in its place is.
func TestPlantedLog(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("lays down a link of another user: needs root")
	}
	b := newBed(t)
	b.serve()
	secret, log := filepath.Join(t.TempDir(), "secret"), filepath.Join(b.far, "events.jsonl")
	if err := errors.Join(os.WriteFile(secret, []byte("secret"), 0o600), os.Symlink(secret, log), os.Lchown(log, 65534, 65534)); err != nil {
		t.Fatal(err)
	}
	if said, _ := b.relay(); said != netnslab.Reached {
		t.Fatal(said)
	}
	name := filepath.Join(b.near, netnslab.LogName)
	var said []byte
	err := timer.UntilFile(name, limit, func() bool {
		said, _ = os.ReadFile(name)
		return strings.Contains(string(said), "is a link that user 65534 made")
	})
	if err != nil {
		t.Errorf("%v: the agent says %q", err, said)
	}
	if copied, _ := os.ReadFile(filepath.Join(b.near, "events.jsonl")); len(copied) > 0 {
		t.Errorf("what the link leads to was copied: %q", copied)
	}
	if err := os.Remove(log); err != nil {
		t.Fatal(err)
	}
	b.write("events.jsonl", "true\n")
	b.wantCopy("true\n")
}

// TestAwait: a node that answers later is waited for.
func TestAwait(t *testing.T) {
	b := newBed(t)
	var serving sync.WaitGroup
	defer serving.Wait()
	serving.Go(func() {
		// The relay's agent is there when its end is; the node's socket comes after.
		timer.UntilFile(filepath.Join(b.near, "agent.sock"), limit, func() bool {
			_, err := os.Stat(filepath.Join(b.near, "agent.sock"))
			return err == nil
		})
		b.serve()
	})
	if said, _ := b.relay(); said != netnslab.Reached {
		t.Error(said)
	}
}

// TestNotReached: the relay says why, and ends.
func TestNotReached(t *testing.T) {
	for want, via := range map[string][]string{
		"node s1: env false: exit status 1":             {"false"},
		"node s1: env true: it has ended":               {"true"},
		"node s1: env no-such-program: exit status 127": {"no-such-program"},
		"node s1: env sh -c kill -9 $$: signal: killed": {"sh", "-c", "kill -9 $$"},
	} {
		b := newBed(t)
		b.via = via
		if said, _ := b.relay(); said != want {
			t.Errorf("said %q, want %q", said, want)
		}
	}
}

// TestRequests: what an agent refuses, it names.
func TestRequests(t *testing.T) {
	b := newBed(t)
	b.serve()
	if said, _ := b.relay(); said != netnslab.Reached {
		t.Fatal(said)
	}
	for _, c := range []struct {
		do   string
		args any
		want string
	}{
		{"dance", nil, `unknown request "dance"; valid: await, look, link, signal`},
		{"signal", netnslab.Signal{Signal: "SIGHUP"}, `signal "SIGHUP"; valid: SIGCONT, SIGKILL, SIGSTOP`},
		{"link", netnslab.SetLink{Iface: "nix"}, "Link not found"},
	} {
		err := control.Call(filepath.Join(b.near, netnslab.AgentSocket), c.do, c.args, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.do, err, c.want)
		}
	}
	var l netnslab.Look
	if err := control.Call(filepath.Join(b.near, netnslab.AgentSocket), "look", nil, &l); err != nil || l.PID != os.Getpid() || l.Process != "running" || !l.Interfaces["lo"] {
		t.Errorf("%v: %+v", err, l)
	}
}
