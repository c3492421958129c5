package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"

	"softswitch/event"
	"softswitch/internal/control"
	"softswitch/internal/lists"
	"softswitch/internal/safefile"
	"softswitch/link"
	"softswitch/link/lldp"
	"softswitch/live"
	"softswitch/live/record"
	"softswitch/live/replay"
	"softswitch/node/config"
	"softswitch/node/metrics"
	"softswitch/node/observe"
	"softswitch/unit"
)

// runner runs a machine in this process, with its control socket, event log and
// capture.
type runner struct {
	at      Place
	name    string
	id      unit.NodeID
	live    config.Live
	machine live.Machine
	ports   []live.Port
	record  string                          // path of a recording; empty for none
	header  replay.Header                   // of the recording
	journal *observe.Journal                // reads the events; nil for none
	sample  func(*live.Node) metrics.Sample // what to serve to Prometheus
	undo    []func()
	lldp    func(unit.Port) *lldp.Agent // of a port, nil if it does not speak LLDP; nil if none does
	// unwritten is what could not be written before the run ended.
	unwritten error
	// openPort opens an interface; nil means live.OpenPacket.
	openPort func(live.Port) (link.Link, error)

	hosts     unit.PortSet // ports whose far end is a host
	files     files
	capturing capturing
}

// run runs the node until ctx ends. handle answers control requests.
func (r *runner) run(ctx context.Context, handle func(*live.Node, control.Request) (any, error)) (err error) {
	defer func() { err = r.end(ctx, err) }()
	r.live.Control, r.live.Events, r.live.Pcap = r.at.path(r.live.Control), r.at.path(r.live.Events), r.at.path(r.live.Pcap)
	for i := range r.ports {
		r.ports[i].Crowded = r.at.Crowded
	}
	say := func(format string, args ...any) { fmt.Fprintf(r.at.says(), r.name+": "+format+"\n", args...) }
	opt := live.Options{
		Farewell: func(p unit.Port) []byte { return r.farewell(ctx, p) },
		Machine:  r.machine, Ports: r.ports, Open: r.open, Within: r.at.within, Poller: r.at.Poller,
		Warn: say, Tell: say,
	}
	if err := r.at.within(r.claimPorts); err != nil {
		return err
	}
	if err := r.at.within(r.checkFarEnds); err != nil {
		return err
	}
	if opt.Log, err = r.openLog(); err != nil {
		return err
	}
	if r.live.Pcap != "" {
		if err := r.captureToFile(r.live.Pcap); err != nil {
			return err
		}
	}
	if opt.Machine, err = r.recorded(); err != nil {
		return err
	}
	n, err := live.New(opt)
	if err != nil {
		return err
	}
	r.files.ports = r.ports
	if err := n.Open(); err != nil {
		return err
	}
	if err := errors.Join(r.serveControl(n, handle), r.serveMetrics(ctx, n)); err != nil {
		n.Close()
		return err
	}
	r.at.Life.begin(n)
	defer r.at.Life.done()
	return n.Run(ctx)
}

// farewell is the last frame of a port when ctx has ended: a neighbour that is told so forgets the node at
// once. A switch that restarts is back at once, and says nothing.
func (r *runner) farewell(ctx context.Context, p unit.Port) []byte {
	next := new(restart)
	if r.lldp == nil || errors.As(context.Cause(ctx), &next) {
		return nil
	}
	if a := r.lldp(p); a != nil {
		return a.Goodbye()
	}
	return nil
}

// serveControl answers on the node's control socket, if configured, until the run ends.
func (r *runner) serveControl(n *live.Node, handle func(*live.Node, control.Request) (any, error)) error {
	if r.live.Control == "" {
		return nil
	}
	srv, err := control.Listen(r.live.Control)
	if err != nil {
		return err
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		srv.Serve(func(req control.Request) (any, error) {
			if err := checkMethod(req); err != nil {
				return nil, err
			}
			if req.Do == "capture" {
				return r.capturing.request(req.Args)
			}
			if out, ok, err := r.wireRequest(n, req); ok {
				return out, err
			}
			return handle(n, req)
		})
	})
	r.undo = append(r.undo, func() {
		srv.Close()
		serving.Wait() // a request in progress has the node's buffer
	})
	return nil
}

// end closes what the run has opened, and returns how it ended. An incomplete file fails the
// run, unless the switch restarts: then the file starts again from scratch.
func (r *runner) end(ctx context.Context, err error) error {
	for i := len(r.undo) - 1; i >= 0; i-- {
		r.undo[i]()
	}
	if next := new(restart); r.unwritten != nil && errors.As(context.Cause(ctx), &next) {
		fmt.Fprintf(r.at.says(), "%s: before it restarts: %v\n", r.name, r.unwritten)
		return err
	}
	return errors.Join(err, r.unwritten)
}

// serveMetrics serves the node's metrics, if configured, until ctx ends. A scrape in
// progress at that time is still answered, with the last state.
func (r *runner) serveMetrics(ctx context.Context, n *live.Node) error {
	if r.live.Metrics == "" {
		return nil
	}
	var ln *metrics.Listener
	err := r.at.within(func() (err error) {
		ln, err = metrics.Listen(r.live.Metrics)
		return err
	})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	var served sync.WaitGroup
	served.Go(func() {
		if err := metrics.Serve(ctx, ln, metrics.Handler("", func() metrics.Sample { return r.sample(n) })); err != nil {
			fmt.Fprintf(r.at.says(), "%s: %v\n", r.name, err)
		}
	})
	r.undo = append(r.undo, func() {
		stop()
		served.Wait()
	})
	return nil
}

// claimPorts makes this process the only softswitch on its interfaces, by abstract unix
// sockets: they belong to the network namespace and disappear with the process.
func (r *runner) claimPorts() error {
	for _, p := range r.ports {
		claim := "@softswitch/port/" + p.Name
		ln, err := net.Listen("unix", claim)
		if errors.Is(err, syscall.EADDRINUSE) {
			return fmt.Errorf("port %s: %w", p.Name, claimed(claim))
		}
		if err != nil {
			return fmt.Errorf("port %s: %w", p.Name, err)
		}
		r.undo = append(r.undo, func() { ln.Close() })
	}
	return nil
}

// claimed says who has a claim: any user can take such a name.
func claimed(claim string) error {
	if c, err := net.Dial("unix", claim); err == nil {
		defer c.Close()
		if who, err := control.Peer(c.(*net.UnixConn)); err == nil && !safefile.Believed(who.Uid) {
			return fmt.Errorf("process %d of user %d keeps softswitch from this interface: it holds %s, without being a switch of this user or of root; end it", who.Pid, who.Uid, claim)
		}
	}
	return errors.New("another softswitch runs on this interface")
}

// checkFarEnds refuses a port whose far end takes only shorter frames than the port sends,
// as far as the kernel knows it: it would lose the longer ones and tell nobody. A port that
// is not there yet is left to what opens it.
func (r *runner) checkFarEnds() error {
	for _, p := range r.ports {
		near, err := net.InterfaceByName(p.Name)
		if err != nil {
			continue
		}
		far, known, err := link.FarEnd(p.Name)
		if err != nil {
			return fmt.Errorf("port %s: %w", p.Name, err)
		}
		if want := min(near.MTU, cmp.Or(p.MTU, config.DefaultMTU)); known && far.MTU < want {
			return fmt.Errorf("port %s: its far end, %s, has an MTU of %d and would lose frames for one of %d; raise it there with `ip link set dev %s mtu %d`, or lower that of %s", p.Name, far.Name, far.MTU, want, far.Name, want, p.Name)
		}
	}
	return nil
}

// openLog returns where events go: to the journal and the log, where they exist.
func (r *runner) openLog() (func([]event.Event), error) {
	if r.live.Events == "" && r.journal == nil {
		return nil, nil
	}
	if r.live.Events != "" {
		log, err := newEventLog(r.live, r.node(), r.hosts, func(what string) {
			fmt.Fprintf(r.at.says(), "%s: %s\n", r.name, what)
		})
		if err != nil {
			return nil, err
		}
		r.files.log = log
		r.closeAtEnd("event log", log.close)
	}
	return func(events []event.Event) {
		for _, e := range events {
			if e.Type == event.PauseUnheeded {
				fmt.Fprintf(r.at.says(), "%s: port %s: its far end goes on sending in priority %d while paused: %s in vain, %s lost by it so far\n",
					r.name, r.ports[e.Port].Name, e.Priority, unit.Count(e.Bytes, "pause"), unit.Count(e.Limit, "frame"))
			}
		}
		if r.journal != nil {
			r.journal.Read(events)
		}
		if r.files.log != nil {
			r.files.log.write(events)
		}
	}, nil
}

// closeAtEnd closes a file when the run ends, and notes if it is incomplete.
func (r *runner) closeAtEnd(what string, end func() error) {
	r.undo = append(r.undo, func() {
		if err := end(); err != nil {
			r.unwritten = errors.Join(r.unwritten, fmt.Errorf("%s: %w", what, err))
		}
	})
}

// node identifies this node in its events.
func (r *runner) node() event.Node {
	return event.Node{ID: r.id, Name: r.name, Ports: lists.Map(r.ports, func(p live.Port) string { return p.Name })}
}

// recorded is the machine, wrapped in a recorder if one is configured.
func (r *runner) recorded() (live.Machine, error) {
	if r.record == "" {
		return r.machine, nil
	}
	f, err := safefile.Create(r.record)
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	r.header.Name, r.header.Batch, r.header.Granularity = r.name, live.Batch, live.Granularity
	r.files.recording = record.New(r.machine, f, r.header, r.node())
	r.closeAtEnd("recording", func() error { return errors.Join(r.files.recording.Close(), f.Close()) })
	return r.files.recording, nil
}
