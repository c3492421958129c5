// The budget keeps what a node does for clients to a quarter of a processor, however many there
// are and whatever they send, as long as an answer takes no more than RestMax/restTimes, 17 ms: the
// rest after a longer one does not grow with it. A node forwards frames beside it, often on the same processor:
// what its clients take without bound, frames are lost for.
//
//	clients --> Budgeted, one in RestMin --> a request, read --> its answer, and then Rest
//
// Read in this order: Rest, Budgeted.
//
// What it does not do: it counts no processor time. Its user makes one answer at a time, and allows
// one request per connection, or rests after each.

package control

import (
	"net"
	"time"
)

// After an answer there is a rest of restTimes the time it took, at least RestMin, which is also
// for what net/http does to read a request, and at most RestMax, so that the next client does not
// wait for long.
const (
	restTimes = 3
	RestMin   = time.Millisecond
	RestMax   = 50 * time.Millisecond
)

// Rest is how long to do nothing for clients after an answer that took this long.
func Rest(took time.Duration) time.Duration { return min(max(restTimes*took, RestMin), RestMax) }

// Budgeted returns a listener that is ln, and accepts clients RestMin apart. Its Accept is for one
// goroutine.
func Budgeted(ln net.Listener) net.Listener { return &listener{Listener: ln} }

type listener struct {
	net.Listener
	next time.Time // when to accept the next one
}

func (l *listener) Accept() (net.Conn, error) {
	time.Sleep(time.Until(l.next))
	c, err := l.Listener.Accept()
	l.next = time.Now().Add(RestMin)
	return c, err
}
