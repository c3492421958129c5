package timer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// FileWatch waits for changes of a file. Wait is for one goroutine at a time, Close for any.
type FileWatch struct{ changes *fsnotify.Watcher }

// atOnce is how many changes one Wait is for, if they come while nobody waits.
const atOnce = 128

// Watch watches the file at path, whose folder has to be there, and to keep its name: once it is
// renamed, nothing is seen of it.
func Watch(path string) (*FileWatch, error) {
	w, err := fsnotify.NewBufferedWatcher(atOnce)
	if err != nil {
		return nil, fmt.Errorf("filewatch: %w", err)
	}
	dir := filepath.Dir(path) // also of a file that is to come, or that another one replaces
	if err := w.Add(dir); err != nil {
		w.Close()
		return nil, fmt.Errorf("filewatch: %s: %w", dir, err)
	}
	return &FileWatch{w}, nil
}

// Wait waits for changes in the file's folder, of which some may be of other files. Soon
// after Close it fails with os.ErrClosed.
func (w *FileWatch) Wait() error { return w.wait(nil) }

func (w *FileWatch) wait(limit <-chan time.Time) error {
	select {
	case _, ok := <-w.changes.Events:
		if !ok {
			return os.ErrClosed
		}
	case err, ok := <-w.changes.Errors:
		if !ok {
			return os.ErrClosed
		}
		if !errors.Is(err, fsnotify.ErrEventOverflow) { // which says that something changed
			return err
		}
	case <-limit:
		return os.ErrDeadlineExceeded
	}
	for len(w.changes.Events) > 0 {
		<-w.changes.Events
	}
	return nil
}

// UntilFile looks at the file, and again after each change, until is returns true. After limit the
// error is os.ErrDeadlineExceeded.
func UntilFile(path string, limit time.Duration, is func() bool) error {
	w, err := Watch(path)
	if err != nil {
		return err
	}
	defer w.Close()
	end := time.After(limit)
	for !is() {
		if err := w.wait(end); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// Close ends a Wait.
func (w *FileWatch) Close() error { return w.changes.Close() }
