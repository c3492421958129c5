package ui

import (
	"errors"
	"slices"

	"softswitch/event"
	"softswitch/event/follow"
	"softswitch/oracle"
	"softswitch/unit"
)

// piecesMax is how many pieces of all logs are read at once, but for two of each log: the second
// shows where it ends.
const piecesMax = 16

// beganAnew is no event of a log: it comes between the events of a log and those of the one that
// replaced it.
const beganAnew event.Type = 0

// logTail reads an event log as it grows.
type logTail struct {
	*follow.Log
	id      unit.NodeID
	pending []event.Event
	last    unit.Time // of what was read
	behind  bool      // there may be more than has been read
	seq     int
}

// grow reads what the log has got, no more than this number of pieces; more reports whether there
// may be more. While other logs are behind what has been read of this one it reads no further.
func (t *logTail) grow(pieces int) (more bool, err error) {
	if t.behind && len(t.pending) > 0 {
		return true, nil
	}
	defer func() { t.behind = more }()
	more = true
	for n := 0; more && err == nil && n < pieces; n++ {
		var events []event.Event
		events, more, err = t.Read()
		if errors.Is(err, follow.ErrAnew) {
			events, more, err = []event.Event{{At: t.last, Type: beganAnew}}, true, nil
		}
		if len(events) > 0 {
			t.pending = append(t.pending, events...)
			t.last = events[len(events)-1].At
		}
	}
	return more && err == nil, err
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
	if t.pending = slices.Delete(t.pending, 0, n); len(t.pending) == 0 {
		t.pending = nil // it may have been long
	}
	return dst
}

// read reads on in all logs and returns the events, in order of time, up to the time up
// to which all of them were read; more reports whether that is before the time to.
func (v *view) read(to unit.Time) (entries []oracle.Entry, more bool, err error) {
	var faults []error
	pieces := max(2, piecesMax/len(v.logs))
	for _, t := range v.logs {
		behind, err := t.grow(pieces)
		// One that grows while it is read is never read to its end: it is behind only before to.
		if n := len(t.pending); behind && n > 0 && t.pending[n-1].At < to {
			more, to = true, t.pending[n-1].At
		}
		if err != nil {
			faults = append(faults, err)
		}
	}
	for _, t := range v.logs {
		entries = t.until(to, entries)
	}
	oracle.Sort(entries)
	return entries, more, errors.Join(faults...)
}
