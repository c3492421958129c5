package host

import (
	"slices"

	"softswitch/buffer"
	"softswitch/event"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// Transmit returns the frames to send now: pauses, then frames of flows that are due
// and whose priority is not paused.
func (h *Host) Transmit(now unit.Time, _ unit.Port, fs []*buffer.Frame) (n int, next unit.Time) {
	h.now = now
	next = h.runActs()
	if !h.up {
		return 0, next
	}
	if now-h.next > lateMax*h.cfg.Granularity {
		h.tendAt = now // what flows whose time is over have left out is seen now or never
	}
	next = min(next, h.expire(), h.pauseDeadlines(), h.tend())
	free := h.wire.At()
	h.wire.Begin(now, h.cfg.Rate, h.cfg.Granularity)
	n = h.transmitPauses(fs)
	if h.lldp != nil {
		k, at := h.transmitLLDP(fs[n:])
		n, next = n+k, min(next, at)
	}
	n += h.transmitAnswers(fs[n:])
	for n < len(fs) && h.wire.Ready(now) {
		s := h.pick()
		if s == nil {
			break
		}
		f := h.pool.Get()
		if f == nil {
			break
		}
		size := h.fill(f, s)
		s.sent += uint64(size)
		earliest := now - h.patience
		if h.cfg.Granularity > 0 { // an exact driver is never late
			h.leaveOut(s, free, earliest)
		}
		s.due = max(s.due, earliest) + h.rateOf(s).FrameTime(size)
		h.wire.Send(h.cfg.Rate.FrameTime(size))
		fs[n] = f
		n++
	}
	h.next = min(next, h.nextFrame(n == len(fs)))
	return n, h.next
}

// fill builds the next frame of a flow into f and returns its length in bytes.
func (h *Host) fill(f *buffer.Frame, s *sender) int {
	if s.rc != nil {
		return h.fillRC(f, s)
	}
	size := s.size()
	f.Data, f.Len = f.Data[:h.keep(size)], size
	h.build(f.Data, &s.Flow, size, s.seq, h.now)
	s.seq++
	if s.sent+uint64(size) >= s.end {
		h.tendAt = h.now
	}
	return size
}

// leaveOut notes that what a flow should have sent before a time is not sent any more. The wire was idle
// since free. What a pause withholds is not left out, nor what the wire had no time for.
func (h *Host) leaveOut(s *sender, free, before unit.Time) {
	if s.rc == nil {
		s.left += max(0, before-max(s.due, free, h.open[s.Priority]))
	}
}

// lateMax is how late a driver may be without costing a flow its rate, in units of its
// granularity.
const lateMax = 8

// keep is how many bytes of a frame of n bytes are built.
func (h *Host) keep(n int) int {
	if h.cfg.Keep > 0 {
		return min(n, h.cfg.Keep)
	}
	return n
}

// nextFrame is when the next frame can leave; full says that the batch was the limit,
// not the wire.
func (h *Host) nextFrame(full bool) unit.Time {
	due := unit.Never
	if h.owes() {
		due = h.now
	}
	if h.started && !h.stopped {
		for set := h.coming &^ h.paused; set != 0; set &= set - 1 {
			c := set.First()
			due = min(due, h.flows[h.begins[c][h.begun[c]]].due)
		}
		for _, i := range h.active {
			if s := &h.flows[i]; s.due < due && !h.paused.Has(s.Priority) && h.mayStill(s) {
				due = s.due
			}
		}
	}
	if due == unit.Never && h.toSend == 0 {
		return unit.Never
	}
	at := h.wire.At()
	if h.toSend == 0 {
		at = max(at, due)
	}
	if at <= h.now {
		if full {
			h.wire.Wait()
			return h.now
		}
		at = h.now + 1
	}
	// A flow that waits for its time may catch up, as the wire may.
	if due <= h.wire.At() {
		h.wire.Wait()
	}
	return unit.NextTick(at, h.cfg.Granularity)
}

// mayStill reports whether a flow that has begun has a frame to send, now or when it is
// due.
func (h *Host) mayStill(s *sender) bool {
	if s.rc != nil {
		return s.rc.req.Ready(&s.rc.ConnectionConfig)
	}
	return s.sent < s.end && max(s.due, h.now) < h.until(s)
}

// pick chooses the flow that sends next, round robin.
func (h *Host) pick() *sender {
	if !h.started || h.stopped {
		return nil
	}
	first, _ := slices.BinarySearch(h.active, int32(h.turn))
	for i := range h.active {
		k := h.active[(first+i)%len(h.active)]
		s := &h.flows[k]
		if s.due <= h.now && !h.paused.Has(s.Priority) && h.mayStill(s) {
			h.turn = int(k) + 1
			return s
		}
	}
	return nil
}

// tend begins the flows whose time has come, removes those that are over, and returns when
// the next retransmission may be due. It looks at all flows only where one needs it: when
// one begins, when a connection's time comes, and when one has ended. A UDP flow whose
// time is over is removed with the next of these.
func (h *Host) tend() (next unit.Time) {
	if !h.started || h.stopped {
		return unit.Never
	}
	for set := h.coming; set != 0; set &= set - 1 {
		c := set.First()
		b := h.begins[c]
		for ; h.begun[c] < len(b) && h.flows[b[h.begun[c]]].due <= h.now; h.begun[c]++ {
			i := b[h.begun[c]]
			at, _ := slices.BinarySearch(h.active, i)
			h.active = slices.Insert(h.active, at, i)
			h.tendAt = h.now
		}
		if h.begun[c] == len(b) {
			h.coming &^= 1 << c
		}
	}
	if h.tendAt > h.now {
		return h.tendAt
	}
	h.tendAt = unit.Never
	still := h.active[:0]
	for _, i := range h.active {
		s := &h.flows[i]
		if s.rc != nil {
			h.tendAt = min(h.tendAt, h.tendRC(s))
		}
		switch {
		case !h.over(s):
			still = append(still, i)
		case s.sent < s.end && !h.paused.Has(s.Priority):
			h.leaveOut(s, h.wire.At(), h.until(s))
		}
	}
	h.active = still
	return h.tendAt
}

// over reports whether a flow will send no frame until the next Start.
func (h *Host) over(s *sender) bool {
	if s.rc != nil {
		return s.rc.req.Failed() || s.rc.req.Finished(&s.rc.ConnectionConfig)
	}
	return s.sent >= s.end || h.now >= h.until(s)
}

// size is the length of the flow's next frame, in bytes: the last one is shorter.
func (s *sender) size() int {
	return int(min(uint64(s.Frame), max(FrameMin, s.end-s.sent)))
}

// until is when a flow stops sending.
func (h *Host) until(s *sender) unit.Time {
	if s.Stop == 0 {
		return unit.Never
	}
	return h.start + s.Stop
}

// transmitPauses returns the pause and resume frames to send: one per priority, without a
// TLV.
func (h *Host) transmitPauses(fs []*buffer.Frame) (n int) {
	for n < len(fs) && h.toSend != 0 && h.wire.Ready(h.now+h.cfg.Granularity) {
		c := h.toSend.First()
		f := h.pool.Get()
		if f == nil {
			return n
		}
		h.toSend &^= 1 << c
		f.Data, f.Len = f.Data[:pfcframe.Len], pfcframe.Len
		b := &h.rx[c]
		on := b.xoff || h.storming.Has(c)
		pf := pfcframe.Frame{Src: h.cfg.MAC.Bytes(), Enable: 1 << c}
		e := event.Event{Type: event.ResumeSent, Priority: c}
		switch {
		case !on:
			h.count.TxResume[c]++
		case b.announced:
			e.Type = event.RefreshSent
			h.count.TxRefresh[c]++
		default:
			e.Type = event.PauseSent
			h.count.TxPause[c]++
		}
		if on {
			pf.Quanta[c] = h.cfg.Quanta
		}
		h.event(e)
		b.announced, b.refresh = on, h.now+h.cfg.Refresh
		pfcframe.Put(f.Data, pf)
		h.wire.Send(h.cfg.Rate.FrameTime(f.Len))
		fs[n] = f
		n++
	}
	return n
}

// pauseDeadlines requests the refreshes that are due, drains the receive buffers, and
// returns when it has to be called next.
func (h *Host) pauseDeadlines() unit.Time {
	next := unit.Never
	for c := range unit.Priority(unit.Priorities) {
		b := &h.rx[c]
		if b.fill == 0 && !b.xoff && !b.announced {
			continue
		}
		h.drained(c)
		if b.xoff && h.drain > 0 {
			over, drain := b.fill-h.level(1, 2), int64(h.drain)
			next = min(next, h.now+unit.Time((over+drain-1)/drain))
		}
		switch {
		case !b.announced:
		case b.refresh <= h.now:
			h.toSend.Add(c)
		default:
			next = min(next, b.refresh)
		}
	}
	return next
}

// expire ends the pauses that have expired, and returns when the next one does.
func (h *Host) expire() unit.Time {
	next := unit.Never
	for set := h.paused; set != 0; set &= set - 1 {
		c := set.First()
		if h.pausedUntil[c] <= h.now {
			h.endPause(c, event.Expired)
			h.open[c] = h.pausedUntil[c] // however late the driver is
			continue
		}
		next = min(next, h.pausedUntil[c])
	}
	return next
}
