package dataplane

import (
	"softswitch/buffer"
	"softswitch/detect"
	"softswitch/unit"
)

// Transmit lends what leaves through out now: first pauses and messages, then frames of the
// queues that are not paused, as far as the pacer allows. next is the earliest of: the wire is
// free, a pause expires, a pause is due to be repeated, and at one port the detector's
// deadline.
//
// With no room in fs nothing leaves, but all the rest is done: a driver whose wire is busy
// calls it this way.
func (s *Switch) Transmit(now unit.Time, out unit.Port, fs []*buffer.Frame) (n int, next unit.Time) {
	s.now = now
	p := &s.ports[out]
	// No deadline is left: flush has ended the pauses, and SetLink makes the port ready again.
	if !p.up {
		return 0, unit.Never
	}
	// The order matters. The detector first: what it asks for may leave in this very call. Then
	// pauses that have run out or are contained, since they decide what may leave. Then control
	// frames, since they leave before data.
	if out == s.timerPort() && s.detector.Deadline() <= now {
		s.detector.Tick(now)
	}
	next = s.expire(out)
	if s.cfg.StormBudget > 0 && p.cfg.FacesHost {
		next = min(next, s.contain(out))
	}
	s.sendRefreshes(out)
	if p.gentle != nil {
		next = min(next, s.repeatRates(out))
		p.gentle.begin(now, p.cfg.Rate, s.cfg.Granularity)
	}
	if p.auth != nil {
		next = min(next, s.sendChallenge(out))
	}
	p.wire.Begin(now, p.cfg.Rate, s.cfg.Granularity)
	// Pauses do not wait for data: what arrives until they take effect is what headroom is for.
	n = s.transmitControl(out, fs)
	if p.lldp != nil {
		k, at := s.transmitLLDP(out, fs[n:])
		n, next = n+k, min(next, at)
	}
	n += s.transmitData(out, fs[n:])
	if p.control.n > 0 || p.sendable() != 0 {
		// A driver that comes late for this may catch up (package pacer); an idle port saves
		// nothing up.
		p.wire.Wait()
		if p.wire.Ready(now) {
			return n, now // the batch was the limit, not the wire
		}
		// transmitControl sends these up to a granularity ahead of the wire.
		if p.control.n > 0 {
			next = min(next, max(now, p.wire.At()-s.cfg.Granularity))
		}
		next = min(next, unit.NextTick(p.wire.At(), s.cfg.Granularity))
	}
	if p.gentle != nil {
		next = min(next, p.gentle.next(p.backlog&^p.paused, s.cfg.Granularity))
	}
	if out == s.timerPort() {
		// Asked after all that may have moved it. Work compares what comes later with this.
		s.armed = s.detector.Deadline()
		next = min(next, s.armed)
	}
	return n, min(next, s.nextRefresh(out))
}

// timerPort is the port that keeps the detector's deadline: the first whose link
// is up, unit.NoPort if none is. One port, so that a deadline is one Tick and one timer. While no
// link is up the detector is not called.
func (s *Switch) timerPort() unit.Port { return s.up.First() }

// armDetector makes the port that keeps the detector's deadline ready if it knows
// of a later one only.
func (s *Switch) armDetector() {
	if d := s.detector.Deadline(); d < s.armed && !s.up.Empty() {
		s.armed = d
		s.ready.Add(s.timerPort())
	}
}

// transmitControl lends pauses and messages. They need the wire like any
// frame; a driver that is not exact need not wait for it.
func (s *Switch) transmitControl(out unit.Port, fs []*buffer.Frame) (n int) {
	p := &s.ports[out]
	for n < len(fs) && p.control.n > 0 && p.wire.Ready(s.now+s.cfg.Granularity) {
		f := s.pool.Get()
		// What data may take ends at reserve, and a driver holds at most a batch to send at each
		// port.
		if f == nil {
			panic("dataplane: no slot for a control frame: the reserve is gone")
		}
		s.buildControl(out, f)
		p.wire.Send(p.cfg.Rate.FrameTime(f.Len))
		fs[n] = f
		n++
	}
	// Urgent until the last is lent, so that the driver drains this port first (Machine.Urgent).
	if p.control.n == 0 {
		s.urgent.Remove(out)
	}
	return n
}

// transmitData lends frames of the queues. TxFrames counts them now: what the wire loses after
// that the driver counts.
func (s *Switch) transmitData(out unit.Port, fs []*buffer.Frame) (n int) {
	p := &s.ports[out]
	for n < len(fs) && p.wire.Ready(s.now) {
		c, ok := p.pick(s.now)
		if !ok {
			break
		}
		// Before mark: RED uses what the frame leaves behind.
		f := s.pop(out, c)
		p.spend(c, f.Len)
		if s.marker.Priorities.Has(c) {
			s.mark(out, c, f)
		}
		p.acted.spend(c, p.paused, s.mmu.Charge(f.Len))
		p.count.TxFrames[c]++
		p.count.TxBytes[c] += uint64(f.Len)
		p.wire.Send(p.cfg.Rate.FrameTime(f.Len))
		if p.gentle != nil {
			p.gentle.sent(s.now, c, p.cfg.Rate.FrameTime(f.Len))
		}
		fs[n] = f
		n++
	}
	return n
}

// pop takes the frame that leaves next from a queue, and out of M.
func (s *Switch) pop(out unit.Port, c unit.Priority) *buffer.Frame {
	p := &s.ports[out]
	// pick used next, which makes the same choice: the frame that was weighed is the one that
	// leaves.
	if b, reserved := p.reservedFor(c); reserved {
		return s.popped(out, c, p.queues[c].PopOf(b.Port, b.Priority))
	}
	return s.popped(out, c, p.queues[c].Pop())
}

// popped does the accounts of a frame that was taken from a queue. Invariant: M(b, q) = bytes of
// the frames charged to b that wait in q. What has begun to leave is not among them, since no
// pause stops it any more; it stays charged until free.
func (s *Switch) popped(out unit.Port, c unit.Priority, f *buffer.Frame) *buffer.Frame {
	p := &s.ports[out]
	empty := p.queues[c].Head() == nil
	if empty {
		p.backlog &^= 1 << c
		p.waitEnds(s.now, c)
	}
	// A lossy priority has no M, and no detector hears of it.
	if !s.lossless.Has(c) {
		return f
	}
	// The counterpart of pushLossy. What waited before the turn became lossy is charged, and not
	// in bytes.
	if t := s.turnOfFrame(f, detect.Queue{Port: out, Priority: c}); t != nil && !f.Orig().Charged {
		t.add(-f.Len, -s.mmu.Charge(f.Len))
	}
	if f.Orig().Charged {
		if f.Flooded {
			s.flooded--
			f.Orig().Waiting.Remove(out)
		}
		n := s.mmu.Charge(f.Len)
		held := s.mmu.Hold(f.In, f.InPriority, out, c, -n)
		s.ringMoved(detect.PG{Port: f.In, Priority: f.InPriority}, detect.Queue{Port: out, Priority: c}, held)
		if p.paused.Has(c) { // an action took it out
			s.heldMoved(detect.PG{Port: f.In, Priority: f.InPriority}, detect.Queue{Port: out, Priority: c}, held+n, held)
		}
	}
	// Last: the View shows the queue and M without the frame.
	if empty {
		s.detector.Empty(s.now, detect.Queue{Port: out, Priority: c})
	}
	return f
}
