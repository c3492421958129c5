package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
)

// leaves are the commands that do something, without those that are hidden.
func leaves(t *testing.T) (all []*cobra.Command) {
	t.Helper()
	eachCommand(root(), func(c *cobra.Command) {
		for at := c; at != nil; at = at.Parent() {
			if at.Hidden {
				return
			}
		}
		if !cli.IsGroup(c) {
			all = append(all, c)
		}
	})
	if len(all) < 80 {
		t.Fatalf("%d commands", len(all))
	}
	return all
}

// helpOf is what `softswitch WORDS --help` prints.
func helpOf(t *testing.T, words ...string) string {
	t.Helper()
	var out bytes.Buffer
	c := root()
	c.SetOut(&out)
	c.SetArgs(append(words, "--help"))
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestHelp: the commands, and those of lab, are on one screen of 24 lines of 80 columns; whatever does
// something has an example, which calls it, and says what its exit status means.
func TestHelp(t *testing.T) {
	for _, words := range [][]string{{}, {"lab"}} {
		text := helpOf(t, words...)
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if len(lines) > 24 {
			t.Errorf("softswitch %s--help has %d lines", strings.Join(append(words, ""), " "), len(lines))
		}
		for _, line := range lines {
			if len([]rune(line)) > 80 {
				t.Errorf("softswitch %s--help: %d columns: %s", strings.Join(append(words, ""), " "), len([]rune(line)), line)
			}
		}
		c, _, err := root().Find(words)
		if err != nil {
			t.Fatal(err)
		}
		for _, sub := range c.Commands() {
			shown := regexp.MustCompile(`(?m)(^| )` + regexp.QuoteMeta(sub.Name()) + "  +[A-Z]").MatchString(text)
			if shown == sub.Hidden {
				t.Errorf("%s: hidden %v, in help %v", sub.CommandPath(), sub.Hidden, shown)
			}
		}
	}
	status := regexp.MustCompile(`(?m)^Exit status: `)
	for _, c := range leaves(t) {
		words := strings.Fields(c.CommandPath())[1:]
		text := helpOf(t, words...)
		if !status.MatchString(text) {
			t.Errorf("%s --help has no line that begins with Exit status", c.CommandPath())
		}
		if !strings.Contains(c.Example, c.CommandPath()) {
			t.Errorf("%s has no example of its own: %q", c.CommandPath(), c.Example)
		}
	}
}

// TestGroups: a command that only holds others is not done without one of them.
func TestGroups(t *testing.T) {
	groups := 0
	eachCommand(root(), func(c *cobra.Command) {
		if !cli.IsGroup(c) {
			return
		}
		groups++
		r := root()
		r.SetOut(new(bytes.Buffer))
		r.SetArgs(strings.Fields(c.CommandPath())[1:])
		if err := r.Execute(); err == nil || !strings.Contains(err.Error(), "which command? valid: ") {
			t.Errorf("%s: %v", c.CommandPath(), err)
		}
	})
	if groups < 15 {
		t.Errorf("%d groups", groups)
	}
}
