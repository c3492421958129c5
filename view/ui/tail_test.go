package ui

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"softswitch/event"
	"softswitch/event/follow"
	"softswitch/oracle"
	"softswitch/unit"
)

// logFile is an event log that a test writes.
type logFile struct {
	*testing.T
	path string
	node event.Node
}

func newLog(t *testing.T) *logFile {
	return &logFile{t, filepath.Join(t.TempDir(), "events.jsonl"), event.Node{ID: 7, Name: "s7"}}
}

// write appends lines of link events at these times, without the last cut bytes.
func (l *logFile) write(cut int, times ...unit.Time) (rest []byte) {
	l.Helper()
	var data []byte
	for _, at := range times {
		data = l.node.Append(data, event.Event{At: at, Type: event.LinkUp})
	}
	l.append(data[:len(data)-cut])
	return data[len(data)-cut:]
}

func (l *logFile) append(data []byte) {
	l.Helper()
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		l.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		l.Fatal(err)
	}
}

// want reads on and checks what comes up to a time.
func (l *logFile) want(tail *logTail, to unit.Time, times ...unit.Time) {
	l.Helper()
	l.Cleanup(tail.Close)
	if more, err := tail.grow(); more || err != nil {
		l.Fatalf("grow: more %v, %v", more, err)
	}
	got := tail.until(to, nil)
	ok := len(got) == len(times)
	for i := range got {
		ok = ok && got[i].At == times[i] && got[i].Node == 7
	}
	if !ok {
		var at []unit.Time
		for _, e := range got {
			at = append(at, e.At)
		}
		l.Fatalf("events at %v: want %v", at, times)
	}
}

func TestTail(t *testing.T) {
	l := newLog(t)
	tail := &logTail{Log: follow.Open(l.path), id: 7}
	l.want(tail, 100) // the file is not there yet
	l.write(0, 10, 20)
	l.want(tail, 15, 10)
	l.want(tail, 100, 20)
	rest := l.write(12, 30, 40)
	l.want(tail, 100, 30) // the last line is cut
	l.append(rest)
	l.want(tail, 100, 40)
	l.want(tail, 100)
}

// TestTailAnew: a node that began a new log is noticed.
func TestTailAnew(t *testing.T) {
	l := newLog(t)
	tail := &logTail{Log: follow.Open(l.path), id: 7}
	l.write(0, 10, 20)
	l.want(tail, 100, 10, 20)
	if err := os.Truncate(l.path, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := tail.grow(); !errors.Is(err, follow.ErrAnew) {
		t.Errorf("the log began anew: %v, want %v", err, follow.ErrAnew)
	}
}

// TestReadMerges: entries come in order of time, and only up to where all logs were read.
func TestReadMerges(t *testing.T) {
	a, b := newLog(t), newLog(t)
	a.write(0, 10, 30, 50)
	b.write(0, 20, 40)
	v := &view{logs: []*logTail{{Log: follow.Open(a.path), id: 1}, {Log: follow.Open(b.path), id: 2}}}
	var got []unit.Time
	take := func(entries []oracle.Entry, more bool, err error) {
		t.Helper()
		if more || err != nil {
			t.Fatalf("more %v, %v", more, err)
		}
		for _, e := range entries {
			got = append(got, e.At)
		}
	}
	take(v.read(35))
	take(v.read(100))
	want := []unit.Time{10, 20, 30, 40, 50}
	for i := range want {
		if len(got) != len(want) || got[i] != want[i] {
			t.Fatalf("events at %v: want %v", got, want)
		}
	}
}

// TestTailRejects: what is no event is told of, and does not end the reading.
func TestTailRejects(t *testing.T) {
	l := newLog(t)
	tail := &logTail{Log: follow.Open(l.path), id: 7}
	l.append([]byte("this is no event\n"))
	if _, err := tail.grow(); err == nil {
		t.Error("a line that is no event was taken")
	}
	l.write(0, 10)
	l.want(tail, 100, 10)
}
