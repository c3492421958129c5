package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCurl runs the lines of docs/show.md that ask a switch with curl.
func TestCurl(t *testing.T) {
	doc, err := os.ReadFile("../../docs/show.md")
	if err != nil {
		t.Fatal(err)
	}
	b := newBed(t, "curl", "sh")
	b.must("deploy", "-t", "../../scenarios/pause.yaml")
	dir := t.TempDir()
	replace := strings.NewReplacer("/run/softswitch/ss/core0", filepath.Join(b.runDir, b.name, "s1"), "-m 5", "-m 3")
	asked := 0
	for line := range strings.Lines(string(doc)) {
		line, ok := strings.CutPrefix(line, "$ sudo curl")
		if !ok {
			continue
		}
		asked++
		cmd := b.program("sh", "-c", "curl"+replace.Replace(line))
		cmd.Dir = dir
		r := b.run(cmd)
		const timedOut = 28 // curl's exit status
		switch {
		case strings.Contains(line, "capture"):
			if d := b.run(b.command("decode", filepath.Join(dir, "core0.pcapng"))); r.code != timedOut || d.code != 0 || !strings.Contains(d.stdout, " frames: ") {
				t.Errorf("exit status %d of curl%s%d of decode", r.code, line, d.code)
			}
		case strings.Contains(line, "clear"):
			if r.code != 0 || r.stdout != "" {
				t.Errorf("exit status %d, answer %q of curl%s", r.code, r.stdout, line)
			}
		case r.code != 0 || !json.Valid([]byte(r.stdout)):
			t.Errorf("exit status %d, answer %q of curl%s", r.code, r.stdout, line)
		}
	}
	if asked < 4 {
		t.Errorf("docs/show.md has %d lines with curl, want 4", asked)
	}
}
