package show

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// table is a table in SONiC's style: right-aligned columns, a rule of dashes.
type table struct {
	title  string // a line above, "" for none
	header []string
	rows   [][]string
	// left is how many of the first columns are left-aligned.
	left int
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// one returns a function that makes the table t of an answer, with the rows that add adds.
func one[T any](t table, add func(*table, T)) func(T) []table {
	return func(answer T) []table {
		t := t
		add(&t, answer)
		return []table{t}
	}
}

// write writes the table.
func (t *table) write(w io.Writer) error {
	widths := make([]int, len(t.header))
	for i, h := range t.header {
		widths[i] = utf8.RuneCountInString(h)
	}
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var s strings.Builder
	if t.title != "" {
		s.WriteString(t.title + "\n")
	}
	rule := make([]string, len(widths))
	for i, n := range widths {
		rule[i] = strings.Repeat("-", n)
	}
	for _, row := range append([][]string{t.header, rule}, t.rows...) {
		var line strings.Builder
		for i, cell := range row {
			if i > 0 {
				line.WriteString("  ")
			}
			width := widths[i]
			if i < t.left {
				width = -width
			}
			fmt.Fprintf(&line, "%*s", width, cell)
		}
		s.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	_, err := io.WriteString(w, s.String())
	return err
}

// Thousands formats n with commas, as SONiC prints counters.
func Thousands[T ~uint64 | ~int64 | ~int](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// numbered returns numbered names: "PFC0" to "PFC7".
func numbered(name string) (names []string) {
	for i := range 8 {
		names = append(names, name+strconv.Itoa(i))
	}
	return names
}
