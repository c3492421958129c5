package main

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// awaitChange waits until is reports true: it asks at once, and again whenever one of events,
// such as unix.IN_MODIFY, happens to a file or in a folder.
func awaitChange(path string, events uint32, is func() bool) error {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return err
	}
	changes := os.NewFile(uintptr(fd), "changes of "+path)
	defer changes.Close()
	if _, err := unix.InotifyAddWatch(fd, path, events); err != nil {
		return &os.PathError{Op: "watch", Path: path, Err: err}
	}
	if err := changes.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	for !is() {
		if _, err := changes.Read(make([]byte, 4096)); err != nil {
			return err
		}
	}
	return nil
}
