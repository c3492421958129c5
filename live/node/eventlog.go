package node

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sync"

	"softswitch/event"
	"softswitch/unit"
)

// logMax bounds an event log in bytes: some 400,000 events. A ring of 100 Mbit/s links
// that deadlocks fills a hundredth of it in a second.
const logMax = 64 << 20

// eventLog is the file of a node's events. What it cannot take it counts: whoever judges
// by the log has to know.
type eventLog struct {
	node  event.Node
	hosts unit.PortSet // whose far end is a host
	max   int64        // bytes
	buf   []byte       // of the one goroutine that writes
	flaps flaps        // of that goroutine

	mu      sync.Mutex
	file    *os.File // guarded by mu
	size    int64    // guarded by mu: bytes that were written
	missing uint64   // guarded by mu: events that were not
	err     error    // guarded by mu: why; after it nothing is written
}

func newEventLog(path string, node event.Node, hosts unit.PortSet) (*eventLog, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("event log: %w", err)
	}
	return &eventLog{node: node, hosts: hosts, max: logMax, file: f}, nil
}

// write writes events, or counts them. It is for one goroutine.
func (l *eventLog) write(events []event.Event) {
	events = l.flaps.fold(events, l.hosts)
	l.buf = l.buf[:0]
	for _, e := range events {
		l.buf = l.node.Append(l.buf, e)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	switch {
	case l.err != nil:
	case l.size+int64(len(l.buf)) > l.max:
		l.err = fmt.Errorf("it is full: %d bytes are the most", l.max)
	default:
		n, l.err = l.file.Write(l.buf)
	}
	l.size += int64(n)
	l.missing += uint64(len(events) - bytes.Count(l.buf[:n], []byte("\n")))
}

// state is how long the log is in bytes, and what is wrong with it, "" for nothing.
func (l *eventLog) state() (size int64, problem string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		problem = fmt.Sprintf("%v; %d events are missing", l.err, l.missing)
	}
	return l.size, problem
}

// close closes the file; the error is also that of what it could not take.
func (l *eventLog) close() error {
	err := l.file.Close()
	if _, problem := l.state(); problem != "" {
		return errors.New(problem)
	}
	return err
}

// flapsKept is how often a queue may come to be paused or go on in one batch of events
// before what follows is folded.
const flapsKept = 8

// flaps folds what a host does that pauses and resumes a queue thousands of times a
// second: from its events of one batch it takes the ends of pauses that are followed by
// another, together with that. The queue then seems paused throughout. A queue that leads
// to a host is part of no deadlock, whatever it waits for, so the oracle's judgement is
// the same.
type flaps struct {
	seen  [unit.MaxPorts][unit.Priorities]uint16 // events of the queue in this batch
	ended [unit.MaxPorts][unit.Priorities]int    // index + 1 of the event with which its last pause ended
	drop  []bool
	kept  []event.Event
}

// fold returns events without what is folded. The result is valid until the next call.
func (f *flaps) fold(events []event.Event, hosts unit.PortSet) []event.Event {
	f.seen, f.ended = [unit.MaxPorts][unit.Priorities]uint16{}, [unit.MaxPorts][unit.Priorities]int{}
	f.drop = append(f.drop[:0], make([]bool, len(events))...)
	folded := false
	for i := range events {
		e := &events[i]
		if e.Type != event.Paused && e.Type != event.Resumed && e.Type != event.Expired || !hosts.Has(e.Out) || e.HasPeriod {
			continue
		}
		seen, ended := &f.seen[e.Out][e.OutClass], &f.ended[e.Out][e.OutClass]
		switch {
		case *seen < flapsKept:
			*seen++
		case e.Type != event.Paused:
			*ended = i + 1
		case *ended > 0:
			f.drop[*ended-1], f.drop[i], folded = true, true, true
			*ended = 0
		}
	}
	if !folded {
		return events
	}
	f.kept = f.kept[:0]
	for i := range events {
		if !f.drop[i] {
			f.kept = append(f.kept, events[i])
		}
	}
	return f.kept
}
