package timer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// enough is for what hangs.
const enough = 10 * time.Second

// TestUntilFile: what comes of the file is seen, each as it comes: it is not there, is written to,
// gets another mode, and another file takes its place.
func TestUntilFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	next := path + ".next"
	steps := []struct {
		what string
		do   func() error
		is   func(info os.FileInfo, text string) bool
	}{
		{
			"made", func() error { return os.WriteFile(path, nil, 0o644) },
			func(_ os.FileInfo, text string) bool { return text == "" },
		},
		{
			"written", func() error { return os.WriteFile(path, []byte("a"), 0o644) },
			func(_ os.FileInfo, text string) bool { return text == "a" },
		},
		{
			"mode", func() error { return os.Chmod(path, 0o600) },
			func(info os.FileInfo, _ string) bool { return info.Mode() == 0o600 },
		},
		{
			"replaced", func() error { return errors.Join(os.WriteFile(next, []byte("b"), 0o644), os.Rename(next, path)) },
			func(_ os.FileInfo, text string) bool { return text == "b" },
		},
	}
	for _, s := range steps {
		var did sync.WaitGroup
		looks := 0
		err := UntilFile(path, enough, func() bool {
			if looks++; looks == 1 {
				did.Go(func() {
					if err := s.do(); err != nil {
						t.Error(err)
					}
				})
				return false
			}
			text, err := os.ReadFile(path)
			info, statErr := os.Stat(path)
			return err == nil && statErr == nil && s.is(info, string(text))
		})
		did.Wait()
		if err != nil {
			t.Errorf("%s: %v", s.what, err)
		}
	}
}

// TestChangeBefore: a change between a look and the Wait after it is seen; so is that there were more
// than the kernel keeps.
func TestChangeBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	there := func() bool {
		_, err := os.Stat(path)
		return err == nil
	}
	err := UntilFile(path, enough, func() bool {
		is := there()
		if !is {
			if err := os.WriteFile(path, nil, 0o644); err != nil {
				t.Error(err)
			}
		}
		return is
	})
	if err != nil {
		t.Error(err)
	}
	w, err := Watch(path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, of := range []struct{ says, want error }{{fsnotify.ErrEventOverflow, nil}, {os.ErrPermission, os.ErrPermission}} {
		go func() { w.changes.Errors <- of.says }()
		if err := w.Wait(); !errors.Is(err, of.want) {
			t.Errorf("%v: got %v, want %v", of.says, err, of.want)
		}
	}
}

func TestUntilFileEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	never := func() bool { return false }
	if err := UntilFile(path, time.Millisecond, never); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v, want that the time is over", err)
	}
	if err := UntilFile(filepath.Join(path, "below"), enough, never); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want that there is no such folder", err)
	}
}

// TestCloseEndsWatch: with changes or without.
func TestCloseEndsWatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, changes := range []int{0, 1, 3 * atOnce} {
		w, err := Watch(path)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() {
			for {
				if err := w.Wait(); err != nil {
					ended <- err
					return
				}
			}
		}()
		for i := range changes {
			if err := os.WriteFile(path, fmt.Append(nil, i), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, os.ErrClosed) {
			t.Errorf("got %v", err)
		}
	}
}
