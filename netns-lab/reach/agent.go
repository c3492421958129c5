package reach

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/yamux"
	"github.com/prometheus/procfs"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"softswitch/internal/control"
	"softswitch/internal/safefile"
	"softswitch/internal/timer"
	"softswitch/internal/version"
	netnslab "softswitch/netns-lab"
)

// Agent serves a relay at the other end of in and out, beside the node that has this control
// socket and this event log, until the relay ends.
func Agent(in io.Reader, out io.WriteCloser, socket, log string) error {
	session, err := yamux.Server(pipe{in, out}, config())
	if err != nil {
		return fmt.Errorf("reach: %w", err)
	}
	defer session.Close()
	asks := &incoming{conns: make(chan net.Conn), done: make(chan struct{})}
	server := control.On(asks)
	served := make(chan struct{})
	go func() {
		defer close(served)
		server.Serve(agent{socket}.handle)
	}()
	defer func() {
		server.Close()
		<-served
	}()
	for {
		s, err := session.AcceptStream()
		if err != nil { // the relay has ended
			return nil
		}
		go serve(stream{s}, asks, socket, log)
	}
}

func serve(s stream, asks *incoming, socket, log string) {
	kind, err := bufio.NewReaderSize(io.LimitReader(s, 1), 16).ReadByte()
	if err != nil {
		s.Close()
		return
	}
	switch kind {
	case toAgent:
		select {
		case asks.conns <- s:
		case <-asks.done:
			s.Close()
		}
	case toNode:
		c, err := control.Dial(context.Background(), socket)
		if dial, ok := errors.AsType[*net.OpError](err); ok {
			err = fmt.Errorf("%s: %w", socket, dial.Err)
		}
		if err != nil {
			refuse(s, err)
			return
		}
		defer s.Close()
		defer c.Close()
		join(s, c)
	case ofLog:
		defer s.Close()
		if err := copyLog(s, log); err != nil {
			fmt.Fprintln(os.Stderr, "event log:", err)
			io.Copy(io.Discard, s) // until the relay ends, which would ask for another at once
		}
	default:
		s.Close()
	}
}

// copyLog copies a log that grows, from its beginning, until another takes its place or the relay
// ends.
func copyLog(s stream, path string) error {
	w, err := timer.Watch(path)
	if err != nil {
		return err
	}
	defer w.Close()
	go func() { // nothing comes but the end
		io.Copy(io.Discard, s)
		w.Close()
	}()
	var f *os.File
	for {
		if f == nil {
			if f, err = safefile.OpenFile(path, os.O_RDONLY, 0); err == nil {
				defer f.Close()
			} else if !errors.Is(err, fs.ErrNotExist) {
				fmt.Fprintln(os.Stderr, "event log:", err) // it may become another
			}
		}
		if f != nil {
			if _, err := io.Copy(s, f); err != nil {
				return err
			}
			if replaced(f, path) {
				return nil
			}
		}
		switch err := w.Wait(); {
		case errors.Is(err, os.ErrClosed):
			return nil
		case err != nil:
			return err
		}
	}
}

// replaced reports whether another file has the path of f, or f is shorter than what was
// read of it.
func replaced(f *os.File, path string) bool {
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return true
	}
	was, err := f.Stat()
	if err != nil {
		return true
	}
	now, err := os.Stat(path)
	return was.Size() < at || err == nil && !os.SameFile(was, now)
}

// agent answers requests about the node with this control socket.
type agent struct{ socket string }

func (a agent) handle(r control.Request) (any, error) {
	switch r.Do {
	case "await":
		return version.Text(), a.await()
	case "look":
		return a.look()
	case "link":
		return nil, setLink(r.Args)
	case "signal":
		return nil, a.signal(r.Args)
	}
	return nil, control.Unknown(r.Do, "await", "look", "link", "signal")
}

// awaitMax is how long a node may take from its start until it answers.
const awaitMax = 8 * time.Second

// await waits until a process listens on the control socket.
func (a agent) await() error {
	// Listen sets the mode of the socket last, which is a change too.
	err := timer.UntilFile(a.socket, awaitMax, func() bool {
		c, err := net.Dial("unix", a.socket)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("nobody listens on %s after %v: is softswitch started there?", a.socket, awaitMax)
	}
	return err
}

// look returns what the node is like now.
func (a agent) look() (l netnslab.Look, err error) {
	l.Process = "dead"
	if p, err := a.process(); err == nil {
		l.PID, l.Process = p.PID, status(p)
	}
	l.Interfaces, err = netnslab.Interfaces(new(netlink.Handle))
	return l, err
}

// process is the one that listens on the control socket.
func (a agent) process() (p procfs.Proc, err error) {
	c, err := control.Dial(context.Background(), a.socket)
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return p, fmt.Errorf("no process listens on %s", a.socket)
	}
	if err != nil {
		return p, err
	}
	defer c.Close()
	peer, err := control.Peer(c)
	if err != nil {
		return p, err
	}
	if peer.Pid == 0 {
		return p, errors.New("its process is in another PID namespace")
	}
	return procfs.NewProc(int(peer.Pid))
}

// status is "running", "stopped" or "dead".
func status(p procfs.Proc) string {
	stat, err := p.Stat()
	if err != nil {
		return "dead"
	}
	return netnslab.StatusOf(stat)
}

func setLink(args json.RawMessage) error {
	var a netnslab.SetLink
	if err := json.Unmarshal(args, &a); err != nil {
		return err
	}
	return netnslab.SetInterface(new(netlink.Handle), a.Iface, a.Up)
}

// obeyMax is how long a process may take to do what a signal tells it.
const obeyMax = 10 * time.Second

// signals are those that a scenario sends, and the status after each.
var signals = map[string]struct {
	unix.Signal
	after string
}{"SIGSTOP": {unix.SIGSTOP, "stopped"}, "SIGCONT": {unix.SIGCONT, "running"}, "SIGKILL": {unix.SIGKILL, "dead"}}

// signal sends the node's process a signal, and waits until it has obeyed.
func (a agent) signal(args json.RawMessage) error {
	var s netnslab.Signal
	if err := json.Unmarshal(args, &s); err != nil {
		return err
	}
	want, ok := signals[s.Signal]
	if !ok {
		return fmt.Errorf("signal %q; valid: %s", s.Signal, strings.Join(slices.Sorted(maps.Keys(signals)), ", "))
	}
	p, err := a.process()
	if err != nil {
		return err
	}
	if p.PID == 1 && want.Signal != unix.SIGCONT {
		return fmt.Errorf("%v: it is process 1 of its container, which nobody in there can stop or kill: start it under an init (docker run --init)", want.Signal)
	}
	if words, err := p.CmdLine(); err == nil && len(words) > 2 && slices.Equal(words[1:3], netnslab.HostingWords) {
		return fmt.Errorf("%v: process %d runs other nodes too, which it would hit; valid: nodes with a process each (--nodes-per-process 1)", want.Signal, p.PID)
	}
	if err := unix.Kill(p.PID, want.Signal); err != nil {
		return fmt.Errorf("%v to process %d: %w", want.Signal, p.PID, err)
	}
	for end := time.Now().Add(obeyMax); status(p) != want.after; time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			return fmt.Errorf("process %d is %s %v after %v", p.PID, status(p), obeyMax, want.Signal)
		}
	}
	return nil
}
