package host

import (
	"slices"

	"softswitch/buffer"
	"softswitch/event"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// Transmit returns the frames that a NIC sends now: pauses, then frames of flows that are due
// and whose priority is not paused.
func (h *Host) Transmit(now unit.Time, p unit.Port, fs []*buffer.Frame) (k int, next unit.Time) {
	h.now = now
	n := &h.nics[p]
	next = h.runActs()
	if !n.up {
		return 0, next
	}
	if now-n.next > lateMax*h.cfg.Granularity {
		h.tendAt = now // what flows whose time is over have left out is seen now or never
	}
	next = min(next, h.expire(n), h.pauseDeadlines(n), h.tend())
	free := n.wire.At()
	n.wire.Begin(now, n.Rate, h.cfg.Granularity)
	k = h.transmitPauses(n, fs)
	if n.lldp != nil {
		sent, at := h.transmitLLDP(n, fs[k:])
		k, next = k+sent, min(next, at)
	}
	k += h.transmitAnswers(n, fs[k:])
	for k < len(fs) && n.wire.Ready(now) {
		s := h.pick(n)
		if s == nil {
			break
		}
		f := h.pool.Get()
		if f == nil {
			break
		}
		size := h.fill(f, s)
		s.sent += uint64(size)
		n.carried.TxFrames++
		n.carried.TxBytes += uint64(size)
		earliest := now - h.patience
		if h.cfg.Granularity > 0 { // an exact driver is never late
			h.leaveOut(n, s, free, earliest)
		}
		s.due = max(s.due, earliest) + h.rateOf(s).FrameTime(size)
		n.wire.Send(n.Rate.FrameTime(size))
		fs[k] = f
		k++
	}
	n.next = min(next, h.nextFrame(n, k == len(fs)))
	return k, n.next
}

// fill builds the next frame of a flow into f and returns its length in bytes.
func (h *Host) fill(f *buffer.Frame, s *sender) int {
	if s.rc != nil {
		return h.fillRC(f, s)
	}
	size := s.size()
	f.Data, f.Len = f.Data[:h.keep(size)], size
	h.build(f.Data, &h.nics[s.nic], &s.Flow, size, s.seq, h.now)
	s.seq++
	if s.sent+uint64(size) >= s.end {
		h.tendAt = h.now
	}
	return size
}

// leaveOut notes that what a flow should have sent before a time is not sent any more. The wire was idle
// since free. What a pause withholds is not left out, nor what the wire had no time for.
func (h *Host) leaveOut(n *nic, s *sender, free, before unit.Time) {
	if s.rc == nil {
		s.left += max(0, before-max(s.due, free, n.open[s.Priority]))
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
func (h *Host) nextFrame(n *nic, full bool) unit.Time {
	due := unit.Never
	if h.owes(n) {
		due = h.now
	}
	if h.started && !h.stopped {
		for set := h.coming &^ n.paused; set != 0; set &= set - 1 {
			c := set.First()
			due = min(due, h.flows[h.begins[c][h.begun[c]]].due)
		}
		for _, i := range h.active {
			if s := &h.flows[i]; s.nic == n.n && s.due < due && !n.paused.Has(s.Priority) && h.mayStill(s) {
				due = s.due
			}
		}
	}
	if due == unit.Never && n.toSend == 0 {
		return unit.Never
	}
	at := n.wire.At()
	if n.toSend == 0 {
		at = max(at, due)
	}
	if at <= h.now {
		if full {
			n.wire.Wait()
			return h.now
		}
		at = h.now + 1
	}
	// A flow that waits for its time may catch up, as the wire may.
	if due <= n.wire.At() {
		n.wire.Wait()
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

// pick chooses the flow that a NIC sends next, round robin.
func (h *Host) pick(n *nic) *sender {
	if !h.started || h.stopped {
		return nil
	}
	first, _ := slices.BinarySearch(h.active, int32(n.turn))
	for i := range h.active {
		k := h.active[(first+i)%len(h.active)]
		s := &h.flows[k]
		if s.nic == n.n && s.due <= h.now && !n.paused.Has(s.Priority) && h.mayStill(s) {
			n.turn = int(k) + 1
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
		case s.sent < s.end && !h.nics[s.nic].paused.Has(s.Priority):
			n := &h.nics[s.nic]
			h.leaveOut(n, s, n.wire.At(), h.until(s))
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
func (h *Host) transmitPauses(n *nic, fs []*buffer.Frame) (k int) {
	for k < len(fs) && n.toSend != 0 && n.wire.Ready(h.now+h.cfg.Granularity) {
		c := n.toSend.First()
		f := h.pool.Get()
		if f == nil {
			return k
		}
		n.toSend &^= 1 << c
		f.Data, f.Len = f.Data[:pfcframe.Len], pfcframe.Len
		b := &n.rx[c]
		on := b.xoff || n.storming.Has(c)
		pf := pfcframe.Frame{Src: n.MAC.Bytes(), Enable: 1 << c}
		e := event.Event{Type: event.ResumeSent, Priority: c}
		switch {
		case !on:
			n.count.TxResume[c]++
		case b.announced:
			e.Type = event.RefreshSent
			n.count.TxRefresh[c]++
		default:
			e.Type = event.PauseSent
			n.count.TxPause[c]++
		}
		if on {
			pf.Quanta[c] = h.cfg.Quanta
		}
		h.eventAt(n, e)
		b.announced, b.refresh = on, h.now+h.cfg.Refresh
		pfcframe.Put(f.Data, pf)
		n.wire.Send(n.Rate.FrameTime(f.Len))
		fs[k] = f
		k++
	}
	return k
}

// pauseDeadlines requests the refreshes that are due, drains the receive buffers, and
// returns when it has to be called next.
func (h *Host) pauseDeadlines(n *nic) unit.Time {
	next := unit.Never
	for c := range unit.Priority(unit.Priorities) {
		b := &n.rx[c]
		if b.fill == 0 && !b.xoff && !b.announced {
			continue
		}
		h.drained(n, c)
		if b.xoff && n.drain > 0 {
			over, drain := b.fill-h.level(1, 2), int64(n.drain)
			next = min(next, h.now+unit.Time((over+drain-1)/drain))
		}
		switch {
		case !b.announced:
		case b.refresh <= h.now:
			n.toSend.Add(c)
		default:
			next = min(next, b.refresh)
		}
	}
	return next
}

// expire ends the pauses that have expired, and returns when the next one does.
func (h *Host) expire(n *nic) unit.Time {
	next := unit.Never
	for set := n.paused; set != 0; set &= set - 1 {
		c := set.First()
		if n.pausedUntil[c] <= h.now {
			h.endPause(n, c, event.Expired)
			n.open[c] = n.pausedUntil[c] // however late the driver is
			continue
		}
		next = min(next, n.pausedUntil[c])
	}
	return next
}
