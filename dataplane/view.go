package dataplane

import (
	"fmt"

	"softswitch/detect"
	"softswitch/event"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// The switch as its detector sees it (detect.View) and what the detector may ask
// of it (detect.Actions).

// Self is the switch's number.
func (s *Switch) Self() unit.NodeID { return s.cfg.ID }

// Lossless is the set of lossless classes.
func (s *Switch) Lossless() unit.ClassSet { return s.lossless }

// FacesHost reports whether the far end of p is a host.
func (s *Switch) FacesHost(p unit.Port) bool { return s.ports[p].cfg.FacesHost }

// XOFF reports whether b pauses its upstream, and its period.
func (s *Switch) XOFF(b detect.Bucket) (on bool, period uint8) { return s.mmu.XOFF(b.Port, b.Class) }

// Paused reports whether a pause is in force at q.
func (s *Switch) Paused(q detect.Queue) bool { return s.ports[q.Port].paused.Has(q.Class) }

// Held is M(b, q) in bytes.
func (s *Switch) Held(b detect.Bucket, q detect.Queue) int {
	return s.mmu.Held(b.Port, b.Class, q.Port, q.Class)
}

// HeldIn is the bytes of b in the queues of its class at the ports out, each frame
// once.
func (s *Switch) HeldIn(b detect.Bucket, out unit.PortSet) (n int) {
	for rest := out; rest != 0; rest &= rest - 1 {
		p := rest.First()
		held := s.mmu.Held(b.Port, b.Class, p, b.Class)
		if held > 0 && s.flooded > 0 {
			held = s.heldFirst(b, p, out)
		}
		n += held
	}
	return n
}

// heldFirst is the bytes of b in the queue of port at, without the flooded frames
// that wait in a queue of a lower port of out too.
func (s *Switch) heldFirst(b detect.Bucket, at unit.Port, out unit.PortSet) (n int) {
	for f := s.ports[at].queues[b.Class].Head(); f != nil; f = f.Next() {
		if f.In != b.Port || f.InClass != b.Class || !f.Orig().Charged {
			continue
		}
		if !f.Flooded || (f.Orig().Waiting&out).First() == at {
			n += f.Len
		}
	}
	return n
}

// Lapsed reports whether the last pause frame of b, which is XOFF, left so long ago
// that the pause may have run out: an eighth of its time is left for the frame that
// is to prolong it.
func (s *Switch) Lapsed(b detect.Bucket) bool {
	p := &s.ports[b.Port]
	t := &p.told[b.Class]
	lasts := p.cfg.Rate.QuantaTime(s.cfg.Quanta)
	return !t.paused || s.now-(t.refresh-s.cfg.Refresh) > lasts-lasts/8
}

// Hop is the longest that a pause usually takes to the next switch.
func (s *Switch) Hop() unit.Time { return s.hop }

// XON is the resume threshold in bytes.
func (s *Switch) XON(b detect.Bucket) int { return s.mmu.XON(b.Port, b.Class) }

// Repause sends a pause frame for b now, if b is XOFF.
func (s *Switch) Repause(b detect.Bucket) {
	if on, _ := s.mmu.XOFF(b.Port, b.Class); on {
		s.owePause(b.Port, b.Class)
	}
}

// Send sends t out of port p as a one-hop message.
func (s *Switch) Send(p unit.Port, t itsyhdr.TLV) bool {
	return s.send(p, owedItem{msg: t})
}

// SendFrame sends a payload out of port p as a one-hop message.
func (s *Switch) SendFrame(p unit.Port, payload []byte) bool {
	if len(payload) > detect.PayloadMax {
		panic(fmt.Sprintf("dataplane: a message of %d bytes, want at most %d", len(payload), detect.PayloadMax))
	}
	return s.send(p, owedItem{payload: string(payload)})
}

func (s *Switch) send(p unit.Port, it owedItem) bool {
	if !s.ports[p].up || !s.ports[p].owed.message(it) {
		s.ports[p].count.Drops[OddMessageQueue]++
		return false
	}
	s.ready.Add(p)
	s.urgent.Add(p)
	return true
}

// Report logs a declared deadlock.
func (s *Switch) Report(f detect.Finding) {
	s.event(event.Event{
		Type: event.Deadlock, Port: f.Bucket.Port, Class: f.Bucket.Class, Out: f.Queue.Port, OutClass: f.Queue.Class,
		Label: f.Label, Trigger: f.Trigger, OnLoop: f.OnLoop,
	})
}

// Trace logs a step of the detector.
func (s *Switch) Trace(t detect.Trace) {
	s.event(event.Event{
		Type: event.Trace, Step: t.Step, Port: t.Bucket.Port, Class: t.Bucket.Class, Out: t.Queue.Port, OutClass: t.Queue.Class,
		Label: t.Label,
	})
}
