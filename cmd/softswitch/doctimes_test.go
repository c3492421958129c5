package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// Who types a command wants to know whether to wait for it: what takes longer than ten seconds on two
// processors has its time beside it, "# about 50 s".

// theTime is that of a command, where one is written beside it.
var theTime = regexp.MustCompile(`\babout (\d+) (s|min|h)\b`)

// saysTime reports where a command took longer than ten seconds and does not say so, or twice as long as
// it says.
func saysTime(command string, took time.Duration) error {
	written := 10 * time.Second
	if m := theTime.FindStringSubmatch(command); m != nil {
		d, err := time.ParseDuration(m[1] + strings.TrimSuffix(m[2], "in"))
		if err != nil {
			return err
		}
		written = max(written, 2*d)
	}
	if took > written {
		return fmt.Errorf("$ %s: took %v: write beside it how long it takes, as # about 50 s", command, took.Round(time.Second))
	}
	return nil
}

// TestSaysTime: which commands are at fault.
func TestSaysTime(t *testing.T) {
	for _, c := range []struct {
		command string
		took    time.Duration
		ok      bool
	}{
		{"a", 9 * time.Second, true},
		{"a", 11 * time.Second, false},
		{"a   # about 20 s", 30 * time.Second, true},
		{"a   # about 20 s", 41 * time.Second, false},
		{"a   # about 2 min: b", 3 * time.Minute, true},
		{"a   # about 2 min: b", 5 * time.Minute, false},
		{"a   # about 1 h", 90 * time.Minute, true},
		{"a   # about 5 s", 9 * time.Second, true},
	} {
		if err := saysTime(c.command, c.took); (err == nil) != c.ok {
			t.Errorf("%q, %v: %v", c.command, c.took, err)
		}
	}
}

// lasting are the commands that no guide plays and that take longer than ten seconds.
var lasting = regexp.MustCompile(`sim fuzz .*--n \d{4,}|sim frames .*--n \d{8,}|sim bench|lab run .*--repeat|lab worlds |doctor --lab|` +
	`softswitch compare --(html|markdown|world)|compare traffic .*--runs|cmd/bench forward|two-machines\.sh |macsec\.sh lab`)

// TestTimes: the blocks of pages and the examples of commands say how long such commands take, and so
// does CONTRIBUTING.md of each target of make.
func TestTimes(t *testing.T) {
	n := 0
	hold := func(where, line string) {
		if !lasting.MatchString(line) || strings.Contains(line, "campaign init") {
			return
		}
		n++
		if !theTime.MatchString(line) {
			t.Errorf("%s: %s: no time beside it, such as # about 50 s", where, line)
		}
	}
	for path, page := range guidePages(t) {
		code := false
		for i, line := range page {
			if strings.HasPrefix(line, "```") {
				code = !code
			} else if code || strings.HasPrefix(line, "    ") {
				hold(fmt.Sprintf("%s:%d", path, i+1), line)
			}
		}
	}
	eachCommand(root(), func(c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			hold(c.CommandPath(), strings.TrimSuffix(line, "\n"))
		}
	})
	if n < 25 {
		t.Errorf("only %d commands that take long were found", n)
	}

	text, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `(?:sudo )?make.*$").FindAllString(string(text), -1)
	for _, row := range rows {
		if cells := strings.Split(row, "|"); len(cells) != 5 || !theTime.MatchString(cells[3]) {
			t.Errorf("CONTRIBUTING.md: %s: no time in the third column", row)
		}
	}
	if len(rows) < 25 {
		t.Errorf("CONTRIBUTING.md has %d targets", len(rows))
	}
}
