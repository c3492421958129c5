// Package shardtest has tests play the shards of a run and join them.
package shardtest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"softswitch/study/shard"
)

// Written is a shard as a command's package returns it.
type Written interface{ WriteText(io.Writer) error }

// Join writes all parts of a run, as play plays them, to files, and joins those, the last one
// first: their order does not matter.
func Join(t *testing.T, of int, play func(shard.Part) Written) *shard.Whole {
	t.Helper()
	dir := t.TempDir()
	var files []string
	for i := range of {
		var b bytes.Buffer
		if err := play(shard.Part{Number: i + 1, Of: of}).WriteText(&b); err != nil {
			t.Fatal(err)
		}
		files = append(files, filepath.Join(dir, fmt.Sprint(i)))
		if err := os.WriteFile(files[i], b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	slices.Reverse(files)
	w, err := shard.Join(files)
	if err != nil {
		t.Fatal(err)
	}
	return w
}
