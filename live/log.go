package live

import (
	"time"

	"softswitch/event"
)

// logDelay is how long events wait to be passed on. Encoding and writing them would
// otherwise take the processor at the very moment at which the next pause comes in:
// pauses come in avalanches.
const logDelay = 5 * time.Millisecond

// logger passes the node's events on, outside its lock.
type logger struct {
	sink  func([]event.Event)
	news  chan struct{} // one slot: there are events
	sync  chan chan struct{}
	close chan struct{}
}

func (l *logger) init(sink func([]event.Event)) {
	if sink == nil {
		sink = func([]event.Event) {}
	}
	l.sink, l.news, l.close = sink, make(chan struct{}, 1), make(chan struct{})
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
		due := time.NewTimer(logDelay)
		due.Stop()
		defer due.Stop()
		for {
			select {
			case <-l.news:
				due.Reset(logDelay)
			case <-due.C:
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
