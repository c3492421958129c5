package sim

import (
	"softswitch/buffer"
	"softswitch/internal/unit"
	"softswitch/itsyhdr"
	"softswitch/pfcframe"
)

// fifo is the frames on a wire, in the order in which they arrive. It grows to
// what the wire ever held.
type fifo struct {
	ring []flight
	head int
	n    int
	last unit.Time // arrival of the youngest: nothing overtakes it
}

type flight struct {
	at unit.Time
	f  *buffer.Frame
}

func (q *fifo) push(at unit.Time, f *buffer.Frame) {
	if q.n == len(q.ring) {
		ring := make([]flight, max(8, 2*len(q.ring)))
		for i := range q.n {
			ring[i] = q.ring[(q.head+i)%len(q.ring)]
		}
		q.ring, q.head = ring, 0
	}
	q.ring[(q.head+q.n)%len(q.ring)] = flight{at, f}
	q.n++
	q.last = at
}

func (q *fifo) pop() flight {
	x := q.ring[q.head]
	q.head = (q.head + 1) % len(q.ring)
	q.n--
	return x
}

// next is when the oldest frame arrives, unit.Never if there is none.
func (q *fifo) next() unit.Time {
	if q.n == 0 {
		return unit.Never
	}
	return q.ring[q.head].at
}

// carry puts a frame that leaves port p and is gone at sentAt on the wire: a copy,
// for the sender takes its own back.
func (w *World) carry(p *port, f *buffer.Frame, sentAt unit.Time) {
	if p.peer < 0 || !p.up {
		return
	}
	far := &w.ports[p.peer]
	if isControl(f.Data) {
		far.control++
		if far.loses(far.control) {
			return
		}
	}
	c := w.pool.Get()
	if c == nil {
		panic("sim: no slot for a frame on a wire; give the simulation more Slots")
	}
	c.Data, c.Len = append(c.Data[:0], f.Data...), f.Len
	w.inject(p.peer, sentAt+p.delay, c)
}

// inject lets a frame arrive at a port at a time, or as soon after it as the
// frames before it allow.
func (w *World) inject(to int32, at unit.Time, f *buffer.Frame) {
	far := &w.ports[to]
	if j := far.faults.Jitter; j > 0 {
		at += unit.Time(far.wire.Int64N(int64(j) + 1))
	}
	far.in.push(max(at, far.in.last), f)
	if far.in.n == 1 {
		w.timer.set(recvID(to), far.in.next())
	}
}

// cut loses what is on the wire towards a port.
func (w *World) cut(to int32) {
	far := &w.ports[to]
	for far.in.n > 0 {
		w.pool.Put(far.in.pop().f)
	}
	w.timer.set(recvID(to), unit.Never)
}

// isControl reports whether a frame is a PFC frame or an ITSY message.
func isControl(b []byte) bool { return pfcframe.IsMACControl(b) || itsyhdr.IsMessage(b) }
