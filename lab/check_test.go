package lab

import (
	"io/fs"
	"strings"
	"testing"

	"softswitch/scenario"
	"softswitch/scenario/load"
	"softswitch/scenarios"
)

func planOf(t *testing.T, name, text string) *scenario.Plan {
	t.Helper()
	s, err := load.Scenario(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p, err := scenario.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestCheckOfGoodFiles: whatever is committed can be built.
func TestCheckOfGoodFiles(t *testing.T) {
	files, err := fs.Glob(scenarios.FS, "*.yaml")
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := scenarios.FS.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(planOf(t, file, string(text))); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestCheck: what the simulator plays and no lab can hold is named.
func TestCheck(t *testing.T) {
	text, err := scenarios.FS.ReadFile("pause.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"s1", "leaf.1", ""},
		{"s1", "a-switch-that-has-a-name-of-32-c", ""},
		{"h2", "Z_9", ""},
		{"duration: 3s", "duration: 2562047h", "duration 2562047h0m0s: a lab plays at most 8760h0m0s"},
	} {
		err := Check(planOf(t, "file", strings.ReplaceAll(string(text), c.old, c.new)))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", c.new, err, c.want)
		}
	}
}
