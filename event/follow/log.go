package follow

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"softswitch/event"
)

// chunk is how many bytes of a log are read at once; every line is shorter.
const chunk = 1 << 18

// ErrAnew says that a log was replaced: it is another file now, or shorter than what
// was read of it. The next read starts at its beginning.
var ErrAnew = errors.New("it was replaced")

// Log is the log of one node, read while it grows. Open makes one; use it from one
// goroutine.
type Log struct {
	path string
	file *os.File // nil: not yet opened, or it does not exist
	at   int64    // bytes of the file that have been read
	rest []byte   // the incomplete line at their end
	node event.Node
}

// Open makes a Log of the file at path. A file that does not exist, yet or any more,
// has no events.
func Open(path string) *Log { return &Log{path: path} }

// Read reads on, at most a chunk, and returns the events in complete lines; more says
// that there was something to read. An error names the file; the next call continues
// behind it, after ErrAnew at the beginning.
func (l *Log) Read() (events []event.Event, more bool, err error) {
	if l.file == nil {
		l.file, err = os.Open(l.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			l.file = nil
			return nil, false, nil
		case err != nil:
			l.file = nil
			return nil, false, fmt.Errorf("follow: %w", err)
		}
	}
	info, err := l.file.Stat()
	if err != nil {
		return nil, false, fmt.Errorf("follow: %w", err)
	}
	had := len(l.rest)
	buf := make([]byte, had+int(max(0, min(chunk, info.Size()-l.at)))) // no more than is there: most reads find little
	copy(buf, l.rest)
	n, err := l.file.ReadAt(buf[had:], l.at)
	if err != nil && err != io.EOF {
		return nil, false, fmt.Errorf("follow: %w", err)
	}
	if n == 0 {
		_, err = l.look()
		return nil, false, err
	}
	l.at += int64(n)
	buf = buf[:had+n]
	end := bytes.LastIndexByte(buf, '\n') + 1
	l.rest = buf[end:]
	events, err = l.decode(buf[:end], false)
	return events, true, err
}

// End returns the event in the last line if only its newline is missing, for a log that
// no longer grows; cut says that the last line has no newline.
func (l *Log) End() (events []event.Event, cut bool) {
	if len(l.rest) == 0 {
		return nil, false
	}
	events, _ = l.decode(l.rest, true) // a line that is cut short gives no event
	return events, true
}

// Node is the node of the log, as far as it has been read.
func (l *Log) Node() *event.Node { return &l.node }

// Size is the number of bytes read.
func (l *Log) Size() int64 { return l.at }

// Close closes the file.
func (l *Log) Close() {
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
}

// decode decodes lines.
func (l *Log) decode(lines []byte, cut bool) ([]event.Event, error) {
	from := l.at - int64(len(l.rest))
	if !cut {
		from -= int64(len(lines))
	}
	log, err := event.Decode(fmt.Sprintf("%s from byte %d", l.path, from), lines, cut)
	if err != nil {
		err = fmt.Errorf("follow: %w", err)
	}
	if len(log.Events) == 0 {
		return nil, err
	}
	l.node.ID, l.node.Name = log.Node.ID, log.Node.Name
	for i, name := range log.Node.Ports {
		if i == len(l.node.Ports) {
			l.node.Ports = append(l.node.Ports, "")
		}
		if name != "" {
			l.node.Ports[i] = name
		}
	}
	return log.Events, err
}

// look reports whether the file exists. If the log was replaced it goes back to the
// beginning and returns ErrAnew. A removed log stays open, because nothing has replaced
// it yet.
func (l *Log) look() (there bool, err error) {
	now, err := os.Stat(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("follow: %w", err)
	}
	if l.file == nil {
		return true, nil
	}
	was, err := l.file.Stat()
	if err != nil {
		return true, fmt.Errorf("follow: %w", err)
	}
	if os.SameFile(was, now) && now.Size() >= l.at {
		return true, nil
	}
	l.Close()
	l.at, l.rest = 0, nil
	return true, fmt.Errorf("%s: %w", l.path, ErrAnew)
}
