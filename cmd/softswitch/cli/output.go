package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Output is a file to write that a flag names, File "" for none. With MakesDir its directory is made if it
// is missing.
type Output struct {
	Flag, File string
	MakesDir   bool
}

// CheckOutputs refuses outputs that cannot be written, before hours go into what was to be in them, and
// those that would take the place of a file that is read, or of each other.
func CheckOutputs(read []string, outputs ...Output) error {
	for i, out := range outputs {
		if out.File == "" {
			continue
		}
		if err := out.writable(); err != nil {
			return fmt.Errorf("--%s %s: %w", out.Flag, out.File, err)
		}
		for _, in := range read {
			if sameFile(out.File, in) {
				return fmt.Errorf("--%s %s: %s is read: name another file to write", out.Flag, out.File, in)
			}
		}
		for _, other := range outputs[:i] {
			if other.File != "" && (sameFile(out.File, other.File) || samePlace(out.File, other.File)) {
				return fmt.Errorf("--%s %s: --%s is written there: name another file", out.Flag, out.File, other.Flag)
			}
		}
	}
	return nil
}

// writable is why the file cannot be written, nil if it seems that it can.
func (o *Output) writable() error {
	switch info, err := os.Stat(o.File); {
	case err == nil && info.IsDir():
		return errors.New("a directory: name a file")
	case err == nil:
		return access(o.File)
	}
	dir := filepath.Dir(o.File)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) && !o.MakesDir {
		return fmt.Errorf("there is no directory %s", dir)
	}
	return canHold(dir)
}

// canHold is why nothing can be made in a directory, which may itself have to be made.
func canHold(dir string) error {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case err == nil && !info.IsDir():
			return fmt.Errorf("%s is not a directory", at)
		case err == nil:
			return access(at)
		case (errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR)) && at != filepath.Dir(at):
		default:
			return err
		}
	}
}

// access is why this process may not write to a file or directory.
func access(name string) error {
	if err := unix.Access(name, unix.W_OK); err != nil {
		return fmt.Errorf("%s cannot be written: %w", name, err)
	}
	return nil
}

// CheckDir refuses a directory that cannot be made, or written to.
func CheckDir(flag, dir string) error {
	if err := canHold(dir); err != nil {
		return fmt.Errorf("--%s %s: %w", flag, dir, err)
	}
	return nil
}

// sameFile reports whether two names are of one file. What is written to a device, such as /dev/null,
// takes the place of nothing.
func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && infoA.Mode().IsRegular() && os.SameFile(infoA, infoB)
}

// samePlace reports whether two names are of one file that is not there yet.
func samePlace(a, b string) bool {
	_, err := os.Stat(a)
	absA, errA := filepath.Abs(a)
	absB, errB := filepath.Abs(b)
	return errors.Is(err, fs.ErrNotExist) && errA == nil && errB == nil && absA == absB
}
