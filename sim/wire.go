package sim

import (
	"fmt"

	"softswitch/buffer"
	"softswitch/itsyhdr"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// fifo holds the frames on a wire in order of arrival. It grows to the most that the
// wire ever held.
type fifo struct {
	ring []flight // its length is a power of two, or 0
	head int
	n    int
	last unit.Time // arrival of the youngest frame: nothing overtakes it
}

type flight struct {
	at unit.Time
	f  *buffer.Frame
}

func (q *fifo) push(at unit.Time, f *buffer.Frame) {
	if q.n == len(q.ring) {
		ring := make([]flight, max(8, 2*len(q.ring)))
		for i := range q.n {
			ring[i] = q.ring[(q.head+i)&(len(q.ring)-1)]
		}
		q.ring, q.head = ring, 0
	}
	q.ring[(q.head+q.n)&(len(q.ring)-1)] = flight{at, f}
	q.n++
	q.last = at
}

func (q *fifo) pop() flight {
	x := q.ring[q.head]
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.n--
	return x
}

// next is when the oldest frame arrives, unit.Never if the wire is empty.
func (q *fifo) next() unit.Time {
	if q.n == 0 {
		return unit.Never
	}
	return q.ring[q.head].at
}

// carry copies a frame that leaves port p and is fully sent at sentAt onto the wire;
// the sender keeps the original.
func (w *World) carry(p *port, f *buffer.Frame, sentAt unit.Time) {
	if p.peer < 0 || !p.up {
		return
	}
	far := &w.ports[p.peer]
	if isControl(f.Data) {
		far.control++
		if w.loses(far, far.control) {
			return
		}
	} else if n := far.faults.DataLoss; n > 0 && w.draw(far).IntN(10_000) < n {
		return
	}
	w.put(p.peer, f.Data, f.Len, sentAt+p.delay, sentAt-w.now)
}

// ringFrames is how many frames a port buffers for a stopped node, as the receive ring
// of a live one does.
const ringFrames = 1024

// slotsMargin is how many slots stay free, so that no switch ever drops a frame because
// the world is out of slots: a switch's reserve is smaller.
const slotsMargin = 4 * unit.MaxPorts

// put schedules the arrival at a port of a frame of n bytes, of which data is kept: at
// the given time, or as soon after it as the frames ahead allow. took is its time on
// the wire.
func (w *World) put(to int32, data []byte, n int, at, took unit.Time) {
	far := &w.ports[to]
	if w.nodes[far.node].stopped && far.in.n >= ringFrames {
		return
	}
	if w.pool.Free() <= slotsMargin {
		w.err = fmt.Errorf("sim: at %d ns there are more frames in buffers and on wires than %d slots hold", w.now, w.opt.Slots)
		return
	}
	f := w.pool.Get()
	f.Data, f.Len = append(f.Data[:0], data...), n
	if j := far.faults.Jitter; j > 0 {
		at += unit.Time(w.draw(far).Int64N(int64(j) + 1))
	}
	far.in.push(max(at, far.in.last+took), f)
	if far.in.n == 1 {
		w.timer.set(recvID(to), far.in.next())
	}
}

// cut loses the frames on the wire towards a port.
func (w *World) cut(to int32) {
	far := &w.ports[to]
	for far.in.n > 0 {
		w.pool.Put(far.in.pop().f)
	}
	far.in.last = 0
	w.timer.set(recvID(to), unit.Never)
}

// isControl reports whether a frame is a PFC frame or an ITSY message.
func isControl(b []byte) bool { return pfcframe.IsMACControl(b) || itsyhdr.IsMessage(b) }
