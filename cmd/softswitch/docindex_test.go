package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// madeForOthers are pages that another page shows, and no reader begins with.
var madeForOthers = map[string]string{"figures/proof.md": "detection.md", "figures/worlds.md": "lab.md"}

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

// TestDocsLinks: every link of a page to a file of the repository leads to one, and to a heading that is there.
func TestDocsLinks(t *testing.T) {
	links := regexp.MustCompile(`\]\(([^)\s#]*)(?:#([^)\s]*))?\)`)
	n := 0
	for _, page := range everyPage(t) {
		for _, m := range links.FindAllStringSubmatch(withoutBlocks(t, page), -1) {
			if strings.Contains(m[1], ":") {
				continue
			}
			n++
			target := page
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(page), m[1])
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %s: %v", page, m[0], err)
			} else if m[2] != "" && !slices.Contains(anchors(withoutBlocks(t, target)), m[2]) {
				t.Errorf("%s: %s: no such heading", page, m[0])
			}
		}
	}
	if n < 200 {
		t.Errorf("only %d links were found", n)
	}
	if got := anchors("# A `b`: c\n\n## A\n## A\n### [x y](z.md), *so*\n"); !slices.Equal(got, []string{"a-b-c", "a", "a-1", "x-y-so"}) {
		t.Errorf("anchors %q", got)
	}
}

// everyPage are the pages of the repository, by path.
func everyPage(t *testing.T) (pages []string) {
	t.Helper()
	for _, glob := range []string{"../../*.md", "../../docs/*.md", "../../docs/*/*.md"} {
		paths, err := filepath.Glob(glob)
		if err != nil || paths == nil {
			t.Fatalf("%s: %v", glob, err)
		}
		pages = append(pages, paths...)
	}
	return pages
}

// withoutBlocks is the text of a page without its fenced blocks.
func withoutBlocks(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(string(text), "")
}

// anchors are the headings of a page, as a link names them.
func anchors(text string) (out []string) {
	link := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	other := regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	seen := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		name := strings.ReplaceAll(other.ReplaceAllString(strings.ToLower(link.ReplaceAllString(m[1], "$1")), ""), " ", "-")
		if n := seen[name]; n > 0 {
			out = append(out, fmt.Sprintf("%s-%d", name, n))
		} else {
			out = append(out, name)
		}
		seen[name]++
	}
	return out
}
