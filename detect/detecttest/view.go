package detecttest

import (
	"fmt"
	"slices"

	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// view is a Switch as a detect.View, as far as detectors and responses look.
type view struct {
	detect.View
	s *Switch
}

func (v view) Self() unit.NodeID          { return v.s.id }
func (v view) Ports() int                 { return len(v.s.ports) }
func (v view) Lossless() unit.PrioritySet { return 1 << Priority }
func (v view) FacesHost(p unit.Port) bool { return v.s.ports[p].host }

func (v view) XOFF(b detect.PG) (bool, uint8) {
	p := &v.s.ports[b.Port]
	return p.xoff && b.Priority == Priority, p.period
}

func (v view) Paused(q detect.Queue) bool { return v.s.ports[q.Port].paused && q.Priority == Priority }

func (v view) Held(b detect.PG, q detect.Queue) int {
	if b.Priority != Priority || q.Priority != Priority {
		return 0
	}
	return v.s.held[b.Port][q.Port]
}

func (v view) HeldIn(b detect.PG, out unit.PortSet) (n int) {
	for ; !out.Empty(); out.Pop() {
		n += v.Held(b, queue(out.First()))
	}
	return n
}

func (v view) XON(b detect.PG) int { return v.s.fabric.XON + v.s.ports[b.Port].extra }

func (v view) Shares() bool { return false }

func (v view) Stays(b detect.PG, out detect.Queues) bool {
	return v.HeldIn(b, out[b.Priority]) > v.XON(b)
}

func (v view) Lapsed(b detect.PG) bool { return !v.s.ports[b.Port].announced }

func (v view) Hop() unit.Time { return v.s.fabric.Hop }

func (v view) Charged(b detect.PG) (n int) {
	for out := range v.s.ports {
		n += v.Held(b, queue(unit.Port(out)))
	}
	return n
}

// Room is what b was lent: a script has no headroom.
func (v view) Room(b detect.PG) int { return v.s.ports[b.Port].extra / MTU }

func (v view) Backlog(q detect.Queue) (n int) {
	for in := range v.s.ports {
		n += v.Held(pg(unit.Port(in)), q)
	}
	return n
}

func (v view) Left(q detect.Queue) uint64       { return v.s.ports[q.Port].left }
func (v view) PausesSeen(q detect.Queue) uint64 { return v.s.ports[q.Port].pauses }
func (v view) Pressed(b detect.PG, q detect.Queue) uint64 {
	return v.s.ports[b.Port].pressed[q.Port]
}
func (v view) LinkUp(p unit.Port) bool  { return !v.s.Down.Has(p) }
func (v view) Rate(unit.Port) unit.Rate { return Rate }
func (v view) MTU() int                 { return MTU }

func (v view) Detour(detect.PG, detect.Queue) (int, unit.Port, unit.Time) {
	return 0, unit.NoPort, 0
}

func (v view) Reroutable(in unit.Port, q detect.Queue) bool {
	return v.Held(pg(in), q) > 0 && v.s.Ways.Has(in)
}

func (v view) Flows(dst []detect.Flow, q detect.Queue) []detect.Flow {
	return append(dst, v.s.ports[q.Port].flows...)
}

// actions is a Switch as detect.Actions, as far as detectors and responses act; control.go
// has its detect.Control.
type actions struct {
	detect.Actions
	s *Switch
}

func (a actions) Repause(b detect.PG) {
	if a.s.ports[b.Port].xoff && !a.s.Down.Has(b.Port) {
		a.s.askPause(b.Port)
	}
}

func (a actions) Send(p unit.Port, t itsyhdr.TLV) bool {
	from := &a.s.ports[p]
	if from.peer == nil && !from.host || a.s.Down.Has(p) {
		return false
	}
	a.s.outbox = append(a.s.outbox, item{port: p, msg: t})
	return true
}

func (a actions) SendFrame(p unit.Port, payload []byte) bool {
	if a.s.Down.Has(p) {
		return false
	}
	payload = slices.Clone(payload)
	a.s.fabric.Sent = append(a.s.fabric.Sent, Sent{p, payload})
	a.s.outbox = append(a.s.outbox, item{port: p, payload: payload})
	return true
}

func (a actions) Report(fd detect.Finding) {
	f := a.s.fabric
	f.Findings = append(f.Findings, Found{At: f.now, Switch: a.s.id, Finding: fd})
	f.Done = append(f.Done, fmt.Sprintf("report %d>%d", fd.PG.Port, fd.Queue.Port))
}

func (a actions) Trace(t detect.Trace) {
	f := a.s.fabric
	f.Traces = append(f.Traces, Traced{At: f.now, Switch: a.s.id, Trace: t})
}

func (a actions) Diagnose(_ detect.PG, _ detect.Queue, causes []detect.Cause) {
	a.s.fabric.Diagnoses = append(a.s.fabric.Diagnoses, slices.Clone(causes))
}
