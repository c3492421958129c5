package sim

import (
	"fmt"

	"softswitch/buffer"
	"softswitch/link/impair"
	"softswitch/unit"
)

// fifo holds the frames on a wire in order of arrival. It grows to the most that the
// wire ever held.
type fifo struct {
	ring []flight // its length is a power of two, or 0
	head int
	n    int
	last unit.Time // arrival of the youngest frame that keeps its place
}

type flight struct {
	at unit.Time
	f  *buffer.Frame
}

// push puts a frame behind those that arrive no later; true if it is the first.
func (q *fifo) push(at unit.Time, f *buffer.Frame) (first bool) {
	if q.n == len(q.ring) {
		ring := make([]flight, max(8, 2*len(q.ring)))
		for i := range q.n {
			ring[i] = q.ring[(q.head+i)&(len(q.ring)-1)]
		}
		q.ring, q.head = ring, 0
	}
	i := q.n
	for q.n++; i > 0 && q.at(i-1).at > at; i-- {
		*q.at(i) = *q.at(i - 1)
	}
	*q.at(i) = flight{at, f}
	return i == 0
}

// at is the i-th flight, 0 the next to arrive.
func (q *fifo) at(i int) *flight { return &q.ring[(q.head+i)&(len(q.ring)-1)] }

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
func (d *partition) carry(p *port, f *buffer.Frame, sentAt unit.Time) {
	if p.peer < 0 || !p.up {
		return
	}
	if p.tape != nil {
		p.tape.See(f.Data)
	}
	fate := impair.Fate{Copies: 1}
	if p.wire != nil {
		fate = p.wire.Send(f.Data, d.w.opt.Seed, d.w.stream(p))
	}
	d.put(p, f.Data, f.Len, sentAt+p.delay, sentAt-d.now, fate)
}

// ringFrames is how many frames a port buffers for a stopped node, as the receive ring
// of a live one does.
const ringFrames = 1024

// slotsMargin is how many slots stay free, so that no switch ever drops a frame because
// the world is out of slots: a switch's reserve is smaller.
const slotsMargin = 4 * unit.MaxPorts

// put schedules the arrival at the far end of p of a frame of n bytes, of which data is
// kept: as its fate has it, at the given time or later, or as soon after that as the frames
// ahead allow. took is its time on the wire.
func (d *partition) put(p *port, data []byte, n int, at, took unit.Time, fate impair.Fate) {
	// Field by field: a literal is copied, in wider words than it was written, for which the processor waits.
	var x crossing
	x.to, x.n, x.at, x.took, x.overtaken = p.peer, int32(n), at+fate.Extra, took, fate.Overtaken
	there := d.nodes[d.ports[p.peer].node].part
	for range fate.Copies {
		if there != d {
			d.cross(there, x, data)
		} else {
			d.arrive(&x, data)
		}
		x.took = 0 // another copy comes at once, or a full wire would fall behind for good
	}
}

// arrive puts a frame on the wire towards a port of this partition.
func (d *partition) arrive(x *crossing, data []byte) {
	far := &d.ports[x.to]
	if d.nodes[far.node].stopped && far.in.n >= ringFrames {
		return
	}
	if d.pool.Free() <= slotsMargin {
		d.fail(fmt.Errorf("sim: at %d ns there are more frames in buffers and on wires than %d slots hold", d.now, d.w.opt.Slots))
		return
	}
	f := d.pool.Get()
	f.Data, f.Len = append(f.Data[:0], data...), int(x.n)
	at := x.at
	if !x.overtaken {
		at = max(at, far.in.last+x.took)
		far.in.last = at
	}
	if far.in.push(at, f) {
		d.timer.set(recvID(x.to), far.in.next())
	}
}

// cut loses the frames on the wire towards a port of this partition.
func (d *partition) cut(to int32) {
	far := &d.ports[to]
	for far.in.n > 0 {
		d.pool.Put(far.in.pop().f)
	}
	far.in.last = 0
	d.timer.set(recvID(to), unit.Never)
}
