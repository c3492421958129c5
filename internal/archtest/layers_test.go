package archtest

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// layer is a row of the table in ARCHITECTURE.md. A package imports only packages of
// layers above its own row, or of its own folder.
type layer struct {
	pure bool
	dirs []string
}

var (
	layerRow = regexp.MustCompile("^\\| (\\d+) \\| ((?:`[a-z/-]+`(?:, )?)+) \\| (yes|no) \\| .+ \\|$")
	quoted   = regexp.MustCompile("`([^`]+)`")
)

// parseLayers reads the rows between the heading of the layers and the next one. The
// error names the line.
func parseLayers(text string) (layers []layer, err error) {
	in := false
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "## ") {
			in = line == "## Where things are"
		}
		if !in || !strings.HasPrefix(line, "|") || len(layers) == 0 && !strings.HasPrefix(line, "| 0 ") {
			continue
		}
		cells := layerRow.FindStringSubmatch(line)
		if cells == nil || cells[1] != fmt.Sprint(len(layers)) {
			return nil, fmt.Errorf("ARCHITECTURE.md:%d: want | %d | `package`, `package` | yes or no | what they are |, have %q", i+1, len(layers), line)
		}
		l := layer{pure: cells[3] == "yes"}
		for _, dir := range quoted.FindAllStringSubmatch(cells[2], -1) {
			l.dirs = append(l.dirs, dir[1])
		}
		layers = append(layers, l)
	}
	if len(layers) == 0 {
		return nil, fmt.Errorf("ARCHITECTURE.md: no table of layers below \"## Where things are\"")
	}
	return layers, nil
}

func newChecker(t *testing.T) checker {
	t.Helper()
	text, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	layers, err := parseLayers(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return checker{layers}
}

// layerOf is the layer of a package of this module, by its folder or a folder
// above it; -1 if it has none.
func (k checker) layerOf(dir string) (layer int, folder string) {
	for d := dir; d != "."; d = path.Dir(d) {
		for i, l := range k.layers {
			if slices.Contains(l.dirs, d) {
				return i, d
			}
		}
	}
	return -1, ""
}

// TestLayersExist finds folders of the table that are no more.
func TestLayersExist(t *testing.T) {
	for i, l := range newChecker(t).layers {
		for _, dir := range l.dirs {
			if _, err := os.Stat("../../" + dir); err != nil {
				t.Errorf("ARCHITECTURE.md: layer %d has %s: %v", i, dir, err)
			}
		}
	}
}

// TestParseLayers reads a small table, and refuses rows that would go unseen.
func TestParseLayers(t *testing.T) {
	const head = "## Where things are\n\n| layer | packages | pure | what they are |\n|---|---|---|---|\n"
	got, err := parseLayers(head + "| 0 | `unit` | yes | values |\n| 1 | `a`, `b/c` | no | `d` |\n\n## Next\n| 0 | x |\n")
	if err != nil || len(got) != 2 || !got[0].pure || got[1].pure || !slices.Equal(got[1].dirs, []string{"a", "b/c"}) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{
		"",
		head,
		head + "| 0 | `unit` | perhaps | values |\n",
		head + "| 0 | unit | yes | values |\n",
		head + "| 0 | `unit` | yes | values |\n| 2 | `a` | no | skipped one |\n",
	} {
		if got, err := parseLayers(bad); err == nil {
			t.Errorf("%q: %+v, want an error", bad, got)
		}
	}
}
