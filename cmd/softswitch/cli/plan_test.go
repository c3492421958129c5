package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOtherFolder: a folder of configurations is named with its import, any other with what is wanted.
func TestOtherFolder(t *testing.T) {
	dir := t.TempDir()
	want := func(text string) {
		t.Helper()
		if _, err := ReadScenario(dir); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want %q", err, text)
		}
	}
	want("a folder; name a scenario file in it")
	if err := os.WriteFile(filepath.Join(dir, "leaf0.json"), []byte(`{"PORT": {}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	want("softswitch import sonic " + dir + " > fabric.yaml")
}
