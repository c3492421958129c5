package dataplane

import (
	"softswitch/buffer"
	"softswitch/detect"
	"softswitch/event"
	"softswitch/internal/ether"
	"softswitch/itsyhdr"
	"softswitch/link/auth"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// This file is where the two wire formats meet: a pause frame of package pfcframe
// carries, in its padding, a TLV of package itsyhdr.

// receivePause honours a PFC frame: before the MMU, so that a full buffer cannot
// stop it. A quantum is 512 bit times at this port's rate. It is charged nowhere and waits
// nowhere: its slot is free again when this returns.
func (s *Switch) receivePause(in unit.Port, f *buffer.Frame) {
	p := &s.ports[in]
	if p.cfg.FacesStack {
		s.drop(f, DropReservedGroup)
		return
	}
	pf, pad, err := pfcframe.Parse(f.Data)
	if err != nil {
		// Parse has read these bytes, and nobody may change them since: a broken invariant, not
		// bad input.
		panic("dataplane: a frame that parsed as PFC no longer does: " + err.Error())
	}
	t, err := itsyhdr.Parse(pad)
	// A host forwards nobody's pause, so it has no label and no period to send. Believing one
	// would allow it to forge deadlocks.
	carries := err == nil && !p.cfg.FacesHost
	// After the TLV is found, since the tag is in it, and before anything is acted on or counted:
	// what is not believed counts as dropped alone.
	if !s.believed(in, f, pauseTag(carries)) {
		return
	}
	switch {
	case err == nil && p.cfg.FacesHost:
		p.count.Drops[OddHostLabel]++
	// A TLV that is malformed costs the label, not the pause: a plain device may leave anything
	// in its padding.
	case err != nil && err != itsyhdr.ErrNone:
		p.count.Drops[OddTLV]++
	}
	// The tag was for this hop. A label that goes on, or is compared, is without it.
	t.Auth = 0
	for set := pf.Enable; set != 0; set &= set - 1 {
		c := set.First()
		// Counted also where the pause is not honoured (a lossy priority, Ignore, Flush and so on): by these
		// counts a watchdog sees that a host has become quiet (detect.View.PausesSeen).
		if pf.Quanta[c] == 0 {
			p.count.RxResume[c]++
		} else {
			p.count.RxPause[c]++
		}
		if !p.honours.Has(c) {
			p.count.Drops[OddPFCPriority]++
			continue
		}
		of := itsyhdr.TLV{}
		// The TLV is about one priority. Others of the same frame are paused as by a plain device,
		// without a period.
		mine := carries && t.Priority == c
		if mine {
			of = t
		}
		s.heed(detect.Queue{Port: in, Priority: c}, pf.Quanta[c], of, mine)
	}
	s.free(f)
}

// heed pauses q for the given quanta, or resumes it with 0. A quantum is 512 bit times at the
// rate of the port at which the frame came (IEEE 802.3, 31B.2), so the two ends agree on its
// length only if they have one rate.
func (s *Switch) heed(q detect.Queue, quanta uint16, t itsyhdr.TLV, hasPeriod bool) {
	p := &s.ports[q.Port]
	// An expiry that nobody has asked for yet happened before this frame.
	if p.paused.Has(q.Priority) && p.pauses[q.Priority].until <= s.now {
		p.count.Expired[q.Priority]++
		s.endPause(q.Port, q.Priority, event.Expired)
	}
	switch {
	case quanta > 0:
		s.startPause(q, s.now+p.cfg.Rate.QuantaTime(quanta), t, hasPeriod)
	case p.paused.Has(q.Priority):
		s.endPause(q.Port, q.Priority, event.Resumed)
	}
}

// receivePause8023 takes an 802.3x PAUSE frame (IEEE 802.3, annex 31B). Where it is honoured, it
// acts on every priority, lossy ones too, as a PFC frame of a host acts on one. It counts once, in
// RxPause8023, and not by priority.
func (s *Switch) receivePause8023(in unit.Port, f *buffer.Frame) {
	p := &s.ports[in]
	_, quanta, err := pfcframe.ParsePause(f.Data)
	if err != nil {
		panic("dataplane: a frame that parsed as PAUSE no longer does: " + err.Error())
	}
	dst := unit.MAC(f.Info.DstMAC)
	switch {
	case p.cfg.FacesStack:
		s.drop(f, DropReservedGroup)
		return
	// Parse has refused other groups. A PAUSE to another station's own address is not for this
	// port (31B.1), and where PFC is enabled PAUSE must not be honoured (802.1Q, 36.1.1).
	case !p.cfg.HeedPause || !dst.IsGroup() && dst != p.cfg.MAC:
		s.drop(f, DropPause8023)
		return
	// It has no room for a tag: a strict end believes none, one that accepts believes all.
	case !s.believed(in, f, noTag):
		return
	}
	p.count.RxPause8023++
	if quanta > 0 {
		p.seen8023++
	}
	for c := range unit.Priority(unit.Priorities) {
		s.heed(detect.Queue{Port: in, Priority: c}, quanta, itsyhdr.TLV{}, false)
	}
	s.free(f)
}

// receiveMessage hands a one-hop message to the detector.
func (s *Switch) receiveMessage(in unit.Port, f *buffer.Frame) {
	p := &s.ports[in]
	if p.cfg.FacesHost {
		s.drop(f, DropHostMessage)
		return
	}
	_, t, err := itsyhdr.ParseMessage(f.Data)
	switch {
	case err != nil:
		s.receiveFrame(in, f)
	// Not through believed: a hello is how an end starts to believe, and has its own rules
	// (auth.End.Hear).
	case t.Kind == itsyhdr.KindHello:
		s.receiveHello(in, f, t)
	case !s.believed(in, f, messageTag):
	case p.heard.again(itsyhdr.Number(f.Data)):
		s.drop(f, DropRepeated)
	default:
		// t is a copy: nobody needs the slot any more.
		p.count.RxMessages++
		s.free(f)
		t.Auth = 0
		s.detector.Message(s.now, in, t)
	}
}

// receiveFrame obeys a rate, and hands any other message that is no ITSY TLV to a detector that has messages
// of its own. The payload is only lent to the detector: it is in the slot, which is free after the
// call.
func (s *Switch) receiveFrame(in unit.Port, f *buffer.Frame) {
	payload, tag := s.ports[in].splitPayload(f.Data)
	rate, isRate := itsyhdr.ParseRate(payload)
	isRate = isRate && s.ports[in].gentle != nil
	if !isRate && s.peer == nil || payload == nil {
		s.drop(f, DropMessage)
		return
	}
	if !s.believed(in, f, tag) {
		return
	}
	if isRate {
		s.ports[in].count.RxMessages++
		s.free(f)
		if s.ports[in].honours.Has(rate.Priority) {
			s.obeyRate(in, rate)
		}
		return
	}
	if !s.peer.Frame(s.now, in, payload) {
		s.drop(f, DropMessage)
		return
	}
	s.ports[in].count.RxMessages++
	s.free(f)
}

// buildControl fills f with the oldest control frame that port out has to send. A pause
// is built from the state of this moment: newest quanta, newest label. Preconditions: one waits.
// The frame is charged to nobody, and free takes it back like any other.
func (s *Switch) buildControl(out unit.Port, f *buffer.Frame) {
	p := &s.ports[out]
	it := p.control.pop()
	// A PFC frame and a message have the same length, 60 bytes; buildPayload replaces it.
	f.Control, f.Data = true, f.Data[:pfcframe.Len]
	f.Len = pfcframe.Len
	switch {
	case it.isPause:
		s.buildPause(out, f, it.msg.Priority)
		return
	case it.isRate:
		s.buildRate(out, f, it.msg.Priority)
	case it.isHello:
		// Only an authenticated port has hellos to send (sendChallenge, receiveHello).
		p.auth.PutHello(f.Data, unit.NodePort{Node: s.cfg.ID, Port: out}, it.hello)
	case it.payload != "":
		s.buildPayload(p, f, it.payload)
	default:
		itsyhdr.PutMessage(f.Data, p.cfg.MAC.Bytes(), it.msg)
		itsyhdr.PutNumber(f.Data, p.nextNumber(s.now))
		p.sign(f, messageTag)
	}
	p.count.TxMessages++
}

// buildPayload fills f with a message whose payload is a detector's own.
func (s *Switch) buildPayload(p *port, f *buffer.Frame, payload string) {
	f.Data = append(f.Data[:0], itsyhdr.MessageAddress...)
	mac := p.cfg.MAC.Bytes()
	f.Data = append(f.Data, mac[:]...)
	f.Data = append(f.Data, itsyhdr.MessageEtherType>>8, itsyhdr.MessageEtherType&0xff)
	f.Data = append(f.Data, payload...)
	n := len(f.Data)
	if p.auth != nil {
		n += auth.TagLen
	}
	// Padding lies between payload and tag, so that the tag is at the end of the frame whatever
	// its length: splitPayload finds it there, and hands the padding over with the payload.
	for len(f.Data) < max(n, ether.MinLen) {
		f.Data = append(f.Data, 0)
	}
	f.Len = len(f.Data)
	p.sign(f, f.Len-auth.TagLen)
}

// buildPause fills f with a pause or resume of priority, from the state of this moment. State, not
// events: whether it pauses or resumes is what the priority group is now, however often that changed
// since the reminder. One priority a frame, since the TLV is about one.
func (s *Switch) buildPause(out unit.Port, f *buffer.Frame, c unit.Priority) {
	p := &s.ports[out]
	pf := pfcframe.Frame{Src: p.cfg.MAC.Bytes(), Enable: 1 << c}
	on, period := s.mmu.XOFF(out, c)
	t := itsyhdr.TLV{}
	if on {
		pf.Quanta[c] = s.cfg.Quanta
		t = s.detector.Label(s.now, detect.PG{Port: out, Priority: c})
	}
	// After Label, whose TLV leaves both to the switch. A resume has a period too, that of the
	// latest XOFF.
	t.Priority, t.Period = c, period
	if pad := pfcframe.Put(f.Data, pf); !s.cfg.Plain {
		// Signed last: the code is over all of the frame.
		itsyhdr.Put(pad, t)
		p.sign(f, pauseTag(true))
	}
	s.announce(out, c, on, period)
	// After announce, which replaces all of it.
	p.announced[c].label = t
}

// announce notes what the far end of out learns of priority by the frame that leaves. Each frame
// counts as one of TxPause, TxRefresh and TxResume.
func (s *Switch) announce(out unit.Port, priority unit.Priority, on bool, period uint8) {
	p := &s.ports[out]
	was := p.announced[priority]
	e := event.Event{Type: event.ResumeSent, Port: out, Priority: priority, Period: period, HasPeriod: true}
	switch {
	case !on:
		p.count.TxResume[priority]++
	// Told already, and of this period: a repetition. With another period the resume in between
	// was never sent (its reminder became this frame), and the far end takes it for a new pause.
	case p.told.Has(priority) && was.period == period:
		e.Type = event.RefreshSent
		p.count.TxRefresh[priority]++
	default:
		e.Type = event.PauseSent
		p.count.TxPause[priority]++
	}
	s.event(e)
	p.told &^= 1 << priority
	if on {
		p.told.Add(priority)
	}
	next := announcement{period: period, refresh: s.now + s.cfg.Refresh, silent: was.silent}
	if e.Type == event.PauseSent {
		next.silent = unit.Never
		if t := s.heedTime(p); t < unit.Never {
			next.silent = s.now + t
		}
	}
	p.announced[priority] = next
}
