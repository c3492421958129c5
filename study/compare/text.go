package compare

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"softswitch/internal/lists"
)

// WriteText writes the result in words, then a line a row, one a system, and one a row with
// connections, for people.
func (c *Comparison) WriteText(w io.Writer) error {
	result := c.result()
	said := result.First + "\n"
	for _, s := range result.Statements {
		said += "\n" + s.What + ":\n  " + s.List() + "\n"
	}
	said += c.equal()
	if _, err := io.WriteString(w, said+"\n"); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, o := range outcomes {
		if c.where(func(r *Row) bool { return r.Outcome() == o.Outcome }) != nil {
			fmt.Fprintf(t, "%s\t%s\n", o.Outcome, o.Meaning)
		}
	}
	fmt.Fprintln(t, "\nscenario\tsystem\toutcome\tlatency ms\trecovery ms\tagain\tlost\tdropped\tpoliced\tinnocent at end, or why not")
	for i := range c.Rows {
		r := &c.Rows[i]
		if r.Figures == nil {
			fmt.Fprintf(t, "%s\t%s\t%s%s\t%s\n", r.Scenario, r.System, r.Outcome(), strings.Repeat("\t"+nothing, 6), r.reason())
			continue
		}
		outcome, atEnd := r.brief()
		keys := []string{"latency_ns", "recovery_ns", "recurrences", "response_dropped", "policed"}
		figures := lists.Map(keys, func(key string) string { return told(r.Sums, key) })
		figures = slices.Insert(figures, 3, strconv.Itoa(r.lost()))
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", r.Scenario, r.System, outcome, strings.Join(figures, "\t"), atEnd)
	}
	for _, rows := range [][][]string{c.totalRows(), c.connectionRows()} {
		for i, cells := range rows {
			if i == 0 {
				cells[0] = "\n" + cells[0]
			}
			fmt.Fprintln(t, strings.Join(cells, "\t"))
		}
	}
	return t.Flush()
}
