package fuzz

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"softswitch/internal/lists"
	"softswitch/unit"
)

// Table is a report that has a row of each case and what was compared.
type Table interface {
	// WriteRows writes the rows as CSV (RFC 4180 with \n at the end of lines), the names of the columns
	// first. What there is nothing to tell of is empty.
	WriteRows(w io.Writer) error
}

// Column is a column of rows.
type Column struct {
	Key  string // times end in _ns, in nanoseconds
	Text string // what it is
}

// column is one with what it has of a row.
type column[R any] struct {
	Column
	of func(r *R) string
}

// columnsOf are the columns without what they have.
func columnsOf[R any](all []column[R]) []Column {
	return lists.Map(all, func(c column[R]) Column { return c.Column })
}

// keysOf are the names of columns, for people.
func keysOf(all []Column) string {
	return strings.Join(lists.Map(all, func(c Column) string { return c.Key }), ", ")
}

// writeRows writes n rows, of which row gives each.
func writeRows[R any](w io.Writer, columns []column[R], n int, row func(i int) R) error {
	out := csv.NewWriter(w)
	out.Write(lists.Map(columns, func(c column[R]) string { return c.Key })) // its errors come with Flush
	cells := make([]string, len(columns))
	for i := range n {
		r := row(i)
		for k, c := range columns {
			cells[k] = c.of(&r)
		}
		out.Write(cells)
	}
	out.Flush()
	return out.Error()
}

// detectorRow is a case with a detector.
type detectorRow struct {
	seed     uint64
	index    int
	mode     Mode
	shape    string
	detector string
	*PairedRun
}

// detectorColumns are those of modes in which the oracle judges a detector.
var detectorColumns = []column[detectorRow]{
	{Column{"seed", "of the run"}, func(r *detectorRow) string { return strconv.FormatUint(r.seed, 10) }},
	{Column{"case", "its number, from 0; with seed and mode it determines the case"}, func(r *detectorRow) string { return strconv.Itoa(r.index) }},
	{Column{"mode", "of the run"}, func(r *detectorRow) string { return string(r.mode) }},
	{Column{"shape", "the kind of fabric"}, func(r *detectorRow) string { return r.shape }},
	{Column{"detector", "its name"}, func(r *detectorRow) string { return r.detector }},
	{Column{"right", "`true` if all deadlocks that had to be declared were, and nothing falsely or prematurely; else `false`"}, func(r *detectorRow) string {
		if r.Invalid != "" {
			return ""
		}
		return strconv.FormatBool(r.right())
	}},
	{Column{"verdict", "`found`, `missed`, `false`, `premature`, `invalid`, `late` or `nothing`"}, func(r *detectorRow) string { return r.verdict() }},
	{Column{"deadlocks", "that had to be declared"}, valid(func(r *detectorRow) int { return r.Deadlocks })},
	{Column{"found", "of them, declared"}, valid(func(r *detectorRow) int { return r.Found })},
	{Column{"false_positives", "declarations that never came true"}, valid(func(r *detectorRow) int { return r.FalsePositives })},
	{Column{"premature", "declarations that came true later"}, valid(func(r *detectorRow) int { return r.Premature })},
	{Column{"late", "declarations less than 32 hops after the end of their deadlock"}, valid(func(r *detectorRow) int { return r.Late })},
	{Column{"kind", "of the first deadlock: `strong`, `split` or `flooding`; this and the next five are empty without one"}, first(func(f *FirstDeadlock) string { return f.Kind })},
	{Column{"size", "queues that were ever in it"}, first(func(f *FirstDeadlock) string { return strconv.Itoa(f.Queues) })},
	{Column{"onset_ns", "when it formed"}, first(func(f *FirstDeadlock) string { return nanoseconds(f.Onset) })},
	{Column{"declared_ns", "when it was declared first; this and the next two are empty if it was not"}, declared(func(f *FirstDeadlock) string { return nanoseconds(f.Declared) })},
	{Column{"latency_ns", "from one to the other"}, declared(func(f *FirstDeadlock) string { return nanoseconds(f.Declared - f.Onset) })},
	{Column{"latency_laps", "the same in laps of the declared loop"}, declared(func(f *FirstDeadlock) string { return strconv.FormatFloat(float64(f.Laps)/1000, 'f', 3, 64) })},
	{Column{"messages", "control frames that the detector cost: its messages, and early repetitions of pauses"}, valid(func(r *detectorRow) int { return r.Control })},
	{Column{"state_bytes", "the detector's own state, in the switch that has most"}, valid(func(r *detectorRow) int { return r.State })},
	{Column{"frame_hops", "arrivals of frames at nodes"}, func(r *detectorRow) string { return strconv.FormatUint(r.Frames, 10) }},
}

// RowColumns are the columns of rows of modes in which the oracle judges a detector.
func RowColumns() []Column { return columnsOf(detectorColumns) }

// RowKeys are the names of RowColumns, for people.
func RowKeys() string { return keysOf(RowColumns()) }

// valid is a column of runs that are valid.
func valid(of func(r *detectorRow) int) func(r *detectorRow) string {
	return func(r *detectorRow) string {
		if r.Invalid != "" {
			return ""
		}
		return strconv.Itoa(of(r))
	}
}

// first is a column of runs with a deadlock.
func first(of func(f *FirstDeadlock) string) func(r *detectorRow) string {
	return func(r *detectorRow) string {
		if r.First == nil {
			return ""
		}
		return of(r.First)
	}
}

// declared is a column of runs whose first deadlock was declared.
func declared(of func(f *FirstDeadlock) string) func(r *detectorRow) string {
	return first(func(f *FirstDeadlock) string {
		if f.Declared == 0 {
			return ""
		}
		return of(f)
	})
}

func nanoseconds(t unit.Time) string { return strconv.FormatInt(int64(t), 10) }
