package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"syscall"

	"softswitch/config"
	"softswitch/event"
	"softswitch/internal/control"
	"softswitch/internal/decode"
	"softswitch/internal/unit"
	"softswitch/link"
	"softswitch/live"
	"softswitch/observe"
	"softswitch/replay"
)

// runner runs a machine in this process, with its control socket, its event log
// and its capture.
type runner struct {
	name    string
	id      unit.NodeID
	live    config.Live
	machine live.Machine
	ports   []live.Port
	record  string        // path of a recording; empty for none
	header  replay.Header // of the recording
	rec     *live.Recorder
	undo    []func()
}

// processorsMin is the least GOMAXPROCS of a node that nobody set it for. With one,
// a port that is always busy keeps the runtime from looking at the others: frames
// and deadlines there were measured to wait for tens of milliseconds.
const processorsMin = 2

// run runs the node until ctx ends. handle answers control requests.
func (r *runner) run(ctx context.Context, handle func(*live.Node, control.Request) (any, error)) (err error) {
	defer func() {
		for i := len(r.undo) - 1; i >= 0; i-- {
			r.undo[i]()
		}
	}()
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(max(processorsMin, runtime.GOMAXPROCS(0)))
	}
	opt := live.Options{
		Machine: r.machine, Ports: r.ports,
		Warn: func(format string, args ...any) { fmt.Fprintf(os.Stderr, r.name+": "+format+"\n", args...) },
	}
	if err := r.claimPorts(); err != nil {
		return err
	}
	if opt.Log, err = r.openLog(); err != nil {
		return err
	}
	if opt.Open, err = r.opener(); err != nil {
		return err
	}
	if opt.Machine, err = r.recorded(); err != nil {
		return err
	}
	n, err := live.New(opt)
	if err != nil {
		return err
	}
	if err := n.Open(); err != nil {
		return err
	}
	if r.live.Control != "" {
		srv, err := control.Listen(r.live.Control)
		if err != nil {
			return err
		}
		go srv.Serve(func(req control.Request) (any, error) { return handle(n, req) })
		r.undo = append(r.undo, srv.Close)
	}
	return n.Run(ctx)
}

// claimPorts makes this process the only softswitch on its interfaces, by abstract
// unix sockets: those live in the network namespace and go with the process.
func (r *runner) claimPorts() error {
	for _, p := range r.ports {
		ln, err := net.Listen("unix", "@softswitch/port/"+p.Name)
		if errors.Is(err, syscall.EADDRINUSE) {
			return fmt.Errorf("port %s: another softswitch runs on this interface", p.Name)
		}
		if err != nil {
			return fmt.Errorf("port %s: %w", p.Name, err)
		}
		r.undo = append(r.undo, func() { ln.Close() })
	}
	return nil
}

// openLog opens the event log, if there is to be one.
func (r *runner) openLog() (func([]event.Event), error) {
	if r.live.Events == "" {
		return nil, nil
	}
	f, err := os.Create(r.live.Events)
	if err != nil {
		return nil, fmt.Errorf("event log: %w", err)
	}
	r.undo = append(r.undo, func() { f.Close() })
	node := r.node()
	var buf []byte
	failed := false
	return func(events []event.Event) {
		buf = buf[:0]
		for _, e := range events {
			buf = node.Append(buf, e)
		}
		if _, err := f.Write(buf); err != nil && !failed {
			failed = true
			fmt.Fprintf(os.Stderr, "%s: event log: %v\n", r.name, err)
		}
	}, nil
}

// node is who the events are of.
func (r *runner) node() event.Node {
	node := event.Node{ID: r.id, Name: r.name}
	for _, p := range r.ports {
		node.Ports = append(node.Ports, p.Name)
	}
	return node
}

// recorded is the machine, recorded if that is wanted.
func (r *runner) recorded() (live.Machine, error) {
	if r.record == "" {
		return r.machine, nil
	}
	f, err := os.Create(r.record)
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	r.header.Name, r.header.Batch, r.header.Granularity = r.name, live.Batch, live.Granularity
	r.rec = live.NewRecorder(r.machine, f, r.header, r.node())
	r.undo = append(r.undo, func() {
		if err := errors.Join(r.rec.Close(), f.Close()); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", r.name, err)
		}
	})
	return r.rec, nil
}

// opener opens interfaces, through a capture if there is to be one.
func (r *runner) opener() (func(live.Port) (link.Link, error), error) {
	if r.live.Pcap == "" {
		return nil, nil
	}
	f, err := os.Create(r.live.Pcap)
	if err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	c, err := link.NewCapture(f, decode.Comment)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("capture: %w", err)
	}
	r.undo = append(r.undo, func() {
		if err := errors.Join(c.Close(), f.Close()); err != nil {
			fmt.Fprintf(os.Stderr, "%s: capture: %v\n", r.name, err)
		}
		if missed := c.Stats().Missed; missed > 0 {
			fmt.Fprintf(os.Stderr, "%s: capture: %d frames missed\n", r.name, missed)
		}
	})
	return func(p live.Port) (link.Link, error) {
		l, err := live.OpenPacket(p)
		if err != nil {
			return nil, err
		}
		return c.Tap(l, p.Name), nil
	}, nil
}

func liveStats(n *live.Node) observe.Live {
	return observe.Live{EventsLost: n.EventsLost(), Lateness: n.Lateness()}
}
