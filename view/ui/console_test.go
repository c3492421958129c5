package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"softswitch/internal/timer"
	netnslab "softswitch/netns-lab"
)

// TestReadable: what a guest writes is text of bounded length, whatever it is.
func TestReadable(t *testing.T) {
	for name, c := range map[string]struct{ said, want string }{
		"nothing":           {"", ""},
		"a prompt":          {"\x1b[6n/ # \r\n\r\n", "/ # "},
		"colours":           {"\x1b[1;31mred\x1b[0m", "red"},
		"a bell, a delete":  {"a\a\x7fb\x00", "ab"},
		"half a character":  {"\xa4a", "\uFFFDa"},
		"markup":            {"<b>&amp;", "<b>&amp;"},
		"more lines":        {"0\n" + strings.Repeat("x\r\n", consoleLines), strings.Repeat("x\n", consoleLines-1) + "x"},
		"a line that fits":  {strings.Repeat("é", consoleRunes), strings.Repeat("é", consoleRunes)},
		"a line too long":   {strings.Repeat("é", consoleRunes+1), strings.Repeat("é", consoleRunes-1) + "…"},
		"an escape, by cut": {"31mred", "31mred"},
	} {
		if got := readable([]byte(c.said)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestConsoles: a state has the end of the console of each guest, and none of a host without a guest.
func TestConsoles(t *testing.T) {
	t.Setenv(netnslab.RunDirVariable, t.TempDir())
	v, _ := lateView(t)
	v.gone[0], v.gone[1] = true, true
	look := func() (last State) {
		t.Helper()
		if err := v.look(t.Context(), timer.Now(), func(s State) { last = s }); err != nil {
			t.Fatal(err)
		}
		return last
	}
	if s := look(); s.Consoles != nil {
		t.Errorf("without guests there are consoles: %v", s.Consoles)
	}
	node := len(v.w.switches)
	path := filepath.Join(netnslab.Dir("none"), v.w.nodes[node].Name, netnslab.ConsoleLog)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("gone"+strings.Repeat("\n", consoleBytes)+"first\nlast\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := look()
	if len(s.Consoles) != 1 || s.Consoles[0].Node != node || !strings.HasSuffix(s.Consoles[0].Text, "\nfirst\nlast") || strings.Contains(s.Consoles[0].Text, "gone") {
		t.Errorf("consoles %v, want the end of that of node %d", s.Consoles, node)
	}
}
