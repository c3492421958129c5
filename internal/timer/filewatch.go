package timer

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// FileWatch waits for changes of a file. Wait is for one goroutine at a time, Close for any.
type FileWatch struct{ changes *os.File }

// Watch watches the file at path, whose folder has to be there.
func Watch(path string) (*FileWatch, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("filewatch: %w", err)
	}
	dir := filepath.Dir(path)
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_ATTRIB|unix.IN_MODIFY|unix.IN_CREATE|unix.IN_MOVED_TO|unix.IN_CLOSE_WRITE); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("filewatch: %s: %w", dir, err)
	}
	return &FileWatch{os.NewFile(uintptr(fd), "inotify")}, nil
}

// Wait waits for changes in the file's folder, of which some may be of other files. It
// fails after Close with os.ErrClosed.
func (w *FileWatch) Wait() error {
	_, err := w.changes.Read(make([]byte, 4096))
	return err
}

// UntilFile looks at the file, and again after each change, until is returns true. After limit the
// error is os.ErrDeadlineExceeded.
func UntilFile(path string, limit time.Duration, is func() bool) error {
	w, err := Watch(path)
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
func (w *FileWatch) Close() error { return w.changes.Close() }
