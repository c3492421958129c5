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

// lossesMax bounds the losses that wait to be told of.
const lossesMax = 64

// loss is frames that a port could not send.
type loss struct {
	port   *port
	frames int
	err    error // of the last of them
}

// logger passes the node's events and losses on, outside its locks.
type logger struct {
	sink   func([]event.Event)
	news   chan struct{} // one slot: there are events that have waited
	idle   *time.Timer   // nothing has woken the node since there are events
	losses chan loss
	sync   chan chan struct{}
	close  chan struct{}
}

func (l *logger) init(sink func([]event.Event)) {
	if sink == nil {
		sink = func([]event.Event) {}
	}
	l.sink, l.news, l.close = sink, make(chan struct{}, 1), make(chan struct{})
	l.idle = time.NewTimer(logIdle)
	l.idle.Stop()
	l.losses = make(chan loss, lossesMax)
	l.sync = make(chan chan struct{})
}

func warn(n *Node, s loss) {
	n.opt.Warn("port %s: %d frames were not sent: %v", s.port.opt.Name, s.frames, s.err)
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
			case <-l.news:
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
