package node

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"sync"

	"softswitch/live"
)

// Place is where a node runs. The zero value is this process: its network namespace, its
// directory and its stderr.
type Place struct {
	// Within runs fn on a thread in the network namespace of the node's interfaces.
	Within func(fn func() error) error
	// Dir is the directory of the relative paths in its configuration.
	Dir string
	// Says is where its warnings go.
	Says io.Writer
	// Crowded says that many nodes share the process.
	Crowded bool
	// Poller fetches the frames of all nodes of the process; nil if none does.
	Poller *live.Poller
	// Life allows others to end and halt it apart from the process.
	Life *Life
}

func (p Place) within(fn func() error) error {
	if p.Within == nil {
		return fn()
	}
	return p.Within(fn)
}

func (p Place) path(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(p.Dir, path)
}

func (p Place) says() io.Writer {
	if p.Says == nil {
		return os.Stderr
	}
	return p.Says
}

// Life identifies one run of a node that shares its process with others, as a PID identifies
// one that has its own. The zero value is a node that does not run yet.
type Life struct {
	// Up is called each time that the node has begun to answer.
	Up func()

	mu     sync.Mutex
	node   *live.Node         // guarded by mu: the one that runs; nil before and after, and between two when it restarts
	frozen bool               // guarded by mu
	over   bool               // guarded by mu
	end    context.CancelFunc // guarded by mu: ends run; nil before
}

// Run runs the node by run, which gets a context that ends with ctx or by Kill. A node that
// was killed has no error.
func (l *Life) Run(ctx context.Context, run func(context.Context) error) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	l.mu.Lock()
	l.end = end
	l.mu.Unlock()
	defer context.AfterFunc(ctx, func() { l.Continue() })() // one that is stopped could not end
	err := run(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return nil
	}
	l.over = true
	return err
}

// Status is "running", "stopped" or "dead", as that of a process.
func (l *Life) Status() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.over:
		return "dead"
	case l.frozen:
		return "stopped"
	}
	return "running"
}

// Stop freezes the node until Continue. Stop, Continue and Kill return
// os.ErrProcessDone if the node has ended.
func (l *Life) Stop() error {
	return l.change(func() {
		if !l.frozen && l.node != nil {
			l.node.Freeze()
		}
		l.frozen = true
	})
}

// Continue ends Stop.
func (l *Life) Continue() error {
	return l.change(func() {
		if l.frozen && l.node != nil {
			l.node.Thaw()
		}
		l.frozen = false
	})
}

// Kill ends the node at once: its sockets are closed, it says nothing more, and what it
// held is lost.
func (l *Life) Kill() error {
	return l.change(func() {
		l.over = true
		if l.node != nil {
			if !l.frozen {
				l.node.Freeze()
			}
			l.node.Crash()
		}
		l.end()
	})
}

// change does something to a node that has not ended.
func (l *Life) change(do func()) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return os.ErrProcessDone
	}
	do()
	return nil
}

// begin is told which node runs from now on.
func (l *Life) begin(n *live.Node) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.over: // killed while it restarted
		n.Freeze()
		n.Crash()
		return
	case l.frozen:
		n.Freeze()
	}
	l.node = n
	if l.Up != nil {
		l.Up()
	}
}

// done is told that no node runs any more.
func (l *Life) done() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.frozen && l.node != nil && !l.over {
		l.node.Thaw() // it has ended: nothing but its requests can go on
	}
	l.node = nil
}
