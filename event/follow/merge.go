package follow

import (
	"errors"
	"fmt"

	"softswitch/event"
	"softswitch/internal/lists"
	"softswitch/unit"
)

// Entry is an event and its node. Node has the port names that the log has mentioned so
// far.
type Entry struct {
	Node *event.Node
	event.Event
}

// Merger merges logs. OpenAll makes one; use it from one goroutine.
type Merger struct{ sources []*source }

// source is a log with the events read ahead.
type source struct {
	*Log
	dry    bool // the end was reached; no more until Refresh
	events []event.Event
}

// OpenAll makes a Merger of the logs at these paths.
func OpenAll(paths []string) *Merger {
	return &Merger{lists.Map(paths, func(path string) *source { return &source{Log: Open(path)} })}
}

// Next is the next entry with a time up to until; ok is false if there is none now. An
// error names the file; the next call continues behind it.
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
	e = Entry{next.Node(), next.events[0]}
	next.events = next.events[1:]
	return e, true, nil
}

// Name names a port of any node whose log is merged, "agg0-0 to-core1", with the port's
// number if no log has named it.
func (m *Merger) Name(np unit.NodePort) string {
	for _, s := range m.sources {
		if n := s.Node(); n.ID == np.Node {
			return n.Name + " " + Entry{Node: n}.name(np.Port)
		}
	}
	return fmt.Sprintf("node %d port %d", np.Node, np.Port)
}

// fill reads more events if none is left. A replaced log is read from its beginning.
func (s *source) fill() (err error) {
	for more := true; len(s.events) == 0 && !s.dry; s.dry = !more {
		if s.events, more, err = s.Read(); errors.Is(err, ErrAnew) {
			more, err = true, nil
		}
		if err != nil {
			s.dry = !more
			return err
		}
	}
	return nil
}

// Refresh makes Next check the logs that had no more events, and those that were
// replaced. gone says that none of the logs exists any more.
func (m *Merger) Refresh() (gone bool, err error) {
	gone = true
	var errs []error
	for _, s := range m.sources {
		s.dry = false
		there, err := s.look()
		if there {
			gone = false
		}
		if !errors.Is(err, ErrAnew) {
			errs = append(errs, err)
		}
	}
	return gone, errors.Join(errs...)
}

// Close closes the logs.
func (m *Merger) Close() {
	for _, s := range m.sources {
		s.Close()
	}
}
