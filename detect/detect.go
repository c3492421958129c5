// Package detect is what a deadlock detector sees of a switch and what it may
// ask for. Each detector is a package below this one; the switch knows none of
// them by name.
//
//	             events                          requests
//	dataplane -----------> Detector ------------------------------> dataplane
//	           XOFF XON Pause Resume      Label (on every pause frame)
//	           Enqueue Empty Message Tick Actions: Repause, Send, Report
//	                    ^
//	                    `--- View: read-only facts, the same instant
//
// Read in this order: View (the facts), Detector (the events), Actions (the
// requests), Finding, Cause (why); then, for systems that do more than detect, Control.
//
// Invariants:
//   - a detector is called from one goroutine at a time, under the switch's
//     lock, and never blocks, allocates per frame or reads a clock: now comes in;
//   - the View already shows the state after the event that is being told;
//   - pause frames and messages that leave through one port keep the order in
//     which they were asked for.
//
// What it does not do: it breaks no deadlock (package respond) and judges no
// finding (package oracle).
package detect

import (
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// Queue is an egress queue: q=(e, c).
type Queue struct {
	Port     unit.Port
	Priority unit.Priority
}

// Queues is a set of queues: by priority their ports.
type Queues [unit.Priorities]unit.PortSet

// PG is an ingress account of the MMU, a priority group: b=(i, c).
type PG struct {
	Port     unit.Port
	Priority unit.Priority
}

// Frames counts the frames of a port and priority. Dropped are those that Drop, Flush and
// Discard dropped (Control); they are in no other number here.
type Frames struct {
	Tx, TxDropped uint64 // left the queue; dropped in it, or on the way to it
	Rx, RxDropped uint64 // came in by the port; dropped on arrival
}

// View is a switch as its detector sees it: facts of this instant, read-only.
type View interface {
	// Self is the switch's number in the fabric.
	Self() unit.NodeID
	// Ports is the number of ports; they are 0 to Ports-1.
	Ports() int
	// Lossless is the set of lossless priorities.
	Lossless() unit.PrioritySet
	// FacesHost reports whether the far end of p is an end host.
	FacesHost(p unit.Port) bool
	// XOFF reports whether b is pausing its upstream, and b's XOFF period: a
	// counter that grows by one at each transition to XOFF.
	XOFF(b PG) (on bool, period uint8)
	// Paused reports whether a pause is active at q.
	Paused(q Queue) bool
	// Held is M(b, q) in bytes: charged to b and waiting in q. A frame that has
	// begun to leave is not in it.
	Held(b PG, q Queue) int
	// HeldIn is the number of bytes of b that wait in at least one of the queues of
	// b's priority at the ports out: M(b, q) summed, but with a flooded frame counted
	// once, however many of these queues it waits in.
	HeldIn(b PG, out unit.PortSet) int
	// XON is the number of bytes at or below which b resumes its upstream. With a
	// dynamic threshold, or an extra one, it is the present value.
	XON(b PG) int
	// Stays reports whether b, which is XOFF, would stay so even if all that does not wait
	// in the queues out had left the switch, other priority groups' bytes included: whether its bytes
	// there are more than the XON threshold that it would have then
	// ([softswitch/buffer.Rule]). It is so as long as these queues are paused. A frame
	// counts in queues of its priority group's priority.
	Stays(b PG, out Queues) bool
	// Shares reports whether other priority groups decide, by what they hold of the shared pool,
	// whether a priority group stays.
	Shares() bool
	// Lapsed reports whether the pause that b, which is XOFF, imposes on its upstream
	// may have run out since b became XOFF: no pause frame of it has left yet, or none
	// for nearly as long as a pause lasts.
	Lapsed(b PG) bool
	// Charged is A(b), the bytes charged to b: they wait in its switch or are leaving.
	Charged(b PG) int
	// Room is how many frames of MTU bytes, or shorter ones that are charged as much in all, b, which
	// is XOFF, takes without loss, whatever others take of the shared pool by then.
	Room(b PG) int
	// Backlog is the bytes that wait in q.
	Backlog(q Queue) int
	// Left is the number of bytes that have left q, and PausesSeen the number of pause
	// frames that came for q, resumes not among them. Neither goes back.
	Left(q Queue) uint64
	PausesSeen(q Queue) uint64
	// Frames is what q's port and priority have counted. None of it goes back.
	Frames(q Queue) Frames
	// Pressed is the number of frames of the lossy turn from b to q, since it is lossy, that
	// made more of b wait in q than b's XON threshold, or found no room: if they were
	// charged to b they would keep it XOFF. 0 if the turn is not lossy.
	Pressed(b PG, q Queue) uint64
	// LinkUp reports whether p's link is up.
	LinkUp(p unit.Port) bool
	// Rate is p's rate in bits per second, 0 if it is unlimited, and MTU the longest
	// frame in bytes, a tag included and the FCS not.
	Rate(p unit.Port) unit.Rate
	MTU() int
	// Flows appends the flows that wait in q to dst, the one with most bytes first. It
	// walks the queue.
	Flows(dst []Flow, q Queue) []Flow
	// Detour is the bytes of b that wait in q and would have left elsewhere: all ports of
	// their route are down, down is one of them, since is when it went down, and a backup has
	// taken over. It walks the queue.
	Detour(b PG, q Queue) (bytes int, down unit.Port, since unit.Time)
	// Reroutable reports whether every frame that came in at in and waits in q could
	// leave by another port of its route that is up, which is neither q's nor in; in
	// may be unit.NoPort for frames of any port. False if none waits.
	Reroutable(in unit.Port, q Queue) bool
	// Hop is the longest that a pause frame usually takes from a switch to the next,
	// the frame that it has to wait for included: the unit in which a detector waits.
	// It is above 0.
	Hop() unit.Time
}

// Actions is what a detector may ask of its switch, during a call or never.
type Actions interface {
	// Repause sends a pause frame for b now, ahead of its refresh, if b is XOFF;
	// the frame carries Label(b) as it is when the frame leaves.
	Repause(b PG)
	// Send sends t upstream or downstream out of port p as a one-hop message. It
	// reports false, and counts, if the port is down or its message queue is full.
	Send(p unit.Port, t itsyhdr.TLV) bool
	// SendFrame sends a one-hop message with a payload of a Peer's format, up to
	// PayloadMax bytes, which is copied. It reports false as Send does.
	SendFrame(p unit.Port, payload []byte) bool
	// Report declares a deadlock.
	Report(f Finding)
	// Diagnose says why the declared deadlock of priority group b and queue q formed: at most
	// CausesMax causes, the likeliest first. The switch logs them.
	Diagnose(b PG, q Queue, causes []Cause)
	// Trace puts a step of the detector into the event log.
	Trace(t Trace)
	Control
}

// PayloadMax is the longest payload of a one-hop message, in bytes.
const PayloadMax = 512

// Finding is a declared deadlock: priority group b waits for queue q, and the wait
// comes round to b.
type Finding struct {
	PG      PG
	Queue   Queue
	Label   itsyhdr.TLV   // the label or message that came home
	Trigger unit.NodePort // the initial trigger
	OnLoop  bool          // the detector holds that the trigger is on the loop
}

// Largest is the priority group that holds most bytes in q, of several the one of the lowest
// port: what a Finding names that was made without a look at priority groups. If q is empty it
// is that of port 0.
func Largest(v View, q Queue) PG {
	most, held := PG{Priority: q.Priority}, 0
	for p := range v.Ports() {
		b := PG{Port: unit.Port(p), Priority: q.Priority}
		if n := v.Held(b, q); n > held {
			most, held = b, n
		}
	}
	return most
}

// Step names a step of a detector in the event log.
type Step uint8

// Steps. From the log of all switches, the steps of one label draw its way.
const (
	StepMint    Step = iota + 1 // an initiator chose a new label for b
	StepForward                 // a label that reached q is forwarded to b's upstream
	StepDrop                    // a label that reached q goes no further
	StepLoop                    // the initiator's own label came home to q: a causality loop
	StepCheck                   // a temporal check that reached q is forwarded to b's upstream
	StepFail                    // a temporal check that reached q failed
	StepMiddle                  // a middle switch took over as initiator
	StepVerify                  // the initiator began to verify that b is stuck; StepFail if it is not
	StepAsk                     // a check of b's label is sent out of q, downstream
)

func (s Step) String() string {
	return [...]string{"", "mint", "forward", "drop", "loop", "check", "fail", "middle", "verify", "ask"}[s]
}

// Trace is a step of a detector.
type Trace struct {
	Step  Step
	Queue Queue // Port is unit.NoPort if no queue is involved
	PG    PG    // Port is unit.NoPort if no priority group is involved
	Label itsyhdr.TLV
}

// Detector is a deadlock detector of one switch: a pure state machine that is
// told of events and answers through the Actions it was made with.
type Detector interface {
	// Name is the detector's name in scenario files and verdicts.
	Name() string
	// XOFF: b crossed its XOFF threshold by a frame that was queued in cause. It
	// is called before b's pause frame is built.
	XOFF(now unit.Time, b PG, cause Queue)
	// XON: b fell to its XON threshold; its resume has not left yet.
	XON(now unit.Time, b PG)
	// Label is what a pause frame for b that leaves now carries. The switch fills
	// in Priority and Period. The zero TLV is no label.
	Label(now unit.Time, b PG) itsyhdr.TLV
	// Pause: a pause frame for q arrived and is active. fresh means that q was not paused
	// before. t is the zero TLV if the frame carried none (a plain device).
	Pause(now unit.Time, q Queue, t itsyhdr.TLV, fresh bool)
	// Resume: the pause of q ended, by a resume frame or by expiry.
	Resume(now unit.Time, q Queue, expired bool)
	// Message: a one-hop message arrived at p.
	Message(now unit.Time, p unit.Port, t itsyhdr.TLV)
	// Enqueue: a lossless frame of b and flow f, bytes long, was queued in q.
	Enqueue(now unit.Time, b PG, q Queue, f FlowID, bytes int)
	// Empty: the last lossless frame left q.
	Empty(now unit.Time, q Queue)
	// Deadline is when to call Tick, unit.Never for not at all. The switch asks after
	// every event, so a deadline may move at any of them.
	Deadline() unit.Time
	// Tick: the deadline has come, or passed.
	Tick(now unit.Time)
	// StateBytes is the size of the detector's own state in bytes, from its real
	// structures.
	StateBytes() int
}

// Factory makes the detector of one switch.
type Factory func(v View, a Actions) Detector

// None is the detector that never speaks.
type None struct{}

// NewNone is the Factory of None.
func NewNone(View, Actions) Detector { return None{} }

func (None) Name() string                              { return "none" }
func (None) XOFF(unit.Time, PG, Queue)                 {}
func (None) XON(unit.Time, PG)                         {}
func (None) Label(unit.Time, PG) itsyhdr.TLV           { return itsyhdr.TLV{} }
func (None) Pause(unit.Time, Queue, itsyhdr.TLV, bool) {}
func (None) Resume(unit.Time, Queue, bool)             {}
func (None) Message(unit.Time, unit.Port, itsyhdr.TLV) {}
func (None) Enqueue(unit.Time, PG, Queue, FlowID, int) {}
func (None) Empty(unit.Time, Queue)                    {}
func (None) Deadline() unit.Time                       { return unit.Never }
func (None) Tick(unit.Time)                            {}
func (None) StateBytes() int                           { return 0 }
