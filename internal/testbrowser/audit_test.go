package testbrowser_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"softswitch/internal/testbrowser"
)

// TestAudit: each fault of a page that has many is found, and none of one that has none.
func TestAudit(t *testing.T) {
	const good = `<!doctype html><html lang="en"><title>t</title><header><h1>a</h1></header><main><h2>b</h2>
<p role="status">c</p><button style="min-width:30px;height:30px">d</button><label>e <select style="width:60px;height:30px"><option>f</select></label></main><footer>g</footer></html>`
	const bad = `<!doctype html><html><h2>b</h2><p id="x" style="color:#999">pale</p><p id="x">y</p><label for="nobody">z</label>
<button style="width:10px;height:10px"></button><img src="data:,"><span tabindex="3">q</span></html>`
	audit := func(page string) []string {
		file := filepath.Join(t.TempDir(), "page.html")
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		return testbrowser.Open(t, "file://"+file, testbrowser.Look{}).Audit()
	}
	if faults := audit(good); len(faults) > 0 {
		t.Errorf("of a good page: %q", faults)
	}
	faults := audit(bad)
	for _, want := range []string{"no language", "no title", "no header", "tells of changes", "called x", "nobody, which", "follows a heading of level 0", "order of the focus", "less than 24", "no text in its place", "a contrast of 2.8", "a button has no name"} {
		if !slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, want) }) {
			t.Errorf("%q is not among the faults: %q", want, faults)
		}
	}
}
