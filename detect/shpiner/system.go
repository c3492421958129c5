package shpiner

import (
	"iter"
	"unsafe"

	"softswitch/detect"
	"softswitch/internal/stat"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// system is what both systems have at a switch; Q is what one remembers of an egress queue.
type system[Q any] struct {
	detect.None // what they have no use for: pauses, labels, ITSY's messages
	view        detect.View
	act         detect.Actions
	monitor     *Monitor
	random      stat.Rand
	priorities  priorities[Q]
}

func newSystem[Q any](v detect.View, a detect.Actions) system[Q] {
	return system[Q]{view: v, act: a, monitor: NewMonitor(v), random: stat.Rand(v.Self()) << 32, priorities: newPriorities[Q](v)}
}

// Enqueue has the monitor sample, now that a frame waits.
func (s *system[Q]) Enqueue(now unit.Time, _ detect.PG, _ detect.Queue, _ detect.FlowID, _ int) {
	s.monitor.Queued(now)
}

// size is what is remembered but for messages that were, in bytes.
func (s *system[Q]) size() int {
	return s.monitor.StateBytes() + int(unsafe.Sizeof(s.random)) + s.priorities.size()
}

// label is q and its SPUID in the form in which findings are reported. The switch and its port name
// the queue; there is room only for the lower half of the SPUID.
func (s *system[Q]) label(q detect.Queue, spuid uint32) itsyhdr.TLV {
	return itsyhdr.TLV{
		Kind: itsyhdr.KindLabel, Priority: q.Priority,
		Initiator: unit.NodePort{Node: s.view.Self(), Port: q.Port}, Seq: uint16(spuid),
	}
}

// priorities is what is remembered of the priorities of a switch; nil of a lossy one.
type priorities[Q any] [unit.Priorities]*perPriority[Q]

type perPriority[Q any] struct {
	queues   []Q          // by port
	suspects unit.PortSet // at the last sample
}

func newPriorities[Q any](v detect.View) (all priorities[Q]) {
	for set := v.Lossless(); set != 0; set &= set - 1 {
		all[set.First()] = &perPriority[Q]{queues: make([]Q, v.Ports())}
	}
	return all
}

// lossless is a range over those that are not nil, in order.
func (all *priorities[Q]) lossless() iter.Seq2[unit.Priority, *perPriority[Q]] {
	return func(yield func(unit.Priority, *perPriority[Q]) bool) {
		for c, k := range all {
			if k != nil && !yield(unit.Priority(c), k) {
				return
			}
		}
	}
}

func (all *priorities[Q]) size() (n int) {
	var queue Q
	for _, k := range all.lossless() {
		n += int(unsafe.Sizeof(*k)) + len(k.queues)*int(unsafe.Sizeof(queue))
	}
	return n
}
