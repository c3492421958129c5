package testkit

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// BuildOverlaid builds the tests of the package in this folder with other texts of files, by their paths, from
// this folder or absolute; a file with the text "" is as good as not there. It returns the program, which is
// there until the test ends.
func BuildOverlaid(t testing.TB, texts map[string]string) (program string) {
	t.Helper()
	dir := t.TempDir()
	var overlay struct{ Replace map[string]string }
	overlay.Replace = map[string]string{}
	for path, text := range texts {
		path, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		if text == "" {
			overlay.Replace[path] = ""
			continue
		}
		overlay.Replace[path] = filepath.Join(dir, strconv.Itoa(len(overlay.Replace))+".go")
		if err := os.WriteFile(overlay.Replace[path], []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, list, 0o644); err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(dir, "overlaid.test")
	if said, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", file, "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return program
}
