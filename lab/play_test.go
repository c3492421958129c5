package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"softswitch/event"
	"softswitch/host"
	"softswitch/internal/control"
	"softswitch/internal/timer"
	netnslab "softswitch/netns-lab"
	"softswitch/node/client"
	"softswitch/node/observe"
	"softswitch/scenario"
	"softswitch/unit"
)

// stage is a lab without namespaces: for each node of a plan a control socket that
// answers as a node does.
type stage struct {
	*testing.T
	st *netnslab.State

	mu      sync.Mutex
	started map[string]unit.Time // guarded by mu: when each host was told to start
	kept    map[string]unit.Time // guarded by mu: the instant that each node was told to keep
	end     unit.Time            // guarded by mu: of the run, as it was told before any host was started

	stats   map[string]any // what nodes tell, unless what serve was given
	later   map[string]any // what nodes tell from the second time on that they are asked
	forgets string         // a node that has kept nothing
	loses   unit.Time      // when, in the run, a node does lose
}

func newStage(t *testing.T, p *scenario.Plan) *stage {
	t.Helper()
	t.Setenv(netnslab.RunDirVariable, t.TempDir())
	s := &stage{T: t, st: &netnslab.State{Version: 1, Name: "t", Token: "ours"}, started: map[string]unit.Time{}, kept: map[string]unit.Time{}, stats: map[string]any{}}
	s.record(s.st)
	for _, w := range p.Switches {
		s.serve(w.Name, observe.Switch{Name: w.Name, LosslessLost: 1})
	}
	for _, h := range p.Hosts {
		s.serve(h.Name, observe.Host{Name: h.Name, Sent: []host.Sent{{Name: "from " + h.Name}}})
	}
	return s
}

// begins takes the end of the run, if it is told in time.
func (s *stage) begins(end unit.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.started) == 0 {
		s.end = end
	}
}

// record makes st the lab of its name.
func (s *stage) record(st *netnslab.State) {
	s.Helper()
	text, err := json.Marshal(st)
	if err == nil {
		err = os.MkdirAll(netnslab.Dir(st.Name), 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(netnslab.Dir(st.Name), "state.json"), text, 0o644)
	}
	if err != nil {
		s.Fatal(err)
	}
}

// serve is a node that answers "stats" with its counters.
func (s *stage) serve(name string, stats any) {
	s.Helper()
	srv, err := control.Listen(endpoint(s.st, name).Path)
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
	case "lose":
		s.mu.Lock()
		start := s.started["h1"]
		s.mu.Unlock()
		return nil, until(s.Context(), start+s.loses)
	case "stats", "start", "keep":
		var args client.Instant
		if err := json.Unmarshal(req.Args, &args); err != nil && req.Args != nil {
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
			if args.At != 0 && (args.At != s.kept[name] || name == s.forgets) {
				return nil, fmt.Errorf("stats of %d, kept are those of %d", args.At, s.kept[name])
			}
			if now := s.stats[name]; now != nil {
				if later := s.later[name]; later != nil {
					s.stats[name] = later
				}
				return now, nil
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
	if err := os.WriteFile(filepath.Join(netnslab.Dir("t"), name, EventsName), []byte(log), 0o644); err != nil {
		s.Fatal(err)
	}
}

// TestPlay: all hosts are told the same start, in time; the run lasts as long as
// the scenario; every node's counters and log are there.
func TestPlay(t *testing.T) {
	p := plan(t, "")
	p.Scenario.Duration = 50 * unit.Millisecond
	s := newStage(t, p)
	line := event.Node{ID: 1, Name: "s1", Ports: []string{"to-h1"}}.Append(nil, event.Event{At: 5, Type: event.PauseSent, Priority: 3})
	s.write("s1", string(line)+`{"ts":6,"no`) // it is being written
	var progress bytes.Buffer
	r, err := Play(t.Context(), p, s.st, &progress, s.begins)
	if err != nil {
		t.Fatal(err)
	}
	if r.End != r.Start+50*unit.Millisecond || timer.Now() < r.End {
		t.Errorf("the run is from %d to %d, and it is %d", r.Start, r.End, timer.Now())
	}
	if s.end != r.End {
		t.Errorf("told before the hosts were started: the end %d, want %d", s.end, r.End)
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
	if n := r.Nodes[0]; n.Switch == nil || n.Host != nil || n.Switch.LosslessLost != 1 || !n.Log.Cut || r.truth.Frames.XOFF != 1 {
		t.Errorf("record of s1: %+v", n)
	}
	if n := r.Nodes[3]; n.Host == nil || n.Switch != nil || n.Host.Sent[0].Name != "from h2" {
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
		if err := os.Remove(endpoint(s.st, name).Path); err != nil {
			t.Fatal(err)
		}
	}
	remove("s2")
	r, err := Play(t.Context(), p, s.st, &bytes.Buffer{}, s.begins)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(r.Invalid, "; "); !strings.Contains(got, "s2 does not answer: ") || len(r.Nodes) != 4 || r.Nodes[1].Switch != nil {
		t.Errorf("invalid %q, record %+v", got, r.Nodes[1])
	}
	killed := &Run{Plan: p, End: r.End, Killed: map[string]bool{"s2": true}}
	s.write("s2", `{"ts":6,"no`) // it died while it wrote
	if err := killed.collect(s.st); err != nil || len(killed.Invalid) > 0 {
		t.Errorf("s2 was killed: invalid %q, %v", killed.Invalid, err)
	}
	remove("h2")
	if _, err := Play(t.Context(), p, s.st, &bytes.Buffer{}, s.begins); err == nil || !strings.HasPrefix(err.Error(), "h2: ") {
		t.Errorf("error %v, want one of host h2", err)
	}
}

// doubts plays small with a stage that was changed, and returns why the run cannot be
// trusted.
func doubts(t *testing.T, change func(*stage)) string {
	t.Helper()
	p := plan(t, "")
	p.Scenario.Duration = unit.Millisecond
	s := newStage(t, p)
	change(s)
	r, err := Play(t.Context(), p, s.st, &bytes.Buffer{}, s.begins)
	if err != nil {
		t.Fatal(err)
	}
	return ofTheRun(r)
}

// ofTheRun are the doubts about a run without those that a busy machine gives any run.
func ofTheRun(r *Run) string {
	return strings.Join(slices.DeleteFunc(r.Invalid, func(doubt string) bool {
		return strings.HasPrefix(doubt, "the hosts were started ") || strings.HasPrefix(doubt, "the kernel lost ")
	}), "; ")
}

// TestDoubts: what is not as the run needs it makes the run not valid, with its reason.
func TestDoubts(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*stage)
		want   string // "" for no doubt
	}{
		{"nothing", func(*stage) {}, ""},
		{"a line that is none", func(s *stage) { s.write("s2", "not an event\n") }, "s2: event log: "},
		{"a log that cannot be read", func(s *stage) {
			if err := os.Mkdir(filepath.Join(netnslab.Dir("t"), "s2", EventsName), 0o700); err != nil {
				s.Fatal(err)
			}
		}, "s2: event log: follow: read "},
		{"a log that was truncated", func(s *stage) {
			s.stats["s1"] = observe.Switch{Name: "s1", Live: observe.Live{LogBytes: 5}}
			s.write("s1", "")
		}, "0 bytes of the 5 that were written are there"},
		{"a log that was removed", func(s *stage) { s.stats["s1"] = observe.Switch{Name: "s1", Live: observe.Live{LogBytes: 5}} }, "s1: event log: 0 bytes of the 5 that were written are there"},
		{"a problem of a host", func(s *stage) {
			s.stats["h1"] = observe.Host{Name: "h1", Live: observe.Live{Problems: []string{"capture: no space left on device"}}}
		}, "h1: capture: no space left on device"},
		{"a switch that was restarted before", func(s *stage) { s.stats["s1"] = observe.Switch{Live: observe.Live{Restarts: 2}} }, "s1 was restarted, 2 times in all"},
		{"a switch that was restarted in the run", func(s *stage) {
			s.stats["s1"] = observe.Switch{Live: observe.Live{Restarts: 1}}
			s.forgets = "s1"
		}, "s1 was restarted, 1 times in all"},
		{"another lab of the name", func(s *stage) {
			s.record(&netnslab.State{Version: 1, Name: "t", Token: "theirs"})
		}, "this run's lab is not there any more: netnslab: lab t was removed, and another has its name now"},
		{"no lab of the name", func(s *stage) {
			if err := os.Remove(filepath.Join(netnslab.Dir("t"), "state.json")); err != nil {
				s.Fatal(err)
			}
		}, "this run's lab is not there any more: netnslab: lab t was removed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := doubts(t, c.change); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
				t.Errorf("invalid %q, want %q", got, c.want)
			}
		})
	}
}

// TestLateEvent: an event that is done after what it was to come before makes the run not valid.
func TestLateEvent(t *testing.T) {
	const short = 2 * unit.Millisecond
	for _, c := range []struct {
		hosts string
		lasts unit.Time
		want  string
	}{
		{"flows:\n  - {name: A, from: h1, to: h2, start: 5ms}\nevents:\n", short, " ms late, after what hosts were to do after it"},
		{"flows:\n  - {name: A, from: h1, to: h2, stop: 5ms}\nevents:\n", short, " ms late, after what hosts were to do after it"},
		{"events:\n  - {at: 5ms, do: slow, host: h2, rate: 1Mbit/s}\n", short, " ms late, after what hosts were to do after it"},
		{"flows:\n  - {name: A, from: h1, to: h2, start: 1ms, stop: 2s}\nevents:\n", 2 * unit.Second, ""},
		{"events:\n", short, " ms late, after the end of the run"},
	} {
		p := plan(t, c.hosts+"  - {at: 1ms, do: lose, link: s1--s2, from: s1, nth: 1}\n")
		p.Scenario.Duration = c.lasts
		s := newStage(t, p)
		s.loses = unit.Millisecond + eventLateMax
		r, err := Play(t.Context(), p, s.st, &bytes.Buffer{}, s.begins)
		if err != nil {
			t.Fatal(err)
		}
		if got := ofTheRun(r); (c.want == "") != (got == "") || !strings.HasSuffix(got, c.want) {
			t.Errorf("with\n%sinvalid %q, want %q", c.hosts, got, c.want)
		}
	}
}

// TestDoubtLinks: links are at the end as the scenario has left them.
func TestDoubtLinks(t *testing.T) {
	p := plan(t, "events:\n  - {at: 100ms, do: fail, link: h1--s1}\n  - {at: 200ms, do: fail, link: s1--s2}\n  - {at: 300ms, do: heal, link: s1--s2}\n")
	good := func() (all []netnslab.LinkReport) {
		for _, l := range p.Links {
			all = append(all, netnslab.LinkReport{
				A: netnslab.End{Node: l.A.Name, Iface: l.A.Iface}, B: netnslab.End{Node: l.B.Name, Iface: l.B.Iface},
				AThere: true, BThere: true, Up: l.Name != "h1--s1",
			})
		}
		return all
	}
	at := func(name string) int {
		return slices.IndexFunc(p.Links, func(l scenario.Link) bool { return l.Name == name })
	}
	for _, c := range []struct {
		change func([]netnslab.LinkReport)
		want   string
	}{
		{func([]netnslab.LinkReport) {}, ""},
		{func(l []netnslab.LinkReport) { l[at("s2--h2")].BThere, l[at("s2--h2")].Up = false, false }, "interface h2:eth0 is gone"},
		{func(l []netnslab.LinkReport) { l[at("s1--s2")].Up = false }, "link s1--s2 is down, and not by the scenario"},
		{func(l []netnslab.LinkReport) { l[at("h1--s1")].Up = true }, "link h1--s1 is up, and not by the scenario"},
	} {
		links := good()
		c.change(links)
		r := Run{Plan: p}
		if r.doubtLinks(netnslab.Report{Links: links}); strings.Join(r.Invalid, "; ") != c.want {
			t.Errorf("invalid %q, want %q", r.Invalid, c.want)
		}
	}
}

// TestNotice: who waits for a switch to notice that a link is down asks until it says so, or until
// the context ends; nobody is waited for who does not answer.
func TestNotice(t *testing.T) {
	s := newStage(t, plan(t, ""))
	for _, name := range []string{"s1", "s2", "dead"} {
		s.st.Nodes = append(s.st.Nodes, netnslab.NodeState{Name: name, Kind: "switch"})
	}
	port := func(up bool) observe.Switch { return observe.Switch{Ports: []observe.Port{{Name: "to-s2", Up: up}}} }
	s.stats["s1"], s.later = port(true), map[string]any{"s1": port(false)}
	if err := awaitNotice(t.Context(), s.st, netnslab.End{Node: "s1", Iface: "to-s2"}, false); err != nil {
		t.Error(err)
	}
	if now := s.stats["s1"].(observe.Switch); now.Ports[0].Up {
		t.Error("s1 was asked once, and said that its port is up")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := awaitNotice(ctx, s.st, netnslab.End{Node: "s1", Iface: "to-s2"}, true); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if err := awaitNotice(t.Context(), s.st, netnslab.End{Node: "dead", Iface: "to-s2"}, false); err != nil {
		t.Error(err)
	}
}

// TestPlayCancelled: a run of an hour ends with its context.
func TestPlayCancelled(t *testing.T) {
	p := plan(t, "")
	p.Scenario.Duration = 3600 * unit.Second
	s := newStage(t, p)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := Play(ctx, p, s.st, cancelOn{"running until", cancel}, s.begins); !errors.Is(err, context.Canceled) {
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
