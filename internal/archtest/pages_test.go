package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var goFile = regexp.MustCompile(`[a-zA-Z0-9_./-]*[a-z0-9_]+\.go\b`)

// missing are the files that text names and that are neither in dir nor in the module.
func missing(dir, text string) (files []string) {
	for _, name := range goFile.FindAllString(text, -1) {
		_, here := os.Stat(filepath.Join(dir, name))
		if _, there := os.Stat(filepath.Join("../..", name)); here != nil && there != nil {
			files = append(files, name)
		}
	}
	return files
}

// TestPagesNameFiles: a package's page and ARCHITECTURE.md name files that there are.
func TestPagesNameFiles(t *testing.T) {
	for _, p := range loaded(t) {
		for _, f := range p.Syntax {
			for _, name := range missing(p.Dir, f.Doc.Text()) {
				t.Errorf("the page of package %s names %s, which does not exist", p.PkgPath, name)
			}
		}
	}
	text, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range missing("../..", string(text)) {
		t.Errorf("ARCHITECTURE.md names %s, which does not exist", name)
	}
	if got := missing(".", "arch_test.go, nowhere.go, dataplane/switch.go and dataplane/nowhere.go"); strings.Join(got, " ") != "nowhere.go dataplane/nowhere.go" {
		t.Errorf("missing files %q", got)
	}
}

// TestSwitchPageIsComplete: the page of the switch says where to read each of its files.
func TestSwitchPageIsComplete(t *testing.T) {
	page, err := os.ReadFile("../../dataplane/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../dataplane/*.go")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		if name := filepath.Base(f); name != "doc.go" && !strings.HasSuffix(name, "_test.go") && !strings.Contains(string(page), name) {
			t.Errorf("the page of dataplane does not name %s", name)
		}
	}
}
