package host

import (
	"softswitch/buffer"
	"softswitch/event"
	"softswitch/internal/ether"
	"softswitch/link/lldp"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// Kinds of frame, in buffer.Info.Kind.
const (
	kindOther uint8 = iota
	kindFlow
	kindPFC
	kindPause // 802.3x PAUSE
	kindBadControl
	kindLong // longer than Config.MaxFrame
	kindRC
	kindBadRC // a packet to port 4791 that roce.Parse refuses
	kindBadICRC
	kindLLDP
)

// receiversMax limits the flows for which a host keeps counts.
const receiversMax = 65536

// Parse reads the fields of a frame that the host needs. It is pure. A
// MAC Control frame is padded.
func (h *Host) Parse(f *buffer.Frame) {
	i := &f.Info
	*i = buffer.Info{}
	if pfcframe.IsMACControl(f.Data) {
		f.Data = pfcframe.Pad(f.Data)
		i.Kind = controlKind(f.Data)
		return
	}
	if h.cfg.LLDP > 0 && lldp.Is(f.Data) {
		i.Kind = kindLLDP
		return
	}
	etherType, off, _, _, ok := ether.Layer(f.Data)
	if ok && f.Len > h.cfg.MaxFrame+off-ether.HeaderLen {
		i.Kind = kindLong
		return
	}
	if !ok || etherType != ether.TypeIPv4 {
		return
	}
	ip := ether.IPv4(f.Data[off:])
	if !ip.Valid(f.Len-off) || !h.isOwn(ip.Dst()) {
		return
	}
	i.L3, i.Priority = int16(off), unit.Priority(ip.DSCP()>>3)
	if _, _, _, ok := payload(f.Data, off); ok {
		i.Kind = kindFlow
		return
	}
	i.Kind = kindOf(ip)
}

// isOwn reports whether an address is that of a NIC. Any NIC takes what is for another one.
func (h *Host) isOwn(ip uint32) bool {
	for i := range h.nics {
		if addr32(h.nics[i].Address) == ip {
			return true
		}
	}
	return false
}

func controlKind(b []byte) uint8 {
	if _, _, err := pfcframe.Parse(b); err == nil {
		return kindPFC
	}
	if _, _, err := pfcframe.ParsePause(b); err == nil {
		return kindPause
	}
	return kindBadControl
}

// Receive handles frames that arrived.
func (h *Host) Receive(now unit.Time, p unit.Port, fs []*buffer.Frame) {
	h.now = now
	n := &h.nics[p]
	for _, f := range fs {
		switch f.Info.Kind {
		case kindPFC:
			h.receivePause(n, f.Data)
		case kindPause:
			h.receivePause8023(n, f.Data)
		case kindFlow:
			h.receiveFlow(n, f)
		case kindRC:
			h.receivePacket(n, f)
		case kindBadRC:
			n.count.RC.Malformed++
		case kindBadICRC:
			n.count.RC.ICRC++
		case kindLLDP:
			h.receiveLLDP(n, f.Data)
		case kindBadControl:
			n.count.Bad++
		case kindLong:
			n.count.Long++
		default:
			n.count.Other++
		}
		h.pool.Put(f)
	}
}

// receivePause honours a PFC frame for all priorities that it names.
func (h *Host) receivePause(n *nic, b []byte) {
	pf, _, err := pfcframe.Parse(b)
	if err != nil {
		panic("host: a frame that parsed as PFC no longer does: " + err.Error())
	}
	h.wake(n)
	honours := n.honours()
	for c := range unit.Priority(unit.Priorities) {
		switch {
		case !pf.Enable.Has(c) || !honours.Has(c):
		case pf.Quanta[c] == 0:
			n.count.RxResume[c]++
			h.heed(n, c, 0)
		default:
			n.count.RxPause[c]++
			h.heed(n, c, pf.Quanta[c])
		}
	}
}

// receivePause8023 takes an 802.3x PAUSE frame, which is for all priorities where it is
// honoured.
func (h *Host) receivePause8023(n *nic, b []byte) {
	_, quanta, err := pfcframe.ParsePause(b)
	if err != nil {
		panic("host: a frame that parsed as PAUSE no longer does: " + err.Error())
	}
	n.count.RxPause8023++
	if dst := ether.Dst(b); !n.HeedPause || !dst.IsGroup() && dst != n.MAC {
		return
	}
	h.wake(n)
	for c := range unit.Priority(unit.Priorities) {
		h.heed(n, c, quanta)
	}
}

// heed pauses priority c for the given quanta, or resumes it with 0.
func (h *Host) heed(n *nic, c unit.Priority, quanta uint16) {
	switch {
	case quanta > 0:
		if !n.paused.Has(c) {
			n.paused.Add(c)
			n.count.PausedSince[c] = h.now
			h.event(event.Event{Type: event.Paused, Out: n.n, OutPriority: c})
		}
		n.pausedUntil[c] = h.now + n.Rate.QuantaTime(quanta)
	case n.paused.Has(c):
		h.endPause(n, c, event.Resumed)
	}
}

func (h *Host) endPause(n *nic, c unit.Priority, how event.Type) {
	n.paused &^= 1 << c
	n.open[c] = h.now
	n.count.PausedTime[c] += h.now - n.count.PausedSince[c]
	n.count.PausedSince[c] = 0
	h.event(event.Event{Type: how, Out: n.n, OutPriority: c})
}

// receiveFlow counts a flow's frame and puts it into the receive buffer.
func (h *Host) receiveFlow(n *nic, f *buffer.Frame) {
	c := f.Info.Priority
	number, seq, sent, _ := payload(f.Data, int(f.Info.L3))
	r := h.admit(n, number, c, f.Len)
	if r == nil {
		return
	}
	r.renumber(seq, sent)
	if r.arrived(h.now, seq, sent) {
		h.took(r, f.Len)
	}
}

// renumber forgets the numbers of a sender that restarted, and so counts from 0: its frame was sent
// later than all that came before, and has a lower number.
func (r *receiver) renumber(seq uint64, sent unit.Time) {
	if seq < r.Next && sent > r.newest {
		r.Next, r.seen = 0, seen{}
	}
	r.newest = max(r.newest, sent)
}

// arrived counts a frame with this number of a flow, that left at sent; false if it is a
// duplicate.
func (r *receiver) arrived(now unit.Time, seq uint64, sent unit.Time) bool {
	if r.repeats(seq) {
		r.Duplicates++
		return false
	}
	r.Frames++
	r.Last = now
	r.LatencyMax = max(r.LatencyMax, now-sent)
	switch {
	case seq >= r.Next:
		r.Lost += seq - r.Next
		r.Next = seq + 1
	case r.Lost > 0:
		r.Lost--
		r.Reordered++
	}
	return true
}

// arrivedForeign counts a packet by its PSN, as number n of its connection: those between it and the one that
// came before it are lost. A lower number is one that is sent again.
func (r *receiver) arrivedForeign(now unit.Time, n uint64) {
	r.Frames++
	r.Last = now
	if n > r.Next {
		r.Lost += n - r.Next
	}
	r.Next = n + 1
}

// repeats reports whether a frame with this number has arrived before, and notes that it
// has arrived now.
func (r *receiver) repeats(seq uint64) bool {
	switch {
	case seq >= r.Next:
		for missing := max(r.Next, max(seq, seenLast)-seenLast); missing < seq; missing++ {
			r.seen.clear(missing)
		}
	case r.Next-seq > seenLast:
		return false
	case r.seen.has(seq):
		return true
	}
	r.seen.set(seq)
	return false
}

// seenLast is how many numbers a receiver remembers: a frame that went another way, or waited for a pause
// of a link to end, comes some hundred later than those that left after it.
const seenLast = 1024

// seen has a bit for each of seenLast numbers in a row, whichever they are.
type seen [seenLast / 64]uint64

func (s *seen) has(n uint64) bool { return s[n%seenLast/64]>>(n%64)&1 != 0 }
func (s *seen) set(n uint64)      { s[n%seenLast/64] |= 1 << (n % 64) }
func (s *seen) clear(n uint64)    { s[n%seenLast/64] &^= 1 << (n % 64) }

// took counts the bytes of a frame that its flow has use for.
func (h *Host) took(r *receiver, n int) {
	r.Bytes += uint64(n)
	if h.cfg.Bin > 0 && h.started && h.now >= h.start {
		if bin := (h.now - h.start) / h.cfg.Bin; bin < Bins {
			r.Bins[bin] += uint64(n)
		}
	}
}

// admit puts size bytes of a flow's frame into the receive buffer. It returns nil, and counts the
// frame as dropped, if there is no room for it, or none to keep count of its flow.
func (h *Host) admit(n *nic, number uint32, c unit.Priority, size int) *receiver {
	r := h.receiver(number, c)
	switch {
	case r == nil:
		n.count.FlowsFull[c]++
		return nil
	case !h.store(n, c, size):
		n.count.Overflow++
		n.count.OverflowOf[c]++
		r.Overflow++
		return nil
	}
	n.carried.RxFrames++
	n.carried.RxBytes += uint64(size)
	return r
}

func (h *Host) receiver(number uint32, c unit.Priority) *receiver {
	if i, ok := h.receivers[number]; ok {
		return &h.received[i]
	}
	if len(h.received) == receiversMax {
		return nil
	}
	h.receivers[number] = int32(len(h.received))
	h.received = append(h.received, receiver{Received: Received{Number: number, First: h.now, Priority: c}})
	return &h.received[len(h.received)-1]
}

// store adds so many bytes to the receive buffer of a priority; false if they do not fit.
func (h *Host) store(n *nic, c unit.Priority, bytes int) bool {
	if n.drain == 0 {
		return true
	}
	h.drained(n, c)
	b := &n.rx[c]
	size, add := int64(h.cfg.RxBuffer+h.cfg.RxSlack)*8*bit, int64(bytes)*8*bit
	if b.fill+add > size {
		return false
	}
	b.fill += add
	if !b.xoff && b.fill >= h.level(3, 4) && n.sends().Has(c) {
		b.xoff = true
		n.toSend.Add(c)
	}
	h.wake(n)
	return true
}

// drained drains a receive buffer up to now, and requests a resume if its fill has
// fallen to half.
func (h *Host) drained(n *nic, c unit.Priority) {
	b := &n.rx[c]
	// Compare before multiplying: after a long idle time the product overflows.
	if n.drain == 0 || int64(h.now-b.at) > b.fill/int64(n.drain) {
		b.fill = 0
	} else {
		b.fill -= int64(n.drain) * int64(h.now-b.at)
	}
	b.at = h.now
	if b.xoff && b.fill <= h.level(1, 2) {
		b.xoff = false
		n.toSend.Add(c)
	}
}

// level is num/den of the receive buffer's size, in the unit of rxBuffer.fill.
func (h *Host) level(num, den int64) int64 { return int64(h.cfg.RxBuffer) * 8 * bit / den * num }
