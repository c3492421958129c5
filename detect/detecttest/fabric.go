// Package detecttest scripts the world of deadlock detectors: a few switches,
// each with a detector, joined by links with fixed delays, and a script that says
// which frames wait where and who crosses which threshold.
//
//	script: Enqueue XOFF XON Leave HostPause ...        in virtual time (To, At)
//	          |
//	          v          pause, resume, message, after the link's delay
//	       Switch  ------------------------------------------------------>  Switch
//	       Detector                                                        Detector
//
//	records: Findings, Traces, Pauses, Messages, Sent, Acts, Refusals, Done; Stuck
//	says what is true
//
// No frame moves by itself: a priority group's bytes are those that the script puts there,
// and a pause frame leaves at once. All of a script is in one priority, Priority.
//
// Read in this order: fabric.go (time, links, records), switch.go (the verbs of a
// script), view.go (what the detector sees), control.go (what it may do), stuck.go (the
// truth, computed simply), script.go (a fabric in a test, with verbs for rings and
// checks).
//
// Invariants: events at one instant happen in the order in which they were asked
// for; what leaves through one port arrives in the order in which it left.
//
// What it does not do: it forwards no frame, checks no buffer limit, and expires or
// refreshes no pause unless the script says so.
package detecttest

import (
	"cmp"
	"fmt"
	"slices"

	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// Priority is the lossless priority of every priority group and queue in a script.
const Priority unit.Priority = 3

// Fabric is the switches of one script and their common virtual time, which
// starts at 0. Make it with New.
type Fabric struct {
	// XON is the threshold of every priority group in bytes; New sets 36,000.
	XON int
	// Hop is the hop that every switch uses; New sets 25 us.
	Hop unit.Time
	// Findings, Traces: what the detectors declared and logged, oldest first.
	Findings []Found
	Traces   []Traced
	// Diagnoses: why, as they said, oldest first.
	Diagnoses [][]detect.Cause
	// Pauses, Messages: pause frames (refreshes too, resumes not) and one-hop
	// messages that left a switch.
	Pauses, Messages int
	// Acts, Refusals: what was done to a switch, or was not, oldest first.
	Acts     []Acted
	Refusals []Refused
	// Done is what was declared, done and refused, oldest first, in words.
	Done []string
	// Sent are the messages of a format of the detectors' own, oldest first.
	Sent []Sent
	// Pool is how many bytes of extra threshold a switch has in all; New sets 1,000,000.
	Pool int
	// Liar, unless it is 0, is a switch that may lie: Stuck treats each active pause of it as
	// one that lasts for ever, whatever its priority groups hold.
	Liar unit.NodeID
	// Lost, unless it is nil, says which messages are lost on the way.
	Lost func(from unit.NodeID, t itsyhdr.TLV) bool

	make     detect.Factory
	now      unit.Time
	switches []*Switch
	queue    []event // by time, and at one time in the order in which they were asked for
}

// Found is a finding, with when and where.
type Found struct {
	At     unit.Time
	Switch unit.NodeID
	detect.Finding
}

// Sent is a message of a format of a detector's own, with the port by which it left.
type Sent struct {
	Port    unit.Port
	Payload []byte
}

// Traced is a step of a detector, with when and where.
type Traced struct {
	At     unit.Time
	Switch unit.NodeID
	detect.Trace
}

// New is an empty fabric whose switches will run detectors made by f.
func New(f detect.Factory) *Fabric {
	return &Fabric{XON: 36_000, Hop: 25 * unit.Microsecond, Pool: 1_000_000, make: f}
}

// Now is the script's time.
func (f *Fabric) Now() unit.Time { return f.now }

// At schedules do, a step of the script, for time t. It panics if t is past.
func (f *Fabric) At(t unit.Time, do func()) {
	if t < f.now {
		panic(fmt.Sprintf("detecttest: step at %d ns, but it is %d ns already", t, f.now))
	}
	behind, _ := slices.BinarySearchFunc(f.queue, t+1, func(e event, t unit.Time) int { return cmp.Compare(e.at, t) })
	f.queue = slices.Insert(f.queue, behind, event{t, do})
}

// To runs everything that is due until t, t included.
func (f *Fabric) To(t unit.Time) {
	for f.due() <= t {
		f.step()
	}
	f.now = t
}

// Pass advances the time by d.
func (f *Fabric) Pass(d unit.Time) { f.To(f.now + d) }

// due is when the next thing happens: an event, or a detector's deadline.
func (f *Fabric) due() unit.Time {
	next := unit.Never
	if len(f.queue) > 0 {
		next = f.queue[0].at
	}
	for _, s := range f.switches {
		next = min(next, s.detector.Deadline())
	}
	return max(next, f.now)
}

// Settle runs at most limit events and reports whether none is left. A fabric whose
// detectors keep sending does not settle.
func (f *Fabric) Settle(limit int) bool {
	for ; f.due() < unit.Never && limit > 0; limit-- {
		f.step()
	}
	return f.due() == unit.Never
}

// step runs the next event, or, if there is none at that time, a deadline of the switch
// that was added first among those that have one.
func (f *Fabric) step() {
	f.now = f.due()
	if len(f.queue) > 0 && f.queue[0].at == f.now {
		do := f.queue[0].do
		f.queue = f.queue[1:]
		do()
		return
	}
	for _, s := range f.switches {
		if s.detector.Deadline() <= f.now {
			s.tick()
			return
		}
	}
}

// Switch adds a switch with its detector.
func (f *Fabric) Switch(id unit.NodeID, ports int) *Switch {
	s := &Switch{fabric: f, id: id, ports: make([]port, ports), held: make([][]int, ports), on: map[turned]bool{}}
	for i := range s.held {
		s.held[i] = make([]int, ports)
	}
	s.detector = f.make(view{s: s}, actions{s: s})
	f.switches = append(f.switches, s)
	return s
}

// Delay is how long a link takes, in either direction.
type Delay struct{ Pause, Message unit.Time }

// Link joins port ap of a and port bp of b.
func (f *Fabric) Link(a *Switch, ap unit.Port, b *Switch, bp unit.Port, d Delay) {
	a.ports[ap].peer, a.ports[ap].peerPort, a.ports[ap].delay = b, bp, d
	b.ports[bp].peer, b.ports[bp].peerPort, b.ports[bp].delay = a, ap, d
}

// event is one thing that will happen.
type event struct {
	at unit.Time
	do func()
}
