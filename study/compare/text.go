package compare

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
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
	fmt.Fprintln(t, "scenario\tsystem\toutcome\tlatency ms\trecovery ms\tagain\tlost\tdropped\tpoliced\tinnocent at end, or why not")
	for i := range c.Rows {
		r := &c.Rows[i]
		if r.Figures == nil {
			fmt.Fprintf(t, "%s\t%s\t%s%s\t%s\n", r.Scenario, r.System, r.Outcome(), strings.Repeat("\t"+nothing, 6), r.reason())
			continue
		}
		outcome, atEnd := r.brief()
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%s\n", r.Scenario, r.System, outcome, quantile(r.Latency, r.Latency.P50),
			quantile(r.Recovery, r.Recovery.P50), r.Recurrences, r.LosslessLost, r.ResponseDropped, r.Policed, atEnd)
	}
	fmt.Fprintf(t, "\n%s\n", strings.Join(totalHeads, "\t"))
	for _, total := range c.totals() {
		fmt.Fprintln(t, strings.Join(total.cells(), "\t"))
	}
	for i, r := range c.connected() {
		heads, cells := []string{"\nscenario", "system"}, []string{r.Scenario, r.System}
		for _, col := range connectionColumns {
			heads, cells = append(heads, col.Head), append(cells, col.Cell(r.Figures))
		}
		if i == 0 {
			fmt.Fprintln(t, strings.Join(heads, "\t"))
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	return t.Flush()
}
