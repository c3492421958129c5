package hosting

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"softswitch/internal/control"
	"softswitch/internal/netspace"
	"softswitch/internal/safefile"
	"softswitch/live"
	"softswitch/live/node"
	netnslab "softswitch/netns-lab"
	"softswitch/node/config"
	"softswitch/unit"
)

// Run runs the nodes of a list until ctx ends, with poll by a Poller. The control socket is
// made in the list's directory when all of them answer.
func Run(ctx context.Context, list string, poll bool) error {
	text, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	var nodes []netnslab.Hosted
	if err := json.Unmarshal(text, &nodes); err != nil {
		return fmt.Errorf("%s: %w", list, err)
	}
	if err := allowFiles(len(nodes)); err != nil {
		return err
	}
	ctx, end := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer end()
	var poller *live.Poller
	if poll {
		if err := hurry(); err != nil {
			return err
		}
		poller = new(live.Poller)
		running.Go(func() { poller.Run(ctx) })
	}
	c := &company{ctx: ctx, running: &running, poller: poller, isCrowded: len(nodes) > uncrowded, members: map[string]*member{}}
	for _, n := range nodes {
		c.members[n.Name] = c.begin(n)
	}
	for _, n := range nodes {
		if err := c.members[n.Name].await(ctx); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	srv, err := control.Listen(filepath.Join(filepath.Dir(list), netnslab.HostingSocket))
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, srv.Close)()
	srv.Serve(func(req control.Request) (any, error) { return c.handle(req) })
	return nil
}

// uncrowded is up to how many nodes have receive rings as long as they would have alone. The kernel clears
// them when they are made: for a fat-tree of k = 8, with 208 nodes and 768 ports, 1.5 GB.
const uncrowded = 64

// company is the nodes of the process. Requests to it are carried out one after the other.
type company struct {
	ctx       context.Context
	running   *sync.WaitGroup
	poller    *live.Poller
	isCrowded bool
	members   map[string]*member
}

// begin starts a node.
func (c *company) begin(n netnslab.Hosted) *member {
	m := &member{Hosted: n, up: make(chan struct{}), done: make(chan struct{})}
	m.life.Up = sync.OnceFunc(func() { close(m.up) })
	c.running.Go(func() {
		defer close(m.done)
		m.err = m.run(c.ctx, c.poller, c.isCrowded)
	})
	return m
}

// restart kills a node, unless it has ended, and starts it again.
func (c *company) restart(name string) error {
	m, err := c.member(name)
	if err != nil {
		return err
	}
	m.kill()
	again := c.begin(m.Hosted)
	c.members[name] = again
	return again.await(c.ctx)
}

// member is the node of this name.
func (c *company) member(name string) (*member, error) {
	m := c.members[name]
	if m == nil {
		return nil, fmt.Errorf("this process runs no node %q", name)
	}
	return m, nil
}

// hurry gives the process the highest ordinary priority, if it may have that. With a real-time one a
// poller would stop for 50 ms at a time (docs/decisions/polling.md).
func hurry() error {
	threads, err := procfs.AllThreads(os.Getpid()) // those to come do as these
	if err != nil {
		return err
	}
	for _, t := range threads {
		switch err := unix.Setpriority(unix.PRIO_PROCESS, t.PID, -20); {
		case err == nil, errors.Is(err, unix.ESRCH): // it has ended
		case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
			return nil
		default:
			return os.NewSyscallError("setpriority", err)
		}
	}
	return nil
}

// FilesOf is how many files a node with so many ports may have open, with a little to spare: measured, four for each
// port and nine for its logs, its namespace and its sockets.
func FilesOf(ports int) int { return 4*ports + 12 }

// allowFiles raises RLIMIT_NOFILE to what this number of nodes needs, or to the hard limit. A node
// that still runs out of descriptors reports it.
func allowFiles(nodes int) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return os.NewSyscallError("getrlimit", err)
	}
	if most := uint64(nodes * FilesOf(unit.MaxPorts)); limit.Cur < most {
		if unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: most, Max: max(most, limit.Max)}) != nil {
			unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: min(most, limit.Max), Max: limit.Max})
		}
	}
	return nil
}

// handle answers what the process is asked about its nodes.
func (c *company) handle(req control.Request) (any, error) {
	switch req.Do {
	case "look":
		status := map[string]string{}
		for name, m := range c.members {
			status[name] = m.life.Status()
		}
		return status, nil
	case "signal":
		var s netnslab.HostedSignal
		if err := json.Unmarshal(req.Args, &s); err != nil {
			return nil, fmt.Errorf("signal: %w", err)
		}
		m, err := c.member(s.Node)
		if err != nil {
			return nil, fmt.Errorf("signal: %w", err)
		}
		was := m.life.Status()
		return was, m.signal(s.Signal)
	case "restart":
		var r netnslab.HostedRestart
		if err := json.Unmarshal(req.Args, &r); err != nil {
			return nil, fmt.Errorf("restart: %w", err)
		}
		if err := c.restart(r.Node); err != nil {
			return nil, fmt.Errorf("restart: %w", err)
		}
		return nil, nil
	}
	return nil, control.Unknown(req.Do, "look", "signal", "restart")
}

// member is one of the nodes, from one start to its end.
type member struct {
	netnslab.Hosted
	life node.Life
	up   chan struct{} // closed when it answers
	done chan struct{} // closed when it has ended
	err  error         // with which it ended; set before done is closed
}

// await waits until the node answers, or ctx ends. A node that ends before is an error.
func (m *member) await(ctx context.Context) error {
	select {
	case <-m.up:
		return nil
	case <-m.done:
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("node %s: %w", m.Name, cmp.Or(m.err, os.ErrProcessDone))
	}
}

// signal does what a signal does to a process; nothing to a node that has ended.
func (m *member) signal(name string) error {
	do := map[string]func(){"SIGSTOP": func() { m.life.Stop() }, "SIGCONT": func() { m.life.Continue() }, "SIGKILL": m.kill}[name]
	if do == nil {
		return fmt.Errorf("signal: %q; valid: SIGSTOP, SIGCONT, SIGKILL", name)
	}
	do()
	return nil
}

// kill ends the node, if it has not ended.
func (m *member) kill() {
	if m.life.Kill() == nil {
		<-m.done
	}
}

// addressMax is how long the path of a unix socket may be, in bytes.
const addressMax = 107

// run runs the node to its end. What goes wrong is in its log, too.
func (m *member) run(ctx context.Context, poller *live.Poller, isCrowded bool) error {
	log, err := safefile.OpenFile(filepath.Join(m.Dir, netnslab.LogName), os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	ns, err := netspace.Open(m.Namespace)
	if err != nil {
		return err
	}
	defer ns.Close()
	within := func(do func() error) error { return netspace.Inside(ns, do) }
	err = m.life.Run(ctx, func(ctx context.Context) error {
		return m.play(ctx, node.Place{Within: within, Dir: m.Dir, Says: log, Crowded: isCrowded, Poller: poller, Life: &m.life})
	})
	if err != nil {
		fmt.Fprintln(log, "softswitch:", err)
	}
	return err
}

// play is the node's command.
func (m *member) play(ctx context.Context, at node.Place) error {
	if len(m.Command) != 4 || m.Command[2] != "-c" {
		return fmt.Errorf("command %q: want PROGRAM run|host -c FILE", m.Command)
	}
	data, err := os.ReadFile(filepath.Join(m.Dir, m.Command[3]))
	if err != nil {
		return err
	}
	switch m.Command[1] {
	case "run":
		cfg, warnings, err := config.LoadSwitch(m.Command[3], data)
		if err != nil {
			return err
		}
		for _, w := range warnings {
			fmt.Fprintln(at.Says, "warning:", w)
		}
		if err := m.fits(cfg.Live); err != nil {
			return err
		}
		at.Within(func() error { node.Announce(at.Says, cfg); return nil })
		return node.RunSwitch(ctx, cfg, "", at)
	case "host":
		cfg, err := config.LoadHost(m.Command[3], data)
		if err != nil {
			return err
		}
		if err := m.fits(cfg.Live); err != nil {
			return err
		}
		return node.RunHost(ctx, cfg, "", at)
	}
	return fmt.Errorf("command %q: only switches (run) and hosts (host) share a process", m.Command)
}

// fits is an error if the path of the control socket is too long: the process is not in
// the node's directory.
func (m *member) fits(l config.Live) error {
	if path := filepath.Join(m.Dir, l.Control); len(path) > addressMax {
		return fmt.Errorf("control socket %s: a path of %d bytes; a unix socket has at most %d: give the lab a shorter name or %s a shorter path",
			path, len(path), addressMax, netnslab.RunDirVariable)
	}
	return nil
}
