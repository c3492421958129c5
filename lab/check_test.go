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

// TestCheckOfNames: a lab can hold whatever a scenario may call a node, and says what it
// cannot.
func TestCheckOfNames(t *testing.T) {
	text, err := scenarios.FS.ReadFile("pause.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for old, name := range map[string]string{"s1": "leaf.1", "s2": "a-switch-that-has-a-name-of-32-c", "h2": "Z_9"} {
		if err := Check(planOf(t, "file", strings.ReplaceAll(string(text), old, name))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	bad := planOf(t, "file", string(text))
	bad.Switches[0].Name, bad.Hosts[0].Gateway = "../s1", 0
	err = Check(bad)
	for _, want := range []string{`node name "../s1"`, "gateway: missing"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
