package dataplane

import (
	"softswitch/buffer"
	"softswitch/detect"
	"softswitch/unit"
)

// Transmit lends what leaves through out now: first pauses and messages, then frames of the queues that are not paused, as far as the pacer allows.
// next is the earliest of: the wire is free, a pause expires, a pause is to be
// repeated, and at one port the detector's deadline.
func (s *Switch) Transmit(now unit.Time, out unit.Port, fs []*buffer.Frame) (n int, next unit.Time) {
	s.now = now
	p := &s.ports[out]
	if !p.up {
		return 0, unit.Never
	}
	if out == s.timerPort() && s.detector.Deadline() <= now {
		s.detector.Tick(now)
	}
	next = s.expire(out)
	if s.cfg.StormBudget > 0 && p.cfg.FacesHost {
		next = min(next, s.contain(out))
	}
	s.sendRefreshes(out)
	if p.auth != nil {
		next = min(next, s.sendChallenge(out))
	}
	p.wire.Begin(now, p.cfg.Rate, s.cfg.Granularity)
	n = s.transmitControl(out, fs)
	n += s.transmitData(out, fs[n:])
	if p.control.n > 0 || p.sendable() != 0 {
		p.wire.Wait()
		if p.wire.Ready(now) {
			return n, now // the batch was the limit, not the wire
		}
		if p.control.n > 0 {
			next = min(next, max(now, p.wire.At()-s.cfg.Granularity))
		}
		next = min(next, unit.NextTick(p.wire.At(), s.cfg.Granularity))
	}
	if out == s.timerPort() {
		s.armed = s.detector.Deadline()
		next = min(next, s.armed)
	}
	return n, min(next, s.nextRefresh(out))
}

// timerPort is the port that keeps the detector's deadline: the first whose link
// is up, unit.NoPort if none is.
func (s *Switch) timerPort() unit.Port { return s.up.First() }

// armDetector makes the port that keeps the detector's deadline ready if it knows
// of a later one only.
func (s *Switch) armDetector() {
	if d := s.detector.Deadline(); d < s.armed && s.up != 0 {
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
		if f == nil {
			panic("dataplane: no slot for a control frame: the reserve is gone")
		}
		s.buildControl(out, f)
		p.wire.Send(p.cfg.Rate.FrameTime(f.Len))
		fs[n] = f
		n++
	}
	if p.control.n == 0 {
		s.urgent.Remove(out)
	}
	return n
}

func (s *Switch) transmitData(out unit.Port, fs []*buffer.Frame) (n int) {
	p := &s.ports[out]
	for n < len(fs) && p.wire.Ready(s.now) {
		c, ok := p.pick(&s.cfg.Weights)
		if !ok {
			break
		}
		f := s.pop(out, c)
		if s.marker.Classes.Has(c) {
			s.mark(out, c, f)
		}
		p.acted.spend(c, p.paused, s.mmu.Charge(f.Len))
		p.count.TxFrames[c]++
		p.count.TxBytes[c] += uint64(f.Len)
		p.wire.Send(p.cfg.Rate.FrameTime(f.Len))
		fs[n] = f
		n++
	}
	return n
}

// pop takes the frame of a queue that is to leave next, and out of M.
func (s *Switch) pop(out unit.Port, c unit.Priority) *buffer.Frame {
	p := &s.ports[out]
	if b, reserved := p.reservedFor(c); reserved {
		return s.popped(out, c, p.queues[c].PopOf(b.Port, b.Class))
	}
	return s.popped(out, c, p.queues[c].Pop())
}

// popped does the accounts of a frame that was taken from a queue.
func (s *Switch) popped(out unit.Port, c unit.Priority, f *buffer.Frame) *buffer.Frame {
	p := &s.ports[out]
	empty := p.queues[c].Head() == nil
	if empty {
		p.backlog &^= 1 << c
	}
	if !s.lossless.Has(c) {
		return f
	}
	if t := s.turnOfFrame(f, detect.Queue{Port: out, Class: c}); t != nil && !f.Orig().Charged {
		t.bytes -= f.Len
	}
	if f.Orig().Charged {
		if f.Flooded {
			s.flooded--
			f.Orig().Waiting.Remove(out)
		}
		n := s.mmu.Charge(f.Len)
		held := s.mmu.Hold(f.In, f.InClass, out, c, -n)
		if p.paused.Has(c) { // an action took it out
			s.heldFell(detect.Bucket{Port: f.In, Class: f.InClass}, detect.Queue{Port: out, Class: c}, held, held+n)
		}
	}
	if empty {
		s.detector.Empty(s.now, detect.Queue{Port: out, Class: c})
	}
	return f
}
