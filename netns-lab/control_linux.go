package netnslab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"softswitch/internal/netspace"
)

// Fail sets both ends of the link down, in the order A, B.
func (st *State) Fail(l LinkState) error { return st.setLink(l, false) }

// Heal sets both ends of the link up, in the order A, B.
func (st *State) Heal(l LinkState) error { return st.setLink(l, true) }

func (st *State) setLink(l LinkState, up bool) error {
	for _, e := range []End{l.A, l.B} {
		if err := st.setEnd(e, up); err != nil {
			return fmt.Errorf("netnslab: set %v %s: %w", e, map[bool]string{true: "up", false: "down"}[up], err)
		}
	}
	return nil
}

func (st *State) setEnd(e End, up bool) error {
	n, err := st.node(e.Node)
	if err != nil {
		return err
	}
	if n.Via != nil {
		return n.ask("link", SetLink{e.Iface, up}, nil)
	}
	s, err := n.seat()
	if err != nil {
		return err
	}
	defer s.close()
	return SetInterface(s.nl, e.Iface, up)
}

// Stdio is a command's input and output; nil is none.
type Stdio struct {
	In       io.Reader
	Out, Err io.Writer
}

// Exec runs a command in the node's namespace, with this program's directory and
// environment, and returns its exit status: 128 + n if signal n ended it, as in sh. The
// error says that it could not be run. When ctx ends, the command gets SIGINT, so that
// a capture is written to its end and ping prints its summary, and is killed if it does
// not end within two seconds.
//
// Only the network is the node's: /sys still shows the host's interfaces. On an attached
// lab the command runs wherever the node's Via takes it. The command is not part of the lab: Down does not end it, and a namespace without a
// name lasts until the last such command has ended.
func (st *State) Exec(ctx context.Context, node string, argv []string, stdio Stdio) (int, error) {
	if len(argv) == 0 {
		return 0, errors.New("netnslab: exec: no command")
	}
	n, err := st.node(node)
	if err != nil {
		return 0, err
	}
	start := func(cmd *exec.Cmd) error { return cmd.Start() }
	if n.Via != nil {
		argv = slices.Concat(n.Via, argv)
	} else {
		ns, err := n.open()
		if err != nil {
			return 0, err
		}
		defer ns.Close()
		start = func(cmd *exec.Cmd) error { return netspace.Inside(ns, cmd.Start) }
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdio.In, stdio.Out, stdio.Err
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = grace
	if err := start(cmd); err != nil {
		return 0, fmt.Errorf("netnslab: exec in node %s: %w", node, err)
	}
	status, err := outcome(ctx, cmd, cmd.Wait())
	if err != nil {
		err = fmt.Errorf("netnslab: exec in node %s: %w", node, err)
	}
	return status, err
}

// Stop halts the node's process (SIGSTOP) until Continue, and waits until it has
// stopped: its links stay up and nothing is read from them.
func (st *State) Stop(node string) error {
	return st.signal(node, unix.SIGSTOP, func(_ int, p process) error { return p.becomes("stopped") })
}

// Continue makes the node's process run again (SIGCONT), and waits until it does.
func (st *State) Continue(node string) error {
	return st.signal(node, unix.SIGCONT, func(_ int, p process) error { return p.becomes("running") })
}

// Kill ends the node's process at once (SIGKILL) and waits until it has ended. The
// namespace and its links stay. A node that shares its process ends alone.
func (st *State) Kill(node string) error {
	return st.signal(node, unix.SIGKILL, func(handle int, p process) error {
		for deadline := time.Now().Add(obeyMax); time.Now().Before(deadline); {
			ended, err := pollHandles(map[int]process{handle: p}, time.Until(deadline))
			if err != nil {
				return err
			}
			if len(ended) > 0 {
				p.status() // reap it
				return nil
			}
		}
		return fmt.Errorf("it has not ended after %v", obeyMax)
	})
}

// Restart ends the node's process, if it is alive, and starts it again in its namespace and its run
// directory: like a machine that was switched off, it begins from scratch. Restart returns when the
// process is ready. If it fails, it may be called again. A node that shares its process begins again in
// it. One that somebody else built cannot be restarted.
func (st *State) Restart(ctx context.Context, node string) error {
	unlock, err := lock(st.Name, io.Discard)
	if err != nil {
		return err
	}
	defer unlock()
	now, err := LoadDir(st.dir)
	if err != nil {
		return err
	}
	if now.Token != st.Token {
		return fmt.Errorf("netnslab: lab %s was replaced meanwhile", st.Name)
	}
	n, err := now.node(node)
	switch {
	case err != nil:
		return err
	case n.Via != nil:
		return fmt.Errorf("netnslab: node %s was built by somebody else, who alone can restart it", node)
	case n.Hosting != 0:
		return now.restartHosted(n)
	}
	if err := now.Kill(node); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	err = now.start(ctx, n)
	*st = *now
	if err != nil {
		return fmt.Errorf("netnslab: restart of node %s: %w", node, err)
	}
	return nil
}

// start starts the process of a node that has none.
func (st *State) start(ctx context.Context, n *NodeState) error {
	if n.Ready != "" { // the file of the process that has ended
		if err := os.Remove(filepath.Join(n.Dir, n.Ready)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	b := &builder{st: st, seats: map[string]*seat{}, kids: map[int]process{}}
	defer b.close()
	home, err := n.seat()
	if err != nil {
		return err
	}
	b.seats[n.Name] = home
	at := place{Node: n.Name, Namespace: n.Namespace, Dir: n.Dir}
	if err := b.start(start{place: at, Command: n.Command, Env: n.Env, Realtime: n.Realtime}); err != nil {
		return err
	}
	if n.Ready == "" {
		return nil
	}
	return b.explain(awaitReady(ctx, filepath.Join(n.Dir, n.Ready), b.kids, readyTimeout))
}

// signal sends a signal to the node's process, never to another that has taken its pid
// since, and waits by obeyed: the kernel acts a moment after it accepts the signal. The error is
// os.ErrProcessDone if the process has ended.
func (st *State) signal(node string, sig unix.Signal, obeyed func(handle int, p process) error) error {
	n, err := st.node(node)
	switch {
	case err != nil:
		return err
	case n.Via != nil:
		return n.ask("signal", Signal{unix.SignalName(sig)}, nil)
	case n.Hosting != 0:
		return st.signalHosted(n, sig)
	}
	handle, err := n.process().handleOf(st.Token)
	if err == nil {
		defer unix.Close(handle)
		err = send(handle, sig)
	}
	if err == nil {
		err = obeyed(handle, n.process())
	}
	return n.signalError(sig, err)
}

// becomes waits until the status of a process is the one wanted.
func (p process) becomes(want string) error {
	deadline := time.Now().Add(obeyMax)
	for now := p.status(); now != want; now = p.status() {
		if now == "dead" {
			return os.ErrProcessDone
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("it is %s after %v", now, obeyMax)
		}
		time.Sleep(100 * time.Microsecond)
	}
	return nil
}

// obeyMax is how long a process may take to do what a signal tells it, on a machine that is too busy.
const obeyMax = 10 * time.Second

// signalError is the error of a signal to the node's process, nil if there is none.
func (n *NodeState) signalError(sig unix.Signal, err error) error {
	switch {
	case err == nil:
		return nil
	case n.PID == 0:
		return fmt.Errorf("netnslab: node %s has no process: %w", n.Name, os.ErrProcessDone)
	}
	return fmt.Errorf("netnslab: %v to process %d of node %s: %w", sig, n.PID, n.Name, err)
}
