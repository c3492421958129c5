package dataplane

import (
	"softswitch/detect"
	"softswitch/unit"
)

// This file is bubble injection (Carrión et al., "A flow control mechanism to avoid message deadlock in k-ary
// n-cube networks", HiPC 1997): frames that are in a ring go on, and new ones are let in only while the ring
// has room here, so that it never fills wholly and always moves.
//
// With credits the room is two frames: one that comes in, and one that stays free. With pauses a priority
// group that waits goes on at XON only, so what has to stay free is what all groups of a ring may hold above
// that: scenario.Bubble reckons it.

// Ring is the place of a switch in a ring, in one direction.
type Ring struct {
	In, Out unit.Port
	// Room is how many bytes that came by In may wait for Out in a priority when a frame that came
	// otherwise leaves by Out in it.
	Room int
}

// ring is what a port that leads on in a ring knows of it.
type ring struct {
	Ring
	full unit.PrioritySet // in which frames of the ring alone may leave
}

func (s *Switch) setRings(rings []Ring) {
	for _, r := range rings {
		s.ports[r.Out].ring = &ring{Ring: r}
	}
}

// ringMoved takes note of M(b, q), which has changed.
func (s *Switch) ringMoved(b detect.PG, q detect.Queue, held int) {
	r := s.ports[q.Port].ring
	if r == nil || b.Port != r.In || b.Priority != q.Priority {
		return
	}
	r.full &^= 1 << q.Priority
	if held > r.Room {
		r.full.Add(q.Priority)
	}
}
