package dataplane

import (
	"fmt"

	"softswitch/detect"
	"softswitch/event"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// actions is what a detector may ask of its switch: frames and log entries here,
// detect.Control in actions.go and police.go.
type actions struct{ s *Switch }

var _ detect.Actions = actions{}

// Repause sends a pause frame for b now, if b is XOFF.
func (a actions) Repause(b detect.PG) {
	// Of a priority group that is XON it would be a resume, and that has been asked for already.
	if on, _ := a.s.mmu.XOFF(b.Port, b.Priority); on {
		a.s.sendPause(b.Port, b.Priority)
	}
}

// Send sends t out of port p as a one-hop message.
func (a actions) Send(p unit.Port, t itsyhdr.TLV) bool {
	return a.s.send(p, controlItem{msg: t})
}

// SendFrame sends a payload out of port p as a one-hop message.
func (a actions) SendFrame(p unit.Port, payload []byte) bool {
	if len(payload) > detect.PayloadMax {
		panic(fmt.Sprintf("dataplane: a message of %d bytes, want at most %d", len(payload), detect.PayloadMax))
	}
	return a.s.send(p, controlItem{payload: string(payload)})
}

func (s *Switch) send(p unit.Port, it controlItem) bool {
	// It counts at the port by which it should have left, and the caller is told: no message is
	// lost in silence.
	if !s.ports[p].up || !s.ports[p].control.message(it) {
		s.ports[p].count.Drops[OddMessageQueue]++
		return false
	}
	s.ready.Add(p)
	s.urgent.Add(p)
	return true
}

// Report logs a declared deadlock.
func (a actions) Report(f detect.Finding) {
	a.s.event(event.Event{
		Type: event.Deadlock, Port: f.PG.Port, Priority: f.PG.Priority, Out: f.Queue.Port, OutPriority: f.Queue.Priority,
		Label: f.Label, Trigger: f.Trigger, OnLoop: f.OnLoop,
	})
}

// Diagnose logs the causes of a declared deadlock: an event each, or one for each flow that
// it names.
func (a actions) Diagnose(b detect.PG, q detect.Queue, causes []detect.Cause) {
	for i, c := range causes {
		e := event.Event{
			Type: event.Cause, Port: b.Port, Priority: b.Priority, Out: q.Port, OutPriority: q.Priority,
			Cause: c.Type, Rank: uint8(i + 1), Confidence: c.Confidence, Trigger: c.At, In: c.In, OnLoop: c.OnLoop, Together: c.Together,
		}
		for k := 0; k == 0 || k < len(c.Flows) && c.Flows[k] != 0; k++ {
			e.Flow = c.Flows[k]
			a.s.event(e)
		}
	}
}

// Trace logs a step of the detector.
func (a actions) Trace(t detect.Trace) {
	a.s.event(event.Event{
		Type: event.Trace, Step: t.Step, Port: t.PG.Port, Priority: t.PG.Priority, Out: t.Queue.Port, OutPriority: t.Queue.Priority,
		Label: t.Label,
	})
}
