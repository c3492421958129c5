package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Output is an output file named by a flag; an empty File means no output. With MakesDir the command
// creates a missing directory.
type Output struct {
	Flag, File string
	MakesDir   bool
}

// CheckOutputs refuses outputs that cannot be written, so that a long run does not fail at its end,
// and outputs that would overwrite an input file or each other.
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

// writable returns why the file cannot be written, or nil if it appears writable.
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

// canHold returns why no file can be created in dir, or nil. dir need not exist yet.
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

// access returns why this process may not write to a file or directory, or nil.
func access(name string) error {
	if err := unix.Access(name, unix.W_OK); err != nil {
		return fmt.Errorf("%s cannot be written: %w", name, err)
	}
	return nil
}

// CheckDir refuses a directory that cannot be created or written to.
func CheckDir(flag, dir string) error {
	if err := canHold(dir); err != nil {
		return fmt.Errorf("--%s %s: %w", flag, dir, err)
	}
	return nil
}

// sameFile reports whether two names refer to the same regular file. Writing to a device, such as
// /dev/null, overwrites nothing.
func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && infoA.Mode().IsRegular() && os.SameFile(infoA, infoB)
}

// samePlace reports whether two names refer to the same file that does not exist yet.
func samePlace(a, b string) bool {
	_, err := os.Stat(a)
	absA, errA := filepath.Abs(a)
	absB, errB := filepath.Abs(b)
	return errors.Is(err, fs.ErrNotExist) && errA == nil && errB == nil && absA == absB
}
