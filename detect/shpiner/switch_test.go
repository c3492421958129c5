// A script is one switch, for the systems that begin with a Monitor: the script says what waits and what leaves, and looks at what the
// system sent and did.
//
//	script: Hold, Leave, To, Deliver  -->  system  -->  Done, Sent
//
// All is in one class, Class. It has no neighbours: a message that the system sends is
// recorded, and one that comes to it is delivered by the script. Script is such a switch
// in a test, with checks.

package shpiner

import (
	"fmt"

	"softswitch/detect"
	"softswitch/unit"
)

// Class is the lossless class of every bucket and queue in a script.
const Class unit.Priority = 3

// Facts that are the same in all scripts.
const (
	HopTime = 10 * unit.Microsecond
	XON     = 36_000
	MTU     = 1518
)

// Switch is the switch. Port i is at once the ingress port of bucket i and the egress
// port of queue i.
type Switch struct {
	Hosts, Down unit.PortSet // ports that face hosts; whose links are down
	Ways        unit.PortSet // ingress ports whose frames have another way
	Reserve     int          // bytes of extra threshold that there are

	Done []string // what the system reported, did and refused, oldest first
	Sent []Sent   // what it sent

	system detect.Detector
	now    unit.Time
	held   [][]int // bytes, by ingress and egress port
	left   []uint64
}

// Sent is a message that left.
type Sent struct {
	At      unit.Time
	Port    unit.Port
	Payload string
}

// NewSwitch is switch id with a system made by f, all of whose ports lead to switches.
func NewSwitch(f detect.Factory, id unit.NodeID, ports int) *Switch {
	s := &Switch{left: make([]uint64, ports), held: make([][]int, ports), Reserve: 1 << 20}
	for i := range s.held {
		s.held[i] = make([]int, ports)
	}
	s.system = f(view{s: s, id: id}, actions{s: s})
	return s
}

// System is the switch's system.
func (s *Switch) System() detect.Detector { return s.system }

// Hold puts bytes of in into the queue of out.
func (s *Switch) Hold(in, out unit.Port, bytes int) {
	s.held[in][out] += bytes
	s.system.Enqueue(s.now, detect.Bucket{Port: in, Class: Class}, detect.Queue{Port: out, Class: Class}, 0, bytes)
}

// Leave takes bytes of in out of the queue of out.
func (s *Switch) Leave(in, out unit.Port, bytes int) {
	s.held[in][out] -= bytes
	s.left[out] += uint64(bytes)
}

// To lets time pass until t, t included.
func (s *Switch) To(t unit.Time) {
	for due := s.system.Deadline(); due <= t; due = s.system.Deadline() {
		s.now = due
		s.system.Tick(due)
	}
	s.now = t
}

// Deliver lets a message arrive at p and reports whether the system took it.
func (s *Switch) Deliver(p unit.Port, payload []byte) bool {
	return s.system.(detect.Peer).Frame(s.now, p, payload)
}

// Take returns what was sent since the last call.
func (s *Switch) Take() []Sent {
	sent := s.Sent
	s.Sent = nil
	return sent
}

func (s *Switch) did(format string, args ...any) {
	s.Done = append(s.Done, fmt.Sprintf(format, args...))
}

// view is a Switch as a detect.View, as far as these systems need it.
type view struct {
	detect.View
	s  *Switch
	id unit.NodeID
}

func (v view) Self() unit.NodeID                        { return v.id }
func (v view) Ports() int                               { return len(v.s.left) }
func (v view) Lossless() unit.ClassSet                  { return 1 << Class }
func (v view) FacesHost(p unit.Port) bool               { return v.s.Hosts.Has(p) }
func (v view) LinkUp(p unit.Port) bool                  { return !v.s.Down.Has(p) }
func (v view) Hop() unit.Time                           { return HopTime }
func (v view) MTU() int                                 { return MTU }
func (v view) XON(detect.Bucket) int                    { return XON }
func (v view) Left(q detect.Queue) uint64               { return v.s.left[q.Port] }
func (v view) Held(b detect.Bucket, q detect.Queue) int { return v.s.held[b.Port][q.Port] }
func (v view) Reroutable(in unit.Port, q detect.Queue) bool {
	return v.s.held[in][q.Port] > 0 && v.s.Ways.Has(in)
}

func (v view) Charged(b detect.Bucket) (n int) {
	for _, bytes := range v.s.held[b.Port] {
		n += bytes
	}
	return n
}

func (v view) Backlog(q detect.Queue) (n int) {
	for in := range v.s.held {
		n += v.s.held[in][q.Port]
	}
	return n
}

// actions is a Switch as detect.Actions, as far as these systems need it.
type actions struct {
	detect.Actions
	s *Switch
}

func (a actions) SendFrame(p unit.Port, payload []byte) bool {
	a.s.Sent = append(a.s.Sent, Sent{a.s.now, p, string(payload)})
	return !a.s.Down.Has(p)
}

func (a actions) Report(f detect.Finding) { a.s.did("report %d>%d", f.Bucket.Port, f.Queue.Port) }

func (a actions) Force(b detect.Bucket, q detect.Queue, bytes int) {
	a.s.did("force %d>%d %d", b.Port, q.Port, bytes)
}

func (a actions) Avoid(in, out unit.Port, on bool) { a.s.did("avoid %d>%d %v", in, out, on) }

func (a actions) Restrict(b detect.Bucket, q detect.Queue, on bool) {
	a.s.did("restrict %d>%d %v", b.Port, q.Port, on)
}

func (a actions) Extra(b detect.Bucket, bytes int) bool {
	if bytes > a.s.Reserve {
		return false
	}
	a.s.did("extra %d %d", b.Port, bytes)
	return true
}

func (a actions) Refuse(why detect.Refusal, b detect.Bucket, q detect.Queue) {
	a.s.did("refuse %d>%d %v", b.Port, q.Port, why)
}
