package eventlog

import (
	"errors"

	"softswitch/event"
	"softswitch/unit"
)

// Entry is an event and whose it is. Node names the ports that the log has named so far.
type Entry struct {
	Node *event.Node
	event.Event
}

// Merger merges logs. Open makes one; it is for one goroutine.
type Merger struct{ sources []*source }

// Open makes a Merger of the logs at these paths. A log that does not exist, yet or any
// more, has no events.
func Open(paths []string) *Merger {
	m := &Merger{}
	for _, path := range paths {
		m.sources = append(m.sources, &source{path: path})
	}
	return m
}

// Next is the next entry that is not after until; ok is false if there is none now. An
// error names the file; after it Next goes on with what follows.
func (m *Merger) Next(until unit.Time) (e Entry, ok bool, err error) {
	var next *source
	for _, s := range m.sources {
		if err := s.fill(); err != nil {
			return e, false, err
		}
		if len(s.events) > 0 && s.events[0].At <= until && (next == nil || s.events[0].At < next.events[0].At) {
			next = s
		}
	}
	if next == nil {
		return e, false, nil
	}
	e = Entry{&next.node, next.events[0]}
	next.events = next.events[1:]
	return e, true, nil
}

// Refresh makes Next look at logs that had no more events, and at those that were made
// anew. gone says that none of the logs exists any more.
func (m *Merger) Refresh() (gone bool, err error) {
	gone = true
	var errs []error
	for _, s := range m.sources {
		there, err := s.refresh()
		if there {
			gone = false
		}
		errs = append(errs, err)
	}
	return gone, errors.Join(errs...)
}

// Close closes the logs.
func (m *Merger) Close() {
	for _, s := range m.sources {
		s.close()
	}
}
