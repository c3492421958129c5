package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// ofOne finds a plural of things that are counted after a 1.
var ofOne = regexp.MustCompile(`(?:^|[ (;,:])1 (?:switches|hosts|links|flows|events|deadlocks|frames|cases|nodes|files|subnets|cycles|shards|ports|routes|SONiC switches)(?:[ ,;.)]|$)`)

// TestPlurals: nothing that a command prints, in the documents and in the scripts of tests, has one of a
// kind in the plural.
func TestPlurals(t *testing.T) {
	looked := 0
	for _, dir := range []string{"../../docs", "testdata/script"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if ext := filepath.Ext(path); err != nil || ext != ".md" && ext != ".txtar" {
				return err
			}
			looked++
			data, err := os.ReadFile(path)
			for i, line := range strings.Split(string(data), "\n") {
				if ofOne.MatchString(line) && !strings.Contains(line, "TTL - 1 links") && !strings.Contains(line, "of 1 links") {
					t.Errorf("%s:%d: %s", path, i+1, line)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if looked < 60 || !ofOne.MatchString("3 links, 1 flows, 1 event") || ofOne.MatchString("21 links, 1 flow") {
		t.Errorf("%d files", looked)
	}
}
