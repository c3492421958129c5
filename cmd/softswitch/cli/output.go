package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Output is a file to write that a flag names, File "" for none.
type Output struct{ Flag, File string }

// KeepApart refuses outputs that would take the place of a file that is read, or of each other.
func KeepApart(read []string, outputs ...Output) error {
	for i, out := range outputs {
		if out.File == "" {
			continue
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
