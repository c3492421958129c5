package live

import (
	"time"

	"softswitch/event"
	"softswitch/unit"
)

// Events are collected before they are passed on. Encoding and writing them takes
// processor time, and at once would be just when the next pause arrives: pauses come in
// avalanches. After logDelay they are passed on the next time the node is awake. Waking
// up every few milliseconds for the log alone cost a fabric of nodes a tenth of a
// processor, and lossless frames with it. A node that nothing wakes passes them on
// after logIdle.
const (
	logDelay = 30 * unit.Millisecond
	logIdle  = 50 * time.Millisecond
)

// lossesMax limits the losses waiting to be reported.
const lossesMax = 64

// loss is frames that a port could not send.
type loss struct {
	port   *port
	frames int
	err    error // of the last of them
}

// logger passes on the node's events and losses, outside its locks.
type logger struct {
	sink   func([]event.Event)
	due    chan struct{} // one slot: events have waited long enough
	idle   *time.Timer   // fires if nothing wakes the node after an event
	losses chan loss
	sync   chan chan struct{}
	close  chan struct{}
}

func (l *logger) init(sink func([]event.Event)) {
	if sink == nil {
		sink = func([]event.Event) {}
	}
	l.sink, l.due, l.close = sink, make(chan struct{}, 1), make(chan struct{})
	l.idle = time.NewTimer(logIdle)
	l.idle.Stop()
	l.losses = make(chan loss, lossesMax)
	l.sync = make(chan chan struct{})
}

func warn(n *Node, s loss) {
	n.opt.Warn("port %s: %s not sent: %v", s.port.opt.Name, unit.Count(s.frames, "frame"), s.err)
}

func (l *logger) wake() {
	select {
	case l.due <- struct{}{}:
	default:
	}
}

// stop ends loop after it has passed on what is pending.
func (l *logger) stop() { close(l.close) }

func (l *logger) loop(n *Node) func() {
	batch := make([]event.Event, 0, eventsFirst)
	pass := func() {
		n.mu.Lock()
		batch, n.pending = n.pending, batch[:0]
		n.mu.Unlock()
		if len(batch) > 0 {
			l.sink(batch)
		}
		for {
			select {
			case s := <-l.losses:
				warn(n, s)
			default:
				return
			}
		}
	}
	return func() {
		defer l.idle.Stop()
		for {
			select {
			case <-l.due:
				pass()
			case <-l.idle.C:
				pass()
			case s := <-l.losses:
				warn(n, s)
			case done := <-l.sync:
				pass()
				close(done)
			case <-l.close:
				pass()
				return
			}
		}
	}
}
