package live

import (
	"testing"

	"softswitch/dataplane"
	"softswitch/internal/timer"
	"softswitch/link"
	"softswitch/unit"
)

// ring is a link whose ring is gone when it is closed: who looks into it then ends the process.
type ring struct {
	link.Poller
	t      *testing.T
	closed bool
}

func (r *ring) Poll(bufs [][]byte) int {
	if r.closed {
		r.t.Fatal("a closed link is polled")
	}
	return r.Poller.Poll(bufs)
}

// polledPort is the port of a node that l polls, which does not run.
func polledPort(t *testing.T, l *Poller) *port {
	t.Helper()
	c := dataplane.Defaults()
	c.ID, c.Name, c.Refresh = 7, "s7", unit.Millisecond
	c.Batch, c.Granularity, c.Slots = Batch, Granularity, 256
	c.Ports = []dataplane.PortConfig{{Name: "p0"}}
	sw, err := dataplane.NewSwitch(c)
	if err != nil {
		t.Fatal(err)
	}
	n, err := New(Options{Machine: sw, Ports: []Port{{Name: "p0"}}, Poller: l})
	if err != nil {
		t.Fatal(err)
	}
	return n.ports[0]
}

// A wire is deleted, with both its ends, and one end is there again before the other.
func TestPollerForgetsTheFarEndOfADeletedWire(t *testing.T) {
	l := new(Poller)
	a, b := polledPort(t, l), polledPort(t, l)
	open := func(p *port) (r *ring, far link.Link) {
		near, far := link.Pipe()
		r = &ring{near.(link.Poller), t, false}
		l.add(p, r)
		return r, far
	}
	ringA, _ := open(a)
	ringB, toB := open(b)
	l.sent = a
	if _, err := toB.Write([][]byte{frame(0, 1, 1, false)}); err != nil {
		t.Fatal(err)
	}
	if l.sweep(timer.Now()); a.polled.far != b {
		t.Fatal("what b got after a has sent does not tell that a leads to b")
	}
	l.drop(a)
	ringA.closed = true
	l.drop(b)
	ringB.closed = true
	open(a)
	l.follow(a)
}
