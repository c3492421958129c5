package sweep

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"

	"softswitch/internal/lists"
	"softswitch/oracle/verdict"
	"softswitch/unit"
)

// Format is how rows are written.
type Format int

const (
	// CSV is RFC 4180 with \n at the end of lines: the names of the columns, then a line a
	// row. What there is nothing to tell of is empty.
	CSV Format = iota
	// JSONLines is an object a row, with the columns in their order. What there is nothing
	// to tell of is null.
	JSONLines
)

// rows writes rows in their order, whatever the order in which they come: each as soon as
// those before it have been written.
type rows struct {
	out     io.Writer
	format  Format
	columns []verdict.Figure

	mu      sync.Mutex
	waiting map[int][]byte // for those before them
	next    int            // the row to be written next, while nothing was left out
	written int
	err     error // the first in writing
}

func newRows(out io.Writer, format Format, columns []verdict.Figure) *rows {
	return &rows{out: out, format: format, columns: columns, waiting: map[int][]byte{}}
}

// head writes what comes before the rows.
func (r *rows) head() error {
	if r.format != CSV {
		return nil
	}
	_, r.err = r.out.Write(r.line(lists.Map(r.columns, func(c verdict.Figure) any { return c.Key })))
	return r.err
}

// add takes row i, which may be written later. It returns the first error in writing any.
func (r *rows) add(i int, cells []any) error {
	line := r.line(cells)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting[i] = line
	for {
		line, ok := r.waiting[r.next]
		if !ok || r.err != nil {
			return r.err
		}
		r.write(r.next, line)
		r.next++
	}
}

// rest writes the rows that still wait, because one before them will not come. It returns
// the first error in writing any.
func (r *rows) rest() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, i := range slices.Sorted(maps.Keys(r.waiting)) {
		r.write(i, r.waiting[i])
	}
	return r.err
}

func (r *rows) write(i int, line []byte) {
	if r.err != nil {
		return
	}
	if _, r.err = r.out.Write(line); r.err == nil {
		r.written++
	}
	delete(r.waiting, i)
}

// line is cells as they are written.
func (r *rows) line(cells []any) []byte {
	var b bytes.Buffer
	if r.format == CSV {
		words := make([]string, len(cells))
		for i, c := range cells {
			switch c := c.(type) {
			case nil:
			case unit.Time:
				words[i] = strconv.FormatInt(int64(c), 10)
			default:
				words[i] = fmt.Sprint(c)
			}
		}
		w := csv.NewWriter(&b)
		w.Write(words) // b takes everything
		w.Flush()
		return b.Bytes()
	}
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	put := func(v any) {
		if err := enc.Encode(v); err != nil {
			panic("sweep: " + err.Error()) // cells are words and numbers
		}
		b.Truncate(b.Len() - 1) // the encoder's end of line
	}
	for i, c := range cells {
		b.WriteString(map[bool]string{true: "{", false: ", "}[i == 0])
		put(r.columns[i].Key)
		b.WriteString(": ")
		put(c)
	}
	b.WriteString("}\n")
	return b.Bytes()
}
