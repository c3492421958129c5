package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestDocsCurrent: schemas and references in docs are those of the types.
func TestDocsCurrent(t *testing.T) {
	const root = "../.."
	files, err := referenceFiles(root)
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, f := range files {
		have, err := os.ReadFile(filepath.Join(root, f.Path))
		if err != nil || !bytes.Equal(have, f.Text) {
			t.Errorf("%s is not current (%v); run make docs", f.Path, err)
		}
	}
}
