package netnslab

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"softswitch/internal/lists"
	"softswitch/internal/netspace"
	"softswitch/internal/safefile"
)

// Program is one more program of a node, beside its process.
type Program struct {
	Node string
	// Name is the folder of the program in the node's run directory, where it starts and where the file
	// "log" takes what it says. A node has at most one program of a name.
	Name string
	// Command is the argv, as in Node.
	Command []string
	// SetUp is called in the node's namespace before the program starts; dir is its folder.
	SetUp func(dir string) error
}

// Launch starts a program in a node of a lab that is up, as a part of the lab: Down ends it. It is an error
// if the node has one of that name already, or was built by somebody else.
func (st *State) Launch(p Program) error {
	unlock, err := lock(st.Name, io.Discard)
	if err != nil {
		return err
	}
	defer unlock()
	if err := st.Replaced(); err != nil {
		return err
	}
	n, err := st.node(p.Node)
	if err != nil {
		return err
	}
	if n.Via != nil {
		return fmt.Errorf("netnslab: node %s was built by somebody else, who alone can start programs there", p.Node)
	}
	dir := filepath.Join(n.Dir, p.Name)
	switch there, err := st.programs(dir); {
	case err != nil:
		return err
	case len(there) > 0:
		return fmt.Errorf("netnslab: node %s: %s runs there already, as process %d", p.Node, p.Name, there[0].PID)
	}
	ns, err := n.open()
	if err != nil {
		return err
	}
	defer ns.Close()
	if err := safefile.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := netspace.Inside(ns, func() error { return p.SetUp(dir) }); err != nil {
		return fmt.Errorf("netnslab: node %s: %s: %w", p.Node, p.Name, err)
	}
	_, handle, err := spawn(ns, start{place: place{Node: p.Node, Dir: dir}, Command: p.Command}, st.Token)
	if err != nil {
		return fmt.Errorf("netnslab: node %s: %s: %w", p.Node, p.Name, err)
	}
	return unix.Close(handle)
}

// Launched returns the nodes that have a program of that name.
func (st *State) Launched(name string) ([]NodeState, error) {
	all, err := marked(st.Token)
	if err != nil {
		return nil, err
	}
	return lists.Where(st.Nodes, func(n NodeState) bool { return len(within(all, filepath.Join(n.Dir, name))) > 0 }), nil
}

// Ended returns when the program of that name of a node has ended, or with ctx's error. It is
// os.ErrProcessDone at once if there is none.
func (st *State) Ended(ctx context.Context, node, name string) error {
	n, err := st.node(node)
	if err != nil {
		return err
	}
	there, err := st.programs(filepath.Join(n.Dir, name))
	if err != nil {
		return err
	}
	if len(there) == 0 {
		return os.ErrProcessDone
	}
	handle, err := there[0].handle()
	if err != nil {
		return err
	}
	defer unix.Close(handle)
	for ctx.Err() == nil {
		if ended, err := pollHandles(map[int]process{handle: there[0]}, endedLook); err != nil || len(ended) > 0 {
			return err
		}
	}
	return ctx.Err()
}

// endedLook is how long a look at a program takes, after which Ended looks whether its context has ended.
const endedLook = 200 * time.Millisecond

// End ends the program of that name of a node, and reports whether there was one.
func (st *State) End(node, name string) (bool, error) {
	n, err := st.node(node)
	if err != nil {
		return false, err
	}
	there, err := st.programs(filepath.Join(n.Dir, name))
	if err != nil {
		return false, err
	}
	return len(there) > 0, terminate(there, grace)
}

// programs returns the processes of the lab that run in dir.
func (st *State) programs(dir string) ([]process, error) {
	all, err := marked(st.Token)
	return within(all, dir), err
}

// within returns those of all that run in dir.
func within(all []process, dir string) []process {
	return lists.Where(all, func(p process) bool {
		at, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", p.PID))
		return err == nil && strings.TrimSuffix(at, " (deleted)") == real(dir)
	})
}

// real is dir without symbolic links, as the kernel names it.
func real(dir string) string {
	if path, err := filepath.EvalSymlinks(dir); err == nil {
		return path
	}
	return dir
}
