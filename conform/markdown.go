package conform

import (
	"fmt"
	"strings"
)

// Markdown is tables of cases, by group, and of the tests of others that they stand for.
func Markdown(cases []*Case) string {
	var b strings.Builder
	for _, letter := range Groups() {
		head := false
		for _, c := range cases {
			if c.Group() != letter {
				continue
			}
			if !head {
				fmt.Fprintf(&b, "## %s: %s\n\n| case | proves | clause | ports | passes if |\n|---|---|---|--:|---|\n", letter, GroupTitle(letter))
				head = true
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %d | %s |\n", c.ID, cell(c.Title), cell(c.Clause), c.Ports, cell(c.Bound))
		}
		if head {
			b.WriteString("\n")
		}
	}
	b.WriteString("## Whose tests these are\n\n")
	source := ""
	for _, f := range ForeignTests() {
		if f.Source != source {
			if source != "" {
				b.WriteString("\n")
			}
			source = f.Source
			fmt.Fprintf(&b, "| %s | | cases |\n|---|---|---|\n", sourceTitles[source])
		}
		ours := strings.Join(f.Cases(), ", ")
		if f.Not != "" {
			ours = strings.TrimPrefix(ours+"; "+f.Not, "; ")
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(f.Test), cell(f.About), cell(ours))
	}
	return b.String()
}

// cell is text in a cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`, "<", "&lt;").Replace(text)
}
