package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"softswitch/internal/control"
	"softswitch/internal/timer"
	"softswitch/unit"
)

func showCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "show",
		Short: "Show what a running switch counts, holds and knows",
		Long: `Show what running switches count, hold and know, in the words and columns of
SONiC: of all switches of a lab, of those that are named, or of the one behind a
control socket (run --control).`,
		Example: `  sudo softswitch show pfc counters
  sudo softswitch show priority-group watermark headroom core0 --watch
  sudo softswitch show deadlock --name mylab --check-deadlock
  sudo softswitch show queue counters --socket /run/s1.sock --json`,
	}
	s := &shower{}
	s.target.flags(c)
	c.PersistentFlags().BoolVar(&s.json, "json", false, "print JSON: an object by switch")
	c.PersistentFlags().DurationVar(&s.watch, "watch", 0, "show it again and again, at this interval (--watch alone: 2s)")
	c.PersistentFlags().Lookup("watch").NoOptDefVal = "2s"
	group(c, s.pfc(), s.pfcwd(), s.priorityGroup(), s.queue(), s.buffer(), s.deadlock(), s.itsy(), s.interfaces(), s.route(), s.mac(), s.arp())
	return c
}

// shower is how things are shown.
type shower struct {
	target target
	json   bool
	watch  time.Duration
}

// below makes a command that holds others.
func below(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short}
	group(c, commands...)
	return c
}

// view is something to show: fetch asks a switch for it, tables makes it readable. T is
// what --json prints.
type view[T any] struct {
	use, short, long string
	fetch            func(control.Endpoint) (T, error)
	// prepare, unless it is nil, looks at all answers before tables is called for each.
	prepare func([]T)
	tables  func(T) []table
	// merge puts the tables of all switches into one, with a column Switch; empty is what
	// is said when it has no rows.
	merge bool
	empty string
	// check, unless it is nil, says after each showing whether the result is as expected.
	check func([]T) error
}

// command is the command that shows v.
func command[T any](s *shower, v view[T]) *cobra.Command {
	return &cobra.Command{
		Use: v.use + " [SWITCH...]", Short: v.short, Long: v.long,
		ValidArgsFunction: s.target.completeSwitches,
		RunE: func(cmd *cobra.Command, names []string) error {
			ends, err := s.target.switches(names)
			if err != nil {
				return err
			}
			return s.repeat(cmd.Context(), func(w io.Writer) error { return show(cmd.Context(), s, w, v, ends) })
		},
	}
}

// watchMin bounds how often switches are asked.
const watchMin = 100 * time.Millisecond

// repeat calls once, or with --watch again and again until ctx ends or it fails. A
// terminal is cleared before each.
func (s *shower) repeat(ctx context.Context, once func(io.Writer) error) error {
	if s.watch == 0 {
		return once(os.Stdout)
	}
	if s.watch < watchMin {
		return fmt.Errorf("--watch: %v; valid: %v or more", s.watch, watchMin)
	}
	tick := time.NewTicker(s.watch)
	defer tick.Stop()
	for {
		var page bytes.Buffer
		if isTerminal(os.Stdout) && !s.json {
			page.WriteString("\x1b[H\x1b[2J")
		}
		err := once(&page)
		if _, werr := os.Stdout.Write(page.Bytes()); werr != nil {
			return werr
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && !errors.Is(err, errUnmet) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// show shows v of all ends once.
func show[T any](ctx context.Context, s *shower, w io.Writer, v view[T], ends []control.Endpoint) error {
	ends, answers, silent := control.AskAll(ctx, ends, v.fetch)
	if len(ends) == 0 {
		return silent
	}
	write := writeTables[T]
	if s.json {
		write = writeJSON[T]
	}
	if err := write(w, s, v, ends, answers); err != nil {
		return err
	}
	if silent == nil && v.check != nil {
		return v.check(answers)
	}
	return silent
}

// writeJSON writes the answers as one object by switch, or the answer alone if there is
// one switch without a name; as one line if it is one of many.
func writeJSON[T any](w io.Writer, s *shower, _ view[T], ends []control.Endpoint, answers []T) error {
	byName := map[string]T{}
	for i, e := range ends {
		byName[e.Name] = answers[i]
	}
	var v any = byName
	if ends[0].Name == "" {
		v = answers[0]
	}
	enc := json.NewEncoder(w)
	if s.watch == 0 {
		enc.SetIndent("", "  ")
	}
	return enc.Encode(v)
}

func writeTables[T any](w io.Writer, _ *shower, v view[T], ends []control.Endpoint, answers []T) error {
	if v.prepare != nil {
		v.prepare(answers)
	}
	var all *table
	for i, e := range ends {
		tables := v.tables(answers[i])
		if v.merge {
			all = mergeTable(all, e.Name, &tables[0])
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
		return nil
	case len(all.rows) == 0 && v.empty != "":
		_, err := fmt.Fprintln(w, v.empty)
		return err
	}
	return all.write(w)
}

// mergeTable appends the rows of t, of the switch called name, to all.
func mergeTable(all *table, name string, t *table) *table {
	if name == "" {
		return t
	}
	if all == nil {
		all = &table{header: append([]string{"Switch"}, t.header...), left: t.left + 1}
	}
	for _, row := range t.rows {
		all.add(append([]string{name}, row...)...)
	}
	return all
}

// wallClock is the time of day of a point of a node's clock.
func wallClock(at unit.Time) time.Time { return time.Now().Add(time.Duration(at - timer.Now())) }

// clock is a point of a node's clock for people, "N/A" for none.
func clock(at unit.Time) string {
	if at == 0 {
		return "N/A"
	}
	return wallClock(at).Format("2006-01-02 15:04:05.000")
}

// milliseconds is t for people.
func milliseconds(t unit.Time) string { return fmt.Sprintf("%.1f", float64(t)/1e6) }
