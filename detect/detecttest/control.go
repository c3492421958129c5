package detecttest

import (
	"fmt"
	"slices"

	"softswitch/detect"
	"softswitch/unit"
)

// MTU is the longest frame of a script in bytes, and Rate the rate of every port.
const (
	MTU            = 1500
	Rate unit.Rate = 40_000_000_000
)

// Acted is something that was done to a switch, with when and where. Bytes is the
// number that goes with the action.
type Acted struct {
	At     unit.Time
	Switch unit.NodeID
	Action detect.Action
	PG     detect.PG
	Queue  detect.Queue
	Flow   detect.FlowID // of a policer
	Bytes  int
}

// String is what was done: "restrict 0>1", "lend 0 15500".
func (x Acted) String() string {
	s := fmt.Sprintf("%v %d", x.Action, x.PG.Port)
	if x.Queue.Port != unit.NoPort {
		s += fmt.Sprintf(">%d", x.Queue.Port)
	}
	if x.Bytes > 0 {
		s += fmt.Sprintf(" %d", x.Bytes)
	}
	return s
}

// Refused is an action that was not taken.
type Refused struct {
	At     unit.Time
	Switch unit.NodeID
	Why    detect.Refusal
	PG     detect.PG
	Queue  detect.Queue
}

// turned is an action that is on or off, at a priority group and a queue.
type turned struct {
	action detect.Action // that begins it
	pg     detect.PG
	queue  detect.Queue
}

// InForce reports whether any action is in effect at s. Force does not count: it ends by
// itself.
func (s *Switch) InForce() bool {
	return len(s.on) > 0 || slices.ContainsFunc(s.ports, func(p port) bool { return p.extra != 0 || len(p.policed) > 0 })
}

func (a actions) note(m detect.Action, b detect.PG, q detect.Queue, bytes int) {
	a.noteFlow(m, b, q, 0, bytes)
}

func (a actions) noteFlow(m detect.Action, b detect.PG, q detect.Queue, flow detect.FlowID, bytes int) {
	f := a.s.fabric
	x := Acted{At: f.now, Switch: a.s.id, Action: m, PG: b, Queue: q, Flow: flow, Bytes: bytes}
	f.Acts = append(f.Acts, x)
	f.Done = append(f.Done, x.String())
}

// turn sets an action that is on or off, and records the change.
func (a actions) turn(on bool, b detect.PG, q detect.Queue, begin, end detect.Action) {
	switch at := (turned{begin, b, q}); {
	case a.s.on[at] == on:
	case on:
		a.s.on[at] = true
		a.note(begin, b, q, 0)
	default:
		delete(a.s.on, at)
		a.note(end, b, q, 0)
	}
}

// resume makes priority group b go XON if it may.
func (a actions) resume(b detect.PG) {
	v := view{s: a.s}
	if a.s.ports[b.Port].xoff && v.Charged(b) <= v.XON(b) {
		a.s.XON(b.Port)
	}
}

// Drop drops frames of MTU bytes.
func (a actions) Drop(b detect.PG, q detect.Queue) (bytes int) {
	v := view{s: a.s}
	for v.Held(b, q) > 0 && a.s.ports[b.Port].xoff {
		n := min(v.Held(b, q), MTU)
		bytes += n
		a.s.Leave(b.Port, q.Port, n)
		a.resume(b)
	}
	a.note(detect.ActionDrop, b, q, bytes)
	return bytes
}

// Force makes the bytes leave at once, to nowhere.
func (a actions) Force(b detect.PG, q detect.Queue, bytes int) {
	if bytes <= 0 {
		a.note(detect.ActionUnforce, b, q, bytes)
		return
	}
	a.note(detect.ActionForce, b, q, bytes)
	a.s.Leave(b.Port, q.Port, min(bytes, view{s: a.s}.Held(b, q)))
	a.resume(b)
}

func (a actions) Restrict(b detect.PG, q detect.Queue, on bool) {
	a.turn(on, b, q, detect.ActionRestrict, detect.ActionFree)
}

func (a actions) Lossy(q detect.Queue, on bool) {
	a.turn(on, detect.PG{}, q, detect.ActionLossy, detect.ActionHonour)
	if on && a.s.ports[q.Port].paused {
		a.s.ports[q.Port].paused = false
		a.s.detector.Resume(a.s.fabric.now, q, false)
	}
}

// LossyTurn notes it; bytes that the script enqueues stay charged.
func (a actions) LossyTurn(b detect.PG, q detect.Queue, on bool) {
	a.turn(on, b, q, detect.ActionLossyTurn, detect.ActionLosslessTurn)
}

// Avoid notes it; where bytes go, the script says.
func (a actions) Avoid(in, out unit.Port, on bool) {
	a.turn(on, pg(in), queue(out), detect.ActionAvoid, detect.ActionAllow)
}

func (a actions) Extra(b detect.PG, bytes int) (ok bool) {
	all := bytes - a.s.ports[b.Port].extra
	for _, p := range a.s.ports {
		all += p.extra
	}
	if all > a.s.fabric.Pool {
		return false
	}
	if a.s.ports[b.Port].extra != bytes {
		a.s.ports[b.Port].extra = bytes
		if bytes > 0 {
			a.note(detect.ActionExtra, b, detect.Queue{Port: unit.NoPort}, bytes)
		} else {
			a.note(detect.ActionExtraOver, b, detect.Queue{Port: unit.NoPort}, 0)
		}
		a.resume(b)
	}
	return true
}

// Police has four policers for each port.
func (a actions) Police(in unit.Port, flow detect.FlowID, rate unit.Rate) (ok bool) {
	m := &a.s.ports[in]
	action := detect.ActionUnpolice
	m.policed = slices.DeleteFunc(m.policed, func(id detect.FlowID) bool { return id == flow })
	if rate > 0 {
		if len(m.policed) == 4 {
			return false
		}
		m.policed, action = append(m.policed, flow), detect.ActionPolice
	}
	a.noteFlow(action, pg(in), detect.Queue{Port: unit.NoPort}, flow, int(rate/1000))
	return true
}

func (a actions) Refuse(why detect.Refusal, b detect.PG, q detect.Queue) {
	f := a.s.fabric
	f.Refusals = append(f.Refusals, Refused{At: f.now, Switch: a.s.id, Why: why, PG: b, Queue: q})
	f.Done = append(f.Done, fmt.Sprintf("refuse %d>%d %v", b.Port, q.Port, why))
}
