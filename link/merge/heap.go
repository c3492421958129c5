package merge

import (
	"container/heap"

	"softswitch/link/pcapng"
)

// frame is a frame waiting for its turn.
type frame struct {
	pcapng.Packet
	from   *port
	number uint64 // in order of arrival
}

// frameBytes is what a frame in the heap costs in addition to its bytes.
const frameBytes = 128

// waiting is a heap of frames, the next one at its top.
type waiting struct {
	frames []frame
	bytes  int
}

func (w *waiting) push(f frame) {
	w.bytes += len(f.Data) + frameBytes
	heap.Push((*byTime)(&w.frames), f)
}

func (w *waiting) pop() frame {
	f := heap.Pop((*byTime)(&w.frames)).(frame)
	w.bytes -= len(f.Data) + frameBytes
	return f
}

// byTime sorts frames in output order.
type byTime []frame

func (h byTime) Len() int      { return len(h) }
func (h byTime) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h byTime) Less(i, j int) bool {
	a, b := &h[i], &h[j]
	switch {
	case a.Time != b.Time:
		return a.Time < b.Time
	case a.Direction != b.Direction:
		return a.Direction == pcapng.Outbound
	}
	return a.number < b.number
}

func (h *byTime) Push(f any) { *h = append(*h, f.(frame)) }

func (h *byTime) Pop() any {
	last := len(*h) - 1
	f := (*h)[last]
	(*h)[last] = frame{}
	*h = (*h)[:last]
	return f
}
