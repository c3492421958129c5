package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"softswitch/event"
	"softswitch/host"
	"softswitch/internal/control"
	"softswitch/internal/timer"
	netnslab "softswitch/netns-lab"
	"softswitch/scenario"
	"softswitch/unit"
	"softswitch/view/observe"
)

// stage is a lab without namespaces: for each node of a plan a control socket that
// answers as a node does.
type stage struct {
	*testing.T
	st *netnslab.State

	mu      sync.Mutex
	started map[string]unit.Time // guarded by mu: when each host was told to start
	kept    map[string]unit.Time // guarded by mu: the instant that each node was told to keep
}

func newStage(t *testing.T, p *scenario.Plan) *stage {
	t.Helper()
	t.Setenv(netnslab.RunDirVariable, t.TempDir())
	s := &stage{T: t, st: &netnslab.State{Name: "t"}, started: map[string]unit.Time{}, kept: map[string]unit.Time{}}
	for _, w := range p.Switches {
		s.serve(w.Name, observe.Switch{Name: w.Name, LosslessLost: 1})
	}
	for _, h := range p.Hosts {
		s.serve(h.Name, observe.Host{Name: h.Name, Sent: []host.Sent{{Name: "from " + h.Name}}})
	}
	return s
}

// serve is a node that answers "stats" with its counters.
func (s *stage) serve(name string, stats any) {
	s.Helper()
	srv, err := control.Listen(controlPath(s.st, name))
	if err != nil {
		s.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		srv.Serve(func(req control.Request) (any, error) { return s.answer(name, stats, req) })
	}()
	s.Cleanup(func() {
		srv.Close()
		<-done
	})
}

func (s *stage) answer(name string, stats any, req control.Request) (any, error) {
	switch req.Do {
	case "stats", "start", "keep":
		var args instant
		if err := json.Unmarshal(req.Args, &args); err != nil {
			return nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		switch req.Do {
		case "start":
			s.started[name] = args.At
		case "keep":
			s.kept[name] = args.At
		default:
			if args.At != s.kept[name] {
				return nil, fmt.Errorf("stats of %d, kept are those of %d", args.At, s.kept[name])
			}
			return stats, nil
		}
		return nil, nil
	}
	return nil, fmt.Errorf("unknown request %q", req.Do)
}

// write writes a node's event log.
func (s *stage) write(name, log string) {
	s.Helper()
	if err := os.WriteFile(filepath.Join(netnslab.Dir("t"), name, eventsName), []byte(log), 0o644); err != nil {
		s.Fatal(err)
	}
}

// TestPlay: all hosts are told the same start, in time; the run lasts as long as
// the scenario; every node's counters and log are there.
func TestPlay(t *testing.T) {
	p := plan(t, "")
	p.Scenario.Duration = 50 * unit.Millisecond
	s := newStage(t, p)
	line := event.Node{ID: 1, Name: "s1", Ports: []string{"to-h1"}}.Append(nil, event.Event{At: 5, Type: event.LinkUp})
	s.write("s1", string(line)+`{"ts":6,"no`) // it is being written
	var progress bytes.Buffer
	r, err := Play(t.Context(), p, s.st, &progress)
	if err != nil {
		t.Fatal(err)
	}
	if r.End != r.Start+50*unit.Millisecond || timer.Now() < r.End {
		t.Errorf("the run is from %d to %d, and it is %d", r.Start, r.End, timer.Now())
	}
	if s.started["h1"] != r.Start || s.started["h2"] != r.Start || len(s.started) != 2 {
		t.Errorf("hosts start at %v, want %d", s.started, r.Start)
	}
	if len(s.kept) != 4 || s.kept["s1"] != r.End || s.kept["h2"] != r.End {
		t.Errorf("nodes keep %v, want all four %d", s.kept, r.End)
	}
	var names []string
	for _, n := range r.Nodes {
		names = append(names, n.Name)
	}
	if got := strings.Join(names, " "); got != "s1 s2 h1 h2" {
		t.Fatalf("records of %s", got)
	}
	if n := r.Nodes[0]; n.Switch == nil || n.Host != nil || n.Switch.LosslessLost != 1 || len(n.Log.Events) != 1 || !n.Log.Cut {
		t.Errorf("record of s1: %+v", n)
	}
	if n := r.Nodes[3]; n.Host == nil || n.Switch != nil || n.Host.Sent[0].Name != "from h2" || len(n.Log.Events) != 0 {
		t.Errorf("record of h2: %+v", n)
	}
	for _, want := range []string{"running until 0.1 s\n", "collecting\n"} {
		if !strings.Contains(progress.String(), want) {
			t.Errorf("progress %q, want %q", &progress, want)
		}
	}
}

// TestPlayWithoutNode: a switch that does not answer makes the run invalid, and a
// host that cannot be started is an error; one that was killed is neither.
func TestPlayWithoutNode(t *testing.T) {
	p := plan(t, "")
	p.Scenario.Duration = unit.Millisecond
	s := newStage(t, p)
	remove := func(name string) {
		t.Helper()
		if err := os.Remove(controlPath(s.st, name)); err != nil {
			t.Fatal(err)
		}
	}
	remove("s2")
	r, err := Play(t.Context(), p, s.st, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(r.Invalid, "; "); !strings.Contains(got, "s2 does not answer: ") || len(r.Nodes) != 4 || r.Nodes[1].Switch != nil {
		t.Errorf("invalid %q, record %+v", got, r.Nodes[1])
	}
	killed := &Run{Plan: p, End: r.End, Killed: map[string]bool{"s2": true}}
	if err := killed.collect(s.st); err != nil || len(killed.Invalid) > 0 {
		t.Errorf("s2 was killed: invalid %q, %v", killed.Invalid, err)
	}
	remove("h2")
	if _, err := Play(t.Context(), p, s.st, &bytes.Buffer{}); err == nil || !strings.HasPrefix(err.Error(), "h2: ") {
		t.Errorf("error %v, want one of host h2", err)
	}
}

// TestPlayDamagedLog: a log with a line that is none is an error that names it.
func TestPlayDamagedLog(t *testing.T) {
	p := plan(t, "")
	p.Scenario.Duration = unit.Millisecond
	s := newStage(t, p)
	s.write("s2", "not an event\n")
	want := filepath.Join("s2", eventsName) + ":1: "
	if _, err := Play(t.Context(), p, s.st, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q in it", err, want)
	}
}

// TestPlayCancelled: a run of an hour ends with its context.
func TestPlayCancelled(t *testing.T) {
	p := plan(t, "")
	p.Scenario.Duration = 3600 * unit.Second
	s := newStage(t, p)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := Play(ctx, p, s.st, cancelOn{"running until", cancel}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// cancelOn is a writer that calls cancel when it is written text.
type cancelOn struct {
	text   string
	cancel context.CancelFunc
}

func (c cancelOn) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(c.text)) {
		c.cancel()
	}
	return len(b), nil
}
