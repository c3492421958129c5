package safefile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// wantNames wants these in a folder, and no other.
func wantNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if strings.Join(names, " ") != strings.Join(want, " ") {
		t.Errorf("in %s are %q, want %q", dir, names, want)
	}
}

// TestCreate: until it is filled nothing has its name, and then all of it has.
func TestCreate(t *testing.T) {
	for _, name := range []string{"a", "b/c", "d/", "e/f//"} {
		top := t.TempDir()
		dir := top + "/" + name
		err := CreateDir(dir, func(making string) error {
			if _, err := os.Lstat(dir); err == nil {
				t.Errorf("%s is there before it is filled", name)
			}
			return os.WriteFile(filepath.Join(making, "file"), nil, 0o644)
		})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		wantNames(t, dir, "file")
		wantNames(t, filepath.Dir(filepath.Clean(dir)), filepath.Base(dir))
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("%s: %v, %v", name, err, info.Mode())
		}
	}
}

// TestCreateFails: what cannot be made, or is there, leaves all as it was.
func TestCreateFails(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "new")
	full := errors.New("no room")
	if err := CreateDir(dir, func(making string) error {
		return errors.Join(os.WriteFile(filepath.Join(making, "file"), nil, 0o644), full)
	}); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	wantNames(t, top)
	never := func(string) error { t.Error("filled"); return nil }
	for name, put := range map[string]func(string) error{
		"folder": func(path string) error { return os.Mkdir(path, 0o755) },
		"file":   func(path string) error { return os.WriteFile(path, nil, 0o644) },
		"link":   func(path string) error { return os.Symlink("nowhere", path) },
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := put(path); err != nil {
			t.Fatal(err)
		}
		if err := CreateDir(path, never); err == nil || err.Error() != path+" is there already" {
			t.Errorf("%s: %v", name, err)
		}
		wantNames(t, filepath.Dir(path), name)
	}
}
