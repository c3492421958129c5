package node

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"sync"

	"softswitch/event"
	"softswitch/internal/safefile"
	"softswitch/node/config"
	"softswitch/unit"
)

// eventLog is the file of a node's events. It counts the events it cannot write: a
// judge of the log must know of them.
type eventLog struct {
	node  event.Node
	hosts unit.PortSet // whose far end is a host
	max   int64        // bytes
	tell  func(string) // is told what is wrong with the log, once, when it happens
	buf   []byte       // used only by the goroutine that writes
	flaps flaps        // same
	// refreshes leaves repeated pauses out, nil if all are written; same.
	refreshes *event.Refreshes

	mu      sync.Mutex
	file    *os.File // guarded by mu
	size    int64    // guarded by mu: bytes that were written
	missing uint64   // guarded by mu: events that were not written
	err     error    // guarded by mu: why not; nothing is written after it
}

// newEventLog makes the log that cfg describes.
func newEventLog(cfg config.Live, node event.Node, hosts unit.PortSet, tell func(string)) (*eventLog, error) {
	f, err := safefile.Create(cfg.Events)
	if err != nil {
		return nil, fmt.Errorf("event log: %w", err)
	}
	l := &eventLog{node: node, hosts: hosts, max: int64(cmp.Or(cfg.LogLimit, config.DefaultLogLimit)) << 20, tell: tell, file: f}
	if cfg.LogRefreshes == config.LogCounted {
		l.refreshes = new(event.Refreshes)
	}
	return l, nil
}

// write writes events, or counts them. Call it from one goroutine only.
func (l *eventLog) write(events []event.Event) {
	events = l.flaps.fold(events, l.hosts)
	if l.refreshes != nil {
		events = l.refreshes.Thin(events)
	}
	l.buf = l.buf[:0]
	for _, e := range events {
		l.buf = l.node.Append(l.buf, e)
	}
	if err := l.append(len(events)); err != nil {
		l.tell(fmt.Sprintf("event log: %v; events are missing from now on", err))
	}
}

// append writes buf, which holds this number of events, and returns what is wrong with the log if that is new.
func (l *eventLog) append(events int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, had := 0, l.err
	switch {
	case l.err != nil:
	case l.size+int64(len(l.buf)) > l.max:
		l.err = fmt.Errorf("it is full: live.log_limit_mib is %d", l.max>>20)
	default:
		n, l.err = l.file.Write(l.buf)
	}
	l.size += int64(n)
	l.missing += uint64(events - bytes.Count(l.buf[:n], []byte("\n")))
	if had != nil {
		return nil
	}
	return l.err
}

// state is the length of the log in bytes, and what is wrong with it, "" if nothing.
func (l *eventLog) state() (size int64, problem string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		problem = fmt.Sprintf("%v; %s missing", l.err, unit.Count(l.missing, "event"))
	}
	return l.size, problem
}

// close closes the file; it also returns an error if events are missing.
func (l *eventLog) close() error {
	err := l.file.Close()
	if _, problem := l.state(); problem != "" {
		return errors.New(problem)
	}
	return err
}

// flapsKept is how many times a queue may be paused or resumed in one batch of events
// before the rest is folded.
const flapsKept = 8

// flaps folds the events of a host that pauses and resumes a queue thousands of times a
// second: from each batch it removes the ends of pauses that another pause follows,
// along with that pause. The queue then appears to be paused throughout. A queue that
// leads to a host is part of no deadlock, whatever it waits for, so the oracle's
// judgement does not change.
type flaps struct {
	queues [][unit.Priorities]flap // by port, of as many as there were such events of
	drop   []bool
	kept   []event.Event
}

// flap is what happened to a queue in this batch.
type flap struct {
	seen  int // events
	ended int // index + 1 of the event that ended its last pause
}

// fold returns events with flaps removed. The result is valid until the next call.
func (f *flaps) fold(events []event.Event, hosts unit.PortSet) []event.Event {
	clear(f.queues)
	f.drop = append(f.drop[:0], make([]bool, len(events))...)
	folded := false
	for i := range events {
		e := &events[i]
		if e.Type != event.Paused && e.Type != event.Resumed && e.Type != event.Expired || !hosts.Has(e.Out) || e.HasPeriod {
			continue
		}
		for int(e.Out) >= len(f.queues) {
			f.queues = append(f.queues, [unit.Priorities]flap{})
		}
		switch q := &f.queues[e.Out][e.OutPriority]; {
		case q.seen < flapsKept:
			q.seen++
		case e.Type != event.Paused:
			q.ended = i + 1
		case q.ended > 0:
			f.drop[q.ended-1], f.drop[i], folded = true, true, true
			q.ended = 0
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
