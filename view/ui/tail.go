package ui

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"softswitch/event"
	"softswitch/oracle"
	"softswitch/unit"
)

// pieceMax is how much of a log is read at once, in bytes.
const pieceMax = 4 << 20

// errShrunk: a log is shorter than what was read of it, so its node has begun a new one.
var errShrunk = errors.New("its log is shorter than it was")

// logTail reads an event log as it grows.
type logTail struct {
	path    string
	id      unit.NodeID
	read    int64  // bytes
	cut     []byte // a line whose end is not there yet
	pending []event.Event
	seq     int
}

// grow reads what the log has got, at most pieceMax; more reports whether there is more.
// A log that is not there yet is empty.
func (t *logTail) grow() (more bool, err error) {
	f, err := os.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		if t.read > 0 {
			return false, errShrunk
		}
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	switch {
	case info.Size() < t.read:
		return false, errShrunk
	case info.Size() == t.read:
		return false, nil
	}
	n := min(info.Size()-t.read, pieceMax)
	data := slices.Grow(t.cut, int(n))[:len(t.cut)+int(n)]
	got, err := f.ReadAt(data[len(t.cut):], t.read)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	data = data[:len(t.cut)+got]
	t.read += int64(got)
	whole := bytes.LastIndexByte(data, '\n') + 1
	log, err := event.Decode(t.path, data[:whole], false)
	t.cut = slices.Clone(data[whole:])
	t.pending = append(t.pending, log.Events...)
	return t.read < info.Size(), err
}

// until takes the events up to a time.
func (t *logTail) until(at unit.Time, dst []oracle.Entry) []oracle.Entry {
	n := 0
	for n < len(t.pending) && t.pending[n].At <= at {
		e := t.pending[n]
		dst = append(dst, oracle.Entry{Node: t.id, Seq: t.seq, Event: &e})
		t.seq++
		n++
	}
	t.pending = slices.Delete(t.pending, 0, n)
	return dst
}

// read reads on in all logs and returns the events, in order of time, up to the time up
// to which all of them were read; more reports whether that is before the time to.
func (v *view) read(to unit.Time) (entries []oracle.Entry, more bool, err error) {
	var faults []error
	for _, t := range v.logs {
		behind, err := t.grow()
		if behind && len(t.pending) > 0 {
			more = true
			to = min(to, t.pending[len(t.pending)-1].At)
		}
		if err != nil {
			faults = append(faults, err)
		}
	}
	for _, t := range v.logs {
		entries = t.until(to, entries)
	}
	slices.SortFunc(entries, func(a, b oracle.Entry) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Seq, b.Seq))
	})
	return entries, more, errors.Join(faults...)
}
