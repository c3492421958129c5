package reach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/hashicorp/yamux"

	"softswitch/internal/beside"
	"softswitch/internal/control"
	"softswitch/internal/safefile"
	"softswitch/internal/version"
	netnslab "softswitch/netns-lab"
)

// Files are what a node's run directory has of it.
type Files struct{ Control, Events string }

// Relay reaches the nodes of an attached lab and makes their files. When all are reached it
// writes netnslab.Reached to ready and closes it; if one is not it writes why there, and ends.
// Otherwise it ends with ctx.
func Relay(ctx context.Context, st *netnslab.State, files Files, ready io.WriteCloser) error {
	ctx, end := context.WithCancel(ctx)
	var working sync.WaitGroup
	defer working.Wait()
	defer end()
	errs := beside.Each(-1, len(st.Nodes), func(i int) error { return relay(ctx, st.Nodes[i], files, &working) })
	if err := errors.Join(errs...); err != nil {
		fmt.Fprint(ready, err)
		return err
	}
	_, err := io.WriteString(ready, netnslab.Reached)
	if err := errors.Join(err, ready.Close()); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// relay reaches one node, and then works until ctx ends.
func relay(ctx context.Context, n netnslab.NodeState, files Files, working *sync.WaitGroup) error {
	f := &far{node: n, ended: make(chan struct{})}
	if err := f.start(ctx, working); err != nil {
		return fmt.Errorf("node %s: %s: %w", n.Name, strings.Join(n.Via, " "), err)
	}
	for file, kind := range map[string]byte{files.Control: toNode, netnslab.AgentSocket: toAgent} {
		ln, err := control.ListenUnix(filepath.Join(n.Dir, file))
		if err != nil {
			return fmt.Errorf("node %s: %w", n.Name, err)
		}
		working.Go(func() {
			<-ctx.Done()
			ln.Close()
		})
		working.Go(func() { f.forward(ln, kind) })
	}
	var there string
	err := control.Call(filepath.Join(n.Dir, netnslab.AgentSocket), "await", nil, &there)
	if here := version.Text(); err == nil && there != here && there != version.Unknown && here != version.Unknown {
		err = fmt.Errorf("softswitch is of version %s there, and %s here: their logs may differ", there, here)
	}
	if err != nil {
		if f.session.IsClosed() {
			err = f.how()
		}
		return fmt.Errorf("node %s: %s: %w", n.Name, strings.Join(n.Via, " "), err)
	}
	working.Go(func() { f.copyLog(filepath.Join(n.Dir, files.Events)) })
	return nil
}

// far is a node that is reached.
type far struct {
	node    netnslab.NodeState
	session *yamux.Session
	ended   chan struct{} // closed when the agent has ended
	err     error         // how, after that
}

// start starts the agent.
func (f *far) start(ctx context.Context, working *sync.WaitGroup) error {
	argv := slices.Concat(f.node.Via, f.node.Agent)
	cmd := exec.Command(argv[0], argv[1:]...)
	// The agent ends when its input does, and not by a Ctrl-C for the program that waits for the relay.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	log, err := safefile.Create(f.node.LogPath())
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stderr = log
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if f.session, err = yamux.Client(pipe{out, in}, config()); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	working.Go(func() {
		<-f.session.CloseChan()
		in.Close()
		f.err = cmd.Wait()
		close(f.ended)
	})
	working.Go(func() {
		select {
		case <-ctx.Done():
			f.session.Close()
		case <-f.ended:
		}
	})
	return nil
}

// open opens a stream of a kind.
func (f *far) open(kind byte) (stream, error) {
	s, err := f.session.OpenStream()
	if err == nil {
		if _, err = s.Write([]byte{kind}); err != nil {
			s.Close()
		}
	}
	switch {
	case err == nil:
		return stream{s}, nil
	case outlived(err):
		return stream{}, fmt.Errorf("node %s: %s: %w", f.node.Name, strings.Join(f.node.Via, " "), err)
	}
	return stream{}, f.gone()
}

// outlived reports whether a session goes on after this error of a stream. After any other it ends,
// if not yet.
func outlived(err error) bool {
	return errors.Is(err, yamux.ErrConnectionWriteTimeout) || errors.Is(err, yamux.ErrConnectionReset) || errors.Is(err, yamux.ErrStreamsExhausted)
}

// gone is what to tell who asks a node that is not reached any more.
func (f *far) gone() error {
	return fmt.Errorf("node %s is not reached any more: %s: %w", f.node.Name, strings.Join(f.node.Via, " "), f.how())
}

// how waits until the agent has ended, and is how it did.
func (f *far) how() error {
	<-f.ended
	if f.err != nil {
		return f.err
	}
	return errors.New("it has ended")
}

// forward joins each connection to a listener with a stream of its own.
func (f *far) forward(ln net.Listener, kind byte) {
	var joined sync.WaitGroup
	defer joined.Wait()
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		joined.Go(func() {
			near := c.(*net.UnixConn)
			defer near.Close()
			s, err := f.open(kind)
			if err == nil {
				defer s.Close()
				if !join(s, near) && f.session.IsClosed() {
					err = f.gone()
				}
			}
			if err != nil {
				refuse(near, err)
			}
		})
	}
}

// copyLog keeps a copy of the node's event log; when another log takes its place the copy
// starts again from scratch.
func (f *far) copyLog(path string) {
	for {
		s, err := f.open(ofLog)
		if err != nil {
			if !f.session.IsClosed() {
				fmt.Fprintf(os.Stderr, "reach: event log: %v\n", err)
			}
			return
		}
		out, err := safefile.Create(path + ".next")
		if err == nil {
			err = os.Rename(path+".next", path)
		}
		if err == nil {
			_, err = io.Copy(out, s)
			out.Close()
		}
		s.Close()
		if err != nil {
			fmt.Fprintf(os.Stderr, "reach: node %s: event log: %v\n", f.node.Name, err)
			return
		}
	}
}
