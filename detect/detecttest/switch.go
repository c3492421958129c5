package detecttest

import (
	"fmt"
	"slices"

	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// Switch is one switch of a script. Port i is at once the ingress port of priority group i
// and the egress port of queue i.
type Switch struct {
	Down unit.PortSet // whose links are down; frames on their way arrive
	Ways unit.PortSet // by which frames come in that have another way than the one they took

	fabric   *Fabric
	id       unit.NodeID
	ports    []port
	held     [][]int // bytes, by ingress and egress port
	detector detect.Detector
	on       map[turned]bool // what actions have begun, and have not ended
	outbox   []item          // what the detector asked to send, in order, until it returns
}

// item is a message for a port, or the reminder of a pause frame for its priority group.
type item struct {
	port    unit.Port
	isPause bool
	msg     itsyhdr.TLV
	payload []byte // of a format of the detector's own: then there is no msg
}

// port is one port's facts.
type port struct {
	host     bool
	peer     *Switch // nil: a host, or nothing
	peerPort unit.Port
	delay    Delay
	lastDue  unit.Time // when the last frame that left here arrives

	xoff      bool  // the priority group pauses its upstream
	period    uint8 // of the priority group's XOFF
	announced bool  // a pause frame of this XOFF left, and the pause has not lapsed since

	paused   bool  // a pause is active at the queue
	pausedBy uint8 // the pauser's period
	pauses   uint64
	left     uint64 // bytes

	pressed map[unit.Port]uint64 // frames of the priority group's lossy turns, by egress port

	flows   []detect.Flow   // that wait in the queue
	extra   int             // of the priority group's threshold
	policed []detect.FlowID // that come in here
}

// Detector is the switch's detector.
func (s *Switch) Detector() detect.Detector { return s.detector }

// FaceHosts says that end hosts are behind these ports.
func (s *Switch) FaceHosts(ports ...unit.Port) {
	for _, p := range ports {
		s.ports[p].host = true
	}
}

// Press counts a frame that comes in at in and finds more waiting in the queue of out, by
// a lossy turn, than the priority group's XON threshold.
func (s *Switch) Press(in, out unit.Port) {
	if s.ports[in].pressed == nil {
		s.ports[in].pressed = map[unit.Port]uint64{}
	}
	s.ports[in].pressed[out]++
}

// Flows says which flows wait in the queue of out, the heaviest first.
func (s *Switch) Flows(out unit.Port, flows ...detect.Flow) { s.ports[out].flows = flows }

// Enqueue puts bytes that came in at in into the queue of out.
func (s *Switch) Enqueue(in, out unit.Port, bytes int) { s.enqueue(in, out, 0, bytes) }

// EnqueueFlow puts bytes of a flow that came in at in into the queue of out, where the flow
// then waits.
func (s *Switch) EnqueueFlow(in, out unit.Port, f detect.FlowID, bytes int) {
	s.ports[out].flows = append(s.ports[out].flows, detect.Flow{ID: f, In: in, Bytes: bytes})
	s.enqueue(in, out, f, bytes)
}

func (s *Switch) enqueue(in, out unit.Port, f detect.FlowID, bytes int) {
	s.held[in][out] += bytes
	s.detector.Enqueue(s.fabric.now, pg(in), queue(out), f, bytes)
	s.flush()
}

// Leave takes bytes of in out of the queue of out. It panics if there are fewer.
func (s *Switch) Leave(in, out unit.Port, bytes int) {
	if s.held[in][out] < bytes {
		panic(fmt.Sprintf("detecttest: switch %d: %d bytes leave queue %d, but priority group %d has %d there", s.id, bytes, out, in, s.held[in][out]))
	}
	s.held[in][out] -= bytes
	s.ports[out].left += uint64(bytes)
	if slices.ContainsFunc(s.held, func(of []int) bool { return of[out] > 0 }) {
		return
	}
	s.detector.Empty(s.fabric.now, queue(out))
	s.flush()
}

// XOFF makes priority group in cross its XOFF threshold by a frame queued in cause; its pause
// frame leaves at once. It panics if the priority group is XOFF.
func (s *Switch) XOFF(in, cause unit.Port) {
	p := &s.ports[in]
	if p.xoff {
		panic(fmt.Sprintf("detecttest: switch %d: priority group %d is XOFF already", s.id, in))
	}
	p.xoff, p.announced = true, false
	p.period++
	s.detector.XOFF(s.fabric.now, pg(in), queue(cause))
	s.askPause(in)
	s.flush()
}

// XON makes priority group in resume its upstream. It panics if the priority group is not XOFF.
func (s *Switch) XON(in unit.Port) {
	p := &s.ports[in]
	if !p.xoff {
		panic(fmt.Sprintf("detecttest: switch %d: priority group %d is not XOFF", s.id, in))
	}
	p.xoff = false
	s.detector.XON(s.fabric.now, pg(in))
	peer, at := p.peer, p.peerPort
	s.transmit(in, p.delay.Pause, func() { peer.resume(at, false) })
	s.flush()
}

// Lapse makes the last pause frame of priority group in so old that the pause may have run out at
// the far end.
func (s *Switch) Lapse(in unit.Port) { s.ports[in].announced = false }

// Refresh sends a pause frame for priority group in, which is XOFF, with the label that
// the detector wants on it now.
func (s *Switch) Refresh(in unit.Port) {
	p := &s.ports[in]
	t := s.detector.Label(s.fabric.now, pg(in))
	p.announced = true
	if t != (itsyhdr.TLV{}) {
		t.Priority, t.Period = Priority, p.period
	}
	s.fabric.Pauses++
	peer, at, period := p.peer, p.peerPort, p.period
	s.transmit(in, p.delay.Pause, func() { peer.pause(at, period, t) })
}

// HostPause makes the host behind port p pause it, without a label.
func (s *Switch) HostPause(p unit.Port) { s.pause(p, 0, itsyhdr.TLV{}) }

// HostResume makes the host behind port p resume it.
func (s *Switch) HostResume(p unit.Port) { s.resume(p, false) }

// Expire makes the pause at queue out run out.
func (s *Switch) Expire(out unit.Port) { s.resume(out, true) }

// Deliver makes message t arrive at port p, as from a forger.
func (s *Switch) Deliver(p unit.Port, t itsyhdr.TLV) {
	s.detector.Message(s.fabric.now, p, t)
	s.flush()
}

// DeliverPause makes a pause frame that carries t, of the XOFF period in t, arrive at port p, as
// from a forger.
func (s *Switch) DeliverPause(p unit.Port, t itsyhdr.TLV) { s.pause(p, t.Period, t) }

// Peer is the port at the far end of p; zero for a host or nothing.
func (s *Switch) Peer(p unit.Port) unit.NodePort {
	if s.ports[p].peer == nil {
		return unit.NodePort{}
	}
	return unit.NodePort{Node: s.ports[p].peer.id, Port: s.ports[p].peerPort}
}

// Paused reports whether a pause is active at queue out.
func (s *Switch) Paused(out unit.Port) bool { return s.ports[out].paused }

func (s *Switch) pause(p unit.Port, period uint8, t itsyhdr.TLV) {
	s.ports[p].pauses++
	if s.on[turned{action: detect.ActionLossy, queue: queue(p)}] {
		return
	}
	fresh := !s.ports[p].paused
	s.ports[p].paused, s.ports[p].pausedBy = true, period
	s.detector.Pause(s.fabric.now, queue(p), t, fresh)
	s.flush()
}

func (s *Switch) resume(p unit.Port, expired bool) {
	if !s.ports[p].paused {
		return
	}
	s.ports[p].paused = false
	s.detector.Resume(s.fabric.now, queue(p), expired)
	s.flush()
}

// tick fires the detector's deadline, which has come.
func (s *Switch) tick() {
	s.detector.Tick(s.fabric.now)
	s.flush()
}

// askPause reminds of a pause frame for priority group in; one reminder is enough.
func (s *Switch) askPause(in unit.Port) {
	if !slices.ContainsFunc(s.outbox, func(o item) bool { return o.isPause && o.port == in }) {
		s.outbox = append(s.outbox, item{port: in, isPause: true})
	}
}

// flush sends what was asked for, in order; a pause frame is built from the state as it
// is when it leaves.
func (s *Switch) flush() {
	for len(s.outbox) > 0 {
		o := s.outbox[0]
		s.outbox = s.outbox[1:]
		if o.isPause {
			s.Refresh(o.port)
			continue
		}
		from := &s.ports[o.port]
		peer, at := from.peer, from.peerPort
		if o.payload != nil {
			s.transmit(o.port, from.delay.Message, func() { peer.deliverFrame(at, o.payload) })
			continue
		}
		s.fabric.Messages++
		if lost := s.fabric.Lost; lost != nil && lost(s.id, o.msg) {
			continue
		}
		s.transmit(o.port, from.delay.Message, func() { peer.Deliver(at, o.msg) })
	}
}

// DeliverFrame makes a message of the detector's own format arrive at port p, as from a
// forger, and reports whether it is well-formed.
func (s *Switch) DeliverFrame(p unit.Port, payload []byte) bool {
	defer s.flush()
	return s.detector.(detect.Peer).Frame(s.fabric.now, p, payload)
}

// deliverFrame gives the detector a message that another sent.
func (s *Switch) deliverFrame(in unit.Port, payload []byte) {
	if !s.DeliverFrame(in, payload) {
		panic(fmt.Sprintf("detecttest: switch %d, port %d: a message that its own kind sent is not well-formed: %x", s.id, in, payload))
	}
}

// transmit runs do at the far end of p, in order. Nothing happens behind a port that
// leads to no switch.
func (s *Switch) transmit(p unit.Port, delay unit.Time, do func()) {
	from := &s.ports[p]
	if from.peer == nil {
		return
	}
	from.lastDue = max(from.lastDue, s.fabric.now+delay)
	s.fabric.At(from.lastDue, do)
}

func pg(p unit.Port) detect.PG       { return detect.PG{Port: p, Priority: Priority} }
func queue(p unit.Port) detect.Queue { return detect.Queue{Port: p, Priority: Priority} }

// Facts is the switch as its detector sees it.
func (s *Switch) Facts() detect.View { return view{s: s} }
