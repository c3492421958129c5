package buffer

import "softswitch/unit"

// Queue is a FIFO of frames, linked through the frames. The zero value is empty.
// It owns the frames in it.
type Queue struct {
	head, tail *Frame
	frames     int
	bytes      int
	bytesMax   int // watermark since the last ClearWatermark
}

// Push appends f.
func (q *Queue) Push(f *Frame) {
	if q.tail == nil {
		q.head = f
	} else {
		q.tail.next = f
	}
	q.tail = f
	q.frames++
	q.bytes += f.Len
	q.bytesMax = max(q.bytesMax, q.bytes)
}

// Pop takes the oldest frame, nil from an empty queue.
func (q *Queue) Pop() *Frame {
	f := q.head
	if f == nil {
		return nil
	}
	q.head, f.next = f.next, nil
	if q.head == nil {
		q.tail = nil
	}
	q.frames--
	q.bytes -= f.Len
	return f
}

// PopOf takes the oldest frame that came in at port in in priority, nil if there is none. It looks at every
// frame before that one.
func (q *Queue) PopOf(in unit.Port, priority unit.Priority) *Frame {
	var before *Frame
	for f := q.head; f != nil; before, f = f, f.next {
		if f.In != in || f.InPriority != priority {
			continue
		}
		if before == nil {
			return q.Pop()
		}
		before.next, f.next = f.next, nil
		if q.tail == f {
			q.tail = before
		}
		q.frames--
		q.bytes -= f.Len
		return f
	}
	return nil
}

// Head is the oldest frame without taking it, nil from an empty queue.
func (q *Queue) Head() *Frame { return q.head }

// Next is the frame behind f in its queue, nil for the last one.
func (f *Frame) Next() *Frame { return f.next }

// Frames is the number of frames in the queue, Bytes their length.
func (q *Queue) Frames() int { return q.frames }

// Bytes is the length of all frames in the queue.
func (q *Queue) Bytes() int { return q.bytes }

// Watermark is the most bytes since ClearWatermark.
func (q *Queue) Watermark() int { return q.bytesMax }

// ClearWatermark restarts the watermark from the present bytes.
func (q *Queue) ClearWatermark() { q.bytesMax = q.bytes }
