package safefile

import (
	"fmt"
	"os"
	"path/filepath"
)

// CreateDir makes the folder dir, which must not be there, and those above it. fill writes what
// belongs into it into another folder beside it, which then gets its name. If fill fails, that
// is removed.
func CreateDir(dir string, fill func(making string) error) (err error) {
	dir = filepath.Clean(dir)
	if _, err := os.Lstat(dir); err == nil {
		return fmt.Errorf("%s is there already", dir)
	}
	if err := MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	making, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+"-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(making)
		}
	}()
	if err := fill(making); err != nil {
		return err
	}
	if err := os.Chmod(making, 0o755); err != nil {
		return err
	}
	return os.Rename(making, dir)
}
