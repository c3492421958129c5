package show

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"softswitch/internal/control"
	"softswitch/internal/timer"
	"softswitch/node/client"
	"softswitch/node/observe"
	"softswitch/unit"
)

// View is something to show: Fetch asks a switch for it, Tables formats it as text. T
// is its form in JSON.
type View[T any] struct {
	Fetch func(control.Endpoint) (T, error)
	// Prepare, unless nil, sees all answers before any is shown.
	Prepare func([]T)
	Tables  func(T) []table
	// Merge puts the tables of all switches into one, with a column Switch or, if it is not
	// empty, Node; Empty is
	// printed if it has no rows.
	Merge bool
	Node  string
	Empty string
	// Note, unless nil, returns a note to print below the tables; "" for none.
	Note func([]T) string
	// Check, unless nil, is called after each display and returns an error if the
	// result is not as expected.
	Check func([]T) error
}

// since is what the ports of a switch have counted since it was cleared.
type since[P any] struct {
	Cleared string `json:"cleared,omitempty"` // when, RFC 3339
	Ports   []P    `json:"ports"`
}

// fetchSince returns a Fetch of what was counted since the counters called what were cleared; of
// is what a port has counted since its switch began, and less takes an older count from that.
func fetchSince[P any](what string, of func(*observe.Switch, *observe.Port) P, less func(now, old *P)) func(control.Endpoint) (since[P], error) {
	return func(e control.Endpoint) (out since[P], err error) {
		c, err := client.Counters(e, what)
		if err != nil {
			return out, err
		}
		for i := range c.Switch.Ports {
			p := of(&c.Switch, &c.Switch.Ports[i])
			if c.Cleared != nil {
				old := of(&c.Cleared.Switch, &c.Cleared.Switch.Ports[i])
				less(&p, &old)
			}
			out.Ports = append(out.Ports, p)
		}
		if c.Cleared != nil {
			out.Cleared = c.Cleared.Time
		}
		return out, nil
	}
}

// Format is how something is shown.
type Format struct {
	JSON bool
	Line bool // JSON in one line
}

// Show asks switches and shows what they answer. The error tells of those that do not, or is
// that of Check.
func (v View[T]) Show(ctx context.Context, w io.Writer, ends []control.Endpoint, f Format) error {
	ends, answers, silent := control.AskAll(ctx, ends, v.Fetch)
	if len(ends) == 0 {
		return silent
	}
	write := v.Write
	if f.JSON {
		write = func(w io.Writer, ends []control.Endpoint, answers []T) error {
			return v.JSON(w, ends, answers, !f.Line)
		}
	}
	if err := write(w, ends, answers); err != nil {
		return err
	}
	if silent == nil && v.Check != nil {
		return v.Check(answers)
	}
	return silent
}

// JSON writes the answers, prepared, as JSON.
func (v View[T]) JSON(w io.Writer, ends []control.Endpoint, answers []T, indent bool) error {
	if v.Prepare != nil {
		v.Prepare(answers)
	}
	return JSON(w, ends, answers, indent)
}

// JSON writes the answers as one object by switch, or, for a single switch without a
// name, the answer alone; on several lines if indent is set.
func JSON[T any](w io.Writer, ends []control.Endpoint, answers []T, indent bool) error {
	byName := map[string]T{}
	for i, e := range ends {
		byName[e.Name] = answers[i]
	}
	var v any = byName
	if ends[0].Name == "" {
		v = answers[0]
	}
	enc := json.NewEncoder(w)
	if indent {
		enc.SetIndent("", "  ")
	}
	return enc.Encode(v)
}

// Write writes the tables of the answers, with the names of their switches.
func (v View[T]) Write(w io.Writer, ends []control.Endpoint, answers []T) error {
	if v.Prepare != nil {
		v.Prepare(answers)
	}
	var all *table
	for i, e := range ends {
		tables := v.Tables(answers[i])
		if v.Merge {
			all = mergeTable(all, cmp.Or(v.Node, "Switch"), e.Name, &tables[0])
			continue
		}
		if e.Name != "" {
			fmt.Fprintf(w, "%s%s:\n", map[bool]string{true: "\n"}[i > 0], e.Name)
		}
		for k := range tables {
			if k > 0 {
				fmt.Fprintln(w)
			}
			if err := tables[k].write(w); err != nil {
				return err
			}
		}
	}
	switch {
	case all == nil:
	case len(all.rows) == 0 && v.Empty != "":
		fmt.Fprintln(w, v.Empty)
	default:
		if err := all.write(w); err != nil {
			return err
		}
	}
	if v.Note != nil {
		if note := v.Note(answers); note != "" {
			_, err := fmt.Fprintln(w, note)
			return err
		}
	}
	return nil
}

// mergeTable appends the rows of t, of the node called name, to all.
func mergeTable(all *table, node, name string, t *table) *table {
	if name == "" {
		return t
	}
	if all == nil {
		all = &table{header: append([]string{node}, t.header...), left: t.left + 1}
	}
	for _, row := range t.rows {
		all.add(append([]string{name}, row...)...)
	}
	return all
}

// rfc3339 formats a time of a node's clock for programs, nil for none.
func rfc3339(at unit.Time) *string {
	if at == 0 {
		return nil
	}
	text := timer.WallClock(at).Format("2006-01-02T15:04:05.000000Z07:00")
	return &text
}

// clock formats a time of a node's clock for people, "N/A" for none.
func clock(at unit.Time) string {
	if at == 0 {
		return "N/A"
	}
	return timer.WallClock(at).Format("2006-01-02 15:04:05.000")
}

// Milliseconds formats t for people.
func Milliseconds(t unit.Time) string { return fmt.Sprintf("%.1f", float64(t)/1e6) }
