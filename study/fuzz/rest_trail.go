package fuzz

import (
	"cmp"
	"slices"

	"softswitch/buffer"
	"softswitch/event"
	"softswitch/internal/stat"
	"softswitch/unit"
)

// trail is a sum of all that happens, in order.
type trail struct {
	sum   uint64
	at    unit.Time
	marks []mark // what the sum was after each time, if they are kept
	keep  bool
}

type mark struct {
	at  unit.Time
	sum uint64
}

func (t *trail) add(at unit.Time, parts ...uint64) {
	if t.keep && at > t.at {
		t.marks = append(t.marks, mark{t.at, t.sum})
	}
	t.at = at
	for _, p := range parts {
		t.sum = stat.Mix(t.sum ^ p)
	}
}

func (t *trail) event(n event.Node, e event.Event) {
	t.add(e.At, uint64(e.At), uint64(n.ID)<<48|uint64(e.Type)<<40|uint64(e.Priority)<<16|uint64(e.OutPriority)<<8, uint64(e.Port)<<48|uint64(e.Out)<<32|uint64(e.Period),
		uint64(uint32(e.Bytes))<<32|uint64(uint32(e.Limit)), uint64(e.Step)<<8|uint64(e.Action))
}

func (t *trail) sent(now unit.Time, n event.Node, p unit.Port, f *buffer.Frame) {
	t.add(now, uint64(now), uint64(n.ID)<<48|uint64(p)<<40|uint64(f.Len))
}

// until is the sum of all that happened up to a time, itself included.
func (t *trail) until(at unit.Time) uint64 {
	if at >= t.at {
		return t.sum
	}
	i, _ := slices.BinarySearchFunc(t.marks, at+1, func(m mark, at unit.Time) int { return cmp.Compare(m.at, at) })
	if i == 0 {
		return 0
	}
	return t.marks[i-1].sum
}
