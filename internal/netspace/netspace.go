// Package netspace makes network namespaces without names, and runs functions in them.
//
// A namespace is that of a thread, so a function runs in one on a thread that is moved there and back.
// Processes and sockets that it makes stay in the namespace, whatever thread uses them; goroutines that
// it starts are not there.
//
// Invariant: a thread that cannot be moved back runs no other goroutine: it ends.
//
// What it does not do: it names no namespace, and makes no interfaces.
package netspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// Here runs fn on the thread of the calling goroutine, which enter has moved into a namespace, and moves
// the thread back. enter must not move the thread if it fails. If moving back fails, the goroutine stays
// locked to the thread, and the error says so.
func Here(enter, fn func() error) error {
	runtime.LockOSThread()
	home, err := netns.Get()
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer home.Close()
	if err := enter(); err != nil {
		runtime.UnlockOSThread()
		return err
	}
	err = fn()
	if lost := netns.Set(home); lost != nil {
		return errors.Join(err, fmt.Errorf("return from namespace: %w", lost))
	}
	runtime.UnlockOSThread()
	return err
}

// Within is Here on a goroutine of its own. If moving back fails, the thread ends with it.
func Within(enter, fn func() error) error {
	result := make(chan error, 1)
	go func() { result <- Here(enter, fn) }()
	return <-result
}

// Enter moves the calling thread into a namespace.
func Enter(ns netns.NsHandle) func() error { return func() error { return netns.Set(ns) } }

// Inside runs fn on a thread in a namespace; see Within.
func Inside(ns netns.NsHandle, fn func() error) error { return Within(Enter(ns), fn) }

// New makes a namespace without a name, which ends when nothing uses it any more: a handle, a socket, a
// process. setUp runs in it first. The caller closes the handle.
func New(setUp func(ns netns.NsHandle) error) (ns netns.NsHandle, err error) {
	ns = netns.None()
	err = Within(func() error { return unix.Unshare(unix.CLONE_NEWNET) }, func() (err error) {
		if ns, err = netns.Get(); err == nil {
			err = setUp(ns)
		}
		return err
	})
	if err != nil && ns.IsOpen() {
		ns.Close()
	}
	return ns, err
}

// Open opens the namespace at a path. The caller closes the handle.
func Open(path string) (netns.NsHandle, error) {
	ns, err := netns.GetFromPath(path)
	if err != nil {
		return netns.None(), &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return ns, nil
}

// DisableIPv6 keeps IPv6, whose stations solicit routers and report groups, off the interfaces that will
// be in the calling thread's namespace.
func DisableIPv6() error {
	for _, scope := range []string{"all", "default"} {
		err := os.WriteFile("/proc/sys/net/ipv6/conf/"+scope+"/disable_ipv6", []byte("1"), 0)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // a kernel without IPv6 needs no setting
			return err
		}
	}
	return nil
}
