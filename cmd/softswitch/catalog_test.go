package main

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"softswitch/detect/catalog"
	"softswitch/play/validate"
	"softswitch/scenario/load"
	"softswitch/scenarios"
	"softswitch/study/compare"
)

// TestDetectorsEverywhere: a detector of the catalogue is in help and completion of every
// command with --detector, in the schemas, among the systems to compare, and can be named
// in a scenario and in the file of a switch.
func TestDetectorsEverywhere(t *testing.T) {
	var all []*cobra.Command
	eachCommand(root(), func(c *cobra.Command) {
		if c.Flags().Lookup("detector") != nil {
			all = append(all, c)
		}
	})
	if len(all) < 7 { // run, demo, lab deploy, lab run, sim run, sim bench, sim fuzz
		t.Fatalf("%d commands have --detector", len(all))
	}
	text, err := scenarios.FS.ReadFile("pause.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range catalog.Detectors() {
		for _, c := range all {
			if !slices.Contains(namesIn(c.Flags().Lookup("detector").Usage), d.Name) {
				t.Errorf("%s --help does not offer %s", c.CommandPath(), d.Name)
			}
			if offered := completed(t, append(strings.Fields(c.CommandPath())[1:], "--detector", "")...); !slices.Contains(offered, d.Name) {
				t.Errorf("%s --detector is not completed by %s: %v", c.CommandPath(), d.Name, offered)
			}
		}
		for _, name := range []string{"scenario", "switch"} {
			if !slices.Contains(detectorsOfSchema(t, name), d.Name) {
				t.Errorf("docs/schema/%s.json does not know %s; run make docs", name, d.Name)
			}
		}
		if !slices.ContainsFunc(compare.Systems(), func(s compare.System) bool { return s.Name == d.Name && s.Detector == d.Name }) {
			t.Errorf("compare --systems does not know %s", d.Name)
		}
		for file, text := range map[string]string{
			"scenario.yaml": string(text) + "detector: " + d.Name + "\n",
			"switch.yaml":   "name: s1\nid: 1\nports: [{name: a}, {name: b}]\ndetector: " + d.Name + "\n",
		} {
			if v := validate.Check(file, []byte(text)); !v.OK {
				t.Errorf("%s with detector %s: %+v", file, d.Name, v.Faults)
			}
		}
	}
	if s, err := load.Scenario("pause.yaml", text); err != nil || s.Detector != catalog.Default {
		t.Errorf("a scenario that names no detector runs %s (%v), want %s", s.Detector, err, catalog.Default)
	}
}

// TestDefaultDetector: commands that need no file have the same default as files.
func TestDefaultDetector(t *testing.T) {
	for _, words := range []string{"sim bench", "sim fuzz"} {
		c, _, err := root().Find(strings.Fields(words))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Flags().Lookup("detector").DefValue; got != catalog.Default {
			t.Errorf("%s: --detector is %q by default, want %q", words, got, catalog.Default)
		}
	}
}

func eachCommand(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range c.Commands() {
		eachCommand(sub, do)
	}
}

// namesIn are the names in a flag's description, which stand between commas and spaces.
func namesIn(usage string) []string {
	return strings.FieldsFunc(usage, func(r rune) bool { return strings.ContainsRune(" ,:()", r) })
}

// completed is what the shell is offered after these words.
func completed(t *testing.T, args ...string) []string {
	t.Helper()
	var out bytes.Buffer
	c := root()
	c.SetOut(&out)
	c.SetErr(new(bytes.Buffer))
	c.SetArgs(append([]string{cobra.ShellCompNoDescRequestCmd}, args...))
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	return strings.Split(out.String(), "\n")
}

// detectorsOfSchema are the values that a schema has for the key "detector".
func detectorsOfSchema(t *testing.T, name string) []string {
	t.Helper()
	data, err := os.ReadFile("../../docs/schema/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties struct {
			Detector struct{ Enum []string }
		}
	}
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	return schema.Properties.Detector.Enum
}
