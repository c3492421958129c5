package netnslab

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"softswitch/internal/lists"
)

// grace is how long a process has between SIGTERM and SIGKILL.
const grace = 2 * time.Second

// killWait is how long a process may take to end after SIGKILL. The kernel closes its packet sockets one after the other,
// and waits for all processors at each: 800 nodes in one process take seconds, and 36 more than 5 s beside programs that
// keep all processors busy.
const killWait = time.Minute

// Down removes the lab of that name: its processes, links and namespaces, its
// directory, and the raised backlog if no other lab needs it. When it returns nil, all
// of that is gone. If the lab does not exist there is nothing to do.
//
// It removes what is in the state and proves to be the lab's: another namespace that
// now has the name, or another process that has the pid, is left alone. A state, or a
// directory, that somebody else could have made is not believed: the error says why. If something
// could not be removed, the state stays, so that Down can be tried again; the error
// lists everything that failed. A lab whose state is gone or unreadable is left as it
// is, and the error says what exists of it: see [DownLost]. progress gets a few lines;
// nil for none.
func Down(name string, progress io.Writer) error { return down(name, nil, progress) }

// DownAll is Down of each of these labs, or [DownLost].
func DownAll(names []string, lost bool, progress io.Writer) error {
	down := Down
	if lost {
		down = DownLost
	}
	return errors.Join(lists.Map(names, func(n string) error { return down(n, progress) })...)
}

// Remove is Down for exactly the lab st. If another lab has taken its name, that one is
// left alone.
func (st *State) Remove(progress io.Writer) error { return down(st.Name, st, progress) }

// down removes the lab of that name, if it is the one wanted; nil for any.
func down(name string, wanted *State, progress io.Writer) error {
	progress = cmp.Or(progress, io.Discard)
	if err := CheckName(name); err != nil {
		return err
	}
	if _, err := os.Stat(RunDir()); errors.Is(err, fs.ErrNotExist) {
		return noRecord(name, err, progress)
	}
	return whileLocked(name, progress, func(boot string) error {
		st, err := Load(name)
		if err != nil {
			return noRecord(name, err, progress)
		}
		if wanted != nil && wanted.Token != st.Token {
			fmt.Fprintf(progress, "lab %s: another has its name now, and is left alone\n", name)
			return nil
		}
		began := time.Now()
		if err := st.remove(boot, progress); err != nil {
			return fmt.Errorf("netnslab: lab %s: %w", name, err)
		}
		fmt.Fprintf(progress, "lab %s: removed in %v\n", name, time.Since(began).Round(time.Millisecond))
		return nil
	})
}

// whileLocked changes the lab of that name in this boot, while no other process changes labs.
func whileLocked(name string, progress io.Writer, change func(boot string) error) error {
	boot, err := bootID()
	if err != nil {
		return err
	}
	unlock, err := lock(name, progress)
	if err != nil {
		return err
	}
	defer unlock()
	return change(boot)
}

// noRecord is Down without a readable state: it removes nothing, and that is an error
// unless nothing is left of the lab.
func noRecord(name string, why error, progress io.Writer) error {
	l, err := findLost(name)
	if err != nil {
		return errors.Join(why, err)
	}
	if !errors.Is(why, fs.ErrNotExist) || !l.empty() {
		return fmt.Errorf("%w; %s", why, l.remedy())
	}
	fmt.Fprintf(progress, "lab %s: nothing to do\n", name)
	sweep(Dir(name))
	return nil
}

// sweep removes the directory of a lab that was killed before it wrote its first state,
// or after it removed the last: it contains at most an unfinished state.
func sweep(dir string) {
	os.Remove(filepath.Join(dir, stateName+".next"))
	os.Remove(dir)
}

// remove removes everything in the state, the state last. It continues after an error
// and returns all errors.
func (st *State) remove(boot string, progress io.Writer) error {
	var errs []error
	if st.Boot == boot {
		if err := st.endProcesses(progress); err != nil {
			return err // files and links stay for the processes that still use them
		}
		checkpoint()
		errs = append(errs, st.deleteLinks())
		checkpoint()
	}
	alone := make([]error, len(st.Nodes)) // why namespaces are left alone
	errs = append(errs, sideBySide(len(st.Nodes), func(i int) error {
		err := st.Nodes[i].clear(st.Boot == boot)
		if errors.Is(err, ErrNotOurs) {
			alone[i], err = err, nil
		}
		return errors.Join(err, os.RemoveAll(st.Nodes[i].Dir))
	}))
	for _, why := range alone {
		if why != nil {
			fmt.Fprintf(progress, "left alone: %v\n", why)
		}
	}
	checkpoint()
	errs = append(errs, lists.Map(st.hostingDirs(), os.RemoveAll)...)
	errs = append(errs, restoreBacklog(st.dir, boot, progress))
	checkpoint()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(st.dir, stateName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	checkpoint()
	sweep(st.dir)
	return nil
}

// clear removes the node's namespace, if the lab made it.
func (n *NodeState) clear(thisBoot bool) error {
	if n.Via != nil {
		return nil
	}
	return n.removeNamespace(thisBoot)
}

// process is the node's recorded process.
func (n *NodeState) process() process { return process{n.PID, n.Start} }

// endProcesses ends the recorded processes, if they carry the token, and all others that do. A
// process may start another while it ends, so it repeats until it finds none.
func (st *State) endProcesses(progress io.Writer) error {
	recorded := []process{st.Relay}
	for i := range st.Nodes {
		recorded = append(recorded, st.Nodes[i].process())
	}
	var procs []process
	for _, p := range recorded {
		switch {
		case p.PID == 0 || slices.Contains(procs, p) || p.status() == "dead":
		case !p.carries(st.Token):
			fmt.Fprintf(progress, "left alone: process %d is on record: %v\n", p.PID, errNoToken)
		default:
			procs = append(procs, p)
		}
	}
	for range 10 {
		if err := terminate(procs, grace); err != nil {
			return err
		}
		var err error
		if procs, err = marked(st.Token); err != nil || len(procs) == 0 {
			return err
		}
	}
	return fmt.Errorf("processes of the lab keep starting others: %v", procs)
}

// deleteLinks deletes the recorded links, each from an end whose namespace exists: the
// other end disappears with it, at once. Deleting a namespace's name alone would delete
// its links only when the kernel gets to it.
func (st *State) deleteLinks() error {
	byNode := map[string][]LinkState{}
	for _, l := range st.Links {
		byNode[l.A.Node] = append(byNode[l.A.Node], l)
		byNode[l.B.Node] = append(byNode[l.B.Node], l)
	}
	return sideBySide(len(st.Nodes), func(i int) error {
		if n := &st.Nodes[i]; n.Inode != 0 {
			return n.deleteLinks(byNode[n.Name])
		}
		return nil
	})
}

// deleteLinks deletes the links that have an end in the node.
func (n *NodeState) deleteLinks(links []LinkState) error {
	ns, err := n.open()
	if err != nil {
		return nil // removeNamespace reports whether that is a fault
	}
	defer ns.Close()
	nl, err := netlink.NewHandleAt(ns, unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("node %s: %w", n.Name, err)
	}
	defer nl.Close()
	for _, l := range links {
		for _, e := range []End{l.A, l.B} {
			if e.Node != n.Name {
				continue
			}
			link, err := nl.LinkByName(e.Iface)
			if isGone(err) {
				continue
			}
			if err == nil {
				err = nl.LinkDel(link)
			}
			if err != nil && !isGone(err) {
				return fmt.Errorf("delete link %v: %w", e, err)
			}
		}
	}
	return nil
}

// isGone reports whether the error means that there is no such link.
func isGone(err error) bool {
	_, notFound := errors.AsType[netlink.LinkNotFoundError](err)
	return notFound || errors.Is(err, unix.ENODEV)
}
