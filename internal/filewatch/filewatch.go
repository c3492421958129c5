// Package filewatch waits for changes of a file that is there or not (inotify(7)).
//
//	New --> Wait --> look at the file --> Wait --> ...
//
// Read in this order: Watch.
//
// Invariants: nothing is missed: a change after New, or after a Wait that returned, makes
// the next Wait return.
//
// What it does not do: it does not say what has changed.
package filewatch

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Watch waits for changes of a file. Wait is for one goroutine at a time, Close for any.
type Watch struct{ changes *os.File }

// New watches the file at path, whose folder has to be there.
func New(path string) (*Watch, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("filewatch: %w", err)
	}
	dir := filepath.Dir(path)
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_ATTRIB|unix.IN_MODIFY|unix.IN_CREATE|unix.IN_MOVED_TO|unix.IN_CLOSE_WRITE); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("filewatch: %s: %w", dir, err)
	}
	return &Watch{os.NewFile(uintptr(fd), "inotify")}, nil
}

// Wait waits for changes in the file's folder, of which some may be of other files. It
// fails after Close with os.ErrClosed.
func (w *Watch) Wait() error {
	_, err := w.changes.Read(make([]byte, 4096))
	return err
}

// Until looks at the file, and again after each change, until is returns true. After limit the
// error is os.ErrDeadlineExceeded.
func Until(path string, limit time.Duration, is func() bool) error {
	w, err := New(path)
	if err != nil {
		return err
	}
	defer w.Close()
	if err := w.changes.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	for !is() {
		if err := w.Wait(); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// Close ends a Wait.
func (w *Watch) Close() error { return w.changes.Close() }
