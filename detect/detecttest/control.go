package detecttest

import (
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
	Bucket detect.Bucket
	Queue  detect.Queue
	Flow   detect.FlowID // of a policer
	Bytes  int
}

// Refused is an action that was not taken.
type Refused struct {
	At     unit.Time
	Switch unit.NodeID
	Why    detect.Refusal
	Bucket detect.Bucket
	Queue  detect.Queue
}

// inForce is what actions have changed of a port, and have not changed back.
type inForce struct {
	extra             int
	restricted, lossy bool
	policed           []detect.FlowID
	turns             []detect.Queue // by which what comes in here leaves, that are lossy turns
}

// InForce reports whether any action is in force at s. Force is none: it ends by
// itself.
func (s *Switch) InForce() bool {
	for _, p := range s.ports {
		m := p.inForce
		if m.extra != 0 || m.restricted || m.lossy || len(m.policed) > 0 || len(m.turns) > 0 {
			return true
		}
	}
	return false
}

func (a actions) note(m detect.Action, b detect.Bucket, q detect.Queue, bytes int) {
	f := a.s.fabric
	f.Acts = append(f.Acts, Acted{At: f.now, Switch: a.s.id, Action: m, Bucket: b, Queue: q, Bytes: bytes})
}

// turn sets an action that is on or off, and records the change.
func (a actions) turn(is *bool, on bool, b detect.Bucket, q detect.Queue, begin, end detect.Action) {
	if *is == on {
		return
	}
	*is = on
	if on {
		a.note(begin, b, q, 0)
	} else {
		a.note(end, b, q, 0)
	}
}

// resume lets bucket b go XON if it may.
func (a actions) resume(b detect.Bucket) {
	v := view{s: a.s}
	if a.s.ports[b.Port].xoff && v.Charged(b) <= v.XON(b) {
		a.s.XON(b.Port)
	}
}

// Drop drops frames of MTU bytes.
func (a actions) Drop(b detect.Bucket, q detect.Queue) (bytes int) {
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

// Force lets the bytes leave at once, to nowhere.
func (a actions) Force(b detect.Bucket, q detect.Queue, bytes int) {
	a.note(detect.ActionForce, b, q, bytes)
	a.s.Leave(b.Port, q.Port, min(bytes, view{s: a.s}.Held(b, q)))
	a.resume(b)
}

func (a actions) Restrict(b detect.Bucket, q detect.Queue, on bool) {
	a.turn(&a.s.ports[q.Port].restricted, on, b, q, detect.ActionRestrict, detect.ActionFree)
}

func (a actions) Lossy(q detect.Queue, on bool) {
	a.turn(&a.s.ports[q.Port].lossy, on, detect.Bucket{}, q, detect.ActionLossy, detect.ActionHonour)
	if on && a.s.ports[q.Port].paused {
		a.s.ports[q.Port].paused = false
		a.s.detector.Resume(a.s.fabric.now, q, false)
	}
}

// LossyTurn notes it; bytes that the script enqueues stay charged.
func (a actions) LossyTurn(b detect.Bucket, q detect.Queue, on bool) {
	is := slices.Contains(a.s.ports[b.Port].turns, q)
	a.turn(&is, on, b, q, detect.ActionLossyTurn, detect.ActionLosslessTurn)
	m := &a.s.ports[b.Port].inForce
	m.turns = slices.DeleteFunc(m.turns, func(t detect.Queue) bool { return t == q })
	if on {
		m.turns = append(m.turns, q)
	}
}

func (a actions) Extra(b detect.Bucket, bytes int) (ok bool) {
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
	f := a.s.fabric
	m := &a.s.ports[in].inForce
	action := detect.ActionUnpolice
	m.policed = slices.DeleteFunc(m.policed, func(id detect.FlowID) bool { return id == flow })
	if rate > 0 {
		if len(m.policed) == 4 {
			return false
		}
		m.policed, action = append(m.policed, flow), detect.ActionPolice
	}
	f.Acts = append(f.Acts, Acted{
		At: f.now, Switch: a.s.id, Action: action, Bucket: bucket(in), Queue: detect.Queue{Port: unit.NoPort}, Flow: flow, Bytes: int(rate / 1000),
	})
	return true
}

func (a actions) Refuse(why detect.Refusal, b detect.Bucket, q detect.Queue) {
	f := a.s.fabric
	f.Refusals = append(f.Refusals, Refused{At: f.now, Switch: a.s.id, Why: why, Bucket: b, Queue: q})
}
