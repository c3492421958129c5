package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"softswitch/detect/catalog"
	"softswitch/internal/testkit"
	"softswitch/scenarios"
)

func topicText(t *testing.T, words ...string) string {
	t.Helper()
	var out bytes.Buffer
	c := root()
	c.SetOut(&out)
	c.SetArgs(append([]string{"help"}, words...))
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestTopics: the help of the program names every topic, the shell completes it, and its text has all
// that it is about.
func TestTopics(t *testing.T) {
	var detectors, responses, filters []string
	for _, d := range catalog.Detectors() {
		detectors = append(detectors, d.Name, d.About)
	}
	for _, r := range catalog.Responses() {
		responses = append(responses, r.Name, r.About)
	}
	page, err := os.ReadFile("../../docs/wireshark.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("`((?:itsy|clcm)(?:[.][a-z_]+)*)`").FindAllStringSubmatch(string(page), -1) {
		if m[1] != "itsy.lua" && m[1] != "itsy.keys" { // a file, and a preference
			filters = append(filters, m[1])
		}
	}
	if len(filters) < 40 {
		t.Fatalf("%d filters in docs/wireshark.md", len(filters))
	}
	want := map[string][]string{
		"scenario":  append(scenarios.Offered(), "  static_th  (0 to 1073741824; default 36864)\n", "\nTOPOLOGY.RING\n"),
		"switch":    {"  detector  (", "\nSWITCH\n"[1:], "\nPORTS[]\n"},
		"host":      {"\nHOST\n"[1:], "  port  ("},
		"profile":   {"\nPROFILE\n"[1:], "  lossless  ("},
		"detectors": detectors, "responses": responses, "filters": filters,
	}
	help := helpOf(t)
	for _, topic := range topics() {
		if !regexp.MustCompile(`(?m)^More: .*\|` + topic.name + `\b`).MatchString(help) {
			t.Errorf("softswitch --help does not name topic %s", topic.name)
		}
		if offered := completed(t, "help", ""); !strings.Contains(strings.Join(offered, "\n"), topic.name) {
			t.Errorf("help is not completed by %s: %v", topic.name, offered)
		}
		text := topicText(t, topic.name)
		if len(want[topic.name]) == 0 {
			t.Errorf("nothing is wanted of topic %s", topic.name)
		}
		for _, w := range want[topic.name] {
			if !strings.Contains(text, w) {
				t.Errorf("help %s has no %q", topic.name, w)
			}
		}
	}
	eachCommand(root(), func(c *cobra.Command) {
		for _, name := range topicNames() {
			if c.Parent() == c.Root() && c.Name() == name && !c.Hidden {
				t.Errorf("%s is a command and a topic", name)
			}
		}
	})
}

// TestManual: every command that help shows, and every kind of file, has a page that man formats without
// a complaint, with a name and no flag of two forms.
func TestManual(t *testing.T) {
	testkit.Need(t, "groff")
	dir := t.TempDir()
	c := root()
	c.SetArgs([]string{"gen", "man", "--out", dir, "--source", "../.."})
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(pages) < len(leaves(t)) {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	out, err := exec.Command("groff", append([]string{"-man", "-Tutf8", "-ww", "-z"}, pages...)...).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("groff: %v\n%.2000s", err, out)
	}
	sections := map[string]int{}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		sections[filepath.Ext(page)]++
		if !regexp.MustCompile(`(?m)^\.SH NAME\nsoftswitch\S* \\?- \S`).Match(text) || bytes.Contains(text, []byte("[=false]")) {
			t.Errorf("%s begins with\n%.300s", page, text)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "softswitch-gen.1")); err == nil {
		t.Error("a page for a command that is hidden")
	}
	if sweep, err := os.ReadFile(filepath.Join(dir, "softswitch-sweep.1")); err != nil || !strings.Contains(string(sweep), "latency_ns") {
		t.Errorf("softswitch-sweep.1 has no list of columns: %v", err)
	}
	if sections[".5"] != 4 {
		t.Errorf("pages by section: %v", sections)
	}
	if top, err := os.ReadFile(filepath.Join(dir, "softswitch.1")); err != nil || !strings.Contains(string(top), `\fB--version\fP`) {
		t.Errorf("softswitch.1 has no --version: %v", err)
	}
}
