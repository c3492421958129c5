package lab

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	netnslab "softswitch/netns-lab"
	"softswitch/node/config"
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

// check returns all reasons why a plan that can be simulated cannot become a lab: names
// that are not valid for files or interfaces, configurations that a node would reject.
// It makes nothing. Refuse says what namespaces cannot play.
func check(p *scenario.Plan) error {
	var errs []error
	if _, err := netnslab.Plan(Describe(p, Options{Program: "/softswitch"}), "/"); err != nil {
		errs = append(errs, err)
	}
	for _, s := range p.Switches {
		_, _, err := config.LoadSwitch(s.Name, s.Marshal())
		errs = append(errs, err)
	}
	for _, h := range p.Hosts {
		_, err := config.LoadHost(h.Name, h.Marshal())
		errs = append(errs, err)
	}
	return errors.Join(errs...)
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
		if err := check(planOf(t, file, string(text))); err != nil {
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
		if err := check(planOf(t, "file", strings.ReplaceAll(string(text), old, name))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	bad := planOf(t, "file", string(text))
	bad.Switches[0].Name, bad.Hosts[0].Gateway = "../s1", 0
	err = check(bad)
	for _, want := range []string{`node name "../s1"`, "gateway: missing"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
