package ui

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	netnslab "softswitch/netns-lab"
)

// Bounds of what is shown of a console.
const (
	consoleBytes = 4096 // that are read of its end
	consoleLines = 8
	consoleRunes = 120 // of a line
)

// consoles are the consoles of the guests that are there: of each the end of what it has said.
func (v *view) consoles() (all []Console) {
	for i, n := range v.w.nodes {
		said, err := endOf(filepath.Join(netnslab.Dir(v.st.Name), n.Name, netnslab.ConsoleLog))
		if err == nil { // or it has no guest
			all = append(all, Console{Node: i, Text: readable(said)})
		}
	}
	return all
}

// endOf is the last consoleBytes of a file.
func endOf(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-consoleBytes), consoleBytes))
}

// controls are the sequences by which a program moves a terminal's cursor or colours its text (ECMA-48,
// clause 5.4).
var controls = regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]")

// readable is the last lines of what a terminal was sent, as plain text.
func readable(said []byte) string {
	text := controls.ReplaceAllString(strings.ToValidUTF8(string(said), "\uFFFD"), "")
	text = strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, text)
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	lines = slices.Clone(lines[max(0, len(lines)-consoleLines):])
	for i, line := range lines {
		if runes := []rune(line); len(runes) > consoleRunes {
			lines[i] = string(runes[:consoleRunes-1]) + "…"
		}
	}
	return strings.Join(lines, "\n")
}
