package dataplane

import (
	"cmp"
	"slices"

	"softswitch/detect"
	"softswitch/unit"
)

// view is the switch as its detector sees it: detect.View says what each method answers, here is how
// it is found. It is a type of its own, so that a Switch has none of these methods. Reads are of this
// instant; none changes what a frame does.
type view struct{ s *Switch }

var _ detect.View = view{}

// View is the facts of the switch, for reading between calls.
func (s *Switch) View() detect.View { return view{s} }

func (v view) Self() unit.NodeID                        { return v.s.cfg.ID }
func (v view) Ports() int                               { return v.s.Ports() }
func (v view) Lossless() unit.PrioritySet               { return v.s.lossless }
func (v view) FacesHost(p unit.Port) bool               { return v.s.ports[p].cfg.FacesHost }
func (v view) LinkUp(p unit.Port) bool                  { return v.s.LinkUp(p) }
func (v view) Rate(p unit.Port) unit.Rate               { return v.s.ports[p].cfg.Rate }
func (v view) MTU() int                                 { return v.s.cfg.longest() }
func (v view) Hop() unit.Time                           { return v.s.hop }
func (v view) XOFF(b detect.PG) (on bool, period uint8) { return v.s.mmu.XOFF(b.Port, b.Priority) }
func (v view) XON(b detect.PG) int                      { return v.s.mmu.XON(b.Port, b.Priority) }
func (v view) Shares() bool                             { return v.s.mmu.Shares() }
func (v view) Paused(q detect.Queue) bool               { return v.s.ports[q.Port].paused.Has(q.Priority) }

func (v view) Backlog(q detect.Queue) int { return v.s.ports[q.Port].queues[q.Priority].Bytes() }

func (v view) Left(q detect.Queue) uint64 { return v.s.ports[q.Port].count.TxBytes[q.Priority] }

func (v view) Charged(b detect.PG) int {
	n, _ := v.s.mmu.Bytes(b.Port, b.Priority)
	return n
}

func (v view) Room(b detect.PG) int {
	outside, headroom := v.s.mmu.Kept(b.Port, b.Priority)
	frame := v.s.mmu.Charge(v.MTU())
	return outside/frame + headroom/frame
}

func (v view) Held(b detect.PG, q detect.Queue) int {
	return v.s.mmu.Held(b.Port, b.Priority, q.Port, q.Priority)
}

// HeldIn is the bytes of b in the queues of its priority at the ports out, each frame
// once.
func (v view) HeldIn(b detect.PG, out unit.PortSet) (n int) {
	s := v.s
	for rest := out; !rest.Empty(); rest.Pop() {
		p := rest.First()
		held := s.mmu.Held(b.Port, b.Priority, p, b.Priority)
		// M counts a flooded frame in each queue. Only then is the queue walked.
		if held > 0 && s.flooded > 0 {
			held = v.heldFirst(b, p, out)
		}
		n += held
	}
	return n
}

// heldFirst is the bytes of b in the queue of port at, without the flooded frames
// that wait in a queue of a lower port of out too.
func (v view) heldFirst(b detect.PG, at unit.Port, out unit.PortSet) (n int) {
	for f := v.s.ports[at].queues[b.Priority].Head(); f != nil; f = f.Next() {
		if f.In != b.Port || f.InPriority != b.Priority || !f.Orig().Charged {
			continue
		}
		if !f.Flooded || f.Orig().Waiting.And(out).First() == at {
			n += v.s.mmu.Charge(f.Len)
		}
	}
	return n
}

// Stays reports whether b stays XOFF if only what waits in the queues out is left. The sum over
// all priority groups is taken only if it decides: XON is lowest while the pool is as full as it is.
func (v view) Stays(b detect.PG, out detect.Queues) bool {
	m := v.s.mmu
	left := v.HeldIn(b, out[b.Priority])
	if !m.Shares() {
		return left > m.XON(b.Port, b.Priority)
	}
	own := m.PoolUse(b.Port, b.Priority, left)
	switch {
	// With the pool as full as now XON is at its lowest: what is not above it is above no other.
	case left == 0 || left <= m.XONIf(b.Port, b.Priority, left, m.Shared()):
		return false
	// With nobody else in the pool XON is at its highest: what is above it is above any other.
	case left > m.XONIf(b.Port, b.Priority, left, own):
		return true
	}
	return left > m.XONIf(b.Port, b.Priority, left, v.poolUse(out))
}

// poolUse is how much of the pool is used if only what waits in the queues out is left.
func (v view) poolUse(out detect.Queues) (bytes int) {
	for set := v.s.lossless; set != 0; set &= set - 1 {
		priority := set.First()
		at := out[priority]
		if at.Empty() {
			continue
		}
		for in := range unit.Port(len(v.s.ports)) {
			bytes += v.s.mmu.PoolUse(in, priority, v.HeldIn(detect.PG{Port: in, Priority: priority}, at))
		}
	}
	return bytes
}

// Lapsed reports whether the last pause frame of b, which is XOFF, left so long ago
// that the pause may have run out: an eighth of its time is left for the frame that
// prolongs it.
func (v view) Lapsed(b detect.PG) bool {
	s := v.s
	p := &s.ports[b.Port]
	// refresh - Refresh is when the latest pause frame left. The time is by this end's rate.
	t := &p.announced[b.Priority]
	lasts := p.cfg.Rate.QuantaTime(s.cfg.Quanta)
	return !p.told.Has(b.Priority) || s.now-(t.refresh-s.cfg.Refresh) > lasts-lasts/8
}

// PausesSeen is the number of pause frames that came for q. An 802.3x PAUSE that is honoured
// counts for each priority of its port.
func (v view) PausesSeen(q detect.Queue) uint64 {
	p := &v.s.ports[q.Port]
	return p.count.RxPause[q.Priority] + p.seen8023
}

// Frames is what q's port and priority have counted.
func (v view) Frames(q detect.Queue) detect.Frames {
	k := &v.s.ports[q.Port].count
	return detect.Frames{Tx: k.TxFrames[q.Priority], TxDropped: k.TxDropped[q.Priority], Rx: k.RxFrames[q.Priority], RxDropped: k.RxDropped[q.Priority]}
}

// Pressed is the number of frames that would keep the priority group of a lossy turn XOFF.
func (v view) Pressed(b detect.PG, q detect.Queue) uint64 {
	if t := v.s.turnOf(b, q); t != nil {
		return t.pressed
	}
	return 0
}

// Flows appends the flows that wait in q.
func (v view) Flows(dst []detect.Flow, q detect.Queue) []detect.Flow {
	from := len(dst)
	for f := v.s.ports[q.Port].queues[q.Priority].Head(); f != nil; f = f.Next() {
		if isIPv4(f) {
			flow := detect.Flow{ID: detect.FlowID(f.Info.Hash), In: f.In, Bytes: v.s.mmu.Charge(f.Len)}
			if f.Flooded {
				flow.Flooded = flow.Bytes
			}
			dst = append(dst, flow)
		}
	}
	// Ties by flow and port: the same answer in every run.
	flows := mergeFlows(dst[from:])
	slices.SortFunc(flows, func(a, b detect.Flow) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), compareFlows(a, b)) })
	return dst[:from+len(flows)]
}

func compareFlows(a, b detect.Flow) int {
	return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.In, b.In))
}

// mergeFlows adds up what is of the same flow, in place. It sorts, since a queue may
// hold as many flows as frames.
func mergeFlows(flows []detect.Flow) []detect.Flow {
	slices.SortFunc(flows, compareFlows)
	n := 0
	for _, f := range flows {
		if n > 0 && compareFlows(flows[n-1], f) == 0 {
			flows[n-1].Bytes += f.Bytes
			flows[n-1].Flooded += f.Flooded
			continue
		}
		flows[n] = f
		n++
	}
	return flows[:n]
}

// Detour is the bytes of b in q whose route is on its backup.
func (v view) Detour(b detect.PG, q detect.Queue) (bytes int, down unit.Port, since unit.Time) {
	s := v.s
	down = unit.NoPort
	for f := s.ports[q.Port].queues[q.Priority].Head(); f != nil; f = f.Next() {
		if f.In != b.Port || f.InPriority != b.Priority || !f.Orig().Charged || !s.routed || !isIPv4(f) {
			continue
		}
		// By the route as it is now: the frames may have been queued before it changed.
		e := s.fib.lookup(f.Info.DstIP)
		if e == nil || !e.rerouted {
			continue
		}
		bytes += s.mmu.Charge(f.Len)
		for set := e.primary; !set.Empty(); set.Pop() {
			if p := set.First(); down == unit.NoPort || s.ports[p].downAt > since {
				down, since = p, s.ports[p].downAt
			}
		}
	}
	return bytes, down, since
}

// Reroutable reports whether all frames of in that wait in q have another way.
func (v view) Reroutable(in unit.Port, q detect.Queue) bool {
	s := v.s
	some := false
	for f := s.ports[q.Port].queues[q.Priority].Head(); f != nil; f = f.Next() {
		if in != unit.NoPort && f.In != in {
			continue
		}
		// What is not IPv4 is only bridged, and has no destination by which to look for a route.
		if !s.routed || !isIPv4(f) {
			return false
		}
		e := s.fib.lookup(f.Info.DstIP)
		if e == nil || e.subnet >= 0 {
			return false
		}
		ways := e.active.Without(s.lag[f.In])
		ways.Remove(q.Port)
		if ways.Empty() {
			return false
		}
		some = true
	}
	return some
}
