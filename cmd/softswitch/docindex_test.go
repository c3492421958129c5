package main

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// madeForOthers are pages that another page shows, and no reader begins with.
var madeForOthers = map[string]string{"figures/proof.md": "detection.md", "figures/worlds.md": "worlds.md"}

// TestDocsIndex: docs/README.md lists every page of docs once, with about the minutes that it takes to read.
func TestDocsIndex(t *testing.T) {
	docs := os.DirFS("../../docs")
	index, err := fs.ReadFile(docs, "README.md")
	if err != nil {
		t.Fatal(err)
	}
	minutes := map[string]int{}
	for _, row := range regexp.MustCompile(`(?m)^\| \[(.+)\]\((.+)\) \| .+ \| (\d+) \|$`).FindAllStringSubmatch(string(index), -1) {
		if _, twice := minutes[row[2]]; twice || row[1] != row[2] {
			t.Errorf("%s is listed twice, or by another name: %s", row[2], row[1])
		}
		minutes[row[2]], _ = strconv.Atoi(row[3])
	}
	err = fs.WalkDir(docs, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".md" || name == "README.md" || madeForOthers[name] != "" {
			return err
		}
		text, err := fs.ReadFile(docs, name)
		if want := (len(strings.Fields(string(text))) + 199) / 200; minutes[name] < want-1 || minutes[name] > want+1 {
			t.Errorf("docs/README.md: %s has %d minutes, want %d", name, minutes[name], want)
		}
		delete(minutes, name)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for name := range minutes {
		t.Errorf("docs/README.md: %s is listed, and is not there", name)
	}
}
