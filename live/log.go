package live

import (
	"time"

	"softswitch/event"
	"softswitch/unit"
)

// Events wait to be passed on, since encoding and writing them takes the processor, and
// at once would be the very moment at which the next pause comes in: pauses come in
// avalanches. After logDelay they are passed on when the node is awake anyway: to wake
// every few milliseconds for the log alone cost a fabric of nodes a tenth of a
// processor, and lossless frames with it. A node that nothing wakes passes them on after
// logIdle.
const (
	logDelay = 30 * unit.Millisecond
	logIdle  = 50 * time.Millisecond
)

// logger passes the node's events on, outside its lock.
type logger struct {
	sink  func([]event.Event)
	news  chan struct{} // one slot: there are events that have waited
	idle  *time.Timer   // nothing has woken the node since there are events
	sync  chan chan struct{}
	close chan struct{}
}

func (l *logger) init(sink func([]event.Event)) {
	if sink == nil {
		sink = func([]event.Event) {}
	}
	l.sink, l.news, l.close = sink, make(chan struct{}, 1), make(chan struct{})
	l.idle = time.NewTimer(logIdle)
	l.idle.Stop()
	l.sync = make(chan chan struct{})
}

func (l *logger) wake() {
	select {
	case l.news <- struct{}{}:
	default:
	}
}

// stop ends loop after it has passed on what is there.
func (l *logger) stop() { close(l.close) }

func (l *logger) loop(n *Node) func() {
	var batch []event.Event
	pass := func() {
		n.mu.Lock()
		batch, n.pending = n.pending, batch[:0]
		n.mu.Unlock()
		if len(batch) > 0 {
			l.sink(batch)
		}
	}
	return func() {
		defer l.idle.Stop()
		for {
			select {
			case <-l.news:
				pass()
			case <-l.idle.C:
				pass()
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
