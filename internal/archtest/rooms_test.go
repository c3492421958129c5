package archtest

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// row is a row of the table in ARCHITECTURE.md: rooms, which are top-level folders, and those of
// their packages that are pure. A room imports only rooms of the rows below its own.
type row struct {
	rooms []string
	// pure are the packages below rooms that are pure: all of them if all is true, less those of
	// but; else those of only.
	all       bool
	but, only []string
}

var (
	rowLine = regexp.MustCompile("^\\| (\\d+) \\| ((?:`[a-z-]+`(?:, )?)+) \\| ([^|]+) \\| .+ \\|$")
	quoted  = regexp.MustCompile("`([^`]+)`")
	pureAll = regexp.MustCompile("^all(?: but ((?:`[a-z/-]+`(?:, )?)+))?$")
	pureFew = regexp.MustCompile("^(?:`[a-z/-]+`(?:, )?)+$")
)

// parseRows reads the rows between the heading of the rooms and the next one. The error names the
// line.
func parseRows(text string) (rows []row, err error) {
	in := false
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "## ") {
			in = line == "## Where things are"
		}
		if !in || !strings.HasPrefix(line, "|") || len(rows) == 0 && !strings.HasPrefix(line, "| 1 ") {
			continue
		}
		cells := rowLine.FindStringSubmatch(line)
		if cells == nil || cells[1] != fmt.Sprint(len(rows)+1) {
			return nil, fmt.Errorf("ARCHITECTURE.md:%d: want | %d | `room`, `room` | what is pure | what they are |, have %q", i+1, len(rows)+1, line)
		}
		r := row{rooms: names(cells[2])}
		switch all := pureAll.FindStringSubmatch(cells[3]); {
		case all != nil:
			r.all, r.but = true, names(all[1])
		case pureFew.MatchString(cells[3]):
			r.only = names(cells[3])
		case cells[3] != "none":
			return nil, fmt.Errorf("ARCHITECTURE.md:%d: pure: %q; valid: all, all but `package`, `package`, none", i+1, cells[3])
		}
		for _, dir := range slices.Concat(r.but, r.only) {
			if !slices.Contains(r.rooms, room(dir)) {
				return nil, fmt.Errorf("ARCHITECTURE.md:%d: pure: %s is in no room of this row", i+1, dir)
			}
		}
		rows = append(rows, r)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("ARCHITECTURE.md: no table of rooms below \"## Where things are\"")
	}
	return rows, nil
}

// names are the quoted names of a cell.
func names(cell string) (all []string) {
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		all = append(all, m[1])
	}
	return all
}

func newChecker(t *testing.T) checker {
	t.Helper()
	text, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := parseRows(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return checker{rows}
}

// room is the top-level folder of a package of this module.
func room(dir string) string {
	top, _, _ := strings.Cut(dir, "/")
	return top
}

// rowOf is the number of the row of a package's room, 0 if it has none.
func (k checker) rowOf(dir string) int {
	return 1 + slices.IndexFunc(k.rows, func(r row) bool { return slices.Contains(r.rooms, room(dir)) })
}

// pure reports whether a package is.
func (k checker) pure(dir string) bool {
	n := k.rowOf(dir)
	if n == 0 || forTests(dir) {
		return false
	}
	r := k.rows[n-1]
	return r.all && !slices.Contains(r.but, dir) || slices.Contains(r.only, dir)
}

// TestRoomsExist finds folders of the table that are no more.
func TestRoomsExist(t *testing.T) {
	for i, r := range newChecker(t).rows {
		for _, dir := range slices.Concat(r.rooms, r.but, r.only) {
			if _, err := os.Stat("../../" + dir); err != nil {
				t.Errorf("ARCHITECTURE.md: row %d has %s: %v", i+1, dir, err)
			}
		}
	}
}

// TestParseRows reads a small table, and refuses rows that would go unseen.
func TestParseRows(t *testing.T) {
	const head = "## Where things are\n\n| row | rooms | pure | what they are |\n|---|---|---|---|\n"
	got, err := parseRows(head + "| 1 | `a`, `b` | `b/c` | `d` |\n| 2 | `e` | all but `e/f` | g |\n| 3 | `unit` | all | values |\n| 4 | `h` | none | i |\n\n## Next\n| 1 | x |\n")
	want := []row{{rooms: []string{"a", "b"}, only: []string{"b/c"}}, {rooms: []string{"e"}, all: true, but: []string{"e/f"}}, {rooms: []string{"unit"}, all: true}, {rooms: []string{"h"}}}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{
		"",
		head,
		head + "| 1 | `unit` | perhaps | values |\n",
		head + "| 1 | `unit` | all but | values |\n",
		head + "| 1 | unit | all | values |\n",
		head + "| 1 | `unit/below` | all | values |\n",
		head + "| 1 | `unit` | `other/a` | values |\n",
		head + "| 1 | `unit` | all | values |\n| 3 | `a` | none | skipped one |\n",
	} {
		if got, err := parseRows(bad); err == nil {
			t.Errorf("%q: %+v, want an error", bad, got)
		}
	}
}
