package model

import (
	"math/bits"
	"slices"

	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// Priority is the lossless priority of everything.
const Priority unit.Priority = 3

// Chances is in how many ways what a detector leaves to chance may turn out.
const Chances = 4

// Now is the time of everything, and Hop the hop that detectors use. What waits for a time
// may happen at any.
const (
	Hop = unit.Microsecond
	Now = 5000 * Hop
)

// Levels of a priority group in units: at xoff it pauses its upstream, at xon it resumes it.
const (
	xoff     = 2
	xon      = 1
	maxUnits = 3
)

// leaving is a unit that has begun to leave by the last of its queues, and is charged to its
// priority group until it has left.
const leaving portMask = 1 << 7

// portMask is a set of ports, or leaving.
type portMask uint8

// Detector is a detector that can be put into a state in which it was, and that acts when it is
// told to.
type Detector interface {
	detect.Detector
	// State appends all that its decisions depend on to b, times left out.
	State(b []byte) []byte
	// SetState puts it into the state that State wrote.
	SetState(b []byte)
	// Due reports whether it would act by itself for priority group b, sooner or later.
	Due(b detect.PG) bool
	// Fire makes it act now. What it leaves to chance is decided by chance, which is
	// below Chances.
	Fire(b detect.PG, chance int)
	// Age makes so much time pass that it regards what it is part of as given up.
	Age()
}

// Factory makes the detector of a switch.
type Factory func(detect.View, detect.Actions) Detector

// node is a switch that can be put into any state. What it sends comes out in sent.
type node struct {
	plan   *plan
	wires  *wires
	id     unit.NodeID
	queued bool
	local
	det Detector

	sent    []sending
	reports []detect.Finding
	traces  []detect.Trace
}

// local is what is true at a switch, its detector's state apart.
type local struct {
	ports [maxPorts]port
	units [maxPorts][maxUnits]portMask // of a priority group that is XOFF, by ingress port: where each waits; 0 is none
	box   [maxPorts][]uint32           // what waits to be sent: frames, and pauseHere
}

// pauseHere in a box is the reminder of a pause of the port's priority group: whether it is a pause or
// a resume, and with which label, is decided when it leaves.
const pauseHere = 0

// port is a priority group and a queue, those of the port's number.
type port struct {
	period, by uint8 // of the priority group's XOFF; of the priority group that paused the queue
	state      portState
}

type portState uint8

const (
	isXOFF    portState = 1 << iota // the priority group is XOFF
	isArmed                         // a pause frame of that has left, and the pause has not lapsed since
	isPaused                        // a pause is active at the queue
	isLate                          // it may run out: the frame that should prolong it is late
	isMissed                        // a frame that should have prolonged it is lost
	isStarved                       // and so is the next: it may run out
	isDown                          // the link is down here
	isFailed                        // the link is down at the far end, and will be here
)

// weakness is why a pause may run out.
const weakness = isLate | isMissed | isStarved

func (s portState) has(is portState) bool { return s&is != 0 }

// sending is a frame that leaves by a port.
type sending struct {
	port  unit.Port
	frame uint32
}

// step is something that happens at a switch.
type step struct {
	op      op
	a, b, c uint8
	frame   uint32
}

type op uint8

const (
	opDeliver op = iota // frame comes in by port a
	opFill              // priority group a goes XOFF by two units that take its turns b and c
	opAdd               // one more unit of priority group a takes turn b
	opPop               // unit b of priority group a begins to leave by queue c
	opSent              // unit b of priority group a has left
	opSend              // what waits longest at port a is sent
	opRefresh           // priority group a's pause is repeated
	opLapse             // priority group a's refresh is late
	opWeaken            // the frame that should prolong queue a's pause is late, or lost if b is 1
	opExpire            // the pause of queue a runs out
	opFire              // priority group a's time has come; b is the chance
	opAge               // all verifications seem given up
	opDown              // the link of port a is down
	opUp                // the link of port a is up again
	opDoom              // it is down at the far end, and will be here
)

func newNode(p *plan, w *wires, id unit.NodeID, queued bool, make Factory) *node {
	n := &node{plan: p, wires: w, id: id, queued: queued}
	n.det = make(nodeView{n: n}, nodeActions{n: n})
	return n
}

// apply carries out s.
func (n *node) apply(s step) {
	n.sent, n.reports, n.traces = n.sent[:0], n.reports[:0], n.traces[:0]
	a := unit.Port(s.a)
	switch s.op {
	case opDeliver:
		n.deliver(a, n.wires.frames[s.frame])
	case opFill:
		n.fill(a, n.turns(a)[s.b], n.turns(a)[s.c])
	case opAdd:
		n.enqueue(a, n.turns(a)[s.b])
	case opPop:
		n.pop(a, int(s.b), unit.Port(s.c))
	case opSent:
		n.take(a, int(s.b))
		n.resumeIfLow(a)
	case opSend:
		n.send(a)
	case opRefresh:
		n.remind(a)
	case opLapse:
		n.ports[a].state &^= isArmed
	case opWeaken:
		n.weaken(a, s.b != 0)
	case opExpire:
		n.endPause(a, true)
	case opFire:
		n.det.Fire(pg(a), int(s.b))
	case opAge:
		n.det.Age()
	case opDown:
		n.down(a)
	case opUp:
		n.ports[a].state &^= isDown
		if n.is(a, isXOFF) {
			n.remind(a)
		}
	case opDoom:
		n.ports[a].state |= isFailed
	}
	if !n.queued {
		for p := range n.ports {
			for len(n.box[p]) > 0 {
				n.send(unit.Port(p))
			}
		}
	}
}

func (n *node) is(p unit.Port, s portState) bool { return n.ports[p].state.has(s) }

func (n *node) deliver(p unit.Port, f frame) {
	switch {
	case f.kind == messageFrame:
		n.det.Message(Now, p, f.tlv)
	case f.kind == resumeFrame:
		n.endPause(p, false)
	default:
		if n.is(p, isPaused) && n.ports[p].by != f.period {
			n.endPause(p, false)
		}
		fresh := !n.is(p, isPaused)
		n.ports[p].state = n.ports[p].state&^weakness | isPaused
		n.ports[p].by = f.period
		n.det.Pause(Now, queue(p), f.tlv, fresh)
	}
}

func (n *node) endPause(p unit.Port, expired bool) {
	if n.is(p, isPaused) {
		n.ports[p].state &^= isPaused | weakness
		n.ports[p].by = 0
		n.det.Resume(Now, queue(p), expired)
	}
}

// weaken: what should prolong the pause of queue p is late, or lost.
func (n *node) weaken(p unit.Port, lost bool) {
	switch {
	case !n.is(p, isPaused):
	case !lost:
		n.ports[p].state |= isLate
	case n.is(p, isMissed):
		n.ports[p].state |= isStarved
	default:
		n.ports[p].state |= isMissed
	}
}

// fill makes two units come in that make priority group i XOFF. Those that it held before, fewer
// than that, are among them.
func (n *node) fill(i unit.Port, first, second portMask) {
	n.enqueue(i, first)
	n.enqueue(i, second)
	p := &n.ports[i]
	p.period++
	p.state = p.state&^isArmed | isXOFF
	n.det.XOFF(Now, pg(i), queue(second.first()))
	n.remind(i)
}

// enqueue makes a unit come in by port i that leaves by all of outs.
func (n *node) enqueue(i unit.Port, outs portMask) {
	u := &n.units[i]
	free := slices.Index(u[:], 0)
	u[free] = outs
	slices.Sort(u[:])
	for rest := outs; rest != 0; rest &= rest - 1 {
		n.det.Enqueue(Now, pg(i), queue(rest.first()), 0, 1)
	}
}

// pop makes the copy of unit u of priority group i that waits in queue p begin to leave.
func (n *node) pop(i unit.Port, u int, p unit.Port) {
	m := &n.units[i][u]
	if *m &^= 1 << p; *m == 0 {
		*m = leaving
	}
	slices.Sort(n.units[i][:])
	n.emptied(p)
}

// take takes unit u of priority group i away.
func (n *node) take(i unit.Port, u int) {
	n.units[i][u] = 0
	slices.Sort(n.units[i][:])
}

// emptied tells the detector if nothing waits in queue p.
func (n *node) emptied(p unit.Port) {
	for i := range n.units {
		for _, m := range n.units[i] {
			if m>>p&1 != 0 {
				return
			}
		}
	}
	n.det.Empty(Now, queue(p))
}

// resumeIfLow makes priority group i go XON if it holds little enough, and then each other one that
// does, because the pool is emptier. What they hold then no longer matters, and is forgotten.
func (n *node) resumeIfLow(i unit.Port) {
	n.resume(i)
	for again := n.plan.Pool > 0; again; {
		again = false
		for j := range unit.Port(maxPorts) {
			again = n.resume(j) || again
		}
	}
}

// resume makes priority group i go XON if it holds little enough, and reports whether it did.
func (n *node) resume(i unit.Port) bool {
	if !n.is(i, isXOFF) || n.charged(i) > n.plan.xon(n.others(i, n.charged)) {
		return false
	}
	n.units[i] = [maxUnits]portMask{}
	n.ports[i].state &^= isXOFF | isArmed
	n.det.XON(Now, pg(i))
	n.remind(i)
	return true
}

// others is the sum of units of all priority groups but i, as of says.
func (n *node) others(i unit.Port, of func(unit.Port) int) (units int) {
	for j := range unit.Port(maxPorts) {
		if j != i {
			units += of(j)
		}
	}
	return units
}

func (n *node) charged(i unit.Port) (units int) {
	for _, m := range n.units[i] {
		if m != 0 {
			units++
		}
	}
	return units
}

// remind reminds port p of a pause frame for its priority group; one reminder is enough.
func (n *node) remind(p unit.Port) {
	if !n.is(p, isDown) && !slices.Contains(n.box[p], pauseHere) {
		n.box[p] = append(n.box[p], pauseHere)
	}
}

// send sends what waits longest at port p.
func (n *node) send(p unit.Port) {
	f := n.box[p][0]
	n.box[p] = n.box[p][1:]
	if f == pauseHere {
		f = n.wires.frame(n.pauseFrame(p))
	}
	n.sent = append(n.sent, sending{p, f})
}

// pauseFrame is what priority group i says of itself now.
func (n *node) pauseFrame(i unit.Port) frame {
	if !n.is(i, isXOFF) {
		return frame{kind: resumeFrame, period: n.ports[i].period}
	}
	t := n.det.Label(Now, pg(i))
	n.ports[i].state |= isArmed
	if t != (itsyhdr.TLV{}) {
		t.Priority = Priority
	}
	return frame{pauseFrame, n.ports[i].period, t}
}

// down takes the link at port p down: what waits there is lost, the active pause there ends,
// and the one that its priority group imposes has no effect.
func (n *node) down(p unit.Port) {
	n.ports[p].state = n.ports[p].state&^(isFailed|isArmed) | isDown
	n.endPause(p, true)
	lost := false
	for i := range n.units {
		for u := range n.units[i] {
			if m := &n.units[i][u]; *m>>p&1 != 0 {
				*m &^= 1 << p
				lost = true
			}
		}
		slices.Sort(n.units[i][:])
	}
	if lost {
		n.det.Empty(Now, queue(p))
	}
	for i := range n.units {
		n.resumeIfLow(unit.Port(i))
	}
	n.box[p] = nil
}

// turns are the ways that frames may take that come in by port i.
func (n *node) turns(i unit.Port) []portMask { return n.plan.turns[n.id][i] }

// maskOf is a set of ports of a switch of this package, which has few.
func maskOf(s unit.PortSet) (m portMask) {
	for ; !s.Empty(); s.Pop() {
		m |= 1 << s.First()
	}
	return m
}

func (m portMask) first() unit.Port { return unit.Port(bits.TrailingZeros8(uint8(m))) }

func pg(p unit.Port) detect.PG       { return detect.PG{Port: p, Priority: Priority} }
func queue(p unit.Port) detect.Queue { return detect.Queue{Port: p, Priority: Priority} }

// save appends the switch's state to b.
func (n *node) save(b []byte) []byte {
	for p := range n.ports {
		if n.plan.end(n.id, unit.Port(p)) == nil {
			continue
		}
		q := &n.ports[p]
		b = append(b, byte(q.state), q.period, q.by, byte(len(n.box[p])))
		for _, m := range n.units[p] {
			b = append(b, byte(m))
		}
		for _, f := range n.box[p] {
			b = append(b, byte(f), byte(f>>8), byte(f>>16))
		}
	}
	return n.det.State(b)
}

// load puts the switch into the state that save wrote.
func (n *node) load(b []byte) {
	n.local = local{}
	for p := range n.ports {
		if n.plan.end(n.id, unit.Port(p)) == nil {
			continue
		}
		boxed := int(b[3])
		n.ports[p] = port{state: portState(b[0]), period: b[1], by: b[2]}
		b = b[4:]
		for u := range n.units[p] {
			n.units[p][u] = portMask(b[u])
		}
		b = b[maxUnits:]
		for range boxed {
			n.box[p] = append(n.box[p], uint32(b[0])|uint32(b[1])<<8|uint32(b[2])<<16)
			b = b[3:]
		}
	}
	n.det.SetState(b)
}

// nodeView is a switch as its detector sees it.
type nodeView struct {
	detect.View // nil: what only systems that act need
	n           *node
}

func (v nodeView) Self() unit.NodeID          { return v.n.id }
func (v nodeView) Ports() int                 { return maxPorts }
func (v nodeView) Lossless() unit.PrioritySet { return 1 << Priority }
func (v nodeView) FacesHost(p unit.Port) bool { return v.n.plan.end(v.n.id, p) == nil }
func (v nodeView) XOFF(b detect.PG) (bool, uint8) {
	return v.n.is(b.Port, isXOFF), v.n.ports[b.Port].period
}
func (v nodeView) Paused(q detect.Queue) bool { return v.n.is(q.Port, isPaused) }
func (v nodeView) Held(b detect.PG, q detect.Queue) int {
	return v.HeldIn(b, q.Port.Set())
}

func (v nodeView) HeldIn(b detect.PG, out unit.PortSet) (units int) {
	for _, m := range v.n.units[b.Port] {
		if m&maskOf(out) != 0 {
			units++
		}
	}
	return units
}

func (v nodeView) XON(b detect.PG) int { return v.n.plan.xon(v.n.others(b.Port, v.n.charged)) }
func (v nodeView) Shares() bool        { return v.n.plan.Pool > 0 }
func (v nodeView) Stays(b detect.PG, out detect.Queues) bool {
	held := func(i unit.Port) int { return v.HeldIn(pg(i), out[b.Priority]) }
	return held(b.Port) > v.n.plan.xon(v.n.others(b.Port, held))
}
func (v nodeView) Lapsed(b detect.PG) bool  { return !v.n.is(b.Port, isArmed) }
func (v nodeView) Hop() unit.Time           { return Hop }
func (v nodeView) Rate(unit.Port) unit.Rate { return 0 }
func (v nodeView) Backlog(q detect.Queue) (units int) {
	for i := range unit.Port(maxPorts) {
		units += v.Held(pg(i), q)
	}
	return units
}
func (v nodeView) Flows(dst []detect.Flow, _ detect.Queue) []detect.Flow { return dst }
func (v nodeView) Detour(detect.PG, detect.Queue) (int, unit.Port, unit.Time) {
	return 0, unit.NoPort, 0
}

// nodeActions is what a detector may ask of its switch: to send and to speak. Frames of its own
// format are lost.
type nodeActions struct {
	detect.Actions // nil: what only systems that act need
	n              *node
}

func (a nodeActions) Repause(b detect.PG) {
	if a.n.is(b.Port, isXOFF) {
		a.n.remind(b.Port)
	}
}

func (a nodeActions) Send(p unit.Port, t itsyhdr.TLV) bool {
	n := a.n
	if n.is(p, isDown) || n.plan.end(n.id, p) == nil {
		return false
	}
	n.box[p] = append(n.box[p], n.wires.frame(frame{kind: messageFrame, tlv: t}))
	return true
}

func (a nodeActions) SendFrame(unit.Port, []byte) bool                 { return true }
func (a nodeActions) Report(f detect.Finding)                          { a.n.reports = append(a.n.reports, f) }
func (a nodeActions) Diagnose(detect.PG, detect.Queue, []detect.Cause) {}
func (a nodeActions) Trace(t detect.Trace)                             { a.n.traces = append(a.n.traces, t) }
