package node

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"softswitch/dataplane"
	"softswitch/internal/control"
	"softswitch/link"
	"softswitch/live"
	"softswitch/node/config"
	"softswitch/unit"
)

// onePort is a switch s1 with one port.
func onePort(t *testing.T) *dataplane.Switch {
	t.Helper()
	built := dataplane.Defaults()
	built.ID, built.Name, built.Slots, built.Batch, built.Refresh = 1, "s1", 256, live.Batch, unit.Millisecond
	built.Ports = []dataplane.PortConfig{{Name: "p0"}}
	sw, err := dataplane.NewSwitch(built)
	if err != nil {
		t.Fatal(err)
	}
	return sw
}

// A request that is in progress when the run ends has the machine, and with it the buffer: a
// switch that restarts must not make a second one beside it.
func TestRunWaitsForRequests(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("watches links by netlink: needs root")
	}
	socket := filepath.Join(t.TempDir(), "control.sock")
	ctx, end := context.WithCancel(context.Background())
	defer end()
	entered, returned, answered := make(chan struct{}), make(chan struct{}), make(chan struct{})
	r := runner{
		name: "s1", machine: onePort(t), ports: []live.Port{{Name: "p0"}}, live: config.Live{Control: socket},
		openPort: func(live.Port) (link.Link, error) { near, _ := link.Pipe(); return near, nil },
	}
	go func() {
		defer close(returned)
		if err := r.run(ctx, func(*live.Node, control.Request) (any, error) {
			close(entered)
			for { // until the server is closed, and then some
				if _, err := os.Stat(socket); errors.Is(err, fs.ErrNotExist) {
					break
				}
				time.Sleep(time.Millisecond)
			}
			select {
			case <-returned:
			case <-time.After(100 * time.Millisecond):
			}
			close(answered)
			return nil, nil
		}); err != nil {
			t.Error(err)
		}
	}()
	go func() {
		for ctx.Err() == nil { // there is no server at first, and then the end hangs up
			control.Call(socket, "stats", nil, nil)
		}
	}()
	select {
	case <-entered:
	case <-returned:
		t.FailNow()
	}
	end()
	<-returned
	select {
	case <-answered:
	default:
		t.Error("the run is over while a request has its switch")
	}
}

// A node that cannot be asked does not run, and leaves no interface open: the process may have other
// nodes, and live on.
func TestNodeThatCannotServeIsClosed(t *testing.T) {
	taken := filepath.Join(t.TempDir(), "no socket")
	if err := os.WriteFile(taken, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	for name, cfg := range map[string]config.Live{"control": {Control: taken}, "metrics": {Metrics: busy.Addr().String()}} {
		near, far := link.Pipe()
		r := runner{
			name: "s1", machine: onePort(t), ports: []live.Port{{Name: "lo"}}, live: cfg,
			openPort: func(live.Port) (link.Link, error) { return near, nil },
		}
		if err := r.run(t.Context(), nil); err == nil {
			t.Errorf("%s: the node ran", name)
		}
		if _, err := far.Write([][]byte{make([]byte, 60)}); !errors.Is(err, link.ErrDown) {
			t.Errorf("%s: its interface is still open: %v", name, err)
		}
	}
}

// Relative paths in a node's configuration are of the directory of its place.
func TestPathsAreOfThePlace(t *testing.T) {
	t.Chdir(t.TempDir())
	dir := t.TempDir()
	r := runner{
		at: Place{Dir: dir}, name: "s1", machine: onePort(t), ports: []live.Port{{Name: "lo"}},
		live:     config.Live{Events: "events.jsonl", Pcap: "all.pcapng"},
		openPort: func(live.Port) (link.Link, error) { return nil, errors.New("no such port") },
	}
	if err := r.run(t.Context(), nil); err == nil {
		t.Error("the node ran")
	}
	for _, name := range []string{"events.jsonl", "all.pcapng"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// A node that is stopped at its last moment cannot be continued: its requests would wait for ever.
func TestEndedNodeIsNotFrozen(t *testing.T) {
	from, _ := twoHosts(t)
	l := new(Life)
	l.begin(from.n)
	if err := l.Stop(); err != nil {
		t.Fatal(err)
	}
	l.done()
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		from.n.Do(func(unit.Time) {})
	}()
	select {
	case <-asked:
	case <-time.After(20 * time.Second):
		t.Error("the node is still frozen")
		from.n.Thaw()
	}
}
